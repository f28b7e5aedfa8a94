"""Compiling long Programs: time in proportion to their length, mathematics that places share."""

from __future__ import annotations

import re
from time import process_time

import numpy as np
import pytest
from arrayport_backends.numpy import llvm
from arrayport_backends.numpy.codegen.emitters import packed
from arrayport_backends.numpy.compiler import text

import arrayport as ap
import arrayport.numpy as anp
from arrayport.core.backend import get
from arrayport.passes.fuse import Nest, fuse


def unrolled(count, function):
    def f(x):
        for _ in range(count):
            x = function(x)
        return anp.sum(x)

    return f


def program_of(f, *args):
    return ap.jit(f).trace(*args).program


def test_time_grows_with_length_in_proportion():
    x = anp.ones(100, "float32")

    def seconds(count):
        program = program_of(ap.grad(unrolled(count, anp.sin)), x)
        start = process_time()
        text(program, get("numpy"), "schedule")
        return process_time() - start

    seconds(10)
    assert seconds(2000) < 4 * 4 * seconds(500)  # four times as long, and a machine's moods


def test_places_are_apart_and_soon_found():
    draw = np.random.default_rng(0)
    firsts = draw.integers(0, 200, 300)
    spans = [(int(f), int(f + n)) for f, n in zip(firsts, draw.integers(0, 60, 300), strict=True)]
    sizes = [int(n) for n in draw.integers(0, 500, 300)]
    whole, offsets = packed(sizes, spans)
    assert whole == max(at + -(-n // 64) * 64 for at, n in zip(offsets, sizes, strict=True))
    busy = np.zeros((whole, 300), int)
    for at, n, (first, last) in zip(offsets, sizes, spans, strict=True):
        assert at % 64 == 0
        busy[at : at + n, first : last + 1] += 1
    assert busy.max() == 1

    start, count = process_time(), 40_000
    packed([100] * count, [(i, 2 * count - i) for i in range(count)])
    assert process_time() - start < 10  # looking at all that are there takes more than a minute


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [5, 64, 101])
def test_a_function_that_many_places_share_gives_the_same_everywhere(dtype, size):
    with ap.enable_x64(new_val=True):
        x = np.linspace(-3, 3, size).astype(dtype)
        x[1:4] = np.nan, np.inf, 1e5  # the last is too large for sin's quick way
        function = unrolled(20, lambda x: anp.sin(x) * 2)
        got = ap.jit(ap.value_and_grad(lambda x: function(x[3:])))(anp.asarray(x))
        y, slope = x[3:].astype("float64"), 1.0
        for _ in range(20):
            y, slope = np.sin(y) * 2, slope * 2 * np.cos(y)
        tolerance = 2e-2 if dtype == "float32" else 1e-8  # chaos grows what is rounded
        np.testing.assert_allclose(got[0], y.sum(), rtol=tolerance, atol=tolerance * 5)
        np.testing.assert_allclose(got[1][3:], slope, rtol=tolerance * 10, atol=tolerance * 1e6)


def test_a_function_of_many_places_is_in_the_code_once():
    x = anp.ones(1000, "float32")
    made = text(program_of(unrolled(30, anp.sin), x), get("numpy"), "llvm")
    vectors = rf"define [^\n]*<{llvm.vector_bytes() // 4} x float> @shared_sin_float32\w*\("
    assert len(re.findall(vectors, made)) == 1
    assert len(re.findall(r"define [^\n]*float @shared_sin_float32\w*\(float", made)) <= 1
    few = text(program_of(unrolled(3, anp.sin), x), get("numpy"), "llvm")
    assert "shared" not in few


def test_only_what_later_nests_read_is_stored():
    program = program_of(ap.grad(unrolled(100, lambda x: anp.sin(x) * 0.9 + x)), anp.ones(1000))
    units = fuse(get("numpy").compile(program).program, get("numpy").language)
    stored = sum(len(u.stored) for u in units if isinstance(u, Nest))
    assert stored < 300  # of seven hundred values, a hundred of which the way back needs


def test_sine_and_cosine_have_one_function_for_large_arguments():
    program = program_of(lambda x: anp.sum(anp.sin(x) * anp.cos(x)), anp.ones(1000, "float32"))
    made = text(program, get("numpy"), "llvm")
    assert len(re.findall(r"define [^\n]*@rare_\w+_slow\(", made)) == 1


def test_turns_of_one_row_take_no_loop_over_rows():
    def softmax(x):
        powers = anp.exp(x - anp.max(x, axis=1, keepdims=True))
        return powers / anp.sum(powers, axis=1, keepdims=True)

    made = text(program_of(softmax, anp.ones((4096, 1024), "float32")), get("numpy"), "llvm")
    nests = re.findall(r"^define [^\n]*@nest.*?^}", made, re.DOTALL | re.MULTILINE)
    assert [nest.count("br i1") for nest in nests] == [1, 1, 1]  # each goes through one row
