"""Side effects: barriers, atomic operations, copies by a group, channels, printf."""

from math import prod

from ..diag import Span
from ..ir import BOOL, I64, ArrayType, Attr, Region, Value
from ..ir.concurrent import NO_CHANNEL
from ..narrow import instance
from . import types as ct
from .layout import leaves, value_type
from .lower_memory import Address
from .lower_values import ValueLowering, lanes

__all__ = ["EffectLowering"]


class EffectLowering(ValueLowering):
    """Appends operations with side effects."""

    def _barrier(self, e) -> None:
        self.op(e.span, "barrier", attrs={Attr.FLAGS: e.flags})

    def _fence(self, e) -> None:
        self.op(e.span, "mem_fence", attrs={Attr.KIND: e.kind, Attr.FLAGS: e.flags})

    def _atomic(self, e):
        pointer = self.value(e.pointer)
        operands = [self.value(x) for x in e.operands]
        return self.emit(
            e.span, "atomic", pointer, self.always, *operands, result=ct.ir_type(e.type), attrs={Attr.FN: e.fn}
        )

    def _print(self, e):
        values = [x for a in e.arguments for x in lanes(self.value(a))]
        self.op(e.span, "printf", self.always, *values, attrs={Attr.FORMAT: e.format})
        return self.const(e.span, 0, ct.ir_type(e.type))

    # -- copies

    def _asynccopy(self, e):
        """Each of the n work-items copies every n-th element; waiting for the event is a barrier."""
        span, t = e.span, e.target.type.pointee
        target, source, count, *strides = (
            self.value(x) for x in (e.target, e.source, e.count, e.target_stride, e.source_stride)
        )
        first, together = self._place_in_group(span)
        counter = self.storage.temporary("copied", I64, span)
        self.set(counter, first, span)
        body = Region()
        self.op(
            span,
            "loop",
            self.emit(span, "ult", first, count),
            regions=[body],
            attrs={Attr.LABEL: "copy", Attr.FORM: "for", Attr.UNROLL: 0},
        )
        with self.inside(body):
            k = self.get(counter, I64, span)
            places = [self._element(base, k, stride, t.size, span) for base, stride in zip((target, source), strides)]
            self.store(places[0], self.load(places[1], t, span), t, span)
            after = self.emit(span, "add", k, together)
            self.set(counter, after, span)
            self.op(span, "yield", self.emit(span, "ult", after, count))
        return self.const(span, 0, ct.ir_type(e.type))

    def _element(self, base: Value, k: Value, stride: Value, size: int, span: Span) -> Address:
        offset = self.offset(span, "mul", self.offset(span, "mul", k, stride), self.const(span, size, I64))
        return Address(base=base, offset=offset, wide=True)

    def _place_in_group(self, span: Span) -> tuple[Value, Value]:
        """The number of the work-item in its group, and the size of the group."""
        place, size = self.const(span, 0, I64), self.const(span, 1, I64)
        for dim in range(3):
            here, extent = (
                self.emit(span, "work_item", result=I64, attrs={Attr.FN: fn, Attr.DIM: dim}, name=fn)
                for fn in ("local_id", "local_size")
            )
            place = self.emit(span, "add", place, self.emit(span, "mul", here, size))
            size = self.emit(span, "mul", size, extent)
        return place, size

    # -- channels

    def _channelsubscript(self, e):
        index = self.value(e.operand)
        fits = self.emit(e.span, "ult", index, self.const(e.span, e.length, I64))
        return self.emit(e.span, "select", fits, index, self.const(e.span, NO_CHANNEL, I64))

    def _channel_attrs(self, e) -> dict:
        length = prod(e.channel.lengths)
        return {Attr.CHANNEL: e.channel.name, Attr.BLOCKING: e.blocking} | (
            {Attr.CHANNEL_COUNT: length} if length > 1 else {}
        )

    def _channelread(self, e):
        t, payload = e.channel.type, value_type(e.channel.type)
        attrs = self._channel_attrs(e)
        op = self.op(
            e.span,
            "channel_read",
            self.value(e.index),
            self.always,
            results=[payload, *([] if e.blocking else [BOOL])],
            attrs=attrs,
        )
        value = self._scalars(op.results[0], t, e.span)
        there = self.const(e.span, 1, BOOL) if e.blocking else op.results[1]
        if e.into is not None:
            return self._received(e, value, there)
        if e.answer is not None:
            self._answer(e, there)
        return value

    def _answer(self, e, there: Value) -> None:
        t = e.answer.type.pointee
        self.store(self.target(e.answer), self.converted(e.span, there, ct.BOOL_T, t), t, e.span)

    def _received(self, e, value, there: Value) -> Value:
        """read_pipe: the value is stored through the pointer if there is one."""
        with self.branches(e.span, there) as (on, _), self.inside(on):
            self.store(self.target(e.into), value, e.channel.type, e.span)
        return self._status(e, there)

    def _status(self, e, there: Value) -> Value:
        """0 for true, else -1."""
        missing = self.emit(e.span, "xor", there, self.const(e.span, 1, BOOL))
        return self.emit(e.span, "sext", missing, result=ct.ir_type(ct.INT))

    def _scalars(self, value: Value, t: ct.CType, span: Span):
        return self.chunks(span).unpacked(value, leaves(t)) if ct.aggregate(t) else value

    def _channelwrite(self, e):
        t, value, index = e.channel.type, self.value(e.value), self.value(e.index)
        if ct.aggregate(t):
            value = self.chunks(e.span).packed(value, leaves(t), instance(value_type(t), ArrayType))
        op = self.op(
            e.span,
            "channel_write",
            index,
            self.always,
            value,
            results=[] if e.blocking else [BOOL],
            attrs=self._channel_attrs(e),
        )
        if e.pipe:
            return self._status(e, self.const(e.span, 1, BOOL) if e.blocking else op.results[0])
        return None if e.blocking else op.results[0]
