"""Profiles: a trace that names what ran, in the layout and the format that viewers open."""

from __future__ import annotations

import gzip
import json
import threading
import time
from itertools import pairwise

import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp
from arrayport import lax


def ours(folder, ending):
    """Find the one file that arrayport wrote: JAX writes others where it is loaded."""
    found = list(folder.glob(f"plugins/profile/*/*{ending}"))
    (own,) = [p for p in found if ".arrayport." in p.name] or found
    return own


def read(folder, paths=()):
    """All events of all traces in a folder."""
    events = []
    for path in paths or folder.glob("plugins/profile/*/*.trace.json.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            events += json.load(file)["traceEvents"]
    return events


def test_a_trace_names_what_ran(tmp_path, backend):
    @ap.profiler.annotate_function
    def load():
        return anp.linspace(0.0, 1.0, 1000).reshape(10, 100)

    @ap.jit
    def work(x):
        return (anp.sin(x) @ anp.cos(x).T) * 2.0

    with ap.profiler.trace(tmp_path):
        with ap.profiler.TraceAnnotation("prepare", size=1000):
            x = load()
        for step in range(2):
            with ap.profiler.StepTraceAnnotation("train", step_num=step):
                ap.block_until_ready(work(x))
        with ap.named_scope("ending"):
            ap.block_until_ready(anp.exp(x))
    assert len(list(tmp_path.glob("plugins/profile/*"))) == 1  # one run, if JAX is loaded too
    events = read(tmp_path)
    spans = [e for e in events if e.get("ph") == "X"]
    names = [e["name"] for e in spans]
    assert {"prepare", "train"} <= {*names}
    assert any("load" in n for n in names)
    prepare = next(e for e in spans if e["name"] == "prepare")
    assert prepare["args"] == {"size": "1000"}
    assert {"0", "1"} <= {e["args"]["step_num"] for e in spans if e["name"] == "train"}
    assert all(e["dur"] >= 0 and e["ts"] >= 0 for e in spans)
    if backend == "jax":
        return
    assert {"jit(work)", "trace work", "exp", "ending"} <= {*names}
    kernels = [e for e in spans if e.get("cat") == "kernel"]
    assert {"sin", "cos", "dot_general"} <= {e["name"] for e in kernels}
    outer = next(e for e in spans if e["name"] == "jit(work)")
    within = [e for e in kernels if outer["ts"] <= e["ts"] < outer["ts"] + outer["dur"]]
    assert len(within) >= 3
    assert all(a["ts"] <= b["ts"] for a, b in pairwise(kernels))
    assert any(e.get("ph") == "M" and e["name"] == "thread_name" for e in events)


def test_machine_code_is_named(tmp_path, backend):
    if backend == "jax":
        pytest.skip("XLA names its own kernels")
    f = ap.jit(lambda x: anp.sin(x) * 2.0 + 1.0)
    x = anp.linspace(0.0, 1.0, 300_000)
    for _ in range(40):  # until it is compiled, where there is a compiler
        f(x)
    with ap.profiler.trace(tmp_path, create_perfetto_trace=True):
        for _ in range(3):
            f(x)
    names = {e["name"] for e in read(tmp_path) if e.get("cat") == "kernel"}
    compiled = backend == "numpy" and llvm.available()
    assert any("fusion" in n for n in names) if compiled else {"sin", "mul", "add"} <= names
    assert list(tmp_path.glob("plugins/profile/*/perfetto_trace.json.gz"))
    before = len(names)
    f(x)  # no profile is taken now
    assert before == len({e["name"] for e in read(tmp_path) if e.get("cat") == "kernel"})


@pytest.mark.usefixtures("backend")
def test_one_profile_at_a_time(tmp_path):
    with pytest.raises(RuntimeError, match="profile"):
        ap.profiler.stop_trace()
    ap.profiler.start_trace(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="already"):
            ap.profiler.start_trace(tmp_path)
    finally:
        ap.profiler.stop_trace()


UINT32 = 2**32


def test_the_trace_is_what_perfetto_takes(tmp_path, backend):
    if backend == "jax":
        pytest.skip("JAX writes its own")

    def work():
        with ap.named_scope("outer"):
            return ap.jit(lambda x: lax.scan(lambda c, a: (c + a, a * 2), x[0], x))(anp.ones(5))

    with ap.profiler.trace(tmp_path):
        work()
        other = threading.Thread(target=work)
        other.start()
        other.join()
    events = read(tmp_path, [ours(tmp_path, ".trace.json.gz")])
    spans = [e for e in events if e["ph"] == "X"]
    assert {e["ph"] for e in events} == {"X", "M"}
    assert all(0 <= e["pid"] < UINT32 and 0 <= e.get("tid", 0) < UINT32 for e in events)
    threads = {e["tid"] for e in spans}
    named = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert len(threads) == 2
    assert {*named} == threads
    assert len({*named.values()}) == 2
    for thread in threads:  # slices of a thread lie within one another, or apart
        own = [(e["ts"], e["ts"] + e["dur"]) for e in spans if e["tid"] == thread]
        open_ends = []
        for start, end in sorted(own, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= start + 1e-3:
                open_ends.pop()
            assert not open_ends or end <= open_ends[-1] + 1e-3
            open_ends.append(end)


def test_xprof_reads_the_trace(tmp_path, fields, backend):
    """By the numbers of XPlane's definition; XProf 2.24 and jax.profiler.ProfileData agree."""
    if backend == "jax":
        pytest.skip("JAX writes its own")
    with ap.profiler.trace(tmp_path), ap.profiler.StepTraceAnnotation("train", step_num=7):
        anp.sin(anp.ones(3))
    space = fields(ours(tmp_path, ".xplane.pb").read_bytes())
    (plane,) = map(fields, space[1])
    assert plane[2] == [b"/host:CPU"]
    names, stats = (
        {entry[1][0]: fields(entry[2][0])[2][0].decode() for entry in map(fields, plane[number])}
        for number in (4, 5)
    )
    (line,) = map(fields, plane[3])
    assert line[2] == [b"main"]
    assert abs(line[3][0] / 1e9 - time.time()) < 60
    found = {names[e[1][0]]: e for e in map(fields, line[4])}
    assert {"train", "sin"} <= {*found}
    told = [fields(stat) for stat in found["train"][4]]
    assert {stats[t[1][0]]: t[5][0] for t in told} == {"kind": b"step", "step_num": b"7"}
    whole, part = (([*e[2], 0][0], e[3][0]) for e in (found["train"], found["sin"]))
    assert whole[0] <= part[0]
    assert part[0] + part[1] <= whole[0] + whole[1]
    events = read(tmp_path, [ours(tmp_path, ".trace.json.gz")])
    spans = {e["name"]: e for e in events if e["ph"] == "X"}
    assert part[1] == pytest.approx(spans["sin"]["dur"] * 1e6, abs=1000)
