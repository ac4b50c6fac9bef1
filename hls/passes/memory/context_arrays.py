"""Work-item context arrays: private arrays that are live across barriers become local memory, a part for each
work-item."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ...ir import I64, Attr, Builder, Function, MemoryObject, Op, Region, Value, walk
from ...ir.launch import most_work_items
from ...ir.rewrite import rewrite

__all__ = ["give_parts", "kept_across_barriers"]


def kept_across_barriers(function: Function, arrays: Iterable[MemoryObject]) -> list[MemoryObject]:
    """The private arrays that are live across a barrier, while other work-items execute."""
    return [memory for memory in arrays if _across(function.body, memory.name, True)]


def give_parts(function: Function, arrays: Iterable[MemoryObject]) -> None:
    """Turn private arrays into local memory, in place: one part for each work-item of the largest group. The size of a
    part is a power of two, so that the number of the work-item forms the bits above the offset. Groups in flight at the
    same time get copies as of any local memory."""
    shifts = {}
    for memory in arrays:
        shift = shifts[memory.name] = (memory.elements * memory.element.bytes - 1).bit_length()
        length = (most_work_items(function) << shift) // memory.element.bytes
        function.memories[memory.name] = replace(memory, space="local", length=length)
    if not shifts:
        return
    before = Builder(Region(), function.span)
    item = _number(function, before)
    parts = {name: before.value("shl", item, before.const(shift, I64)) for name, shift in shifts.items()}
    rewrite(function.body, lambda op, b: _address(op, b, parts))
    function.body.ops[:0] = before.region.ops


def _number(function: Function, b: Builder) -> Value:
    """The number of the work-item in its group."""
    size = function.attrs.get(Attr.WORK_GROUP_SIZE)
    number = b.const(0, I64)
    for dim in reversed(range(3)):
        if size and size[dim] == 1:
            continue
        extent = b.const(size[dim], I64) if size else _query(b, "local_size", dim)
        number = b.value("add", b.value("mul", number, extent), _query(b, "local_id", dim))
    return number


def _query(b: Builder, fn: str, dim: int) -> Value:
    return b.op("work_item", result=I64, attrs={Attr.FN: fn, Attr.DIM: dim}).result


def _address(op: Op, b: Builder, parts: dict[str, Value]) -> list[Value] | None:
    if op.opcode != "addr" or op.attrs[Attr.MEM] not in parts:
        return None
    (offset,) = op.operands
    if offset.type != I64:
        offset = b.value("sext", offset, result=I64)
    return [b.value("addr", b.value("add", parts[op.attrs[Attr.MEM]], offset), attrs=dict(op.attrs))]


def _across(region: Region, name: str, begins: bool) -> bool:
    """Whether the array may hold at a barrier what is read after it. ``begins``: the initial contents of the array are
    not read in the region."""
    users = [k for k, op in enumerate(region.ops) if _uses(op, name)]
    if not users:
        return False
    between = region.ops[users[0] : users[-1] + 1]
    begins = begins or any(op.opcode == "fresh" and op.attrs[Attr.MEM] == name for op in region.ops[: users[0] + 1])
    if len(between) == 1 and between[0].regions and begins:
        # the next iteration reads what this one has written, unless the array is fresh in the body
        again = between[0].opcode == "loop"
        return any(_across(part, name, not again) for part in between[0].regions)
    within = between if begins else region.ops
    return any(inner.opcode == "barrier" for op in within for inner in _walk(op))


def _uses(op: Op, name: str) -> bool:
    return any(inner.attrs.get(Attr.MEM) == name for inner in _walk(op) if inner.opcode in ("addr", "fresh"))


def _walk(op: Op) -> Iterator[Op]:
    yield op
    for region in op.regions:
        yield from walk(region)
