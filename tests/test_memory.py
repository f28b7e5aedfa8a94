"""What is in memory: the largest arrays, the lines that made them, and pprof's format of it."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import arrayport as ap
import arrayport.numpy as anp

FILE = "test_memory.py"


def test_a_report_tells_who_made_what(backend):
    def make():
        return anp.linspace(0.0, 1.0, 50_000)

    with ap.tracking_memory():
        x = make()
        y = ap.jit(lambda v: anp.sin(v) + 1)(x)
        z = x * 3.0
    untold = z + 1.0
    report = ap.memory_report()
    by_type = [a for a in report.arrays if a.type == "float32[50000]"]
    assert all(a.nbytes in (0, 200_000) for a in by_type)
    lines = {a.line for a in by_type}
    start = test_a_report_tells_who_made_what.__code__.co_firstlineno
    assert f"{FILE}:{start + 7} (in test_a_report_tells_who_made_what)" in lines  # z
    assert "" in lines  # untold
    if backend != "jax":
        assert f"{FILE}:{start + 6} (in test_a_report_tells_who_made_what)" in lines  # y
        assert {"jit", "mul"} <= {a.by for a in by_type}
    assert any(f"{FILE}:{start + 2} (in make)" == a.line for a in report.arrays)
    assert list(report.arrays) == sorted(report.arrays, key=lambda a: -a.nbytes)
    assert str(report).splitlines()[0].endswith(f"in {len(report.arrays)} arrays")
    assert "float32[50000]" in str(report)
    before = len(by_type)
    del x, y, z, untold
    after = [a for a in ap.memory_report().arrays if a.type == "float32[50000]"]
    assert len(after) < before


def test_parts_of_other_memory_count_once(backend):
    if backend != "numpy":
        pytest.skip("NumPy alone makes views")
    x = anp.zeros(30_011)
    part = x[1:]
    sizes = {a.type: a.nbytes for a in ap.memory_report("numpy").arrays}
    assert sizes["float32[30011]"] == 4 * 30_011
    assert sizes["float32[30010]"] == 0
    assert part.size == 30_010


@pytest.mark.usefixtures("backend")
def test_weak_types_are_explained():
    weak = anp.asarray(2.0) * 1
    strong = anp.zeros(7, "float32")
    assert weak.weak_type
    told = str(ap.memory_report())
    assert "float32[]*" in told
    assert told.splitlines()[-1].startswith("* of a weak type")
    assert strong.size == 7
    like = type(ap.memory_report())((ap.memory_report().arrays[0],) * 3)
    assert [line.split(", ")[-1] for line in str(like).splitlines()[1:2]] == ["3 times"]
    alone = [a for a in ap.memory_report().arrays if not a.type.endswith("*")]
    assert "*" not in str(type(ap.memory_report())(tuple(alone)))


def test_numbers_are_as_without(backend):
    with ap.tracking_memory():
        x = anp.arange(3.0) * 2
        np.testing.assert_array_equal(np.asarray(ap.grad(lambda v: (v * v).sum())(x)), [0, 4, 8])
    assert backend


def test_pprof_reads_the_profile(tmp_path, fields, varints, backend):
    with ap.tracking_memory():
        x = anp.ones(60_013) * 2
    ap.profiler.save_device_memory_profile(str(tmp_path / "memory.prof"))
    data = gzip.decompress((tmp_path / "memory.prof").read_bytes())
    profile = fields(data)
    texts = [t.decode() for t in profile[6]]
    assert texts[0] == ""
    kinds = [(texts[k[1][0]], texts[k[2][0]]) for k in map(fields, profile[1])]
    assert ("space", "bytes") in kinds
    assert profile[2]
    if backend == "jax":
        return  # JAX writes its own
    functions = {f[1][0]: f for f in map(fields, profile[5])}
    locations = {p[1][0]: p for p in map(fields, profile[4])}
    found = []
    for sample in map(fields, profile[2]):
        count, size = varints(sample[2][0])
        first = locations[varints(sample[1][0])[0]]
        line = fields(first[4][0])
        function = functions[line[1][0]]
        labels = {texts[m[1][0]]: texts[m[2][0]] for m in map(fields, sample[3])}
        found.append((size, texts[function[2][0]], texts[function[4][0]], line[2][0], labels))
        assert count == 1
    mine = [f for f in found if f[0] == 4 * 60_013 and f[4]["operation"] == "mul"]
    start = test_pprof_reads_the_profile.__code__.co_firstlineno
    ((_, name, file, number, labels),) = mine
    assert name == "test_pprof_reads_the_profile"
    assert file.endswith(FILE)
    assert number == start + 2
    assert labels["type"] == "float32[60013]"
    assert texts[profile[14][0]] == "space"
    assert x.shape == (60_013,)
