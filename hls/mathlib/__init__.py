"""The mathematical functions of OpenCL that are no single operation: their source in OpenCL C, and an index of it.

Nothing here is executed. ``hls.frontend.library`` compiles the functions that a program calls like any helper of the
program's own; each file includes what it needs. Names that start with ``_`` are for the library itself.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

__all__ = ["SIGNATURES", "Signature", "source"]

#: a definition at the start of a line: result, name, parameters
_DEFINITION = re.compile(r"^(float|int|uint|bool) ([a-z]\w*)\(([^)]*)\)\s*\{", re.MULTILINE)


@dataclass(frozen=True)
class Signature:
    """A function of the library. ``function`` is its name in the IR, which no program can take."""

    name: str
    file: str
    result: str
    parameters: tuple[str, ...]

    @property
    def function(self) -> str:
        return f"math__{self.name}"


@cache
def source(file: str) -> str:
    """The text of one of the library's files."""
    return resources.files(__package__).joinpath(file).read_text(encoding="utf-8")


def _signatures():
    found = {}
    for item in sorted(resources.files(__package__).iterdir(), key=lambda each: each.name):
        if item.name.endswith(".cl"):
            for result, name, parameters in _DEFINITION.findall(source(item.name)):
                types = tuple(parameter.split()[0] for parameter in parameters.split(","))
                found[name] = Signature(name, item.name, result, types)
    return found


#: name -> signature of every function that a program may call
SIGNATURES = MappingProxyType(_signatures())
