"""Loops that count up to a bound, and copies of them for a share of the iterations."""

from collections.abc import Collection
from dataclasses import dataclass

from ...analysis.loops.loop_tree import step_of
from ...analysis.predicates.implication import implied
from ...ir import BOOL, I32, I64, Attr, Builder, Function, IntType, Op, Region, Value, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ...ir.values import signed
from ..loops.loop_invariant_code_motion import take_invariants
from .carried_reductions import Reduction, reduction

__all__ = ["DividedLoop", "Undivided", "divided_loop", "with_steps_ahead"]

#: widths of types whose numbers an int holds as well
_NARROW_TYPES = (8, 16)
#: comparisons of a counter with its bound, and whether the bound belongs to the iterations
_TESTS = {"slt": False, "sle": True, "ult": False, "ule": True, "ne": False}


@dataclass(frozen=True)
class Undivided:
    """Why the iterations of a loop cannot be shared: the end of a sentence about its kernel, and what to do ("":
    nothing in particular)."""

    reason: str
    hint: str = ""


@dataclass(frozen=True)
class DividedLoop:
    """A loop that runs while carried value number ``counter``, which grows by ``step`` in each iteration, stays below
    ``bound`` (with ``closed``: does not exceed it). With ``extended``, it is an unsigned number of fewer bits than the
    bound, which may be ``signed``. The other carried values grow by ``steps``, which the loop does not
    change, or accumulate a reduction."""

    loop: Op
    counter: int
    step: int
    bound: Value
    closed: bool
    signed: bool
    extended: bool
    steps: tuple[Value | int | Reduction, ...]

    @property
    def trips(self) -> int | None:
        """The iterations of the whole loop, if they are known."""
        start, bound = constant(self.loop.operands[1 + self.counter]), constant(self.bound)
        if start is None or bound is None:
            return None
        low, high = (signed(one, _bits(self.bound)) if self.signed else one for one in (start, bound))
        return max(0, -((low - high - self.closed) // self.step))

    def take(self, region: Region, number: int, count: int) -> None:
        """Let the loop, in ``region``, execute share ``number`` of ``count``: shares are contiguous, in order, and
        differ by one iteration at most. Reductions start from their neutral values in all shares but the first."""
        self.loop.attrs.pop(Attr.TRIP_COUNT, None)
        place, (body,) = region.ops.index(self.loop), self.loop.regions
        ahead = Region()
        b = Builder(ahead, self.loop.span)
        start = self._start(b)
        first, end = _ends_of_piece(b, _copy_number(b, number, count), _sizes(b, self._trips(b, start), count))
        self.loop.operands[0] = b.value("and", self.loop.operands[0], b.value("ult", first, end))
        for k, value in self._accumulated(b, number > 0).items():
            self.loop.operands[1 + k] = value
        self._advance(b, first)
        self._stop_at(body, self._advanced(b, self._narrow(b, start, body.args[self.counter]), self.step, end))
        region.ops[place:place] = ahead.ops

    def deal(self, region: Region, number: int, count: int, rounds: int) -> None:
        """Let the loop, in ``region``, execute ``rounds`` pieces of the iterations, one after the other, in a loop
        around it: there are ``rounds * count`` pieces in all, contiguous and in order, which differ by one iteration at
        most. In the first round share ``number`` is the piece of that number, in the next one that of this number from
        the end, and so on in turns. Reductions go on from piece to piece, and start as in :meth:`take`."""
        self.loop.attrs.pop(Attr.TRIP_COUNT, None)
        place, pieces = region.ops.index(self.loop), rounds * count
        region.ops, behind = region.ops[:place], region.ops[place + 1 :]
        b = Builder(region, self.loop.span)
        start = self._start(b)
        sizes = _sizes(b, self._trips(b, start), pieces)
        begin = self._narrow(b, start, self.loop.regions[0].args[self.counter])
        carried = self._accumulated(b, number > 0)
        inits, body = [b.const(0, I32), *carried.values()], Region()
        body.args = [Value(one.type, "", body, k) for k, one in enumerate(inits)]
        for arg, k in zip(body.args[1:], carried, strict=True):
            arg.name, self.loop.operands[1 + k] = self.loop.regions[0].args[k].name, arg
        enters = self.loop.operands[0]
        self._piece(body, number, count, sizes, begin)
        inside = Builder(body, self.loop.span)
        following = inside.value("add", body.args[0], inside.const(1, I32))
        again, results = inside.value("ult", following, inside.const(rounds, I32)), self.loop.results
        inside.op("yield", again, following, *(results[k] for k in carried))
        attrs = {Attr.LABEL: "pieces", Attr.FORM: "for", Attr.UNROLL: 1, Attr.TRIP_COUNT: rounds}
        types = [arg.type for arg in body.args]
        around = b.op("loop", enters, *inits, results=types, regions=[body], attrs=attrs)
        ends = {results[k]: value for k, value in zip(carried, around.results[1:], strict=True)}
        for op in (one for each in behind for one in (each, *(inner for r in each.regions for inner in walk(r)))):
            op.operands = [ends.get(value, value) for value in op.operands]
        region.ops += behind

    def _accumulated(self, b: Builder, anew: bool) -> dict[int, Value]:
        """What the reductions start from, by the number of the carried value; ``anew``: from their neutral values."""
        inits = self.loop.operands[1:]
        return {
            k: step.neutral(b, inits[k].type) if anew else inits[k]
            for k, step in enumerate(self.steps)
            if isinstance(step, Reduction)
        }

    def _piece(self, body: Region, number: int, count: int, sizes: tuple[Value, Value], begin: Value) -> None:
        """Let the loop, which is put into ``body``, execute the piece of a round, whose number is the first argument.
        ``sizes`` are those of the pieces; the counter of all iterations starts from ``begin``."""
        b = Builder(body, self.loop.span)
        turn = body.args[0]
        odd = b.value("trunc", turn, result=BOOL)
        mine = _copy_number(b, number, count)
        offset = b.value("select", odd, b.value("sub", b.const(count - 1, I32), mine), mine)
        first, end = _ends_of_piece(b, b.value("add", b.value("mul", turn, b.const(count, I32)), offset), sizes)
        self.loop.operands[0] = b.value("ult", first, end)
        self._advance(b, first)
        self._stop_at(self.loop.regions[0], self._advanced(b, begin, self.step, end))
        body.ops.append(self.loop)

    def _advance(self, b: Builder, first: Value) -> None:
        """Let the loop begin with iteration number ``first`` (32 bits), reductions apart."""
        for k, step in enumerate(self.steps):
            if not isinstance(step, Reduction):
                self.loop.operands[1 + k] = self._advanced(b, self.loop.operands[1 + k], step, first)

    def ends(self, region: Region, wanted: Collection[int]) -> dict[int, Value]:
        """What these carried values are after all iterations; computed before the loop, which is in ``region``. They
        are no reductions."""
        if not wanted:
            return {}
        ahead = Region()
        b = Builder(ahead, self.loop.span)
        trips = self._trips(b, self._start(b))
        runs, found = self.loop.operands[0], dict[int, Value]()
        for k in wanted:
            init, step = self.loop.operands[1 + k], self.steps[k]
            assert not isinstance(step, Reduction)
            found[k] = b.value("select", runs, self._advanced(b, init, step, trips), init)
        place = region.ops.index(self.loop)
        region.ops[place:place] = ahead.ops
        return found

    def _stop_at(self, body: Region, stop: Value) -> None:
        """Let the loop end where the counter reaches a value, which it meets. The test is a new operation: others may
        use the old one."""
        end = body.terminator
        kept, body.ops = body.ops, []
        is_signed = self.signed and not self.extended
        again = Builder(body, end.span).value("slt" if is_signed else "ult", end.operands[1 + self.counter], stop)
        test = body.ops
        body.ops = [*(op for op in kept if op is not end), *test, end]
        end.operands[0] = again

    def _trips(self, b: Builder, start: Value) -> Value:
        """The iterations of the whole loop, in 32 bits, where it runs at all."""
        number = constant(self.bound)
        bound = self.bound if number is None else b.const(number, self.bound.type)  # its constant may be in the loop
        ahead = b.value("sub", self._wide(b, bound, self.signed), start)
        before = b.value("trunc", ahead if self.closed else b.value("sub", ahead, b.const(1, I64)), result=I32)
        if self.step > 1:
            before = b.value("udiv", before, b.const(self.step, I32))
        return b.value("add", before, b.const(1, I32))

    def _advanced(self, b: Builder, init: Value, step: Value | int, trips: Value) -> Value:
        """What a carried value is after so many iterations (32 bits)."""
        bits = _bits(init)
        times = b.value("zext" if bits > 32 else "trunc", trips, result=init.type) if bits != 32 else trips
        by = b.const(step, init.type) if isinstance(step, int) else step
        return b.value("add", init, b.value("mul", times, by))

    def _start(self, b: Builder) -> Value:
        """The first value of the counter, in 64 bits."""
        return self._wide(b, self.loop.operands[1 + self.counter], self.signed and not self.extended)

    def _wide(self, b: Builder, value: Value, is_signed: bool) -> Value:
        return b.value("sext" if is_signed else "zext", value, result=I64) if _bits(value) < 64 else value

    def _narrow(self, b: Builder, value: Value, like: Value) -> Value:
        return b.value("trunc", value, result=like.type) if _bits(like) < 64 else value


def _copy_number(b: Builder, number: int, count: int) -> Value:
    """The number of a copy among so many, in 32 bits: an operation that passes do not evaluate, of which they know the
    bits only. So the copies stay alike, and one plan serves several of them (``hls/planning/replicas.py``)."""
    bits = (count - 1).bit_length()
    return b.value("zext", b.value("copy_number", result=IntType(bits), attrs={Attr.VALUE: number}), result=I32)


def _sizes(b: Builder, trips: Value, pieces: int) -> tuple[Value, Value]:
    """(the least number of iterations of a piece, how many pieces have one more), in 32 bits."""
    least = b.value("udiv", trips, b.const(pieces, I32))
    return least, b.value("sub", trips, b.value("mul", least, b.const(pieces, I32)))


def _ends_of_piece(b: Builder, piece: Value, sizes: tuple[Value, Value]) -> tuple[Value, Value]:
    """The first iteration of a piece, and the one behind its last, in 32 bits."""
    least, rest = sizes
    longer = b.value("ult", piece, rest)
    first = b.value("add", b.value("mul", piece, least), b.value("select", longer, piece, rest))
    return first, b.value("add", b.value("add", first, least), b.value("zext", longer, result=I32))


def with_steps_ahead(function: Function) -> Function:
    """A copy of a kernel in which what its outermost loops add to carried values, and compare their counters with, is
    computed before them where they do not change it: narrowing leaves casts of it in their bodies."""
    result = clone_function(function)
    before, result.body.ops = result.body.ops, []
    for op in before:
        if op.opcode == "loop":
            (body,) = op.regions
            users = (value.op for value in body.terminator.operands)
            used = (v for user in users if user and user.opcode in ("add", *_TESTS) for v in user.operands)
            result.body.ops += take_invariants(body, {v for v in used if constant(v) is None})
        result.body.ops.append(op)
    return result


def divided_loop(loop: Op, floats: bool = False) -> DividedLoop | Undivided:
    """The loop as one whose iterations can be shared, or why it is none. With ``floats``, sums of floats may be
    accumulated in any order."""
    (body,) = loop.regions
    where = f"its loop over {loop.attrs[Attr.LABEL]}" if loop.attrs.get(Attr.LABEL) else "its loop"
    again = body.terminator.operands[0].op
    if again is None or again.opcode not in _TESTS:
        return _uncounted(body, where)
    compared, bound = again.operands
    after = _before_extension(compared) if _TESTS.get(again.opcode) is not None else compared
    inside = {op for op in walk(body)}
    counter = next((k for k, one in enumerate(body.terminator.operands[1:]) if one is after), None)
    if counter is None or bound.op in inside and constant(bound) is None or bound in body.args or _bits(compared) > 32:
        return _uncounted(body, where)
    step = step_of(body.args[counter], after)
    if step is None or step < 1:
        return Undivided(f"{where} does not count upwards by a constant")
    if again.opcode == "ne" and not _meets(loop.operands[1 + counter], bound, step):
        return Undivided(f"{where} does not count upwards to its bound")
    is_signed, closed = again.opcode in ("slt", "sle"), _TESTS[again.opcode]
    if after is not compared and not _holds(_bits(after), _bits(bound), step + closed, is_signed):
        return _uncounted(body, where)
    if not _enters(loop, loop.operands[1 + counter], bound, again.opcode, is_signed):
        return Undivided(f"{where} may run once although its bound is reached", "write it as a `for` loop")
    steps: list[Value | int | Reduction] = []
    for k, (arg, following) in enumerate(zip(body.args, body.terminator.operands[1:], strict=True)):
        steady = _step(arg, following, body, inside)
        found = reduction(loop, k, floats) if steady is None else steady
        if found is None:
            return Undivided(f"{where} carries {arg.name or 'a value'} from one iteration to the next")
        steps.append(found)
    return DividedLoop(loop, counter, step, bound, closed, is_signed, after is not compared, tuple(steps))


def _uncounted(body: Region, where: str) -> Undivided:
    """Why the condition of a loop does not compare its counter with a bound."""
    again, following = body.terminator.operands[0].op, body.terminator.operands[1:]
    for compared in again.operands if again is not None else ():
        # a condition may compare the counter before its step, after it, extended, or without the bits that are 0
        narrow = _before_extension(compared)
        narrow = narrow.op.operands[0] if narrow.op is not None and narrow.op.opcode == "trunc" else narrow
        for arg, after in zip(body.args, following, strict=True):
            step = step_of(arg, after) if narrow in (arg, after) and isinstance(arg.type, IntType) else None
            if step is None or step == 0:
                continue
            if step < 0:
                return Undivided(f"{where} counts down", "count upwards, from the least value to a bound")
            if _bits(compared) > 32:
                return Undivided(f"{where} counts in more than 32 bits", "count in 32 bits, with an int or a uint")
            if narrow is not compared and _bits(arg) in _NARROW_TYPES:
                return Undivided(
                    f"{where} counts in {_bits(arg)} bits, and begins anew where these do not hold its bound",
                    "count with an int or a uint",
                )
    return Undivided(f"{where} may end early, or not at a bound that is known before")


def _before_extension(value: Value) -> Value:
    return value.op.operands[0] if value.op is not None and value.op.opcode == "zext" else value


def _holds(bits: int, of_bound: int, step: int, is_signed: bool) -> bool:
    """Whether an unsigned number of so many bits gets past every bound, by steps from below it."""
    return (1 << of_bound - is_signed) - 1 + step - 1 < 1 << bits


def _meets(init: Value, bound: Value, step: int) -> bool:
    """Whether a counter that goes on until it equals its bound, both unsigned numbers, gets there without a wrap."""
    start, end = constant(init), constant(bound)
    return start is not None and end is not None and start < end and (end - start) % step == 0


def _enters(loop: Op, init: Value, bound: Value, test: str, is_signed: bool) -> bool:
    """Whether the first value of the counter passes the test wherever the loop runs."""
    start, end = constant(init), constant(bound)
    if start is not None and end is not None:
        bits = _bits(init)
        low, high = (signed(one, bits) if is_signed else one for one in (start, end))
        return low < high or _TESTS[test] and low == high
    if start == 0 and test == "ule":
        return True
    return any(
        truth and fact.op is not None and fact.op.opcode == test and _same(fact.op.operands, [init, bound])
        for fact, truth in implied(loop.operands[0]).items()
    )


def _same(some: list[Value], others: list[Value]) -> bool:
    return all(
        a is b or constant(a) is not None and constant(a) == constant(b) for a, b in zip(some, others, strict=True)
    )


def _step(arg: Value, following: Value, body: Region, inside: set[Op]) -> Value | int | None:
    """By what a carried value grows in each iteration, if that is the same in all."""
    if not isinstance(arg.type, IntType):
        return None
    number = step_of(arg, following)
    if number is not None:
        return number
    op = following.op
    if op is None or op.opcode != "add" or arg not in op.operands:
        return None
    by = op.operands[1] if op.operands[0] is arg else op.operands[0]
    return None if by.op in inside or by in body.args else by


def _bits(value: Value) -> int:
    return value.type.bits if isinstance(value.type, IntType) else 0
