"""Look-ahead transformation of loads at an index that depends on what they load."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...analysis.memory.clobbers import Clobbers
from ...analysis.timing import TimingModel, recurrences_of
from ...analysis.timing.model import UnplannedAccesses
from ...ir import PTR, Attr, Function, Op, Region, Value, is_access, loops_inside_out
from ...ir.clone import clone_function
from ...ir.rewrite import resolve
from ..manager import Form, FunctionPass
from ..scalar.common_subexpression_elimination import CommonSubexpressionElimination
from ..scalar.dead_code_elimination import DeadCodeElimination
from .carried_comparisons import carry_comparisons
from .element_window import CarriedElement, ElementWindow, load_early
from .retime_comparisons import RetimeComparisons
from .stepping_index import SteppingIndex, stepping_indices
from .streams import Streams, take_turns

__all__ = ["LookAheadLoads"]

#: most iterations that a load ahead may take; and if comparisons are made ahead, too
MOST_LATE, MOST_LATE_AHEAD = 6, 12
#: most operations that all places of a window compute
MOST_OPS = 160


@dataclass(frozen=True)
class LookAheadLoads(FunctionPass):
    """Look-ahead transformation of loads (Parhi and Messerschmitt 1989, for elements instead of states). Before: flat,
    without tokens. A loop moves an index on by one of a few constants, and which one depends on what it loads there:
    ``if (a[i] <= b[j]) out[k] = a[i++]; else out[k] = b[j++];``. So each iteration waits for the load of the one
    before. After: the loop carries the elements at the index and behind it, as far as an iteration can get, and loads
    those that come into the window some iterations before they are needed. Everything is carried that is computed from
    the index, the elements at it and values that do not change, up to where it meets others.

    Where a comparison of two elements and the choice of the next ones do not fit into a cycle, the loop carries the
    elements of all indices that an iteration may have next, and the outcomes of comparisons
    (:mod:`.carried_comparisons`).

    Loads ahead are early: what they read outside of a buffer is dropped. Nothing in the loop may write there. This is
    done where memory always answers after ``latency`` cycles (0: nowhere), if by ``timing`` the II falls (None: never).

    Where memory stalls, no window is as long as it takes to answer. But a unit that requests words ahead answers in
    ``stepping`` steps of the loop's pipeline (0: memory does not stall), if the addresses are a stream: they never
    fall, and move on by at most a word of ``word_bytes``. The loads of the window are marked for that unit (attribute
    ``stepping``). This is done where no other invocation of the loop could have its turn meanwhile, and not beside
    accesses to memories of the kernel, some of which could not stand still.
    """

    timing: TimingModel | None = None
    latency: int = 0
    stepping: int = 0
    word_bytes: int = 0
    name = "look-ahead-loads"
    requires = frozenset({Form.FLAT, Form.ACCESSES_LEGAL})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy with windows, in the innermost loops; the function itself if no loop gets faster."""
        if self.timing is None or not self.latency:
            return function
        own = frozenset(name for name, memory in function.memories.items() if memory.onchip)
        timing = self.timing.planned(_FixedLatency(own, self.timing.ram_latency, self.latency, self.stepping))
        streams = Streams(self.word_bytes) if self.stepping else None
        for number, turns in enumerate(take_turns(function)):
            if streams is None or not turns:
                function = _Loop(function, number, timing, streams).faster()
        return function


@dataclass(frozen=True)
class _FixedLatency(UnplannedAccesses):
    """Accesses of which those to global memory take ``latency`` cycles, or ``stepping`` in the pipeline of a loop."""

    latency: int = 1
    stepping: int = 0

    def fixed_latency(self, op: Op) -> int | None:
        own = super().fixed_latency(op)
        if own is not None or not is_access(op) or op.opcode != "load":
            return own
        return self.stepping if Attr.STEPPING in op.attrs else self.latency


@dataclass(frozen=True)
class _Loop:
    """One loop of a function: the one with this ``number`` in the order of ``loops_inside_out``."""

    function: Function
    number: int
    timing: TimingModel
    streams: Streams | None = None

    def faster(self) -> Function:
        """The function with a window in this loop, of the fewest places that give the least II; itself if none lowers
        it."""
        waiting = list(self._waiting(self.function))
        best, least = self.function, self._interval(self.function) if waiting else 1
        if least == 1:
            return self.function
        early = clone_function(self.function)
        load_early(early, list(self._waiting(early)))
        early = CommonSubexpressionElimination().run(early)
        begin = 0
        for ahead in (False, True):
            for late in range(begin, (MOST_LATE_AHEAD if ahead else MOST_LATE) + 1):
                found = self._with_window(early, late, ahead)
                if found is None or least == 1:
                    break
                interval = self._interval(RetimeComparisons(self.timing).run(found) if ahead else found)
                if interval < least:
                    best, least, begin = found, interval, late  # ahead, a shorter one would not gain more
        return best

    def _at(self, function: Function) -> tuple[Region, Op]:
        return list(loops_inside_out(function.body))[self.number]

    def _interval(self, function: Function) -> int:
        """The least II by the recurrences of the loop."""
        _, loop = self._at(function)
        each = recurrences_of(loop, self.timing)
        return max((one.least_interval(cycles) for one in each if (cycles := one.cycles()) > 1), default=1)

    def _waiting(self, function: Function) -> Iterator[SteppingIndex]:
        """The indices that depend on what is loaded at them."""
        _, loop = self._at(function)
        late = components(loop.regions[0])
        for index in stepping_indices(loop, Clobbers(function)):
            part = late.get(index.index)
            suits = self.streams is None or self.streams.suit(index)
            if suits and part is not None and any(late.get(v) == part for v in index.loaded):
                yield index

    def _with_window(self, early: Function, late: int, ahead: bool) -> Function | None:
        """A copy with windows whose loads may take ``late`` iterations more, and with comparisons made one iteration
        ``ahead``; None if they are too large."""
        result = clone_function(early)
        region, loop = self._at(result)
        windows = [ElementWindow(index, late, self.streams, ahead) for index in self._waiting(result)]
        if not windows or sum(each.size for each in windows) > MOST_OPS:
            return None
        values: dict[Value, CarriedElement] = {}
        for each in windows:
            values |= each.build(region)
        # an access has its own address, computed from carried values: only `addr` names a memory
        resolve(result.body, {value: element.now for value, element in values.items() if value.type != PTR})
        if ahead:
            carry_comparisons(region, loop, values.values())
        return DeadCodeElimination().run(CommonSubexpressionElimination().run(result))
