"""Loads that can be served by a unit inside a loop's pipeline, which requests words ahead."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ...analysis.induction.bounded_step import multiple
from ...ir import Attr, Function, Op, is_access, loops_inside_out, memory_name, walk
from ..loops.mark_non_interleaved import MarkNonInterleaved
from .step_tree import leaves
from .stepping_index import SteppingIndex

__all__ = ["Streams", "take_turns"]

#: most loads of an iteration that a window may need in the place of one, each with a unit of its own
MOST_LOADS = 2


@dataclass(frozen=True)
class Streams:
    """Loads at a stepping index that read a stream: their addresses never fall, and an iteration moves them on by at
    most ``word_bytes``, the bytes of a word of memory."""

    word_bytes: int

    def suit(self, index: SteppingIndex) -> bool:
        """Whether all loads at the index read streams, the program chooses no unit for them, few loads make a window,
        and the loop has no access to a memory of the kernel."""
        memories, steps = index.clobbers.memories, list(leaves(index.steps))
        if max(map(abs, steps)) > MOST_LOADS * math.gcd(*steps):
            return False
        accesses = [op for op in walk(index.loop.regions[0]) if is_access(op)]
        if any(memories[memory_name(op)].onchip for op in accesses):
            return False
        return all(0 < self.moved(index, load) <= self.word_bytes for load, _, _ in index.loads())

    def moved(self, index: SteppingIndex, load: Op) -> int:
        """The bytes by which an iteration moves the address of a load at the index on at most; 0 if that is unknown, if
        the address may fall, or if the program chooses the load's unit."""
        found = multiple(load.operands[0], {index.index})
        if found is None or load.operands[0] in index.loaded or Attr.UNIT in load.attrs:
            return 0
        steps = [step * found[1] for step in leaves(index.steps)]
        return max(steps) if min(steps) >= 0 else 0


def take_turns(function: Function) -> Iterator[bool]:
    """For each loop in the order of ``loops_inside_out``, whether its invocations may take turns."""
    marked = MarkNonInterleaved().run(function)
    outermost = {op for op in marked.body.ops if op.opcode == "loop"}
    ndrange = bool(function.attrs.get(Attr.NDRANGE))
    for _, loop in loops_inside_out(marked.body):
        yield ndrange or loop not in outermost and loop.attrs.get(Attr.INTERLEAVE, True)
