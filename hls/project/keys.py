"""The keys of a project file: what each may be, and what it means. docs/project.md and docs/project.schema.json are
written from this table."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time
from functools import partial
from typing import Any

from ..limits import Limits
from ..options import AXI_ADDRESS_BITS, CONTROLS, COUNTERS, FEED_FORWARDS, MOST_CACHE_BYTES, RESETS, STREAM_NAMES
from ..target.board import MHZ

__all__ = ["KEYS", "TABLES", "Key", "in_toml", "schema"]

#: tables with names of the user's or of another table: what their values may be
TABLES = {
    "defines": "macros of the kernels, as `-D` defines them: a text, a number, or true for 1",
    "limits": "budgets of the compiler, as `--limit` sets them",
}


#: whole numbers from here on are not shown: of thousands of digits, Python writes none
_LONGEST = 10**30


@dataclass(frozen=True)
class Key:
    """A key: its dotted ``path``, JSON ``type`` and ``meaning``, the command line's ``parameter`` that it gives a
    value, and what further restricts it. ``field`` is the field of :class:`hls.options.Options`, "" for none; ``place``
    says that the values are paths, "file" or "folder"."""

    path: str
    type: str
    meaning: str
    parameter: str
    field: str = ""
    choices: tuple[str, ...] | tuple[int, ...] = ()
    range: tuple[float, float] | None = None
    place: str = ""

    def fault(self, value: Any) -> str:
        """What is wrong with a value, as what would be right; "" for a value that is right."""
        fits, expected = _TYPES[self.type]
        if not fits(value):
            return f"must be {expected}, not {in_toml(value)}"
        if self.choices and value not in self.choices:
            return f"must be one of {', '.join(map(str, self.choices))}, not {in_toml(value)}"
        if self.range and not self.range[0] <= value <= self.range[1]:
            given = f"{value:,}" if abs(value) < _LONGEST or isinstance(value, float) else "a number that is far larger"
            return f"must be {self.range[0]:,} to {self.range[1]:,}, not {given}"
        return ""

    def schema(self) -> dict[str, Any]:
        """The key's part of the JSON schema."""
        found: dict[str, Any] = {"description": self.meaning}
        found |= {"type": "array", "items": {"type": "string"}} if self.type == "strings" else {"type": self.type}
        if self.choices:
            found["enum"] = list(self.choices)
        if self.range:
            found |= {"minimum": self.range[0], "maximum": self.range[1]}
        return found


def in_toml(value: Any) -> str:
    """A value as a project file has it: messages must not show how Python writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date | time):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(in_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {in_toml(one)}' for name, one in value.items())}}}"
    return repr(value)


def _is(kind: type | tuple[type, ...], value: Any) -> bool:
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) and one for one in value)


_TYPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "string": (lambda value: isinstance(value, str) and bool(value), "a text"),
    "boolean": (partial(_is, bool), "true or false"),
    "integer": (partial(_is, int), "a whole number"),
    "number": (partial(_is, (int, float)), "a number"),
    "strings": (_strings, "a list of texts"),
}


def _option(name: str, type: str, meaning: str, field: str = "", **more: Any) -> Key:
    return Key(f"options.{name}", type, meaning, more.pop("parameter", field), field, **more)


_BYTES = (0, MOST_CACHE_BYTES)
KEYS = {
    one.path: one
    for one in (
        Key("kernels", "strings", "OpenCL C files, where the command line names none", "source", place="file"),
        Key("hosts", "strings", "host programs, where the command line names none", "host", place="file"),
        Key("board", "string", "board name or file, also `BOARD@MHZ`", "board"),
        Key("clock", "number", "kernel clock in MHz, if it is not the board's", "clock", range=MHZ),
        Key(
            "include-dirs",
            "strings",
            "folders searched by `#include`, after those of `-I`",
            "include_dirs",
            place="folder",
        ),
        Key(
            "include-roots",
            "strings",
            "the only folders that `#include` reads",
            "include_roots",
            "include_roots",
            place="folder",
        ),
        Key("libraries", "strings", "libraries of RTL functions, as `-l` names them", "libraries", place="file"),
        _option("fp-relaxed", "boolean", "other orders of floating-point additions", "fp_relaxed"),
        _option("fpc", "boolean", "round a sum of products once, at its end", "fpc"),
        _option("cl-denorms-are-zero", "boolean", "subnormal numbers are zeros in arithmetic", "denorms_are_zero"),
        _option("cl-single-precision-constant", "boolean", "`1.0` is a float, also beside doubles", "single_precision"),
        _option("private-cache-bytes", "integer", "size of the cache of each load", "cache_bytes", range=_BYTES),
        _option(
            "const-cache-bytes",
            "integer",
            "size of the cache of `__constant` buffers",
            "const_cache_bytes",
            range=_BYTES,
        ),
        _option(
            "copy-bytes", "integer", "largest buffer that is copied to the chip; 0 for none", "copy_bytes", range=_BYTES
        ),
        _option("no-interleaving", "strings", "memories whose banks follow one another", "no_interleaving"),
        _option("axi-masters", "integer", "AXI4 managers for all banks of a memory", "axi_masters", range=(1, 64)),
        _option(
            "axi-address-bits",
            "integer",
            "width of the addresses of AXI4 managers",
            "axi_address_bits",
            choices=AXI_ADDRESS_BITS,
        ),
        _option("control", "string", "how kernels are started", "control", choices=CONTROLS),
        _option(
            "feed-forward",
            "string",
            "which kernels are split into a memory part and a compute part",
            "feed_forward",
            choices=FEED_FORWARDS,
        ),
        _option("reset-active", "string", "level of the reset", "reset_active", choices=RESETS),
        _option("stream-names", "string", "names of the ports of streams", "stream_names", choices=STREAM_NAMES),
        _option("prefix", "string", "put in front of the names of modules and files", "prefix"),
        _option("counters", "string", "hardware counters to build", "counters", choices=COUNTERS[1:]),
        _option("strict-fit", "boolean", "a design that does not fit the device is an error", parameter="strict_fit"),
        _option("testbench", "boolean", "also write a cocotb testbench", parameter="testbench"),
        _option("html", "boolean", "write the report as a page, too", parameter="page"),
    )
}


def schema() -> dict[str, Any]:
    """The JSON schema of a project file."""
    top = {path: key.schema() for path, key in KEYS.items() if "." not in path}
    options = {path.partition(".")[2]: key.schema() for path, key in KEYS.items() if "." in path}
    limits = {name: {"type": "integer", "minimum": 1} for name in Limits.names()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "sluice.toml",
        "type": "object",
        "additionalProperties": False,
        "properties": top
        | {
            "options": {"type": "object", "additionalProperties": False, "properties": options},
            "defines": {
                "type": "object",
                "description": TABLES["defines"],
                "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                "additionalProperties": {"type": ["string", "number", "boolean"]},
            },
            "limits": {
                "type": "object",
                "description": TABLES["limits"],
                "additionalProperties": False,
                "properties": limits,
            },
        },
    }
