"""IR snippets for passes that take arrays apart: elements of a memory, and counting loops."""

from collections.abc import Callable, Mapping

from . import I64, Builder, IntType, MemoryObject, Region, Value
from .attributes import Attr

__all__ = ["counted_loop", "element_pointer", "read", "write"]


def element_pointer(memory: MemoryObject, index: Value, b: Builder) -> Value:
    """A pointer to the element at ``index``, unsigned, which must be inside the memory."""
    size = memory.element.bytes
    wide = b.value("zext", index, result=I64) if index.type != I64 else index
    return b.addr(memory.name, b.value("mul", wide, b.const(size, I64)) if size > 1 else wide)


def read(memory: MemoryObject, place: int | Value, b: Builder) -> Value:
    """Load the element at ``place``, counted in elements."""
    return b.value("load", _pointer(memory, place, b), b.true(), result=memory.element, name=memory.name)


def write(memory: MemoryObject, place: int | Value, value: Value, b: Builder) -> None:
    """Store to the element at ``place``, counted in elements."""
    b.op("store", _pointer(memory, place, b), value, b.true())


def _pointer(memory: MemoryObject, place: int | Value, b: Builder) -> Value:
    if isinstance(place, Value):
        return element_pointer(memory, place, b)
    return b.addr(memory.name, place * memory.element.bytes)


def counted_loop(
    trips: int,
    label: str,
    b: Builder,
    build: Callable[[Value, Builder], object],
    *,
    enable: Value | None = None,
    counter: IntType | None = None,
    name: str = "k",
    attrs: Mapping[str, object] | None = None,
) -> None:
    """A loop that runs at least once if ``enable`` holds (default: always). ``build`` receives its counter, which has
    the least sufficient width or type ``counter``, and builds the body; ``attrs`` are further attributes of the
    loop."""
    body, type = Region(), counter or IntType(trips.bit_length())
    count = Value(type, name, body, 0)
    body.args.append(count)
    inner = Builder(body, b.span)
    build(count, inner)
    following = inner.value("add", count, inner.const(1, type))
    inner.op("yield", inner.value("ult", following, inner.const(trips, type)), following)
    enable = enable or b.true()
    attrs = {Attr.LABEL: label, Attr.UNROLL: 1, **(attrs or {})}
    b.op("loop", enable, b.const(0, type), results=[type], regions=[body], attrs=attrs)
