"""Iterations of an outer loop, and work-items, that are under way at once have their own copies of an array that begins
anew in each of them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...analysis.loops.loop_tree import LoopTree
from ...diag import Diagnostic
from ...ir import Attr, Builder, Function, IntType, MemoryObject, Op, Region, Value, memory_name, reaches_memory, walk
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ..manager import Form, FunctionPass
from .multi_buffer_local import SHORT_WAY, copy_address, copy_stride, with_copies

__all__ = ["MultiBufferPrivate", "begins_anew", "copies_of_loop", "writers_apart"]

MOST_COPIES = 16
#: bytes that copies are given room for unasked, for iterations; and for work-items, or where there are two copies, such
#: a part of what the device has, but not more than these
MOST_BYTES = 16384
DEVICE_PART, MOST_LARGE_BYTES = 64, 65536
#: bytes that a copy stands for where each is a memory of its own: those of a block RAM for each of two loads
LEAST_BYTES = 4096
#: iterations that are assumed of a loop of which nobody knows how many it has
USUAL_TRIPS = 64


def begins_anew(region: Region, name: str) -> bool:
    """Whether nothing that the memory holds when the region begins is read in it: ``fresh`` stands before all uses."""
    for op in region.ops:
        if op.opcode in ("fresh", "addr") and op.attrs[Attr.MEM] == name:
            return op.opcode == "fresh"
        if any(_uses(inner, name) for inner in op.regions) and not all(
            begins_anew(inner, name) for inner in op.regions
        ):
            return False
    return True


def copies_of_loop(function: Function, loop: Op, name: str) -> int:
    """How many iterations of the loop later an iteration uses the same copy of the memory."""
    return dict(function.memories[name].attrs).get(Attr.COPIES, 1) if name in loop.attrs.get(Attr.OWN, ()) else 1


@dataclass(frozen=True)
class MultiBufferPrivate(FunctionPass):
    """Before: loops name the memories that are their iterations' ``Attr.OWN``. After: those whose accesses lie in loops
    inside hold a power of two of copies, as :class:`~hls.passes.memory.multi_buffer_local.MultiBufferLocal` makes them;
    the number of the iteration chooses one.

    So a loop inside may fill the array of an iteration while another still reads that of the one before. There are as
    many copies as ``private_copies`` asks for; else as many as iterations fit between the first store and the last
    load, as far as their bytes allow. ``memory_latency`` is that of global memory, in cycles. Work-items, which nothing
    but their arrays keeps from each other, get as many as a part of the device's ``ram_bytes`` allows.
    """

    memory_latency: int = 0
    ram_bytes: int = 0
    warn: Callable[[Diagnostic], None] | None = None
    name = "multi-buffer-private"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        tree, strides = LoopTree(result), {}
        for memory in result.memories.values():
            if memory.space == "local" and function.attrs.get(Attr.NDRANGE):
                self._tell(
                    memory, "groups of work-items that are under way at once have copies of local memory unasked"
                )
        for name, ops in _accesses(result).items():
            memory, loop = result.memories[name], _owner(tree, name, ops)
            reason = _reason(tree, loop, ops)
            if reason:
                self._tell(memory, reason)
                continue
            copies = self._copies(
                memory, *self._needed(result, tree, loop, ops), LEAST_BYTES if writers_apart(tree, ops) else 1
            )
            if copies > 1:
                strides.setdefault(loop, {})[name] = copy_stride(memory)
                result.memories[name] = with_copies(memory, copies)
                _leave_to(tree, loop, name)
        for loop, mine in strides.items():
            _choose(result, tree, loop, mine)
        return result if strides else function

    def _tell(self, memory: MemoryObject, reason: str):
        asked = dict(memory.attrs).get(Attr.PRIVATE_COPIES, 0)
        if asked > 1 and self.warn is not None:
            self.warn(
                Diagnostic(
                    f"private_copies({asked}) of '{memory.name}' changes nothing",
                    memory.asked_at(Attr.PRIVATE_COPIES),
                    reason,
                    "warning",
                )
            )

    def _copies(self, memory: MemoryObject, needed: int, room: int, least: int) -> int:
        """How many copies, of ``least`` bytes or more, a memory gets of those that are needed, in ``room`` bytes;
        two may also take what is room for large arrays."""
        attrs = dict(memory.attrs)
        most = min(
            (attrs[name] for name in (Attr.MAX_PRIVATE_COPIES, Attr.MAX_CONCURRENCY) if attrs.get(name)),
            default=MOST_COPIES,
        )
        asked, most = attrs.get(Attr.PRIVATE_COPIES, 0), 1 << most.bit_length() - 1
        if asked:
            copies = min(1 << (asked - 1).bit_length(), most)
            if copies < asked and self.warn is not None:
                self.warn(
                    Diagnostic(
                        f"private_copies({asked}) of '{memory.name}' is taken as {copies}",
                        memory.asked_at(Attr.PRIVATE_COPIES),
                        f"{MOST_COPIES} are the most, and no more than max_private_copies or max_concurrency allow",
                        "warning",
                    )
                )
            return copies
        size, needed = max(least, copy_stride(memory)), min(1 << (needed - 1).bit_length(), most)
        return max(1, min(needed, room // size), min(needed, 2, self._large_room() // size))

    def _needed(self, function: Function, tree: LoopTree, loop: Op, ops: list[Op]) -> tuple[int, int]:
        """How many copies keep the loop busy, and the bytes there is room for.

        Of iterations, as many as are under way between the begin of the first of the loops inside, which take turns,
        and the end of the last.
        """
        if loop.attrs.get(Attr.PARALLEL):
            return MOST_COPIES, self._large_room()
        inside = [op for op in dict.fromkeys(_top_loop(tree, loop, op) for op in ops) if op is not None]
        trips = [op.attrs.get(Attr.TRIP_COUNT, USUAL_TRIPS) for op in inside]
        far = [
            any(op.opcode == "load" and not function.memories[memory_name(op)].onchip for op in walk(one.regions[0]))
            for one in inside
        ]
        way = sum(SHORT_WAY + self.memory_latency * loads for loads in far)
        return min(MOST_COPIES, 1 + -(-(sum(trips) + way) // max(*trips, 1))), MOST_BYTES

    def _large_room(self) -> int:
        return max(MOST_BYTES, min(MOST_LARGE_BYTES, self.ram_bytes // DEVICE_PART))


def _choose(function: Function, tree: LoopTree, loop: Op, strides: dict[str, int]):
    """Rewrite the addresses inside the loop; memories with as many copies share a counter."""
    counters: dict[int, Value] = {}
    for name, stride in strides.items():
        copies = copies_of_loop(function, loop, name)
        if copies not in counters:
            counters[copies] = _counter(tree.region_of(loop), loop, copies)
        rewrite(
            loop.regions[0], lambda op, b, one={name: stride}, slot=counters[copies]: copy_address(op, b, one, slot)
        )


def _accesses(function: Function) -> dict[str, list[Op]]:
    """Of the memories of one work-item that are written, by name."""
    found: dict[str, list[Op]] = {}
    spaces = ("private",) if function.attrs.get(Attr.NDRANGE) else ("private", "local")
    for op in walk(function.body):
        if reaches_memory(op) and function.memories[memory_name(op)].space in spaces:
            found.setdefault(memory_name(op), []).append(op)
    return {name: ops for name, ops in found.items() if any(op.opcode != "load" for op in ops)}


def _reason(tree: LoopTree, loop: Op | None, ops: list[Op]) -> str:
    """Why there are no copies; "" where there may be."""
    if loop is None:
        return (
            "declare the array where it begins anew for each work-item, or in the body of a loop: iterations of "
            "that loop can have copies"
        )
    if all(_top_loop(tree, loop, op) is None for op in ops):
        return (
            "no loop inside of the one that the array is declared in uses it, so its iterations, or the "
            "work-items, need not wait for each other"
        )
    return ""


def _uses(region: Region, name: str) -> bool:
    return any(op.attrs.get(Attr.MEM) == name for op in walk(region) if op.opcode in ("addr", "fresh"))


def _owner(tree: LoopTree, name: str, ops: list[Op]) -> Op | None:
    """The innermost loop around all accesses of the memory whose iterations own it."""
    around = [tree.around(op) for op in ops]
    common = [loops[0].op for loops in zip(*around) if len(set(loops)) == 1]
    owners = [op for op in common if name in op.attrs.get(Attr.OWN, ()) and not op.attrs.get(Attr.RING)]
    return owners[-1] if owners else None


def _leave_to(tree: LoopTree, loop: Op, name: str):
    """Let no other loop claim that its iterations have copies."""
    for other in tree.loops:
        if other is not loop and name in other.attrs.get(Attr.OWN, ()):
            other.attrs[Attr.OWN] = tuple(mem for mem in other.attrs[Attr.OWN] if mem != name)


def _top_loop(tree: LoopTree, loop: Op, access: Op) -> Op | None:
    """The loop in the body of ``loop`` that holds the access; None for one that stands there itself."""
    around = [each.op for each in tree.around(access)]
    inner = around[around.index(loop) + 1 :]
    return inner[0] if inner else None


def writers_apart(tree: LoopTree, ops: Iterable[Op]) -> bool:
    """Whether stores are in several loops, so that each copy has to be a memory with a port of its own."""
    return len({tree.region_of(op) for op in ops if op.opcode != "load"}) > 1


def _counter(outside: Region, loop: Op, copies: int) -> Value:
    """A carried value of the loop that counts its iterations modulo the copies."""
    (body,), type = loop.regions, IntType((copies - 1).bit_length())
    slot = Value(type, "iteration_copy", body, len(body.args))
    start, step = Builder(Region(), loop.span), Builder(Region(), loop.span)
    loop.operands.append(start.const(0, type))
    following = step.value("add", slot, step.const(1, type))
    at = outside.ops.index(loop)
    outside.ops[at:at], body.ops[:0] = start.region.ops, step.region.ops
    body.args.append(slot)
    body.terminator.operands.append(following)
    loop.results.append(Value(type, "", loop, len(loop.results)))
    return slot
