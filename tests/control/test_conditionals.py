"""cond and switch: what the laws and programs of theirs do not try."""

from __future__ import annotations

import pytest

import arrayport as ap
from arrayport import lax


@pytest.mark.usefixtures("backend")
def test_one_operand_by_name_be_it_none():
    assert float(lax.cond(True, lambda x: x + 1, lambda x: x, operand=2.0)) == 3.0
    assert float(lax.cond(False, lambda _: 1.0, lambda _: 2.0, operand=None)) == 2.0
    assert float(lax.switch(1, [lambda _: 1.0, lambda _: 2.0], operand=None)) == 2.0
    with pytest.raises(TypeError, match="not both"):
        lax.cond(True, lambda x: x, lambda x: x, 1.0, operand=2.0)


@pytest.mark.usefixtures("backend")
def test_each_function_may_have_its_own_operand():
    def chosen(pred, x, y):
        return lax.cond(pred, x, lambda x: 2 * x[0], y, lambda y: y - 1)

    for pred, expected in ((True, 6.0), (False, 4.0)):
        assert float(chosen(pred, (3.0,), 5.0)) == expected
        assert float(ap.jit(chosen)(pred, (3.0,), 5.0)) == expected
    assert float(ap.grad(ap.jit(chosen), 2)(False, (3.0,), 5.0)) == 1.0
    with pytest.raises(TypeError, match="cond needs functions"):
        lax.cond(True, 1.0, lambda x: x, 2.0, 3.0)
    with pytest.raises(TypeError, match="to be functions"):
        lax.cond(True, 1.0, 2.0, 3.0)
