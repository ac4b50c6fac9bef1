"""Observes runs of a kernel, and checks the results of an analysis against them.

Every integer value is printed as it is computed, by operations added to a copy of the kernel, and the interpreter
reports accesses and loops. A run that fails counts up to the failure. A result that contradicts a run is a fault of the
analysis, whatever its golden file says.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from hls.analysis.affine.affine import AffineForms
from hls.analysis.bits.known_bits import TrailingZeros
from hls.analysis.bits.possible_values import PossibleValues
from hls.analysis.bits.ranges import ranges
from hls.analysis.dependence.dependence import Dependence, dependences
from hls.analysis.induction.bounded_step import pace
from hls.analysis.induction.counted import trips_of_counter
from hls.analysis.induction.monotonic import MonotonicAccess
from hls.analysis.induction.periodic import PeriodicSequences
from hls.analysis.induction.state_space import most_iterations
from hls.analysis.induction.trip_count import count_trips
from hls.analysis.loops.loop_tree import LoopTree
from hls.analysis.predicates.facts import Facts
from hls.analysis.predicates.implication import implied, never_both
from hls.analysis.predicates.value_sets import ValueSets
from hls.ir import BOOL, Function, IntType, Module, Op, Region, Value, memory_name, moved_type, walk
from hls.ir.clone import clone_function
from hls.ir.values import signed
from tests.ir.meaning import watched_runs
from tests.ir.names import Names, address_bits

__all__ = ["contradiction"]


@dataclass(frozen=True)
class Access:
    """One access that took place: the bytes from ``offset`` on, in these iterations of the loops around."""

    op: Op
    offset: int
    iterations: tuple[tuple[Op, int], ...]

    def meets(self, other: "Access") -> bool:
        """Whether both touch a byte."""
        return (
            self.offset < other.offset + moved_type(other.op).bytes
            and other.offset < self.offset + moved_type(self.op).bytes
        )


@dataclass
class Trace:
    """What one run did: the values that each value had, in order; accesses, in order; iterations of each run of a loop
    that ended."""

    values: dict[Value, list[int]] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    iterations: dict[Op, list[int]] = field(default_factory=dict)


class _Watcher:
    """Gathers a trace of the copy, in terms of the original."""

    def __init__(self, original: dict[Op, Op]):
        self.original, self.trace = original, Trace()
        self.around: list[list] = []

    def access(self, op: Op, offset: int | None) -> None:
        if offset is not None and op.opcode in ("load", "store"):
            iterations = tuple((loop, count - 1) for loop, count in self.around)
            self.trace.accesses.append(Access(self.original[op], offset, iterations))

    def enter(self, op: Op, on: bool) -> None:
        self.around.append([self.original[op], 0])

    def iterate(self, op: Op) -> None:
        self.around[-1][1] += 1

    def leave(self, op: Op) -> None:
        loop, count = self.around.pop()
        if count:
            self.trace.iterations.setdefault(loop, []).append(count)


def traces(function: Function, plan: str) -> list[Trace]:
    """Traces of several runs."""
    copy = clone_function(function)
    original = dict(zip(walk(copy.body), walk(function.body), strict=True))
    values = Names(function).values()
    numbers = {one: k for k, one in enumerate(Names(copy).values())}
    _print_values(copy, numbers)
    found = []
    for watcher, printed in watched_runs(Module({copy.name: copy}), plan, lambda: _Watcher(original)):
        for line in printed.splitlines():
            number, value = line.split()
            watcher.trace.values.setdefault(values[int(number)], []).append(int(value))
        found.append(watcher.trace)
    return found


def _print_values(function: Function, numbers: dict[Value, int]) -> None:
    always = Op("const", [], attrs={"value": 1})
    always.results = [Value(BOOL, "", always, 0)]
    _print_region(function.body, always.result, numbers)
    for value in reversed(function.args):
        function.body.ops[:0] = _print(value, always.result, numbers)
    function.body.ops.insert(0, always)


def _print_region(region: Region, always: Value, numbers: dict[Value, int]) -> None:
    ops = [each for value in region.args for each in _print(value, always, numbers)]
    for op in region.ops:
        ops.append(op)
        for inner in op.regions:
            _print_region(inner, always, numbers)
        ops += [each for value in op.results for each in _print(value, always, numbers)]
    region.ops[:] = ops


def _print(value: Value, always: Value, numbers: dict[Value, int]) -> list[Op]:
    if not isinstance(value.type, IntType):
        return []
    return [Op("printf", [always, value], attrs={"format": f"{numbers[value]} %u\n"})]


Check = Callable[[Function, Trace, Names], Iterator[str]]


def contradiction(name: str, function: Function, plan: str) -> str | None:
    """What a run did that the analysis rules out; None where every run agrees, or nothing of it can be observed."""
    check = CHECKS.get(name)
    if check is None:
        return None
    names, seen = Names(function), traces(function, plan)
    if not any(trace.values for trace in seen):
        return "no run computes anything: say with '; run:' what it needs"
    return next((wrong for trace in seen for wrong in check(function, trace, names)), None)


def _ranges(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    for value, known in ranges(function).items():
        for number in trace.values.get(value, ()):
            reading = signed(number, value.type.bits)
            if not (known.umin <= number <= known.umax and known.smin <= reading <= known.smax):
                yield f"{names(value)} is {number}"


def _zeros(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    zeros = TrailingZeros(function)
    for value, numbers in trace.values.items():
        yield from (f"{names(value)} is {number}" for number in numbers if number % (1 << zeros.of(value)))


def _possible(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    possible = PossibleValues(function)
    for value, numbers in trace.values.items():
        if (found := possible.of(value)) is not None:
            yield from (f"{names(value)} is {number}" for number in numbers if number not in found)


def _affine(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    for access in trace.accesses:
        form = forms.offset(access.op)
        low, high = forms.bounds(form)
        if not low <= access.offset <= high:
            yield f"{names.op(access.op)} is at byte {access.offset}"
        counters = {loop: count for loop, count in access.iterations}
        if not any(True for _ in form.symbols()):
            at = form.const + sum(factor * counters[loop.op] for loop, factor in form.terms.items())
            if at != access.offset:
                yield f"{names.op(access.op)} is at byte {access.offset}, not {at}"


def _trips(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    for loop, counts in trace.iterations.items():
        found = count_trips(loop)
        for count in counts if found is not None else ():
            if count > found.count or (found.exact and count != found.count):
                yield f"{names.loop(loop)} has {count} iterations"


def _implications(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    conditions = [value for value in trace.values if value.type == BOOL and value.op is not None]
    for one in conditions:
        for other, truth in implied(one).items():
            yield from _both(trace, one, other, truth, names)
        for other in conditions:
            if never_both(one, other):
                yield from _both(trace, one, other, False, names)


def _facts(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    conditions, sets = [value for value in trace.values if value.type == BOOL and value.op is not None], ValueSets()
    for one in conditions:
        known = Facts(sets).where(one)
        for other in conditions:
            if (truth := known.decided(other)) is not None:
                yield from _both(trace, one, other, truth, names)


def _both(trace: Trace, one: Value, other: Value, truth: bool, names: Names) -> Iterator[str]:
    """Values that were computed equally often stand in one region, so they come in pairs."""
    first, second = trace.values.get(one, []), trace.values.get(other, [])
    if len(first) == len(second) and any(a and b != truth for a, b in zip(first, second)):
        yield f"{names(one)} is true, and {names(other)} is {not truth}"


def _counted(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    for loop, counts in trace.iterations.items():
        body = loop.regions[0]
        for k in range(len(body.args)):
            found = trips_of_counter(loop, body.terminator.operands[0], k)
            if found is not None and set(counts) != {found}:
                yield f"{names.loop(loop)} has {counts} iterations"


def _states(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    for loop, counts in trace.iterations.items():
        found = most_iterations(loop)
        if found is not None and max(counts) > found:
            yield f"{names.loop(loop)} has {max(counts)} iterations"


def _once_entered(function: Function) -> list[Op]:
    """Loops of which a run has one invocation at most, so that values come in the order of its iterations."""
    return [op for op in function.body.ops if op.opcode == "loop"]


def _paces(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    known, tree = ranges(function), LoopTree(function)
    for op in _once_entered(function):
        for arg in op.regions[0].args:
            found = pace(arg, tree.around(op.regions[0].terminator)[-1], known)
            numbers = [signed(number, arg.type.bits) for number in trace.values.get(arg, ())]
            for one, other in pairwise(numbers) if found is not None else ():
                if not found[0] <= other - one <= found[1]:
                    yield f"{names(arg)} goes from {one} to {other}"


def _periodic(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    tree = LoopTree(function)
    sequences = PeriodicSequences(tree)
    once = set(_once_entered(function))
    for value, numbers in trace.values.items():
        found = sequences.of(value, False)
        if found is not None and found.loop.op in once:
            for t, number in enumerate(numbers):
                told = found.const + sum(d.factor * (t // d.divide % d.modulus) for d in found.digits)
                if told != number:
                    yield f"{names(value)} is {number} in iteration {t}"


def _meetings(trace: Trace) -> Iterator[tuple[Access, Access]]:
    """Accesses that touch one byte of one memory, one of which stores, the earlier one first."""
    by_memory: dict[str, list[Access]] = {}
    for access in trace.accesses:
        before = by_memory.setdefault(memory_name(access.op), [])
        for one in before[-300:]:
            if "store" in (one.op.opcode, access.op.opcode) and one.meets(access):
                yield one, access
        before.append(access)


def _dependences(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    facts = dependences(function, address_bits(function))
    for one, other in _meetings(trace):
        if not any(_covers(fact, one, other) for fact in facts):
            yield f"{names.op(other.op)} meets {names.op(one.op)} at byte {other.offset}, and no dependence says so"


def _covers(fact: Dependence, one: Access, other: Access) -> bool:
    if fact.src is not one.op or fact.dst is not other.op:
        return False
    for (loop, first), (also, second) in zip(one.iterations, other.iterations):
        if loop is not also:
            break
        if loop is fact.loop:
            return second - first >= fact.distance
        if first != second:
            return False
    return fact.loop is None


def _monotonic(function: Function, trace: Trace, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    growth = MonotonicAccess(forms)
    for one, other in _meetings(trace):
        parting = _parting(one, other)
        loop = next((each for each in forms.tree.around(one.op) if each.op is parting), None)
        if growth.apart(one.op, other.op, loop):
            yield f"{names.op(other.op)} meets {names.op(one.op)} at byte {other.offset}"


def _parting(one: Access, other: Access) -> Op | None:
    """The outermost loop around both in which they are in different iterations."""
    for (loop, first), (also, second) in zip(one.iterations, other.iterations):
        if loop is not also:
            return None
        if first != second:
            return loop
    return None


#: analyses whose answers runs can contradict
CHECKS: dict[str, Check] = {
    "ranges": _ranges,
    "known_bits": _zeros,
    "possible_values": _possible,
    "affine": _affine,
    "trip_count": _trips,
    "implication": _implications,
    "facts": _facts,
    "counted": _counted,
    "state_space": _states,
    "bounded_step": _paces,
    "periodic": _periodic,
    "dependence": _dependences,
    "monotonic": _monotonic,
}
