"""Libraries of RTL functions: Verilog modules of the user that a program calls as functions of OpenCL C.

A library is described by a TOML file with a table ``[[function]]`` for each function. Its keys are the fields of
:class:`RtlFunction`; the names of files are relative to the description. The model is OpenCL C that defines the
function: the emulator and the interpreter of IR run it.
"""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from .diag import Code, CompileError, Span
from .toml_text import parse, read_text

__all__ = ["MOST_LATENCY", "RtlFunction", "load_libraries", "load_library", "port_widths"]

#: most cycles of latency
MOST_LATENCY = 1024
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
#: what is no declaration of a port: comments, texts, and functions and tasks, which have inputs of their own
_OTHER = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|\bfunction\b.*?\bendfunction\b|\btask\b.*?\bendtask\b', re.DOTALL
)
_PORT = re.compile(
    r"\b(?P<way>input|output)\b\s*(?:(?:wire|reg|logic)\b)?\s*(?:signed\b)?\s*"
    r"(?:\[\s*(?P<high>[^\]:]+?)\s*:\s*(?P<low>[^\]]+?)\s*\])?\s*"
    r"(?P<names>[A-Za-z_]\w*(?:\s*,\s*(?!input\b|output\b|inout\b)[A-Za-z_]\w*)*)"
)


@dataclass(frozen=True)
class RtlFunction:
    """A function that is computed by a Verilog module.

    Attributes
    ----------
    name : of the function in OpenCL C
    module : name of the Verilog module
    latency : cycles from the operands to the result; 0 for a module without registers
    inputs : the ports of the operands, in the order of the arguments
    output : the port of the result
    files : the Verilog files
    model : the OpenCL C file that defines the function
    clock : the port of the clock; empty for a module without registers
    enable : the port of the clock enable, without which no register of the module may change; empty for none
    interval : cycles from one set of operands to the next; only 1 can be built
    stallable : whether the module waits by ready and valid signals; only False can be built
    """

    name: str
    module: str
    latency: int
    inputs: tuple[str, ...]
    output: str
    files: tuple[Path, ...]
    model: Path
    clock: str = ""
    enable: str = ""
    interval: int = 1
    stallable: bool = False

    @property
    def verilog(self) -> dict[str, str]:
        """The texts of the Verilog files by name. Raises OSError."""
        return {file.name: file.read_text(encoding="utf-8") for file in self.files}

    @property
    def ports(self) -> tuple[str, ...]:
        """All ports: clock and enable (either may be empty), the output, the inputs."""
        return (self.clock, self.enable, self.output, *self.inputs)


def load_library(path: Path) -> tuple[RtlFunction, ...]:
    """The functions of a library. Raises CompileError for a description that is malformed or cannot be built, for a
    file, module or port that is missing, and for two functions of one name."""
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise _error(Span(str(path), 1), f"the library cannot be read: {reason}", "give the path of its description")
    try:
        tables = parse(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        place = Span(str(path), int(line[1]) if line else 1)
        raise _error(place, f"the description is no TOML: {error}", "see docs/libraries.md") from None
    reader = _Description(path, text)
    if set(tables) != {"function"} or not isinstance(tables["function"], list):
        raise _error(reader.place(), "a library is a list of tables [[function]]", "see docs/libraries.md")
    found = tuple(reader.function(k, table) for k, table in enumerate(tables["function"]))
    for k, one in enumerate(found):
        if one.name in {other.name for other in found[:k]}:
            raise _error(reader.place(k, "name"), f"{one.name} is described twice", "leave one of them out")
    return found


def load_libraries(paths: Iterable[Path]) -> tuple[RtlFunction, ...]:
    """The functions of several libraries. Raises CompileError as :func:`load_library` does, and for a function that two
    of them describe."""
    found: dict[str, tuple[Path, RtlFunction]] = {}
    for path in paths:
        for one in load_library(path):
            other, _ = found.setdefault(one.name, (path, one))
            if other != path:
                message = f"two libraries have a function {one.name}: this one and {other}"
                raise _error(Span(str(path), 1), message, "leave one of them out")
    return tuple(one for _, one in found.values())


def _error(place: Span, message: str, hint: str) -> CompileError:
    return CompileError.at(place, message, hint, code=Code.RTL_LIBRARY)


@dataclass(frozen=True)
class _Description:
    """A description file, which knows the places of its keys."""

    path: Path
    text: str

    def place(self, table: int = -1, key: str = "") -> Span:
        """The line of the key in the table with this number, else that of the table, else the first line."""
        lines = self.text.splitlines()
        starts = [k for k, line in enumerate(lines) if re.match(r"\s*\[\[\s*function\s*\]\]", line)]
        if not 0 <= table < len(starts):
            return Span(str(self.path), 1)
        end = starts[table + 1] if table + 1 < len(starts) else len(lines)
        rows = (k for k in range(starts[table], end) if re.match(rf"\s*{key}\s*=", lines[k])) if key else iter(())
        return Span(str(self.path), next(rows, starts[table]) + 1)

    def function(self, table: int, given: dict[str, Any]) -> RtlFunction:
        """The function that a table describes. Raises CompileError."""
        known = {each.name: each for each in fields(RtlFunction)}
        for key in given:
            if key not in known:
                raise _error(self.place(table, key), f"unknown key {key}", f"known are {', '.join(known)}")
        for name, each in known.items():
            if name not in given and each.default is MISSING:
                raise _error(self.place(table), f"the function has no key {name}", "see docs/libraries.md")
        values = {
            name: self._value(table, name, each.type, given[name]) for name, each in known.items() if name in given
        }
        found = RtlFunction(**values)
        self._check(table, found)
        self._check_module(table, found)
        return found

    def _value(self, table: int, key: str, kind: Any, value: Any) -> Any:
        wanted, text = _KINDS[kind]
        items = value if isinstance(value, list) and wanted is list else [value]
        member = str if wanted is list else wanted
        right = isinstance(value, wanted) and all(type(one) is member for one in items)
        if not right:
            raise _error(self.place(table, key), f"{key} is {text}, not {value!r}", "see docs/libraries.md")
        if kind is Path:
            return self._file(table, key, value)
        if kind == tuple[Path, ...]:
            return tuple(self._file(table, key, one) for one in value)
        return tuple(value) if wanted is list else value

    def _file(self, table: int, key: str, name: str) -> Path:
        file = (self.path.parent / name).resolve()
        if not file.is_file():
            raise _error(self.place(table, key), f"there is no file {file}", "names are relative to the description")
        return file

    def _check(self, table: int, one: RtlFunction) -> None:
        def refuse(key: str, message: str, hint: str) -> None:
            raise _error(self.place(table, key), message, hint)

        for key in ("name", "module", "output", "clock", "enable"):
            word = getattr(one, key)
            if not _NAME.fullmatch(word) and not (word == "" and key in ("clock", "enable")):
                refuse(key, f"{key} is a name, not {word!r}", "letters, digits and underscores")
        for word in one.inputs:
            if not _NAME.fullmatch(word):
                refuse("inputs", f"an input is the name of a port, not {word!r}", "letters, digits and underscores")
        used = [port for port in one.ports if port]
        if len(set(used)) != len(used):
            refuse("inputs", "a port has two meanings", "name each port once")
        if one.stallable:
            refuse(
                "stallable",
                "modules that wait by ready and valid are not supported",
                "build the module with a fixed latency, and say stallable = false",
            )
        if one.interval != 1:
            refuse("interval", f"an interval of {one.interval} is not supported", "pipeline the module: interval = 1")
        if not 0 <= one.latency <= MOST_LATENCY:
            refuse("latency", f"the latency is 0 to {MOST_LATENCY} cycles, not {one.latency}", "give the cycles")
        if one.latency and not one.clock:
            refuse("latency", "a module with a latency has a clock", "name its port: clock")
        if not one.files:
            refuse("files", "no Verilog file is named", "name the file of the module")

    def _check_module(self, table: int, one: RtlFunction) -> None:
        widths = port_widths(one)
        if widths is None:
            names = ", ".join(file.name for file in one.files)
            raise _error(self.place(table, "module"), f"no module {one.module} in {names}", "name its file in files")
        for key, ports, way in (
            ("clock", (one.clock,), "input"),
            ("enable", (one.enable,), "input"),
            ("output", (one.output,), "output"),
            ("inputs", one.inputs, "input"),
        ):
            for port in ports:
                if port and (port not in widths or widths[port][0] != way):
                    there = ", ".join(sorted(name for name, (kind, _) in widths.items() if kind == way)) or "none"
                    raise _error(
                        self.place(table, key), f"module {one.module} has no {way} {port}", f"its {way}s are {there}"
                    )
        missing = [name for name, (kind, _) in widths.items() if kind == "input" and name not in one.ports]
        if missing:
            raise _error(
                self.place(table, "module"),
                f"input {missing[0]} of module {one.module} is connected to nothing",
                "inputs are operands, the clock, or the enable: wrap the module in one without other inputs",
            )


_KINDS: dict[Any, tuple[type, str]] = {
    str: (str, "a text"),
    int: (int, "a number"),
    bool: (bool, "true or false"),
    Path: (str, "the name of a file"),
    tuple[str, ...]: (list, "a list of names"),
    tuple[Path, ...]: (list, "a list of names of files"),
}


def port_widths(function: RtlFunction) -> dict[str, tuple[str, int | None]] | None:
    """The direction ("input", "output") and the bits of each port of the module, None bits where its range is no
    numbers. None if the files have no such module."""
    for text in function.verilog.values():
        plain = _OTHER.sub(" ", text)
        body = re.search(rf"\bmodule\s+{function.module}\b(.*?)\bendmodule\b", plain, re.DOTALL)
        if body:
            return {
                name.strip(): (port["way"], _bits(port["high"], port["low"]))
                for port in _PORT.finditer(body[1])
                for name in port["names"].split(",")
            }
    return None


def _bits(high: str | None, low: str | None) -> int | None:
    if high is None or low is None:
        return 1
    return abs(int(high) - int(low)) + 1 if high.isdecimal() and low.isdecimal() else None
