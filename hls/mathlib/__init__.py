"""The mathematical functions of OpenCL that are no single operation: their source in OpenCL C, and an index of it.

Nothing here is executed. ``hls.frontend.library`` compiles the functions that a program calls like any helper of the
program's own; each file includes what it needs. Names that start with ``_`` are for the library itself. Files whose
names start with ``double_`` hold the functions of double, under the same names, ``half_`` those of half that do not go
through float; the others those of float.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

__all__ = ["DOUBLES", "FOLDER", "FUNCTIONS", "HALVES", "SIGNATURES", "Signature", "prefix", "source"]

#: what precedes the names of files in places of the source
FOLDER = "hls/mathlib"
#: a definition at the start of a line: result, name, parameters
_DEFINITION = re.compile(r"^(half|float|double|int|uint|long|ulong|bool) (\w+)\(([^)]*)\)\s*\{", re.MULTILINE)


@dataclass(frozen=True)
class Signature:
    """A function of the library. ``function`` is its name in the IR, which no program can take."""

    name: str
    file: str
    result: str
    parameters: tuple[str, ...]

    @property
    def function(self) -> str:
        """The function's name in the IR: the file's prefix and the name."""
        return prefix(self.file) + self.name

    @property
    def floating(self) -> str:
        """The format that it is for: "half", "float" or "double"."""
        return _format(self.file)


def _format(file: str) -> str:
    return next((name for name in ("half", "double") if file.startswith(f"{name}_")), "float")


def prefix(file: str) -> str:
    """What precedes the names of a file's functions in the IR."""
    return {"half": "math_half__", "float": "math__", "double": "math_double__"}[_format(file)]


@cache
def source(file: str) -> str:
    """The text of one of the library's files."""
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")


def _found() -> Iterator[Signature]:
    for item in sorted(resources.files(__package__).iterdir(), key=lambda each: each.name):
        if item.name.endswith(".cl"):
            for result, name, parameters in _DEFINITION.findall(source(item.name)):
                types = tuple(parameter.split()[0] for parameter in parameters.split(","))
                yield Signature(name, item.name, result, types)


#: name in the IR -> signature of every function that is no header's
FUNCTIONS = MappingProxyType({each.function: each for each in _found()})


def _public(floating: str) -> MappingProxyType[str, Signature]:
    return MappingProxyType(
        {each.name: each for each in FUNCTIONS.values() if each.floating == floating and not each.name.startswith("_")}
    )


#: name -> signature of every function of float that a program may call, of every one of double, and of those of half
#: that are not the float ones rounded
SIGNATURES, DOUBLES, HALVES = _public("float"), _public("double"), _public("half")
