"""Multi-buffering for work-groups: the number of copies of local memory."""

from dataclasses import dataclass

from ...ir import Attr, Builder, Function, IntType, Op, Region, Value, memory_name, walk
from ...ir.launch import most_tokens, per_group
from .buffer_copies import MOST_COPIES, SHORT_WAY, Rotation, copy_stride, counted

__all__ = ["GroupCopies"]

#: group size that is assumed if the program gives only an upper bound
USUAL_GROUP = 64
#: share of the block RAMs (1/n) for copies that only keep successive loops and barriers busy
PART_OF_RAM = 32
#: copies that keep a barrier loop busy are fewer, to the least, where they would take more than this share (1/n)
LARGEST_PART, FEWEST_COPIES = 2, 2


@dataclass(frozen=True)
class GroupCopies:
    """The number of copies of the local memories of work-groups.

    While a group waits for its slowest work-item, others can run. In a barrier loop there are copies for one group at
    each barrier, for as many as fill the pipeline of one round, and for one that enters or leaves. Successive barrier
    loops are busy with different groups, and so are loops before and after them, such as those that fill a tile and
    write it back; without a barrier loop, one group gathers at each barrier. For these there are copies as long as they
    take at most a fixed part of ``ram_bytes``, the capacity of all block RAMs; and where even those that fill a
    barrier loop would take most of the device, there are fewer, and groups wait. ``memory_latency`` is that of global
    memory, in cycles.
    """

    memory_latency: int
    ram_bytes: int = 0

    def rotations(self, function: Function) -> list[Rotation]:
        """The rotations of local memories; a counter of groups has been added to the function."""
        found = [
            (loop, op)
            for loop in function.body.ops
            if loop.opcode == "loop"
            for op in loop.regions[0].ops
            if _shares(op)
        ]
        if not found:
            return []
        loop, group = found[0]
        used = {op.attrs[Attr.MEM] for op in walk(function.body) if op.opcode == "addr"}
        names = group.attrs[Attr.MEMS] = tuple(name for name in group.attrs[Attr.MEMS] if name in used)
        if not names:
            loop.regions[0].ops.remove(group)
            return []
        copies = self._copies(function, loop, sum(copy_stride(function.memories[name]) for name in names))
        group.attrs[Attr.COPIES] = copies
        slot = _take_turn(function, copies) or counted(function.body, loop, copies, "group_copy", group)
        return [Rotation(loop, names, copies, slot)]

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
        while most > FEWEST_COPIES and most * bytes > self.ram_bytes // LARGEST_PART > 0:
            most //= 2
        return most

    def _filling(self, function: Function, ring: Region, size: int) -> int:
        """The number of groups that keep a barrier loop busy."""
        return _meetings(ring.ops) + -(-self._way(function, ring.ops, 1) // size)

    def _in_row(self, function: Function, body: Region, size: int) -> int:
        """The number of groups that keep work-items flowing when these pass straight from one barrier to the next."""
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
    """Whether the operation names memories that are private to each group."""
    return op.opcode == "group" and not op.attrs.get(Attr.CALLS)


def _take_turn(function: Function, copies: int) -> Value | None:
    """The number of the group's copy if groups run one at a time: derived from the number of preceding groups. None
    otherwise."""
    turn = per_group(function).get("group_turn")
    if turn is None:
        return None
    start = Builder(Region(), function.span)
    slot = start.value("trunc", turn, result=IntType((copies - 1).bit_length()), name="group_copy")
    function.body.ops[:0] = start.region.ops
    return slot
