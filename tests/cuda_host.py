"""Generated CUDA on this processor, for simulated CuPy: g++ compiles it under a small shim.

As a pytest plugin (`-p tests.cuda_host`) it has every Program on "cupy-sim" run as generated CUDA
from its first run on, in any tests.
"""

from __future__ import annotations

import ctypes
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from arrayport_backends.cupy import compiler, cuda
from arrayport_backends.cupy.simulated import backend

from arrayport.core.lazy import Lazy

nvrtc: Any = Lazy("cupy_backends.cuda.libs.nvrtc")
COMPILER = shutil.which("g++")
SHIM = Path(__file__).with_suffix(".h").read_text()
OPTIONS = ["-O0", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-std=gnu++17"]
FUSING = {"x86_64": ["-mfma", "-msse4.1"]}.get(platform.machine(), [])
KERNEL = re.compile(r'extern "C" __global__ void __launch_bounds__\(\d+\) (\w+)\((.*)\) \{')
MEETS = re.compile(r"__syncthreads|__shfl")


class Host:
    """Compiles sources, those that came before the first launch of any of them at once."""

    def __init__(self) -> None:
        self.modules: dict[str, Module] = {}
        self.waiting: list[Module] = []

    def __call__(self, source: str) -> Module:
        """Kernels by name, as CuPy's modules give them, of simulated arrays."""
        if source not in self.modules:
            module = self.modules[source] = Module(self, source, f"m{len(self.modules)}")
            self.waiting.append(module)
        return self.modules[source]

    def build(self) -> None:
        """Compile what waits."""
        assert COMPILER
        with tempfile.TemporaryDirectory() as folder:
            code, library = Path(folder, "kernels.cpp"), Path(folder, "kernels.so")
            code.write_text("\n".join([SHIM, *[module.text() for module in self.waiting]]))
            command = [COMPILER, *OPTIONS, *FUSING, str(code), "-o", str(library)]
            made = subprocess.run(command, check=False, capture_output=True, text=True)
            assert made.returncode == 0, made.stderr[:4000]
            for module in self.waiting:
                module.library = ctypes.CDLL(str(library))
        self.waiting.clear()


@dataclass
class Module:
    """One source, in a namespace of its own."""

    host: Host
    source: str
    name: str
    library: Any = None

    def text(self) -> str:
        """Print what is compiled."""
        found = kernels(self.source)
        source = self.source.replace('extern "C" ', "")
        entries = [entry(self.name, kernel) for kernel in found]
        return "\n".join([f"namespace {self.name} {{", source, *entries, "}"])

    def get_function(self, name: str) -> Callable[..., None]:
        """Give what launches a kernel on a grid with blocks of 256 threads."""

        def launch(grid: tuple[int, int], block: tuple[int], args: tuple[Any, ...]) -> None:
            assert block == (256,)
            assert all(a.flags.c_contiguous for a in args)
            if self.library is None:
                self.host.build()
            pointers = (ctypes.c_void_p * len(args))(*[a._host.ctypes.data for a in args])
            getattr(self.library, f"{self.name}_{name}")(pointers, *grid)

        return launch


def kernels(source: str) -> list[tuple[str, str, bool]]:
    """Find the kernels of a source: their names, arguments, and whether their threads meet."""
    found = list(KERNEL.finditer(source))
    ends = [m.start() for m in found[1:]] + [len(source)]
    return [
        (*m.groups(), bool(MEETS.search(source, m.end(), end)))  # type: ignore[misc]
        for m, end in zip(found, ends, strict=True)
    ]


def entry(module: str, kernel: tuple[str, str, bool]) -> str:
    """Write the function that launches a kernel."""
    name, args, meets = kernel
    kinds = [re.sub(r"__restrict__ \w+", "", arg) for arg in args.split(", ")]
    given = ", ".join(f"({kind})a[{k}]" for k, kind in enumerate(kinds))
    return (
        f'extern "C" void {module}_{name}(void **a, unsigned x, unsigned y) {{\n'
        f"  launch([](void **a) {{ {name}({given}); }}, a, x, y, {str(meets).lower()});\n}}"
    )


def cubin(source: str) -> bytes:
    """Compile a source for Hopper, which NVRTC can without a device."""
    code = nvrtc.createProgram(source, "kernels.cu", (), ())
    try:
        nvrtc.compileProgram(code, ("-arch=sm_90", *cuda.OPTIONS))
    except nvrtc.NVRTCError as error:
        raise AssertionError(nvrtc.getProgramLog(code)[:4000]) from error
    return nvrtc.getCUBIN(code)


def switch_on(patch: pytest.MonkeyPatch) -> None:
    """Have simulated CuPy run generated CUDA."""
    patch.setattr(backend, "module", Host())
    patch.setattr(compiler, "COMPILING", 0)


def pytest_configure() -> None:
    """Switch it on for all tests."""
    if COMPILER is None:
        raise pytest.UsageError("tests.cuda_host needs g++")
    switch_on(pytest.MonkeyPatch())
