"""Fences of channels become tokens between calls."""

from dataclasses import dataclass

from ...analysis.channels.endpoints import is_call, passes_values
from ...ir import Attr, Function, Op, Region, Value, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .token_builder import all_of, carry, done_token, start_token

__all__ = ["CHANNELS", "LowerChannelFences", "is_channel_fence"]

CHANNELS = 4  #: the flag of a fence that concerns channels


def is_channel_fence(op: Op) -> bool:
    """Whether the operation is a fence for calls on channels."""
    return op.opcode == "mem_fence" and bool(op.attrs[Attr.FLAGS] & CHANNELS)


@dataclass(frozen=True)
class LowerChannelFences(FunctionPass):
    """Before: a flat kernel in which ``mem_fence`` keeps calls on channels apart. After: no such fence but those that
    concern memory, too; the calls before it are done when those behind it are made, by tokens.

    A loop with a fence inside counts as one itself, before and behind. Calls that lie before a fence also come before
    other calls of later iterations; where there are such, iterations wait for each other.
    """

    name = "lower-channel-fences"
    requires = frozenset({Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        if not any(is_channel_fence(op) for op in walk(function.body)):
            return function
        result = clone_function(function)
        _Fences(start_token(result.body)).region(result.body, None)
        _drop(result.body)
        return result


def _drop(region: Region):
    """What a fence says about memory is still to be done."""
    region.ops = [op for op in region.ops if not is_channel_fence(op) or op.attrs[Attr.FLAGS] != CHANNELS]
    for op in region.ops:
        for inner in op.regions:
            _drop(inner)


def _fenced(op: Op) -> bool:
    return is_channel_fence(op) or any(_fenced(inner) for region in op.regions for inner in region.ops)


class _Fences:
    def __init__(self, start: Value):
        self.start = start

    def region(self, region: Region, loop: Op | None) -> None:
        """Order the calls of a region and of the loops inside; ``loop`` holds it."""
        for op in list(region.ops):
            if op.regions and _fenced(op):
                self.region(op.regions[0], op)
        groups = _groups(region)
        behind = carry(loop, self.start) if _carries(loop) and _meets_itself(groups) else None
        last = behind
        for group, end in groups:
            for link in group:
                if last is not None:
                    self._follow(link, last)
            if end is not None and (group or last is not None):
                tokens = [self._done(link) for link in group] + [last] * (last is not None)
                last = all_of(region, end, tokens)
        if behind is not None:
            region.terminator.operands.append(last)

    def _follow(self, link: Op, token: Value):
        """Let a call, or all calls of a loop, come behind the token."""
        if is_call(link):
            link.operands.append(token)
            return
        start = carry(link, token)
        body = link.regions[0]
        body.terminator.operands.append(start)
        for inner in [op for op in body.ops if passes_values(op)]:
            self._follow(inner, start)

    def _done(self, link: Op) -> Value:
        if is_call(link):
            return done_token(link)
        body = link.regions[0]
        carry(link, self.start)
        inside = [self._done(op) for op in list(body.ops) if passes_values(op)]
        body.terminator.operands.append(all_of(body, body.terminator, inside))
        return link.results[-1]


def _carries(loop: Op | None) -> bool:
    """Whether a loop's iterations follow each other in one work-item by more than the values that they carry."""
    return loop is not None and loop.attrs.get(Attr.FORM) != "ndrange" and not loop.attrs.get(Attr.RING)


def _groups(region: Region) -> list[tuple[list[Op], Op | None]]:
    """Calls, and loops with calls, between fences; each with the operation behind the fence that ends them (None: no
    fence)."""
    groups: list[tuple[list[Op], Op | None]] = []
    group: list[Op] = []
    for k, op in enumerate(region.ops):
        if _fenced(op):
            groups.append((group, op))
            group = []
        if passes_values(op):
            group.append(op)
        if op.regions and _fenced(op):
            groups.append((group, region.ops[k + 1]))
            group = []
    return [*groups, (group, None)]


def _meets_itself(groups) -> bool:
    """Whether a call before a fence comes before another call of the next iteration that no fence of that keeps behind
    it."""
    first = groups[0][0]
    closed = [link for group, end in groups if end is not None for link in group]
    return any(a is not b for a in closed for b in (first or [link for group, _ in groups for link in group]))
