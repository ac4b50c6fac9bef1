"""What buffers consist of, by the types of a kernel's parameters."""

import re
from dataclasses import dataclass

from ..ir import Parameter

__all__ = ["Element", "element_of"]

#: bytes of the scalars of which there are vectors
SCALARS = {
    "char": 1,
    "uchar": 1,
    "short": 2,
    "ushort": 2,
    "int": 4,
    "uint": 4,
    "long": 8,
    "ulong": 8,
    "half": 2,
    "float": 4,
    "double": 8,
}
TYPE = re.compile(rf"({'|'.join(SCALARS)})(2|3|4|8|16)?")
QUALIFIERS = {"__global", "global", "__constant", "constant", "const", "volatile", "restrict", "__restrict"}


@dataclass(frozen=True)
class Element:
    """The type of an element: as ``written``, the ``scalar`` that it consists of, and how many of them."""

    written: str
    scalar: str
    components: int

    @property
    def bytes(self) -> int:
        """Its size; a vector of three components takes the place of four."""
        return SCALARS[self.scalar] * (4 if self.components == 3 else self.components)


def element_of(parameter: Parameter) -> Element | None:
    """What a parameter points to; None for structures, and for pointers that are written as a name."""
    head, star, _ = parameter.c_type.partition("*")
    written = " ".join(word for word in head.split() if word not in QUALIFIERS)
    found = TYPE.fullmatch(parameter.resolved or written)
    return Element(written, found[1], int(found[2] or 1)) if star and found else None
