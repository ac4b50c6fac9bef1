"""Multi-buffering for iterations of an outer loop, and work-items: which of their private arrays have copies, and how
many."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...analysis.loops.loop_tree import LoopTree
from ...diag import Code, Diagnostic
from ...ir import Attr, Function, MemoryObject, Op, Region, memory_name, reaches_memory, walk
from ...narrow import present
from .buffer_copies import MOST_COPIES, SHORT_WAY, Rotation, copy_stride, counted, power_of_two

__all__ = ["IterationCopies", "begins_anew", "copies_of_loop", "writers_apart"]

#: bytes available to automatic copies: for iterations; and for work-items, or two copies, a part of the device's
#: capacity, up to a limit
MOST_BYTES = 16384
DEVICE_PART, MOST_LARGE_BYTES = 64, 65536
#: bytes that a copy counts for if each is a memory of its own: those of a block RAM for each of two loads
LEAST_BYTES = 4096
#: iterations that are assumed for a loop of unknown trip count
USUAL_TRIPS = 64


def begins_anew(region: Region, name: str) -> bool:
    """Whether the initial contents of the memory are not read in the region: ``fresh`` precedes all uses."""
    for op in region.ops:
        if op.opcode in ("fresh", "addr") and op.attrs[Attr.MEM] == name:
            return op.opcode == "fresh"
        if any(_uses(inner, name) for inner in op.regions) and not all(
            begins_anew(inner, name) for inner in op.regions
        ):
            return False
    return True


def copies_of_loop(function: Function, loop: Op, name: str) -> int:
    """The number of iterations of the loop after which an iteration uses the same copy of the memory again."""
    return dict(function.memories[name].attrs).get(Attr.COPIES, 1) if name in loop.attrs.get(Attr.OWN, ()) else 1


@dataclass(frozen=True)
class IterationCopies:
    """Which arrays of iterations have copies, and how many: as many as ``private_copies`` requests; else as many
    iterations as are in flight between the first store and the last load, limited by their size in bytes. Work-items,
    which only their arrays could make wait for each other, get as many as a part of the device's ``ram_bytes``
    allows."""

    memory_latency: int = 0
    ram_bytes: int = 0
    warn: Callable[[Diagnostic], None] | None = None

    def rotations(self, function: Function) -> list[Rotation]:
        """The rotations of private memories; counters of iterations have been added to the function."""
        tree = LoopTree(function)
        found: dict[tuple[Op, int], list[str]] = {}  # memories with the same number of copies share a counter
        for memory in function.memories.values():
            if memory.space == "local" and function.attrs.get(Attr.NDRANGE):
                self._tell(memory, "work-groups in flight have private copies of local memory without the attribute")
        for name, ops in _accesses(function).items():
            memory, loop = function.memories[name], _owner(tree, name, ops)
            reason = _reason(tree, loop, ops)
            if reason:
                self._tell(memory, reason)
                continue
            least = LEAST_BYTES if writers_apart(tree, ops) else 1
            copies = self._copies(memory, *self._needed(function, tree, present(loop), ops), least)
            if copies > 1:
                found.setdefault((present(loop), copies), []).append(name)
                _leave_to(tree, present(loop), name)
        return [
            Rotation(loop, tuple(names), copies, counted(tree.region_of(loop), loop, copies, "iteration_copy"))
            for (loop, copies), names in found.items()
        ]

    def _tell(self, memory: MemoryObject, reason: str) -> None:
        asked = dict(memory.attrs).get(Attr.PRIVATE_COPIES, 0)
        if asked > 1 and self.warn is not None:
            self.warn(
                Diagnostic(
                    f"private_copies({asked}) of '{memory.name}' has no effect",
                    memory.asked_at(Attr.PRIVATE_COPIES),
                    reason,
                    "warning",
                    code=Code.ATTRIBUTE_NO_EFFECT,
                )
            )

    def _copies(self, memory: MemoryObject, needed: int, room: int, least: int) -> int:
        """The number of copies of a memory, each counted as ``least`` bytes or more: at most those needed, in ``room``
        bytes; two copies may use the room for large arrays as well."""
        attrs = dict(memory.attrs)
        most = min(
            (attrs[name] for name in (Attr.MAX_PRIVATE_COPIES, Attr.MAX_CONCURRENCY) if attrs.get(name)),
            default=MOST_COPIES,
        )
        asked, most = attrs.get(Attr.PRIVATE_COPIES, 0), 1 << most.bit_length() - 1
        if asked:
            copies = min(power_of_two(asked), most)
            if copies < asked and self.warn is not None:
                self.warn(
                    Diagnostic(
                        f"private_copies({asked}) of '{memory.name}' is treated as {copies}",
                        memory.asked_at(Attr.PRIVATE_COPIES),
                        f"{MOST_COPIES} are the most, and no more than max_private_copies or max_concurrency allow",
                        "warning",
                        code=Code.ATTRIBUTE_NO_EFFECT,
                    )
                )
            return copies
        size, needed = max(least, copy_stride(memory)), min(power_of_two(needed), most)
        return max(1, min(needed, room // size), min(needed, 2, self._large_room() // size))

    def _needed(self, function: Function, tree: LoopTree, loop: Op, ops: list[Op]) -> tuple[int, int]:
        """The number of copies that keep the loop busy, and the bytes available for them.

        For iterations: as many as are in flight between the begin of the first inner loop and the end of the last;
        inner loops execute one iteration of ``loop`` at a time.
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


def _accesses(function: Function) -> dict[str, list[Op]]:
    """The accesses to the written memories that belong to one work-item, by name."""
    found: dict[str, list[Op]] = {}
    spaces = ("private",) if function.attrs.get(Attr.NDRANGE) else ("private", "local")
    for op in walk(function.body):
        if reaches_memory(op) and function.memories[memory_name(op)].space in spaces:
            found.setdefault(memory_name(op), []).append(op)
    return {name: ops for name, ops in found.items() if any(op.opcode != "load" for op in ops)}


def _reason(tree: LoopTree, loop: Op | None, ops: list[Op]) -> str:
    """Why there are no copies; "" if there may be."""
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


def _leave_to(tree: LoopTree, loop: Op, name: str) -> None:
    """Remove the array from the private arrays of all other loops, so that only ``loop`` has copies of it."""
    for other in tree.loops:
        if other is not loop and name in other.attrs.get(Attr.OWN, ()):
            other.attrs[Attr.OWN] = tuple(mem for mem in other.attrs[Attr.OWN] if mem != name)


def _top_loop(tree: LoopTree, loop: Op, access: Op) -> Op | None:
    """The loop in the body of ``loop`` that contains the access; None if the access is in the body itself."""
    around = [each.op for each in tree.around(access)]
    inner = around[around.index(loop) + 1 :]
    return inner[0] if inner else None


def writers_apart(tree: LoopTree, ops: Iterable[Op]) -> bool:
    """Whether stores are in several loops, so that each copy has to be a memory with a port of its own."""
    return len({tree.region_of(op) for op in ops if op.opcode != "load"}) > 1
