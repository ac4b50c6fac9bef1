"""Groups of work-items that are under way at once have their own copies of local memory."""

from dataclasses import dataclass, replace

from ...ir import BOOL, Attr, Builder, Function, IntType, MemoryObject, Op, Region, Value, memory_name, walk
from ...ir.clone import clone_function
from ...ir.launch import most_tokens, per_group
from ...ir.rewrite import rewrite
from ..manager import Form, FunctionPass

__all__ = ["SHORT_WAY", "MultiBufferLocal", "copy_address", "copy_stride", "with_copies"]

#: cycles in which a group goes round a ring where it does not wait for global memory
SHORT_WAY = 32
#: group size that is assumed where the program only says how large groups may get
USUAL_GROUP = 64
MOST_COPIES = 16
#: of the block RAMs: what copies that only keep loops and meetings behind each other busy may take
PART_OF_RAM = 32


@dataclass(frozen=True)
class MultiBufferLocal(FunctionPass):
    """Before: memories named by a ``group`` are those of one group. After: they hold a power of two of copies, each as
    far from the next as the next power of two of its size; a counter of groups, carried with the work-items, chooses
    the copy.

    A group that waits for its slowest work-item leaves time in which others run: there are copies for one at each
    meeting of a ring, for as many as fill the way once round, and for one that comes or goes. Rings behind one another
    are busy with different groups, and so are loops before and behind them, such as those that fill a tile and write it
    back; without a ring, one group gathers at each meeting. For these there are copies as far as they take no more than
    a part of ``ram_bytes``, what all block RAMs hold. ``memory_latency`` is that of global memory, in cycles.
    """

    memory_latency: int
    ram_bytes: int = 0
    name = "multi-buffer-local"
    requires = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        found = [op for op in walk(function.body) if _shares(op)]
        if not found:
            return function
        result = clone_function(function)
        loop, group = next(
            (loop, op) for loop in result.body.ops if loop.opcode == "loop" for op in loop.regions[0].ops if _shares(op)
        )
        used = {op.attrs[Attr.MEM] for op in walk(result.body) if op.opcode == "addr"}
        group.attrs[Attr.MEMS] = tuple(name for name in group.attrs[Attr.MEMS] if name in used)
        if not group.attrs[Attr.MEMS]:
            loop.regions[0].ops.remove(group)
            return result
        copies = group.attrs[Attr.COPIES] = self._copies(
            result, loop, sum(copy_stride(result.memories[name]) for name in group.attrs[Attr.MEMS])
        )
        slot = _take_turn(result, copies) or _count_groups(result.body, loop, group)
        strides = {}
        for name in group.attrs[Attr.MEMS]:
            strides[name] = copy_stride(result.memories[name])
            result.memories[name] = with_copies(result.memories[name], copies)
        rewrite(loop.regions[0], lambda op, b: copy_address(op, b, strides, slot))
        return result

    def _copies(self, function: Function, items: Op, bytes: int) -> int:
        size = most_tokens(function)
        if not function.attrs.get(Attr.WORK_GROUP_SIZE):
            size = min(size, USUAL_GROUP)
        body = items.regions[0]
        rings = [self._filling(function, op.regions[0], size) for op in body.ops if op.attrs.get(Attr.RING)]
        stages = sum(op.opcode == "loop" and not op.attrs.get(Attr.RING) for op in body.ops)
        fewest, most = (
            (max(rings), sum(rings) + stages)
            if rings
            else (1 + -(-SHORT_WAY // size), self._in_row(function, body, size))
        )
        fewest, most = (min(MOST_COPIES, 1 << groups.bit_length()) for groups in (fewest, most))
        while most > fewest and most * bytes > self.ram_bytes // PART_OF_RAM:
            most //= 2
        return most

    def _filling(self, function: Function, ring: Region, size: int) -> int:
        """Groups that keep a ring busy."""
        return _meetings(ring.ops) + -(-self._way(function, ring.ops, 1) // size)

    def _in_row(self, function: Function, body: Region, size: int) -> int:
        """Groups that keep work-items coming, where these go straight from one meeting to the next."""
        behind = body.ops[next((k for k, op in enumerate(body.ops) if op.opcode == "meet"), 0) :]
        meetings = max(1, _meetings(behind))
        return meetings + -(-self._way(function, behind, meetings + 1) // size)

    def _way(self, function: Function, ops: list[Op], times: int) -> int:
        far = any(
            op.opcode in ("load", "atomic") and function.memories[memory_name(op)].space == "global"
            for op in _with_inner(ops)
        )
        return SHORT_WAY * times + self.memory_latency * far


def _with_inner(ops: list[Op]) -> list[Op]:
    return [one for op in ops for one in (op, *(inner for region in op.regions for inner in walk(region)))]


def _meetings(ops: list[Op]) -> int:
    return sum(op.opcode == "meet" for op in _with_inner(ops))


def _shares(op: Op) -> bool:
    """Whether the operation names memories that each group has for itself."""
    return op.opcode == "group" and not op.attrs.get(Attr.CALLS)


def _take_turn(function: Function, copies: int) -> Value | None:
    """The number of the group's copy where groups come one by one, with the number of those before; None where they do
    not."""
    turn = per_group(function).get("group_turn")
    if turn is None:
        return None
    start = Builder(Region(), function.span)
    slot = start.value("trunc", turn, result=IntType((copies - 1).bit_length()), name="group_copy")
    function.body.ops[:0] = start.region.ops
    return slot


def _count_groups(outside: Region, loop: Op, group: Op) -> Value:
    """A carried value of the work-items' loop that counts groups, modulo the copies."""
    (body,), bits = loop.regions, (group.attrs[Attr.COPIES] - 1).bit_length()
    slot = Value(IntType(bits), "group_copy", body, len(body.args))
    start, step = Builder(Region(), loop.span), Builder(Region(), group.span)
    loop.operands.append(start.const(0, slot.type))
    loop.results.append(Value(slot.type, "", loop, len(loop.results)))
    last = group.operands[1] if slot.type == BOOL else step.value("zext", group.operands[1], result=slot.type)
    following = step.value("add", slot, last)
    _insert(outside, loop, start.region)
    _insert(body, group, step.region)
    body.args.append(slot)
    body.terminator.operands.append(following)
    return slot


def _insert(region: Region, before: Op, new: Region):
    at = region.ops.index(before)
    region.ops[at:at] = new.ops


def copy_stride(memory: MemoryObject) -> int:
    """Bytes from one copy of a memory to the next: a power of two, so that the number of a copy stands above the bits
    of an offset."""
    return 1 << (memory.length * memory.element.bytes - 1).bit_length()


def with_copies(memory: MemoryObject, copies: int) -> MemoryObject:
    """The memory with room for as many copies of what it was."""
    return replace(
        memory,
        length=copies * copy_stride(memory) // memory.element.bytes,
        attrs=(*memory.attrs, (Attr.COPIES, copies)),
    )


def copy_address(op: Op, b: Builder, strides: dict[str, int], slot: Value) -> list[Value] | None:
    """The place in the copy of the work-item's group, or of the iteration: its number stands above the bits of the
    offset."""
    if op.opcode != "addr" or op.attrs[Attr.MEM] not in strides:
        return None
    inside = (strides[op.attrs[Attr.MEM]] - 1).bit_length()
    type = IntType(inside + slot.type.bits)
    offset = op.operands[0]
    if offset.type.bits > inside:
        offset = b.value("trunc", offset, result=IntType(inside)) if inside else b.const(0, type)
    if offset.type != type:
        offset = b.value("zext", offset, result=type)
    copy = slot if not inside else b.value("shl", b.value("zext", slot, result=type), b.const(inside, type))
    return [b.value("addr", b.value("or", copy, offset), attrs={Attr.MEM: op.attrs[Attr.MEM]})]
