"""Call skeletons: the channel calls of a kernel in program order, as far as it is known at compile time.

A :class:`CallSkeleton` contains what determines the next call: the calls, the loops around them, and nothing else. A
:class:`Player` executes it call by call; decisions that depend on arguments or data are taken as configured, and
recorded.
"""

from collections.abc import Collection, Iterable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from ...diag import Span
from ...ir import Attr, Function, Op, Region, Value, has, walk
from ...ir.rewrite import constant
from ...narrow import present
from ..induction.compiled_step import CompiledValues
from ..induction.trip_count import knowable, known, leaves
from .endpoints import end_of, passes_values

__all__ = ["Assumption", "CallSkeleton", "CallStep", "LoopStep", "Player"]

#: iterations in sequence without a call after which a player lets others run
IDLE = 16


@dataclass(frozen=True)
class Assumption:
    """Something at ``span`` that is not known at compile time: the trip count of a loop ("count"), or whether a call or
    a loop with calls executes at all ("condition"). ``skipped``: it was assumed not to execute; otherwise to execute, a
    loop without end."""

    kind: str
    span: Span | None
    skipped: bool


@dataclass(frozen=True, eq=False)
class CallStep:
    """One call. ``condition`` is None if it is unconditional."""

    op: Op
    place: tuple[str, int]  #: channel, index
    writes: bool
    blocking: bool
    condition: Value | None
    knowable: bool
    span: Span | None


@dataclass(frozen=True, eq=False)
class LoopStep:
    """One loop with calls. ``count``: its trip count if that is constant (attribute ``trip_count``). ``again``: the
    continue condition if it can be evaluated; with neither, the trip count is known at run time only. ``tracked`` are
    the carried values that influence a decision.

    ``endless``: the loop has no exit in the program.
    """

    op: Op
    steps: tuple["CallStep | LoopStep", ...]
    count: int | None
    endless: bool
    again: Value | None
    condition: Value | None
    knowable: bool
    tracked: tuple[int, ...]

    @property
    def span(self) -> Span | None:
        """The loop's place in the source, None if it has none."""
        return self.op.span

    @property
    def open(self) -> bool:
        """Whether the trip count is known at run time only."""
        return self.count is None and not self.endless and self.again is None


Steps = tuple[CallStep | LoopStep, ...]


class CallSkeleton:
    """The calls of a flat kernel. ``autorun``: it starts without a launch. ``barriers``: it has barriers, so that its
    calls are not in work-item order. ``loads_for``: of a memory part, the name of the compute part."""

    def __init__(self, function: Function) -> None:
        self.name, self.span = function.name, function.span
        self.autorun = bool(function.attrs.get(Attr.AUTORUN))
        self.loads_for: str | None = function.attrs.get(Attr.LOADS_FOR)
        self.barriers = any(op.opcode == "meet" for op in walk(function.body))
        self.steps = _steps(function.body, {})
        self._initial = {
            arg: init
            for op in walk(function.body)
            if op.opcode == "loop"
            for arg, init in zip(op.regions[0].args, op.operands[1:], strict=True)
        }

    def calls(self) -> Iterable[CallStep]:
        """All calls, in program order."""
        return _calls(self.steps)

    def only(self, channels: Collection[str]) -> "CallSkeleton":
        """The skeleton with the calls on these channels alone, and the loops around them."""
        found = copy(self)
        found.steps = _with_calls_on(self.steps, channels)
        return found

    def mirrors(self, other: "CallSkeleton") -> bool:
        """Whether the other one makes, in the same loops and the same order, the opposite call for each of these
        calls, and no others."""
        return _mirrored(self.steps, other.steps)

    def needs(self, source: tuple[str, int], target: tuple[str, int]) -> bool:
        """Whether the first value written to the channel ``target`` depends on a value read from ``source``."""
        return all(
            _needs_read(call.op, source, self._initial) for call in self.calls() if call.writes and call.place == target
        )


def _with_calls_on(steps: Steps, channels: Collection[str]) -> Steps:
    inside = (
        replace(one, steps=_with_calls_on(one.steps, channels)) if isinstance(one, LoopStep) else one for one in steps
    )
    return tuple(one for one in inside if (one.steps if isinstance(one, LoopStep) else one.place[0] in channels))


def _mirrored(some: Steps, others: Steps) -> bool:
    return len(some) == len(others) and all(_opposite(one, other) for one, other in zip(some, others, strict=True))


def _opposite(one: "CallStep | LoopStep", other: "CallStep | LoopStep") -> bool:
    if (one.condition is None) != (other.condition is None):
        return False
    if isinstance(one, LoopStep) and isinstance(other, LoopStep):
        return one.count == other.count and _mirrored(one.steps, other.steps)
    if not isinstance(one, CallStep) or not isinstance(other, CallStep):
        return False
    return one.place == other.place and one.writes != other.writes and one.blocking and other.blocking


def _needs_read(op: Op, source: tuple[str, int], initial: dict[Value, Value]) -> bool:
    """Whether an operation depends on a value of the channel in its first iteration, however far other operations run
    ahead; ``initial``: the carried values then."""
    seen, work = set(), list(op.operands)
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in initial:
            work.append(initial[value])
        elif value.op is not None and value.op.opcode == "channel_read" and value.op.attrs[Attr.BLOCKING]:
            end = end_of(value.op)
            if (end.channel, end.index) == source:
                return True
        elif value.op is not None and has(value.op, "pure"):
            work += value.op.operands
    return False


def _calls(steps) -> Iterable[CallStep]:
    for step in steps:
        if isinstance(step, LoopStep):
            yield from _calls(step.steps)
        else:
            yield step


def _steps(region: Region, args: dict[Value, bool]) -> tuple[CallStep | LoopStep, ...]:
    """``args``: which carried values of the enclosing loops may be known."""
    found = [_loop(op, args) if op.regions else _call(op, args) for op in region.ops if passes_values(op)]
    return tuple(step for step in found if step.condition is None or constant(step.condition) != 0)


def _condition(value: Value, args: dict[Value, bool]) -> tuple[Value | None, bool]:
    return (None, True) if constant(value) == 1 else (value, knowable(value, args))


def _call(op: Op, args: dict[Value, bool]) -> CallStep:
    end = end_of(op)
    return CallStep(
        op, (end.channel, end.index), end.writes, op.attrs[Attr.BLOCKING], *_condition(op.operands[1], args), op.span
    )


def _loop(op: Op, around: dict[Value, bool]) -> LoopStep:
    (body,) = op.regions
    args = around | _knowable_args(op, around)
    steps, condition = _steps(body, args), body.terminator.operands[0]
    count = op.attrs.get(Attr.TRIP_COUNT)
    endless = constant(condition) == 1
    again = condition if count is None and not endless and knowable(condition, args) else None
    return LoopStep(
        op, steps, count, endless, again, *_condition(op.operands[0], around), _tracked(body, steps, again, args)
    )


def _knowable_args(loop: Op, around: dict[Value, bool]) -> dict[Value, bool]:
    """Which carried values are known in every iteration, provided that those assumed to be known are."""
    (body,) = loop.regions
    found = {arg: knowable(init, around) for arg, init in zip(body.args, loop.operands[1:], strict=True)}
    while True:
        args = around | found
        lost = [
            arg
            for arg, possible in found.items()
            if possible and not knowable(body.terminator.operands[1 + arg.index], args)
        ]
        if not lost:
            return found
        found |= dict.fromkeys(lost, False)


def _decisions(steps) -> Iterable[Value]:
    """The values of a region that decide on its calls."""
    for step in steps:
        if step.condition is not None and step.knowable:
            yield step.condition
        if isinstance(step, LoopStep):
            yield from (step.op.operands[1 + k] for k in step.tracked)
            yield from _decisions(step.steps)


def _tracked(body: Region, steps, again: Value | None, args: dict[Value, bool]) -> tuple[int, ...]:
    """The carried values on which decisions inside depend, directly or through others."""
    work, found = [*_decisions(steps), *([again] if again is not None else [])], set()
    while work:
        for leaf in leaves(work.pop()):
            if leaf.owner is body and args[leaf] and leaf.index not in found:
                found.add(leaf.index)
                work.append(body.terminator.operands[1 + leaf.index])
    return tuple(sorted(found))


@dataclass(eq=False)
class _Frame:
    """A region in execution; ``left``: further iterations of its loop (None: not counted)."""

    steps: tuple
    loop: LoopStep | None
    numbers: dict
    entry: dict
    left: int | None = None
    at: int = 0


class Player:
    """Executes a skeleton. ``skip``: inner loops of unknown trip count are taken to have no iteration, else no end.
    Unknown conditions count as false inside loops, as true outside."""

    def __init__(self, script: CallSkeleton, skip: bool) -> None:
        self.script, self.skip = script, skip
        self.assumed: dict[tuple, Assumption] = {}
        self._frames = [_Frame(script.steps, None, {}, {})]
        self._compiled = CompiledValues()

    def call(self) -> CallStep | None:
        """The next call; None: there is none, or none was found for a while (see :attr:`ended`)."""
        idle = 0
        while self._frames and idle < IDLE:
            frame = self._frames[-1]
            if frame.at == len(frame.steps):
                idle += 1
                self._again(frame)
                continue
            step = frame.steps[frame.at]
            if not self._taken(step, frame):
                frame.at += 1
            elif isinstance(step, LoopStep):
                self._enter(step, frame)
            else:
                return step
        return None

    @property
    def ended(self) -> bool:
        """Whether the kernel has ended: no call is left."""
        return not self._frames

    def made(self) -> None:
        """Continue after the call."""
        self._frames[-1].at += 1

    def position(self) -> tuple:
        """The current position, without iteration counts."""
        return tuple(
            (
                f.at,
                *((id(f.loop), *(f.numbers[f.loop.op.regions[0].args[k]] for k in f.loop.tracked)) if f.loop else ()),
            )
            for f in self._frames
        )

    def counts(self) -> tuple[int | None, ...]:
        """The remaining iterations of the enclosing loops, outermost first."""
        return tuple(f.left for f in self._frames)

    def forward(self, counts: Iterable[int | None]) -> None:
        """Advance to the given numbers of remaining iterations."""
        for frame, left in zip(self._frames, counts, strict=True):
            frame.left = left

    def _taken(self, step, frame: _Frame) -> bool:
        truth = 1 if step.condition is None else self._known(step.condition, frame.numbers) if step.knowable else None
        if truth == 0:
            return False
        if isinstance(step, LoopStep) and step.open:
            return self._open(step)
        return truth is not None or self._assume("condition", step.span, len(self._frames) > 1)

    def _open(self, step: LoopStep) -> bool:
        """Whether to enter a loop whose trip count is known at run time only."""
        frames = self._frames
        if len(frames) == 1 and frames[0].at + 1 == len(frames[0].steps):
            return True  # whatever its trip count is, its calls are a prefix of those of an endless loop
        return self._assume("count", step.span, self.skip and len(frames) > 1)

    def _assume(self, kind: str, span: Span | None, skipped: bool) -> bool:
        if (kind, span) not in self.assumed:
            self.assumed[kind, span] = Assumption(kind, span, skipped)
        return not skipped

    def _enter(self, step: LoopStep, frame: _Frame) -> None:
        args, inits = step.op.regions[0].args, step.op.operands[1:]
        numbers = {args[k]: self._known(inits[k], frame.numbers) for k in step.tracked}
        left = step.count - 1 if step.count is not None else None
        self._frames.append(
            _Frame(step.steps, step, frame.numbers | numbers if numbers else frame.numbers, frame.numbers, left)
        )

    def _again(self, frame: _Frame) -> None:
        """Start the next iteration of the loop, or leave it."""
        if frame.loop is None or not self._continues(frame):
            self._frames.pop()
            if self._frames:
                self._frames[-1].at += 1
            return
        frame.at = 0
        if frame.left is not None:
            frame.left -= 1
        (body,) = frame.loop.op.regions
        nexts = body.terminator.operands
        following = {body.args[k]: self._known(nexts[1 + k], frame.numbers) for k in frame.loop.tracked}
        if following:
            frame.numbers = frame.entry | following

    def _continues(self, frame: _Frame) -> bool:
        if frame.left is not None:
            return frame.left > 0
        if present(frame.loop).again is None:
            return True
        truth = self._known(present(present(frame.loop).again), frame.numbers)
        if truth is not None:
            return bool(truth)
        return self._assume("count", present(frame.loop).span, self.skip and len(self._frames) > 2)

    def _known(self, value: Value, numbers: dict[Value, Any]) -> Any:
        """The number of a value in a frame, which has it from then on; None if it is unknown."""
        if value in numbers:
            return numbers[value]
        if not self._compiled.often(value):
            return known(value, numbers)
        numbers[value] = number = self._compiled(value, numbers)
        return number
