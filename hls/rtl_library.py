"""Libraries of RTL functions: Verilog modules of the user that a program calls as functions of OpenCL C.

A library is described by a TOML file with a table ``[[function]]`` for each function, by an XML file as the vendor's
compiler reads it (:mod:`hls.rtl_xml`), or is one packed file with all of it (:mod:`hls.rtl_package`). The keys of a
table are the fields of :class:`RtlFunction`; the names of files are relative to the description. The model is OpenCL C
that defines the function: the emulator and the interpreter of IR run it.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any

from .diag import Code, CompileError, Span
from .rtl_package import is_package, unpacked
from .rtl_xml import XmlFunction, is_xml, xml_functions
from .toml_text import parse, read_text

__all__ = ["MOST_LATENCY", "RtlFunction", "describe", "load_libraries", "load_library", "port_widths"]

#: most cycles of latency, and most operands that a module that waits holds
MOST_LATENCY = 1024
#: most of each resource that a module takes
MOST_AREA = 10_000_000
_HINT = "see docs/libraries.md"
#: ports of a module that waits
_HANDSHAKE = ("input_valid", "input_ready", "output_valid", "output_ready")
#: keys of ports, and whether each is an input
_PORT_KEYS = {
    "clock": True,
    "enable": True,
    "reset": True,
    "resetn": True,
    "input_valid": True,
    "input_ready": False,
    "output_valid": False,
    "output_ready": True,
}
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


_INPUT_KEYS = [key for key, inward in _PORT_KEYS.items() if inward]


@dataclass(frozen=True)
class RtlFunction:
    """A function that is computed by a Verilog module.

    Attributes
    ----------
    name : of the function in OpenCL C
    module : name of the Verilog module
    latency : cycles from the operands to the result; 0 for a module without registers; of a module that waits, those
        that it usually takes
    inputs : the ports of the operands, in the order of the arguments
    output : the port of the result
    files : the Verilog files
    model : the OpenCL C file that defines the function
    clock : the port of the clock; empty for a module without registers
    enable : the port of the clock enable, without which no register of the module may change; empty for none
    interval : cycles from one set of operands to the next; only 1 can be built
    stallable : whether the module waits by ready and valid signals
    reset, resetn : the port of a reset, active when high and when low; empty for none
    input_valid, input_ready, output_valid, output_ready : the ports of the handshakes; a module that does not wait
        always gets valid operands, and its result is always taken
    luts, registers, rams, dsps : the area of the module: tables, registers, block RAMs and DSP blocks
    capacity : most operands inside of a module that waits at once; 0: as many as its latency has cycles
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
    reset: str = ""
    resetn: str = ""
    input_valid: str = ""
    input_ready: str = ""
    output_valid: str = ""
    output_ready: str = ""
    capacity: int = 0
    luts: int = 0
    registers: int = 0
    rams: int = 0
    dsps: int = 0

    @property
    def area(self) -> tuple[int, int, int, int]:
        """Tables, registers, block RAMs and DSP blocks of the module."""
        return self.luts, self.registers, self.rams, self.dsps

    @property
    def verilog(self) -> dict[str, str]:
        """The texts of the Verilog files by name. Raises OSError and UnicodeDecodeError."""
        return {file.name: file.read_text(encoding="utf-8") for file in self.files}

    @property
    def ports(self) -> tuple[str, ...]:
        """All ports: those of control (each may be empty; see :data:`hls.ir.rtl_ports.CONTROL`), the output, the
        inputs."""
        return (*(getattr(self, key) for key in _PORT_KEYS), self.output, *self.inputs)


def load_library(path: Path) -> tuple[RtlFunction, ...]:
    """The functions of a library. Raises CompileError for a description that is malformed or cannot be built, for a
    file, module or port that is missing, and for two functions of one name."""
    if is_package(path):
        path = unpacked(path)
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise _error(Span(str(path), 1), f"the library cannot be read: {reason}", "give the path of its description")
    found = _from_xml(path, text) if is_xml(text) else _from_toml(path, text)
    for k, (one, reader) in enumerate(found):
        if one.name in {other.name for other, _ in found[:k]}:
            raise _error(reader.place("name"), f"{one.name} is described twice", "leave one of them out")
    return tuple(one for one, _ in found)


def _from_toml(path: Path, text: str) -> "list[tuple[RtlFunction, _Table]]":
    try:
        tables = parse(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        place = Span(str(path), int(line[1]) if line else 1)
        raise _error(place, f"the description is no TOML: {error}", _HINT) from None
    found = tables.get("function")
    if set(tables) != {"function"} or not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _error(Span(str(path), 1), "a library is a list of tables [[function]]", _HINT)
    lines = text.splitlines()
    starts = [k for k, line in enumerate(lines) if re.match(r"\s*\[\[\s*function\s*\]\]", line)]
    readers = [_Table(path, _lines(lines, starts, k)) for k in range(len(found))]
    return [(reader.function(table), reader) for reader, table in zip(readers, found, strict=True)]


def _lines(lines: list[str], starts: list[int], table: int) -> dict[str, int]:
    """The lines of the keys of a table, and under "" that of the table."""
    if table >= len(starts):
        return {"": 1}  # written as a list in one line, or under another spelling
    end = starts[table + 1] if table + 1 < len(starts) else len(lines)
    keys = {k: re.match(r"\s*(\w+)\s*=", lines[k]) for k in range(starts[table], end)}
    found = {match[1]: k + 1 for k, match in reversed(keys.items()) if match}
    return found | {"": starts[table] + 1}


def _from_xml(path: Path, text: str) -> "list[tuple[RtlFunction, _Table]]":
    found = []
    for one in xml_functions(path, text):
        reader = _Table(path, one.lines)
        function = reader.function(one.values)
        reader.check_widths(function, one)
        found.append((function, reader))
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


def describe(one: RtlFunction, files: Iterable[str], model: str) -> str:
    """The table of a function as TOML, with other names for its Verilog files and its model."""
    values = {each.name: getattr(one, each.name) for each in fields(RtlFunction)}
    usual = {each.name: each.default for each in fields(RtlFunction)}
    values |= {"inputs": list(one.inputs), "files": list(files), "model": model}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items() if value != usual[key]]
    return "\n".join(["[[function]]", *lines, ""])


def _error(place: Span, message: str, hint: str) -> CompileError:
    return CompileError.at(place, message, hint, code=Code.RTL_LIBRARY)


@dataclass(frozen=True)
class _Table:
    """The table of a function in a description, which knows the ``lines`` of its keys and under "" its own."""

    path: Path
    lines: Mapping[str, int]

    def place(self, key: str = "") -> Span:
        """The line of a key, else that of the table."""
        return Span(str(self.path), self.lines.get(key, self.lines[""]))

    def function(self, given: Mapping[str, Any]) -> RtlFunction:
        """The function that the table describes. Raises CompileError."""
        known = {each.name: each for each in fields(RtlFunction)}
        for key in given:
            if key not in known:
                raise _error(self.place(key), f"unknown key {key}", f"known are {', '.join(known)}")
        for name, each in known.items():
            if name not in given and each.default is MISSING:
                raise _error(self.place(), f"the function has no key {name}", _HINT)
        values = {name: self._value(name, each.type, given[name]) for name, each in known.items() if name in given}
        found = RtlFunction(**values)
        self._check(found)
        self._check_handshake(found)
        self._check_module(found)
        return found

    def check_widths(self, one: RtlFunction, described: XmlFunction) -> None:
        """Compare the widths that a description gives with the module's. Raises CompileError."""
        there = port_widths(one) or {}
        for port, (bits, line) in described.widths.items():
            if there[port][1] not in (bits, None):
                message = f"port {port} of module {one.module} has {there[port][1]} bits, not {bits}"
                raise _error(Span(str(self.path), line), message, "give the bits of the port: width")

    def _value(self, key: str, kind: Any, value: Any) -> Any:
        wanted, text = _KINDS[kind]
        items = value if isinstance(value, list) and wanted is list else [value]
        member = str if wanted is list else wanted
        right = isinstance(value, wanted) and all(type(one) is member for one in items)
        if not right:
            raise _error(self.place(key), f"{key} is {text}, not {value!r}", _HINT)
        if kind is Path:
            return self._file(key, value)
        if kind == tuple[Path, ...]:
            return tuple(self._file(key, one) for one in value)
        return tuple(value) if wanted is list else value

    def _file(self, key: str, name: str) -> Path:
        file = (self.path.parent / name).resolve()
        if not file.is_file():
            raise _error(self.place(key), f"there is no file {file}", "names are relative to the description")
        return file

    def _check(self, one: RtlFunction) -> None:
        def refuse(key: str, message: str, hint: str) -> None:
            raise _error(self.place(key), message, hint)

        for key in ("name", "module", "output", *_PORT_KEYS):
            word = getattr(one, key)
            if not _NAME.fullmatch(word) and not (word == "" and key in _PORT_KEYS):
                refuse(key, f"{key} is a name, not {word!r}", "letters, digits and underscores")
        for word in one.inputs:
            if not _NAME.fullmatch(word):
                refuse("inputs", f"an input is the name of a port, not {word!r}", "letters, digits and underscores")
        used = [port for port in one.ports if port]
        if len(set(used)) != len(used):
            refuse("inputs", "a port has two meanings", "name each port once")
        if one.interval != 1:
            hint = "pipeline the module, or let it wait: stallable = true, and its ports input_valid, input_ready..."
            refuse("interval", f"an interval of {one.interval} is not supported", hint)
        if not 0 <= one.latency <= MOST_LATENCY:
            refuse("latency", f"the latency is 0 to {MOST_LATENCY} cycles, not {one.latency}", "give the cycles")
        for key in ("luts", "registers", "rams", "dsps"):
            if not 0 <= getattr(one, key) <= MOST_AREA:
                refuse(key, f"{key} are 0 to {MOST_AREA:,}, not {getattr(one, key)}", "give what synthesis counts")
        if not 0 <= one.capacity <= MOST_LATENCY:
            refuse("capacity", f"the capacity is 0 to {MOST_LATENCY} operands, not {one.capacity}", "give the operands")
        if one.latency and not one.clock:
            refuse("latency", "a module with a latency has a clock", "name its port: clock")
        if not one.files:
            refuse("files", "no Verilog file is named", "name the file of the module")

    def _check_handshake(self, one: RtlFunction) -> None:
        if not one.stallable:
            if one.capacity:
                raise _error(self.place("capacity"), "only a module that waits has a capacity", "leave it out")
            return
        for key in ("clock", *_HANDSHAKE):
            if not getattr(one, key):
                raise _error(self.place("stallable"), f"a module that waits has a port {key}", f"name it: {key}")
        if one.enable:
            message = "a module that waits has no clock enable"
            raise _error(self.place("enable"), message, "leave enable out: the module stops by itself")

    def _check_module(self, one: RtlFunction) -> None:
        try:
            widths = port_widths(one)
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise _error(self.place("files"), f"a Verilog file cannot be read: {reason}", _HINT) from None
        if widths is None:
            names = ", ".join(file.name for file in one.files)
            raise _error(self.place("module"), f"no module {one.module} in {names}", "name its file in files")
        for key, ports, way in (
            *((key, (getattr(one, key),), "input" if inward else "output") for key, inward in _PORT_KEYS.items()),
            ("output", (one.output,), "output"),
            ("inputs", one.inputs, "input"),
        ):
            for port in ports:
                if port and (port not in widths or widths[port][0] != way):
                    there = ", ".join(sorted(name for name, (kind, _) in widths.items() if kind == way)) or "none"
                    raise _error(self.place(key), f"module {one.module} has no {way} {port}", f"its {way}s are {there}")
        missing = [name for name, (kind, _) in widths.items() if kind == "input" and name not in one.ports]
        if missing:
            raise _error(
                self.place("module"),
                f"input {missing[0]} of module {one.module} is connected to nothing",
                f"inputs are operands and {', '.join(_INPUT_KEYS)}: wrap the module in one without other inputs",
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
