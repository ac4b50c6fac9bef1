"""The vendor's descriptions of RTL libraries: XML files with an element ``FUNCTION`` for each function.

An element becomes the table that a description in TOML would have, so that both are checked by the same rules.
"""

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from .diag import Code, CompileError, Span

__all__ = ["XmlFunction", "is_xml", "xml_functions"]

#: tables of an MLAB: two in each of its ten logic modules
TABLES_OF_MLAB = 20
_HINT = "see docs/libraries.md"
#: the elements that may stand in each element, and their attributes
_CHILDREN: dict[str, dict[str, frozenset[str]]] = {
    "": {"RTL_SPEC": frozenset()},
    "RTL_SPEC": {"FUNCTION": frozenset({"name", "module"})},
    "FUNCTION": dict.fromkeys(("ATTRIBUTES", "INTERFACE", "C_MODEL", "REQUIREMENTS", "RESOURCES"), frozenset()),
    "ATTRIBUTES": dict.fromkeys(
        (*("IS_STALL_FREE", "IS_FIXED_LATENCY", "EXPECTED_LATENCY", "CAPACITY", "HAS_SIDE_EFFECTS"), "ALLOW_MERGING"),
        frozenset({"value"}),
    ),
    "INTERFACE": {
        "AVALON": frozenset({"port", "type"}),
        "INPUT": frozenset({"port", "width"}),
        "OUTPUT": frozenset({"port", "width"}),
    },
    "C_MODEL": {"FILE": frozenset({"name"})},
    "REQUIREMENTS": {"FILE": frozenset({"name"})},
    "RESOURCES": dict.fromkeys(("ALUTS", "FFS", "RAMS", "MLABS", "DSPS"), frozenset({"value"})),
}
#: ports of the vendor's interfaces, as keys of our descriptions
_PORTS = {
    "clock": "clock",
    "resetn": "resetn",
    "ivalid": "input_valid",
    "iready": "input_ready",
    "ovalid": "output_valid",
    "oready": "output_ready",
}


@dataclass
class _Element:
    tag: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)
    children: list["_Element"] = field(default_factory=list)

    def all(self, *path: str) -> list["_Element"]:
        """The elements at the end of a path of tags."""
        found = [self]
        for tag in path:
            found = [child for one in found for child in one.children if child.tag == tag]
        return found


@dataclass(frozen=True)
class XmlFunction:
    """A function of a description: ``values`` is the table with the keys of
    :class:`~hls.rtl_library.RtlFunction`, ``lines`` are the lines of keys that stand there ("" the element's own), and
    ``widths`` the bits of each port with its line."""

    values: dict[str, Any]
    lines: dict[str, int]
    widths: dict[str, tuple[int, int]]


def is_xml(text: str) -> bool:
    """Whether the text of a description is XML."""
    return text.lstrip().startswith("<")


def xml_functions(path: Path, text: str) -> list[XmlFunction]:
    """The functions of a description in XML. Raises CompileError, with the line, for a text that is no XML, for an
    element or attribute that is not known, and for what cannot be built."""
    root = _Reader(path).read(text)
    functions = root.all("RTL_SPEC", "FUNCTION")
    if not functions:
        _refuse(path, 1, "the description has no element FUNCTION", _HINT)
    return [_Function(path, one).read() for one in functions]


def _refuse(path: Path, line: int, message: str, hint: str) -> NoReturn:
    raise CompileError.at(Span(str(path), line), message, hint, code=Code.RTL_LIBRARY)


class _Reader:
    """Makes elements of a text, and holds them to the table of known ones."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open = [_Element("", 1)]
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._declared

    def read(self, text: str) -> _Element:
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:
            line = min(error.lineno, len(text.splitlines()))
            _refuse(self.path, line, f"the description is no XML: {expat.ErrorString(error.code)}", _HINT)
        return self.open[0]

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        line, parent = self.parser.CurrentLineNumber, self.open[-1]
        known = _CHILDREN.get(parent.tag, {})
        if tag not in known:
            where = f"in {parent.tag}" if parent.tag else "as the outermost element"
            _refuse(self.path, line, f"{tag} is not supported {where}", f"known are {', '.join(known) or 'none'}")
        for name in sorted(known[tag] ^ attributes.keys()):
            if name in attributes:
                _refuse(self.path, line, f"{tag} has no attribute {name}", f"known are {', '.join(sorted(known[tag]))}")
            _refuse(self.path, line, f"{tag} has no attribute {name}", f'write <{tag} {name}="...">')
        parent.children.append(_Element(tag, line, attributes))
        self.open.append(parent.children[-1])

    def _end(self, _tag: str) -> None:
        self.open.pop()

    def _text(self, text: str) -> None:
        if text.strip():
            line = self.parser.CurrentLineNumber
            _refuse(self.path, line, f"a text in {self.open[-1].tag}: {text.strip()[:40]!r}", "values are attributes")

    def _declared(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        _refuse(self.path, line, "a description has no document type", "leave <!DOCTYPE out")


class _Function:
    """Makes the table of one element ``FUNCTION``."""

    def __init__(self, path: Path, element: _Element) -> None:
        self.path, self.element = path, element
        self.values: dict[str, Any] = {}
        self.lines = {"": element.line}

    def read(self) -> XmlFunction:
        for key in ("name", "module"):
            self._set(key, self.element.attributes[key], self.element)
        self._attributes()
        self._resources()
        ports = self._interface()
        self._files()
        return XmlFunction(self.values, self.lines, ports)

    def _set(self, key: str, value: Any, element: _Element) -> None:
        self.values[key], self.lines[key] = value, element.line

    def _one(self, *path: str) -> _Element | None:
        """The only element at a path; None for none."""
        found = self.element.all(*path)
        if len(found) > 1:
            _refuse(self.path, found[1].line, f"{path[-1]} is given twice", "leave one of them out")
        return found[0] if found else None

    def _flag(self, name: str, usual: bool) -> bool:
        one = self._one("ATTRIBUTES", name)
        if one is None:
            return usual
        value = one.attributes["value"].lower()
        if value not in ("yes", "no"):
            _refuse(self.path, one.line, f"{name} is yes or no, not {value!r}", _HINT)
        return value == "yes"

    def _number(self, element: _Element, attribute: str, whole: bool = True) -> int:
        """A number that an element gives; with a fraction where not ``whole``, and then rounded up."""
        text = element.attributes[attribute]
        if not re.fullmatch(r"\d{1,9}" if whole else r"\d{1,9}(\.\d{1,9})?", text, re.ASCII):
            what = f"{element.tag} has a {attribute} that is no number: {text!r}"
            _refuse(self.path, element.line, what, "write its decimal digits")
        return math.ceil(float(text))

    def _attributes(self) -> None:
        effects = self._one("ATTRIBUTES", "HAS_SIDE_EFFECTS")
        if effects is not None and self._flag("HAS_SIDE_EFFECTS", False):
            message = "functions with side effects are not supported: calls with the same operands are one"
            _refuse(self.path, effects.line, message, "let the result depend on the arguments only")
        self._flag("ALLOW_MERGING", True)  # each call has a module of its own
        latency = self._one("ATTRIBUTES", "EXPECTED_LATENCY")
        if latency is not None:
            self._set("latency", self._number(latency, "value"), latency)
        stalls = not (self._flag("IS_STALL_FREE", False) and self._flag("IS_FIXED_LATENCY", False))
        self._set("stallable", stalls, self._one("ATTRIBUTES", "IS_STALL_FREE") or self.element)
        capacity = self._one("ATTRIBUTES", "CAPACITY")
        if capacity is not None and stalls:
            self._set("capacity", self._number(capacity, "value"), capacity)

    def _resources(self) -> None:
        """What the module takes; MLABs are counted as tables, and half a DSP block as one."""
        for tag, key in (("ALUTS", "luts"), ("FFS", "registers"), ("RAMS", "rams"), ("DSPS", "dsps")):
            one = self._one("RESOURCES", tag)
            if one is not None:
                self._set(key, self._number(one, "value", whole=tag != "DSPS"), one)
        memories = self._one("RESOURCES", "MLABS")
        if memories is not None:
            tables = self.values.get("luts", 0) + TABLES_OF_MLAB * self._number(memories, "value")
            self._set("luts", tables, memories)

    def _interface(self) -> dict[str, tuple[int, int]]:
        for one in self.element.all("INTERFACE", "AVALON"):
            kind = one.attributes["type"]
            if kind not in _PORTS:
                _refuse(
                    self.path, one.line, f"ports of type {kind} are not supported", f"known are {', '.join(_PORTS)}"
                )
            if _PORTS[kind] in self.values:
                _refuse(self.path, one.line, f"two ports have the type {kind}", "leave one of them out")
            self._set(_PORTS[kind], one.attributes["port"], one)
        inputs, output = self.element.all("INTERFACE", "INPUT"), self._one("INTERFACE", "OUTPUT")
        self._set("inputs", [one.attributes["port"] for one in inputs], inputs[0] if inputs else self.element)
        if output is not None:
            self._set("output", output.attributes["port"], output)
        return {
            one.attributes["port"]: (self._number(one, "width"), one.line)
            for one in (*inputs, *((output,) if output else ()))
        }

    def _files(self) -> None:
        files = self.element.all("REQUIREMENTS", "FILE")
        for one in files:
            if not one.attributes["name"].endswith((".v", ".sv", ".vh", ".svh")):
                message = f"{one.attributes['name']} is no file of Verilog"
                _refuse(self.path, one.line, message, "translate the module to Verilog")
        self._set("files", [one.attributes["name"] for one in files], files[0] if files else self.element)
        model = self._one("C_MODEL", "FILE")
        if model is not None:
            self._set("model", model.attributes["name"], model)
