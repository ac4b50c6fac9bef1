"""Channel ordering: calls on one end of a channel keep program order."""

from dataclasses import dataclass

from ...analysis.channels.endpoints import Endpoint, channel_ends, is_call
from ...analysis.loops.loop_tree import LoopTree
from ...ir import Attr, Function, InterleaveReason, Op, Region, Value, walk
from ...ir.clone import clone_function
from ...narrow import present
from ..manager import Form, FunctionPass
from .order_group_channels import OrderGroupChannels, has_meetings
from .token_builder import all_of, carry, done_token, start_token

__all__ = ["OrderChannelCalls"]


@dataclass(frozen=True)
class OrderChannelCalls(FunctionPass):
    """Channel ordering. Before: a flat kernel. After: calls on one end of a channel execute in program order, however
    scheduling divides the kernel into levels.

    The tokens of a region stay in order, so a single call keeps its order if the invocations of the loops around it
    do not interleave: these get the attribute ``interleave`` = False. Several calls of one region have the
    attribute ``turn``, their position in its order. If calls are in several regions, each region waits for the
    previous one by a token. With barriers, this holds for the calls between two barriers (see
    :mod:`hls.passes.order.order_group_channels`). Every call has its position in the program as attribute
    ``order``: a call that waits for another kernel must not be in an earlier level than a call before it, or the
    latter might never execute. Calls whose values are sorted keep no order, and take no turns: each has a ``phase``
    of its own. A non-blocking call that is alone on its end of a channel needs no ``turn``: it may execute as soon
    as its token arrives.
    """

    name = "order-channel-calls"
    requires = frozenset({Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """Raises CompileError for a channel that is not known at compile time, and for calls in kernels with barriers
        for which no order of the hardware is that of the program."""
        if not any(is_call(op) for op in walk(function.body)):
            return function
        result = clone_function(function)
        tree = LoopTree(result)
        ends = channel_ends(result)
        _set_free([ends.pop(end) for end in list(ends) if _is_sorted(ends[end])])
        phases = OrderGroupChannels(result, tree).all_phases(ends) if has_meetings(result) else {}
        for end, calls in ends.items():
            for call in calls:
                for loop in tree.around(call):
                    loop.op.attrs |= {Attr.INTERLEAVE: False, Attr.INTERLEAVE_REASON: InterleaveReason.CHANNEL_ORDER}
            for together in phases.get(end, [calls]):
                _take_turns(together, tree)
                if len({tree.region_of(call) for call in together}) > 1:
                    _Chain(result, set(together)).run()
        if not has_meetings(result):
            _mark_immediate(ends)
        for k, call in enumerate(op for op in walk(result.body) if is_call(op)):
            call.attrs[Attr.ORDER] = k
        return result


def _is_sorted(calls: list[Op]) -> bool:
    """Whether the values of an end are sorted by what they say."""
    return all(call.attrs.get(Attr.SORTED) for call in calls)


def _set_free(ends: list[list[Op]]) -> None:
    """Give each of the calls a unit of its own."""
    for calls in ends:
        for number, call in enumerate(calls):
            call.attrs[Attr.PHASE] = number


def _take_turns(calls: list[Op], tree: LoopTree) -> None:
    """Number the calls of each region that contains several."""
    regions: dict[Region, list[Op]] = {}
    for call in calls:
        regions.setdefault(tree.region_of(call), []).append(call)
    for together in regions.values():
        for turn, call in enumerate(together if len(together) > 1 else ()):
            call.attrs[Attr.TURN] = turn


def _mark_immediate(ends: dict[Endpoint, list[Op]]) -> None:
    """Mark calls that may execute immediately: non-blocking calls that are alone on their end, unless loads are
    invalidated after the call, which needs a unit that signals it."""
    for calls in ends.values():
        (first, *others) = calls
        if not others and not first.attrs[Attr.BLOCKING] and Attr.FLUSH not in first.attrs:
            first.attrs[Attr.AT_ONCE] = True


class _Chain:
    """Passes a token through the regions that contain any of the calls."""

    def __init__(self, function: Function, calls: set[Op]) -> None:
        self.function, self.calls = function, calls

    def run(self) -> None:
        body = self.function.body
        self._through(body, start_token(body), False)

    def _links(self, region: Region) -> list[Op]:
        """The calls of the region, and the loops that contain calls."""
        return [
            op for op in region.ops if op in self.calls or any(x in self.calls for r in op.regions for x in walk(r))
        ]

    def _through(self, region: Region, token: Value, needed: bool) -> Value | None:
        """Let the links of the region follow ``token``, and each other unless they keep their order anyway; returns the
        token after them if it is ``needed``."""
        links = self._links(region)
        if self._keep_order(links):
            done = [self._link(op, token, needed) for op in links]
            return all_of(region, region.terminator, list(map(present, done))) if needed else None
        last: Value | None = token
        for k, op in enumerate(links):
            last = self._link(op, present(last), needed or k + 1 < len(links))
        return last

    def _keep_order(self, links: list[Op]) -> bool:
        """Whether the links of one region need no tokens between them: calls are ordered by ``turn``, and a single loop
        is in order with itself."""
        return len(links) == 1 or all(op in self.calls for op in links)

    def _link(self, op: Op, token: Value, needed: bool) -> Value | None:
        if op not in self.calls:
            return self._loop(op, token, needed)
        op.operands.append(token)
        return done_token(op) if needed else None

    def _loop(self, loop: Op, token: Value, needed: bool) -> Value | None:
        """Let every invocation of the loop wait for the token."""
        (body,) = loop.regions
        start = carry(loop, token)
        if not self._keep_order(self._links(body)):
            start.set_next(present(self._through(body, start.arg, True)))
            return start.result
        start.set_next(start.arg)  # iterations need not wait for each other
        done = self._through(body, start.arg, needed)
        if not needed:
            return None
        end = carry(loop, token)
        end.set_next(present(done))
        return end.result
