"""Programs as trees that print themselves, and that can be reduced and stay well-defined.

Every form of an expression is total: whatever values its parts have, the result is defined and the same for every
compiler. So any part may be replaced by another of its type, and any statement be left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

__all__ = ["FLOATS", "INTEGERS", "Node", "Type", "sequence", "smaller"]

#: name -> (bits, signed)
INTEGERS = {
    "char": (8, True),
    "uchar": (8, False),
    "short": (16, True),
    "ushort": (16, False),
    "int": (32, True),
    "uint": (32, False),
    "long": (64, True),
    "ulong": (64, False),
}
FLOATS = {"float": 32, "double": 64}
SEQUENCE = "sequence"


@dataclass(frozen=True)
class Type:
    """A scalar (one lane) or a vector. Floats that are ``moved`` are only read, chosen, stored and looked at as bits,
    never computed: their bits are the same for every compiler, also those of a NaN."""

    element: str
    lanes: int = 1
    moved: bool = False

    def __str__(self):
        return self.element + (str(self.lanes) if self.lanes > 1 else "")

    @property
    def is_float(self) -> bool:
        return self.element in FLOATS

    @property
    def signed(self) -> bool:
        return INTEGERS[self.element][1]

    @property
    def bits(self) -> int:
        """Of an element."""
        return FLOATS.get(self.element) or INTEGERS[self.element][0]

    @property
    def source(self) -> str:
        """The input that has such elements."""
        return f"{'raw' if self.moved else 'in'}_{self.element}"

    def of(self, element: str) -> "Type":
        return Type(element, self.lanes)

    def with_lanes(self, lanes: int) -> "Type":
        return replace(self, lanes=lanes)

    def sized(self, signed: bool) -> "Type":
        """The integer type of this size and shape."""
        return self.of(next(name for name, row in INTEGERS.items() if row == (self.bits, signed)))


@dataclass(frozen=True)
class Node:
    """``form`` with ``{0}``, ``{1}``... for its parts. An expression has a ``type``; a sequence of statements has the
    form :data:`SEQUENCE`."""

    form: str
    parts: tuple["Node", ...] = ()
    type: Type | None = None

    def __str__(self):
        if self.form == SEQUENCE:
            return "\n".join(map(str, self.parts))
        return self.form.format(*self.parts)

    def inside(self) -> Iterator["Node"]:
        """All parts, and theirs."""
        for part in self.parts:
            yield part
            yield from part.inside()


def sequence(*statements: Node) -> Node:
    return Node(SEQUENCE, statements)


def smaller(node: Node) -> Iterator[Node]:
    """Trees with a little less in them, the largest cuts first."""
    if node.form == SEQUENCE:
        yield from _shorter(node)
    elif node.type is not None and node.parts:
        yield Node(f"(({node.type})(1))", (), node.type)
        yield from (part for part in node.inside() if part.type == node.type)
    for k, part in reversed(list(enumerate(node.parts))):  # what comes later uses what comes before
        for less in smaller(part):
            yield replace(node, parts=(*node.parts[:k], less, *node.parts[k + 1 :]))


def _shorter(node: Node) -> Iterator[Node]:
    """Sequences without a half, without a statement, or with the inside of a statement in its place."""
    parts, half = node.parts, len(node.parts) // 2
    if half:
        yield replace(node, parts=parts[half:])
        yield replace(node, parts=parts[:half])
    for k, part in enumerate(parts):
        yield replace(node, parts=(*parts[:k], *parts[k + 1 :]))
    for k, part in enumerate(parts):
        for inner in part.parts:
            if inner.form == SEQUENCE:
                yield replace(node, parts=(*parts[:k], *inner.parts, *parts[k + 1 :]))
