"""Profiles: a trace that names what ran, in the layout and the format that viewers open."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise

import pytest
from arrayport_backends.numpy import llvm

import arrayport as ap
import arrayport.numpy as anp


def read(folder):
    """All events of all traces in a folder."""
    events = []
    for path in folder.glob("plugins/profile/*/*.trace.json.gz"):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            events += json.load(file)["traceEvents"]
    return events


def test_a_trace_names_what_ran(tmp_path, backend):
    @ap.profiler.annotate_function
    def load():
        return anp.linspace(0.0, 1.0, 1000)

    @ap.jit
    def work(x):
        return (anp.sin(x) @ anp.cos(x)) * 2.0

    with ap.profiler.trace(tmp_path):
        with ap.profiler.TraceAnnotation("prepare", size=1000):
            x = load()
        for step in range(2):
            with ap.profiler.StepTraceAnnotation("train", step_num=step):
                ap.block_until_ready(work(x))
        with ap.named_scope("ending"):
            ap.block_until_ready(anp.exp(x))
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


def test_one_profile_at_a_time(tmp_path, backend):  # noqa: ARG001 - on each of them
    with pytest.raises(RuntimeError, match="profile"):
        ap.profiler.stop_trace()
    ap.profiler.start_trace(tmp_path)
    try:
        with pytest.raises(RuntimeError, match="already"):
            ap.profiler.start_trace(tmp_path)
    finally:
        ap.profiler.stop_trace()
