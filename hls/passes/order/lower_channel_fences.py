"""Channel fence lowering: fences between channel calls become tokens."""

from dataclasses import dataclass

from ...analysis.channels.endpoints import is_call, passes_values
from ...ir import Attr, Function, Op, Region, Value, walk
from ...ir.clone import clone_function
from ...narrow import present
from ..manager import Form, FunctionPass
from .token_builder import all_of, carry, done_token, start_token

__all__ = ["CHANNELS", "LowerChannelFences", "is_channel_fence"]

CHANNELS = 4  #: the fence flag for channels


def is_channel_fence(op: Op) -> bool:
    """Whether the operation is a fence for calls on channels."""
    return op.opcode == "mem_fence" and bool(op.attrs[Attr.FLAGS] & CHANNELS)


@dataclass(frozen=True)
class LowerChannelFences(FunctionPass):
    """Channel fence lowering. Before: a flat kernel in which ``mem_fence`` orders channel calls. After: only fences
    that also concern memory remain; tokens make calls after a fence wait until those before it are done.

    A loop with a fence inside also counts as a fence, before and after it. Calls before a fence also precede other
    calls of later iterations; if there are any, iterations wait for each other.
    """

    name = "lower-channel-fences"
    requires = frozenset({Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which tokens replace channel fences; the function itself if it has none."""
        if not any(is_channel_fence(op) for op in walk(function.body)):
            return function
        result = clone_function(function)
        _Fences(start_token(result.body)).region(result.body, None)
        _drop(result.body)
        return result


def _drop(region: Region) -> None:
    """Remove channel fences; what a fence says about memory is left to FenceOrder."""
    region.ops = [op for op in region.ops if not is_channel_fence(op) or op.attrs[Attr.FLAGS] != CHANNELS]
    for op in region.ops:
        for inner in op.regions:
            _drop(inner)


def _fenced(op: Op) -> bool:
    return is_channel_fence(op) or any(_fenced(inner) for region in op.regions for inner in region.ops)


class _Fences:
    def __init__(self, start: Value) -> None:
        self.start = start

    def region(self, region: Region, loop: Op | None) -> None:
        """Order the calls of a region and of the loops inside; ``loop`` contains it."""
        for op in list(region.ops):
            if op.regions and _fenced(op):
                self.region(op.regions[0], op)
        groups = _groups(region)
        behind = carry(present(loop), self.start) if _carries(loop) and _meets_itself(groups) else None
        last = None if behind is None else behind.arg
        for group, end in groups:
            for link in group:
                if last is not None:
                    self._follow(link, last)
            if end is not None and (group or last is not None):
                tokens = [self._done(link) for link in group] + ([] if last is None else [last])
                last = all_of(region, end, tokens)
        if behind is not None:
            behind.set_next(present(last))

    def _follow(self, link: Op, token: Value) -> None:
        """Make a call, or all calls of a loop, wait for the token."""
        if is_call(link):
            link.operands.append(token)
            return
        start = carry(link, token)
        start.set_next(start.arg)
        for inner in [op for op in link.regions[0].ops if passes_values(op)]:
            self._follow(inner, start.arg)

    def _done(self, link: Op) -> Value:
        if is_call(link):
            return done_token(link)
        body = link.regions[0]
        done = carry(link, self.start)
        inside = [self._done(op) for op in list(body.ops) if passes_values(op)]
        done.set_next(all_of(body, body.terminator, inside))
        return done.result


def _carries(loop: Op | None) -> bool:
    """Whether a loop's iterations belong to one work-item, so that calls of successive iterations need an order."""
    return loop is not None and loop.attrs.get(Attr.FORM) != "ndrange" and not loop.attrs.get(Attr.RING)


def _groups(region: Region) -> list[tuple[list[Op], Op | None]]:
    """The calls, and loops with calls, between fences; each group with the operation after the fence that ends it
    (None: no fence)."""
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
    """Whether a call before a fence must precede a different call of the next iteration that no fence of that iteration
    delays."""
    first = groups[0][0]
    closed = [link for group, end in groups if end is not None for link in group]
    return any(a is not b for a in closed for b in (first or [link for group, _ in groups for link in group]))
