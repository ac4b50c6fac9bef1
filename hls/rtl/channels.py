"""Channels as hardware: the calls of a kernel, its channel ends, and the connections between the ends of all
kernels."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from amaranth import C, Cat, Module, Mux, Signal, unsigned
from amaranth.hdl._ir import PortDirection  # exported by no public module of Amaranth 0.5
from amaranth.lib import stream

from rtl_lib.channel import ChannelBuffer, ChannelReader, ChannelWriter

from ..analysis.channels.endpoints import Endpoint, answers_at_once, channel_ends
from ..ir import Attr, Op, TokenType, Value
from ..narrow import present
from ..planning.memory import ChannelPlan
from .access import Request, Response
from .interface import stream_prefix

if TYPE_CHECKING:
    from .compute_units import UnitedKernel
    from .context import KernelContext
    from .kernel import KernelHardware
    from .level import LevelBuilder

__all__ = ["Call", "CallAtOnce", "ChannelWatch", "build_ends", "calls_at_once", "calls_of", "connect_channels"]


class Call:
    """A call on a channel as a variable-latency unit; ``in_turn``: it is one of several that are served in program
    order."""

    def __init__(self, op: Op, end: Endpoint, unit: Any, k: int) -> None:
        self.op, self.end, self.unit, self.k = op, end, unit, k
        self.in_turn = Attr.TURN in op.attrs

    def attach(self, context: "KernelContext") -> None:
        """Name the observable signals of the call."""
        context.observations.add("blocked", self.op, self._blocked())

    def _blocked(self):
        """Whether the call waits for the channel; one that does not block, for calls before it that do."""
        request, channel = self.unit.i[self.k], self.unit.channel
        held = request.valid & ~request.ready
        if not self.op.attrs[Attr.BLOCKING]:
            return held
        if self.end.writes:
            return held & request.payload.on & channel.valid & ~channel.ready
        return held & request.payload & channel.ready & ~channel.valid

    def request(self) -> Request:
        """The stream of this call, and a function of its payload: predicate and, for a write, the value."""
        _, pred, *value = self.op.operands[: 2 + self.end.writes]

        def fields(payload):
            on = payload.on if self.end.writes else payload
            return [(on, pred), *((payload.value, v) for v in value)]

        return self.unit.i[self.k], fields

    def response(self) -> Response:
        """The stream of answers, and a function of its payload: for a read the value, and whether there is one; for
        a write whether it was made."""

        def fields(payload):
            bits = [payload] if self.end.writes else [payload.value, payload.there]
            results = [r for r in self.op.results if not isinstance(r.type, TokenType)]
            return [(result, one, None) for result, one in zip(results, bits)]

        return self.unit.o[self.k], fields


class CallAtOnce:
    """A call that never waits, in a stage of a level: it accesses the channel in the cycle in which its token leaves
    that stage."""

    def __init__(self, context: "KernelContext", op: Op, end: Endpoint) -> None:
        self.op, self.end = op, end
        value = op.operands[2] if end.writes else op.results[0]
        self.channel = stream.Signature(context.values.width(value)).create(path=(context.names.op(op),))
        self._answers: dict[Value, Signal] = {}

    def place(self, context: "KernelContext", builder: "LevelBuilder", stage: int) -> dict[Value, Signal]:
        """Build the call into a level; returns the signals of its results, which are valid in the same stage."""
        if self._answers:
            return self._answers
        condition, m, channel = context.servers.condition(self.op), builder.m, self.channel
        on = C(1) if condition is None else builder.at(condition, stage)
        self._answers = {r: Signal(context.values.width(r), name=context.names.value(r)) for r in self.op.results}
        if self.end.writes:
            m.d.comb += [
                channel.valid.eq(builder.valid(stage) & on),
                channel.payload.eq(builder.at(self.op.operands[2], stage)),
            ]
            answers = [channel.ready & on]
        else:
            m.d.comb += channel.ready.eq(builder.valid(stage) & on)
            there = channel.valid & on
            answers = [Mux(there, channel.payload, 0), there]
        m.d.comb += [signal.eq(answer) for signal, answer in zip(self._answers.values(), answers, strict=True)]
        return self._answers


def calls_at_once(context: "KernelContext") -> dict[Op, CallAtOnce]:
    """The calls of a kernel that never wait."""
    return {
        op: CallAtOnce(context, op, end)
        for end, ops in channel_ends(context.function).items()
        for op in ops
        if answers_at_once(op)
    }


def calls_of(context: "KernelContext") -> dict[Op, Call]:
    """The calls of a kernel that wait, or are served in order, each with its unit and the calls it shares the order
    with."""
    found: dict[Op, Call] = {}
    for end, ops in channel_ends(context.function).items():
        for together in _together(context, ops):
            unit = _unit(context, end, together)
            found |= {op: Call(op, end, unit, k) for k, op in enumerate(together)}
    return found


def _together(context: "KernelContext", ops: list[Op]) -> list[list[Op]]:
    """The calls grouped by their regions, and by the barriers between them."""
    groups: dict[tuple, list[Op]] = {}
    for k, plan in enumerate((context.plan.top, *context.plan.loops.values())):
        for op in ops:
            if op in plan.place and not answers_at_once(op):
                groups.setdefault((k, op.attrs.get(Attr.PHASE, 0)), []).append(op)
    return [sorted(group, key=lambda op: op.attrs.get(Attr.TURN, 0)) for group in groups.values()]


def _unit(context: "KernelContext", end: Endpoint, ops: list[Op]):
    value = ops[0].operands[2] if end.writes else ops[0].results[0]
    blocking = tuple(op.attrs[Attr.BLOCKING] for op in ops)
    if end.writes:
        return ChannelWriter(context.values.width(value), blocking, tuple(bool(op.results) for op in ops))
    return ChannelReader(context.values.width(value), blocking)


def build_ends(context: "KernelContext") -> dict[Endpoint, stream.Interface]:
    """Put the units of all calls into the kernel's module; returns the stream of each of its channel ends.

    Units of different regions never work at the same time: memory tokens keep them in program order, and so do
    barriers. Those of calls whose values are sorted do, and are let in one after the other.
    """
    ends: dict[Endpoint, Any] = {}  # streams
    m = context.m
    for call in context.servers.channels.values():
        call.attach(context)
    _renew_loads(context)
    units = {call.unit: call for call in context.servers.channels.values()}
    free = {call.end for call in units.values() if call.op.attrs.get(Attr.SORTED)}
    for unit, call in units.items():
        m.submodules[f"{context.names.op(call.op)}_unit"] = unit
        ends.setdefault(call.end, []).append(unit.channel)
    for call in context.servers.at_once.values():
        ends.setdefault(call.end, []).append(call.channel)
    return {end: _merged(context, end, _in_turn(m, all) if end in free else all) for end, all in ends.items()}


def _in_turn(m: Module, streams: list[Any]) -> list[Any]:
    """Streams of which at most one is in use at a time: that of the last of these which has a value."""
    guarded, later = [], C(0)
    for one in reversed(streams):
        guarded.append(stream.Signature(one.payload.shape()).create())
        m.d.comb += [
            guarded[-1].valid.eq(one.valid & ~later),
            guarded[-1].payload.eq(one.payload),
            one.ready.eq(guarded[-1].ready & ~later),
        ]
        later = later | one.valid
    return guarded


def _renew_loads(context: "KernelContext") -> None:
    """A call followed by a fence invalidates the loads one cycle after it, when its response has reached its queue at
    most."""
    for call in context.servers.channels.values():
        request, made = call.unit.i[call.k], Signal(name=f"{context.names.op(call.op)}_renews")
        loads = [
            u.op
            for u in context.servers.reaching.values()
            if u.access.direction != "store" and u.access.memory in call.op.attrs.get(Attr.FLUSH, ())
        ]
        if loads:
            context.m.d.sync += made.eq(request.valid & request.ready)
        for load in loads:
            context.servers.flushes[load] = context.servers.flushes.get(load, 0) | made


def _merged(context: "KernelContext", end: Endpoint, streams):
    """Merges several streams of which at most one is in use into one stream."""
    m, shape = context.m, streams[0].payload.shape()
    name = f"{'write' if end.writes else 'read'}_{end.channel}_{end.index}"
    outer = stream.Signature(shape).create(path=(context.names.unique(name),))
    if end.writes:
        m.d.comb += [outer.valid.eq(Cat(s.valid for s in streams).any()), *(s.ready.eq(outer.ready) for s in streams)]
        for s in streams:
            with m.If(s.valid):
                m.d.comb += outer.payload.eq(s.payload)
        return outer
    m.d.comb += outer.ready.eq(Cat(s.ready for s in streams).any())
    m.d.comb += [signal for s in streams for signal in (s.valid.eq(outer.valid), s.payload.eq(outer.payload))]
    return outer


class ChannelWatch:
    """The observable signals of a channel: how many values it holds, and whether a call waits at either end."""

    def __init__(self, plan: ChannelPlan) -> None:
        name = f"{plan.channel}_{plan.index}"
        self.plan = plan
        self.level = Signal(range(plan.depth + 1), name=f"{name}_level")
        self.read_stall, self.write_stall = Signal(name=f"{name}_read_stall"), Signal(name=f"{name}_write_stall")


def connect_channels(
    m: Module, kernels: Sequence["KernelHardware | UnitedKernel"], watches: Iterable[ChannelWatch], signals: str = ""
) -> dict[str, Any]:
    """Connect the channel ends of all kernels, as built by :func:`build_ends`, through the planned channels. Returns
    the top-level ports, by name, of channels that lead to streams of the board; ``signals`` is in front of what their
    names end with."""
    ends = {end: outer for kernel in kernels for end, outer in kernel.ends.items()}
    ports: dict[str, Any] = {}  # signals, with their directions
    for watch in watches:
        plan = watch.plan
        buffer = ChannelBuffer(plan.bits, plan.depth)
        m.submodules[f"channel_{plan.channel}_{plan.index}"] = buffer
        if plan.stream is not None:
            outside, more = _board_side(plan, signals)
            ends[Endpoint(plan.channel, plan.index, plan.stream.direction == "in")] = outside
            ports |= more
        source, sink = (ends[Endpoint(plan.channel, plan.index, writes)] for writes in (True, False))
        m.d.comb += [
            buffer.i.valid.eq(source.valid),
            buffer.i.payload.eq(source.payload),
            source.ready.eq(buffer.i.ready),
            sink.valid.eq(buffer.o.valid),
            sink.payload.eq(buffer.o.payload),
            buffer.o.ready.eq(sink.ready),
            watch.level.eq(buffer.level),
            watch.read_stall.eq(sink.ready & ~sink.valid),
            watch.write_stall.eq(source.valid & ~source.ready),
        ]
    return ports


def _board_side(plan: ChannelPlan, signals: str):
    """The board's end of an I/O channel, and its top-level ports by name."""
    prefix = stream_prefix(present(plan.stream))
    outside = stream.Signature(unsigned(present(plan.stream).bits)).create(path=(prefix,))
    inward = present(plan.stream).direction == "in"
    driven = PortDirection.Input if inward else PortDirection.Output
    answered = PortDirection.Output if inward else PortDirection.Input
    return outside, {
        f"{prefix}_{signals}valid": (outside.valid, driven),
        f"{prefix}_{signals}data": (outside.payload, driven),
        f"{prefix}_{signals}ready": (outside.ready, answered),
    }
