"""cond and switch: what the laws and programs of theirs do not try."""

from __future__ import annotations

import pytest

from arrayport import lax


@pytest.mark.usefixtures("backend")
def test_one_operand_by_name_be_it_none():
    assert float(lax.cond(True, lambda x: x + 1, lambda x: x, operand=2.0)) == 3.0
    assert float(lax.cond(False, lambda _: 1.0, lambda _: 2.0, operand=None)) == 2.0
    assert float(lax.switch(1, [lambda _: 1.0, lambda _: 2.0], operand=None)) == 2.0
    with pytest.raises(TypeError, match="not both"):
        lax.cond(True, lambda x: x, lambda x: x, 1.0, operand=2.0)
