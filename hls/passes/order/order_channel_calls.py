"""Calls on one side of a channel keep the order of the program."""

from dataclasses import dataclass

from ...analysis.channels.endpoints import Endpoint, channel_ends, is_call
from ...analysis.loops.loop_tree import LoopTree
from ...ir import Attr, Function, Op, Region, Value, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .order_group_channels import OrderGroupChannels, has_meetings
from .token_builder import all_of, carry, done_token, start_token

__all__ = ["OrderChannelCalls"]


@dataclass(frozen=True)
class OrderChannelCalls(FunctionPass):
    """Before: a flat kernel. After: calls on one side of a channel happen in the order of the program, however the
    machine divides the kernel into levels.

    The tokens of a region keep their order, so one call keeps its own if the invocations of the loops around it do not
    mix: these get the attribute ``interleave`` = False. Several calls of one region take turns: they have the attribute
    ``turn``, their place among them. Where calls lie in several regions, each region waits for the one before by a
    token. Where work-items meet, this holds for the calls between two meetings (see
    :mod:`hls.passes.order.order_group_channels`). Every call has its place in the program as attribute ``order``: what
    waits for another kernel must not be in an earlier level than a call before it, or that one might never be made. A
    call that does not wait and is alone on its side of a channel needs no turn: it may be made where its token passes
    by.
    """

    name = "order-channel-calls"
    requires = frozenset({Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """Raises CompileError for a channel that is not known at compile time, and for calls of work-items that meet in
        which no order of the machine is the program's."""
        if not any(is_call(op) for op in walk(function.body)):
            return function
        result = clone_function(function)
        tree = LoopTree(result)
        ends = channel_ends(result)
        phases = OrderGroupChannels(result, tree).all_phases(ends) if has_meetings(result) else {}
        for end, calls in ends.items():
            for call in calls:
                for loop in tree.around(call):
                    loop.op.attrs |= {
                        Attr.INTERLEAVE: False,
                        Attr.INTERLEAVE_REASON: "channel calls execute in program order",
                    }
            for together in phases.get(end, [calls]):
                _take_turns(together, tree)
                if len({tree.region_of(call) for call in together}) > 1:
                    _Chain(result, set(together)).run()
        if not has_meetings(result):
            _mark_immediate(ends)
        for k, call in enumerate(op for op in walk(result.body) if is_call(op)):
            call.attrs[Attr.ORDER] = k
        return result


def _take_turns(calls: list[Op], tree: LoopTree):
    """Number the calls of a region that has more than one of them."""
    regions: dict[Region, list[Op]] = {}
    for call in calls:
        regions.setdefault(tree.region_of(call), []).append(call)
    for together in regions.values():
        for turn, call in enumerate(together if len(together) > 1 else ()):
            call.attrs[Attr.TURN] = turn


def _mark_immediate(ends: dict[Endpoint, list[Op]]):
    """Mark the calls that may be answered at once: but where loads forget what they hold behind a call, a call has a
    unit that tells."""
    for calls in ends.values():
        (first, *others) = calls
        if not others and not first.attrs[Attr.BLOCKING] and Attr.FLUSH not in first.attrs:
            first.attrs[Attr.AT_ONCE] = True


class _Chain:
    """Leads a token through the regions that hold any of the calls."""

    def __init__(self, function: Function, calls: set[Op]):
        self.function, self.calls = function, calls

    def run(self):
        body = self.function.body
        self._through(body, start_token(body), False)

    def _links(self, region: Region) -> list[Op]:
        """The calls of the region, and the loops with calls inside."""
        return [
            op for op in region.ops if op in self.calls or any(x in self.calls for r in op.regions for x in walk(r))
        ]

    def _through(self, region: Region, token: Value, needed: bool) -> Value | None:
        """Let the links of the region follow ``token``, and each other unless they keep their order anyway; returns the
        token behind them if it is ``needed``."""
        links = self._links(region)
        if self._keep_order(links):
            done = [self._link(op, token, needed) for op in links]
            return all_of(region, region.terminator, done) if needed else None
        for k, op in enumerate(links):
            token = self._link(op, token, needed or k + 1 < len(links))
        return token

    def _keep_order(self, links: list[Op]) -> bool:
        """Whether the links of one region need no tokens between them: calls take turns, and a single loop follows
        itself."""
        return len(links) == 1 or all(op in self.calls for op in links)

    def _link(self, op: Op, token: Value, needed: bool) -> Value | None:
        if op not in self.calls:
            return self._loop(op, token, needed)
        op.operands.append(token)
        return done_token(op) if needed else None

    def _loop(self, loop: Op, token: Value, needed: bool) -> Value | None:
        """Every invocation of the loop begins behind the token."""
        (body,) = loop.regions
        start = carry(loop, token)
        if not self._keep_order(self._links(body)):
            start.set_next(self._through(body, start.arg, True))
            return start.result
        start.set_next(start.arg)  # iterations need not wait for each other
        done = self._through(body, start.arg, needed)
        if not needed:
            return None
        end = carry(loop, token)
        end.set_next(done)
        return end.result
