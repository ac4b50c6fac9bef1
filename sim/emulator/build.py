"""Compiles C++ text to a library, cached by content next to the simulators."""

import os
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
    "-shared",
    "-fPIC",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-ffp-contract=off",
    "-U_FORTIFY_SOURCE",
)
OPTIMIZED, HASTY = ("-O1",), ("-O0", "-DHASTY")


def build_library(text: str, hasty: bool = False) -> Path:
    """The library of a program's text. Raises ToolMissing, or BuildError if the compiler fails."""
    compiler = find_compiler()
    flags = (*FLAGS, *(HASTY if hasty else OPTIMIZED))
    key = content_key([compiler.identity, *flags, text])

    def make(folder: Path) -> None:
        source = folder / "kernels.cpp"
        source.write_text(text)
        _compile(compiler, flags, source, folder / "kernels.so")

    return cached("emulator", key, "kernels.so", make)


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
