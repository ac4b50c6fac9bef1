"""Compiles C++ text to a library, cached by content next to the simulators."""

import os
from contextlib import suppress
from pathlib import Path

from hls.diag import machine_trouble
from sim.cache import cached, content_key
from sim.errors import BuildError
from sim.programs import Programs
from sim.toolchain import CxxCompiler, find_compiler

__all__ = ["build_library"]

#: Rounding and wrapping are the IR's: nothing is contracted, reordered or assumed. -O1 keeps the delay of the first run
#: short.
FLAGS = (
    "-std=gnu++17",
    "-w",
    "-fPIC",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-ffp-contract=off",
    "-U_FORTIFY_SOURCE",
)
OPTIMIZED, HASTY = ("-O1",), ("-O0", "-DHASTY")


def build_library(text: str, hasty: bool = False, runtime: str = "") -> Path:
    """The library of a program's text, which begins with ``runtime``, the part that many programs share.

    ``hasty`` is for short runs: it compiles without optimization, and the runtime, which takes most of the time, once
    for all programs. Raises ToolMissing, or BuildError if the compiler fails.
    """
    compiler = find_compiler()
    flags = (*FLAGS, *(HASTY if hasty else OPTIMIZED))
    key = content_key([compiler.identity, *flags, runtime, text])

    def make(folder: Path) -> None:
        source, library = folder / "kernels.cpp", folder / "kernels.so"
        if hasty and runtime:
            # not every compiler has precompiled headers, and Clang rejects those that were moved, as into the cache
            with suppress(BuildError):
                header = _precompiled(compiler, flags, runtime)
                source.write_text(text)
                _compile(compiler, (*flags, "-shared", "-include", str(header)), source, library)
                return
        source.write_text(runtime + text)
        _compile(compiler, (*flags, "-shared"), source, library)

    return cached("emulator", key, "kernels.so", make)


def _precompiled(compiler: CxxCompiler, flags: tuple[str, ...], runtime: str) -> Path:
    """The header with the text of the runtime, precompiled with the same flags: GCC reads the text beside it when it
    rejects that."""

    def make(folder: Path) -> None:
        source = folder / "runtime.h"
        source.write_text(runtime)
        _compile(compiler, (*flags, "-x", "c++-header"), source, folder / "runtime.h.gch")

    key = content_key([compiler.identity, *flags, runtime])
    return cached("emulator-header", key, "runtime.h.gch", make).with_suffix("")


def _compile(compiler: CxxCompiler, flags: tuple[str, ...], source: Path, target: Path) -> None:
    command = [compiler.path, *flags, str(source), "-o", str(target)]
    # temporary files are in the folder as well, and removed with it when the compiler is killed
    with Programs() as programs:
        done = programs.run(command, environment={**os.environ, "TMPDIR": str(source.parent)})
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "error" in line]
        reason = f"compiling the emulated kernels failed: {errors[0] if errors else done.stderr[-300:].strip()}"
        if machine_trouble(BuildError(done.stderr)) is not None:
            reason += "; there is not enough memory: allow more, or make the kernels smaller"
        raise BuildError(reason, done.stderr)
