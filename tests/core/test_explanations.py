"""explain prints where each rule of a primitive stands, on every backend."""

from __future__ import annotations

import pytest

import arrayport as ap
from arrayport.core.explanations import description
from arrayport.core.primitive import REGISTRY


def test_an_elementwise_primitive(capsys: pytest.CaptureFixture[str]) -> None:
    ap.explain("mul")
    text = capsys.readouterr().out
    assert text.startswith("mul, stated in arrayport.ops.elementwise:")
    assert "derivative by operand 0: arrayport.ops.elementwise:" in text
    assert "derivative by operand 1: arrayport.ops.elementwise:" in text
    assert "on numpy: numpy.multiply" in text


def test_zero_and_missing_derivatives_are_said() -> None:
    assert "derivative by operand 0: zero" in description("floor")
    assert "no derivative: it has no operands" in description("iota")
    assert "transpose by operand 0: arrayport.ops" in description("reshape")


def test_a_primitive_that_holds_programs() -> None:
    assert "linearize: arrayport.control.scanning:" in description("scan")


def test_every_primitive_has_a_description() -> None:
    assert all(description(name).startswith(f"{name}, stated in ") for name in REGISTRY)


def test_an_unknown_name_lists_similar_ones() -> None:
    with pytest.raises(KeyError, match=r"no primitive is called 'sine'.*sin"):
        ap.explain("sine")
