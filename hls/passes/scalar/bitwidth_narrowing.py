"""Bit-width narrowing: integers get no wider than their values need."""

from dataclasses import dataclass

from ...analysis.bits.demanded_bits import demanded, index_bits
from ...analysis.bits.ranges import Range, ranges
from ...ir import Attr, Builder, Function, IntType, Op, Region, Value
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ...ir.wrapping import still_wraps
from ..manager import Form, FunctionPass

__all__ = ["BitwidthNarrowing"]

_LOW_BITS = {"add", "sub", "mul", "and", "or", "xor"}


@dataclass(frozen=True)
class BitwidthNarrowing(FunctionPass):
    """Bit-width narrowing by value ranges and demanded bits (XLS: narrowing). Before: a flat kernel in the widths of C.
    After: every integer operation, and every carried value, has the width that its range and its uses need. Byte
    offsets have at most ``address_bits``.

    A value is stored in w bits if only its low w bits are demanded, or if zero or sign extension restores the rest.
    """

    address_bits: int = 64

    name = "bitwidth-narrowing"
    requires = frozenset({Form.DISPATCHED})
    provides = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which integers have the widths that are needed; arguments keep theirs."""
        result = clone_function(function)
        narrower = _Narrower(ranges(result), demanded(result, self.address_bits), self.address_bits)
        for value in result.args:
            narrower.keep(value)
        narrower.region(result.body)
        return result


@dataclass(frozen=True)
class _Kept:
    """A value in its new width, and the operation ("zext" or "sext") that restores its full width."""

    value: Value
    extend: str


class _Narrower:
    def __init__(self, range_of: dict[Value, Range], demand: dict[Value, int], address_bits: int) -> None:
        self.range_of, self.demand, self.address_bits = range_of, demand, address_bits
        self.kept: dict[Value, _Kept] = {}

    def region(self, region: Region) -> None:
        before, region.ops = region.ops, []
        for op in before:
            b = Builder(region, op.span)
            if op.opcode == "loop":
                self._loop(op, b)
            elif op.opcode == "yield":
                region.ops.append(op)  # handled with the loop
            elif len(op.results) == 1 and isinstance(op.result.type, IntType):
                self._compute(op, b)
            else:
                self._whole(op, b)
                for value in op.results:  # of a call with several results
                    self.keep(value)

    # widths

    def keep(self, value: Value) -> None:
        """Leave the value in its width."""
        self.kept[value] = _Kept(value, "zext")

    def _width(self, value: Value, known: Range | None = None) -> tuple[int, str]:
        """The bits to store a value in, and how they are extended."""
        known, bits = known or self.range_of[value], value.type.bits
        by_range = min((known.unsigned_bits, "zext"), (known.signed_bits, "sext"))
        wanted = self.demand.get(value, 1)
        width, extend = (wanted, "zext") if wanted <= by_range[0] else by_range
        # saving one bit is not worth the extensions that make the result hard to read
        return (bits, "zext") if 8 < bits == width + 1 else (width, extend)

    def fit(self, value: Value, bits: int, b: Builder) -> Value:
        """The low ``bits`` bits of the original value; ``bits`` may exceed neither its type nor its demanded bits."""
        kept = self.kept[value]
        have = kept.value.type.bits
        if bits == have:
            return kept.value
        number = constant(kept.value)
        if bits > have and number is not None and kept.extend == "zext":
            return b.const(number, IntType(bits))
        return b.value(kept.extend if bits > have else "trunc", kept.value, result=IntType(bits), name=value.name)

    def _restored(self, value: Value, b: Builder) -> Value:
        return self.fit(value, value.type.bits, b) if isinstance(value.type, IntType) else value

    # operations

    def _whole(self, op: Op, b: Builder) -> None:
        """An operation that is not an integer computation: its operands get the widths that it requires."""
        if op.opcode == "addr":
            (offset,) = op.operands
            bits = min(self.address_bits, offset.type.bits, self.range_of[offset].unsigned_bits)
            op.operands = [self.fit(offset, bits, b)]
        else:
            # an index gets the width of its range
            exact = {1: index_bits(op)} if op.opcode in ("extract", "insert") else {}
            op.operands = [
                self.fit(v, min(exact[k], self.range_of[v].unsigned_bits), b) if k in exact else self._restored(v, b)
                for k, v in enumerate(op.operands)
            ]
        b.region.ops.append(op)

    def _compute(self, op: Op, b: Builder) -> None:
        width, extend = self._width(op.result)
        made = self._narrow(op, width, b)
        if made is None:
            self._whole(op, b)
            made = op.result
        made.name = made.name or op.result.name
        if made.type.bits > width:
            made = b.value("trunc", made, result=IntType(width), name=made.name)
        elif made.type.bits < width:
            made = b.value("zext", made, result=IntType(width), name=made.name)
        self.kept[op.result] = _Kept(made, extend)

    def _narrow(self, op: Op, width: int, b: Builder) -> Value | None:
        """The result's low ``width`` bits, in that or another width (then the bits above are zero); None: compute it in
        full width."""
        opcode, operands = op.opcode, op.operands
        if opcode == "const":
            return b.const(constant(op.result), IntType(width))
        if opcode in _LOW_BITS:
            attrs = {Attr.WRAPS: True} if self._wraps(op, width) else {}
            return b.value(opcode, *(self.fit(v, width, b) for v in operands), attrs=attrs)
        if opcode == "select":
            return b.value("select", self.fit(operands[0], 1, b), *(self.fit(v, width, b) for v in operands[1:]))
        if opcode in ("zext", "sext", "trunc"):
            return self._convert(op, width, b)
        if opcode in ("shl", "lshr", "ashr"):
            return self._shift(op, width, b)
        if opcode in ("eq", "ne", "ult", "ule", "slt", "sle"):
            return self._compare(op, b)
        if opcode in ("udiv", "urem", "sdiv", "srem"):
            return self._divide(op, b)
        return None

    def _wraps(self, op: Op, width: int) -> bool:
        """Whether a sum of so many bits wraps: not if its range fits."""
        fits = width < op.result.type.bits and self.range_of[op.result].signed_bits <= width
        return not fits and still_wraps(op, width)

    def _convert(self, op, width, b):
        (x,) = op.operands
        if width <= x.type.bits:
            return self.fit(x, width, b)
        return b.value(op.opcode, self.fit(x, x.type.bits, b), result=IntType(width))

    def _shift(self, op, width, b):
        x, amount = op.operands
        shift = constant(amount)
        if shift is None:
            return None
        known = self.range_of[x]
        opcode = "lshr" if op.opcode == "ashr" and known.smin >= 0 else op.opcode
        if opcode == "shl":
            bits = width
        else:
            holds = known.unsigned_bits if opcode == "lshr" else known.signed_bits
            bits = min(x.type.bits, holds, width + shift)
        if shift >= bits and opcode != "ashr":
            return b.const(0, IntType(width))
        attrs = {Attr.WRAPS: True} if self._wraps(op, bits) else {}
        shifted = b.value(opcode, self.fit(x, bits, b), b.const(min(shift, bits - 1), IntType(bits)), attrs=attrs)
        if opcode == "ashr" and bits < width:
            return b.value("sext", shifted, result=IntType(width))
        return shifted

    def _common(self, op, signed: bool) -> int:
        """The width in which both operands are exact, as signed or unsigned numbers."""
        return max(r.signed_bits if signed else r.unsigned_bits for r in (self.range_of[v] for v in op.operands))

    def _compare(self, op, b):
        known = [self.range_of[v] for v in op.operands]
        opcode, signed, unsigned = op.opcode, self._common(op, True), self._common(op, False)
        if opcode in ("eq", "ne"):
            bits = min(signed, unsigned)
        elif opcode[0] == "s" and all(r.smin >= 0 for r in known):
            opcode, bits = "u" + opcode[1:], unsigned
        else:
            bits = signed if opcode[0] == "s" else unsigned
        return b.value(opcode, *(self.fit(v, bits, b) for v in op.operands))

    def _divide(self, op, b):
        left, right = (self.range_of[v] for v in op.operands)
        whole = op.result.type.bits
        if op.opcode[0] == "u" or left.smin >= 0 and right.smin >= 0:
            if right.umin == 0 and op.opcode.endswith("div"):
                return None  # all ones in the full width
            bits, opcode = self._common(op, False), "u" + op.opcode[1:]
            return b.value(opcode, *(self.fit(v, bits, b) for v in op.operands))
        bits = self._common(op, True) + 1  # the smallest number divided by -1 needs one more
        if bits >= whole or (right.smin <= 0 <= right.smax):
            return None
        made = b.value(op.opcode, *(self.fit(v, bits, b) for v in op.operands))
        return b.value("sext", made, result=IntType(whole))

    # loops

    def _loop(self, op: Op, b: Builder) -> None:
        (body,), (enable, *inits) = op.regions, op.operands
        forms = [self._carried(arg, result) for arg, result in zip(body.args, op.results)]
        starts = [self._fit_carried(v, form, b) for v, form in zip(inits, forms)]
        body.args = self._renewed(body.args, forms, body)
        self.region(body)
        results = self._renewed(op.results, forms, op)
        end = body.ops.pop()
        inside = Builder(body, end.span)
        again, *nexts = end.operands
        end.operands = [self.fit(again, 1, inside), *(self._fit_carried(v, f, inside) for v, f in zip(nexts, forms))]
        body.ops.append(end)
        op.operands = [self.fit(enable, 1, b), *starts]
        op.results = results
        b.region.ops.append(op)

    def _carried(self, arg: Value, result: Value) -> tuple[int, str] | None:
        """Width and extension of a carried integer: the same for all iterations and the result."""
        if not isinstance(arg.type, IntType):
            return None
        return self._width(arg, self.range_of[arg].join(self.range_of[result]))

    def _fit_carried(self, value: Value, form: tuple[int, str] | None, b: Builder) -> Value:
        return value if form is None else self.fit(value, form[0], b)

    def _renewed(self, values: list[Value], forms, owner) -> list[Value]:
        """New arguments or results in their widths, replacing the old ones."""
        new = []
        for k, (old, form) in enumerate(zip(values, forms)):
            if form is None:
                new.append(old)
                continue
            new.append(Value(IntType(form[0]), old.name, owner, k))
            self.kept[old] = _Kept(new[k], form[1])
        return new
