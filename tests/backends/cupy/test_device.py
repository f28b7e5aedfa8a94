"""How the backend on a device compiles and launches kernels, by what it asks of CuPy."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from arrayport_backends.cupy import keys
from arrayport_backends.cupy.compiler import NotCompiledError
from arrayport_backends.cupy.cuda import OPTIONS
from arrayport_backends.cupy.simulation import xp


class Cupy(ModuleType):
    """Stand in for CuPy with two devices; what is asked of it is written down."""

    def __init__(self) -> None:
        super().__init__("cupy")
        self.asked: list[Any] = []
        self.current = 0
        runtime = SimpleNamespace(getDeviceCount=lambda: 2, getDevice=lambda: self.current)
        runtime.CUDARuntimeError = RuntimeError
        compiler = SimpleNamespace(CompileException=SyntaxError, compile_using_nvrtc=self.compile)
        function = SimpleNamespace(Module=lambda: self)
        self.cuda = SimpleNamespace(runtime=runtime, compiler=compiler, function=function)

    def __getattr__(self, name: str) -> Any:
        return getattr(xp, name)

    def compile(self, source: str, options: Any) -> tuple[bytes, None]:
        if source == "wrong":
            raise SyntaxError("expected a declaration")
        self.asked.append(("compile", source, options))
        return b"code", None

    def load(self, code: bytes) -> None:
        self.asked.append(("load", code))

    def get_function(self, name: str) -> Any:
        at = self.current
        return lambda *args: self.asked.append((name, at, *args))


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Cupy:
    stand_in = Cupy()
    monkeypatch.setitem(sys.modules, "cupy", stand_in)
    return stand_in


@pytest.fixture
def device(cupy: Cupy) -> Any:  # noqa: ARG001 - it imports it
    """Import the module of the backend on a device, for this test alone."""
    spec = importlib.util.find_spec("arrayport_backends.cupy.device")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_kernels_are_compiled_once_for_each_device_that_runs_them(cupy: Cupy, device: Any) -> None:
    assert issubclass(device.backend.lib.keys, keys.Keys)
    launch = device.backend.module("source").get_function("f")
    compiling = [("compile", "source", OPTIONS), ("load", b"code")]
    assert cupy.asked == compiling
    launch((3, 1), (256,), ("x",))
    cupy.current = 1
    launch((3, 1), (256,), ("y",))
    launch((3, 1), (256,), ("z",))
    runs = [("f", at, (3, 1), (256,), (x,)) for at, x in ((0, "x"), (1, "y"), (1, "z"))]
    assert cupy.asked == [*compiling, runs[0], *compiling, *runs[1:]]


def test_what_nvrtc_refuses_is_said(device: Any) -> None:
    with pytest.raises(NotCompiledError, match="expected a declaration"):
        device.backend.module("wrong")
