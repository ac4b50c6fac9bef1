"""Monotonic variables: a location that an increasing counter has passed is not accessed again (Gerlek, Stoltz and Wolfe
1995).

``out[w++] = x``, in one loop or in several, stores to a new location each time, although it is unknown to which one:
whenever the access executes, the counter increases by as much as the access covers, and never decreases. Affine forms
cannot express this, as conditions and loops of unknown trip count may lie between.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ...ir import BOOL, Attr, IntType, Op, Region, Value, moved_type, predicate
from ...ir.rewrite import constant
from ...ir.values import signed
from ...narrow import present
from ..affine.affine import AffineForms
from ..loops.loop_tree import Loop
from ..predicates.implication import decided, implied

__all__ = ["MonotonicAccess"]

#: the increase of a value that does not derive from the start value, or may be less than it
NOT_AT_ALL = float("-inf")
#: most selects, and loops, in sequence between a value and a later one
MOST_CHOICES = 64
#: operations that may define a counter, in addition to a loop that carries it
_GIVING = frozenset({"add", "select", "loop"})


@dataclass(frozen=True)
class _Place:
    """The byte offset ``factor * counter + more``."""

    counter: Value
    factor: int
    more: int


class MonotonicAccess:
    """Tests whether a monotonic counter separates two accesses of a flat kernel with these forms."""

    def __init__(self, forms: AffineForms):
        self.forms, self.tree = forms, forms.tree
        self._grows: dict[tuple[Loop, Value], bool] = {}

    def apart(self, src: Op, dst: Op, loop: Loop | None) -> bool:
        """Whether ``dst``, which executes later than ``src`` in the same iteration of the loops around both, or in a
        later iteration of ``loop``, never touches a byte that ``src`` did."""
        one, other = self._place(src), self._place(dst)
        if one is None or other is None or one.factor != other.factor or one.factor < 1:
            return False
        # the increase of the counter that separates the accesses
        least = -(-(one.more + moved_type(src).bytes - other.more) // one.factor)
        region = loop.body if loop is not None else self._common(src, dst)
        for after, missing, facts in self._after(src, one.counter, least, region):
            for before in self._before(dst, other.counter, region):
                if loop is None and self._by(after, before, facts) >= missing:
                    return True
                if loop is not None and any(
                    self._by(after, loop.following(arg), facts) >= missing and self._by(arg, before, {}) >= 0
                    for arg in self._growing(loop)
                ):
                    return True
        return False

    def _common(self, src: Op, dst: Op) -> Region:
        region = self.tree.region_of(src)
        for one, other in zip(self.tree.around(src), self.tree.around(dst)):
            if one is not other:
                return self.tree.region_of(one.op)
        deeper = len(self.tree.around(src)) > len(self.tree.around(dst))
        return self.tree.region_of(dst) if deeper else region

    # --- from accesses to values of a region ---

    def _after(self, access: Op, counter: Value, least: int, region: Region):
        """(value of the region, the increase of the counter over that value that is still missing, facts at the
        access)."""
        found = [(counter, least, implied(predicate(access)))]
        for loop in reversed(self._inside(access, region)):
            found = [
                left
                for value, missing, facts in found
                for arg in self._growing(loop)
                if self._by(value, loop.following(arg), facts) >= missing
                for left in self._left(loop, arg)
            ]
        return found

    def _left(self, loop: Loop, arg: Value):
        """The final value of a counter, as :meth:`_after`: the loop's result, or a closed form if the loop has a
        constant trip count."""
        yield loop.op.results[arg.index], 0, {}
        if Attr.TRIP_COUNT in loop.op.attrs and arg in loop.inductions:
            yield loop.op.operands[1 + arg.index], loop.inductions[arg].step * loop.op.attrs[Attr.TRIP_COUNT], {}

    def _before(self, access: Op, counter: Value, region: Region) -> list[Value]:
        """Values of the region that are lower bounds of the counter of an access in it."""
        found = [counter]
        for loop in reversed(self._inside(access, region)):
            found = [
                loop.op.operands[1 + arg.index]
                for value in found
                for arg in self._growing(loop)
                if self._by(arg, value, {}) >= 0
            ]
        return found

    def _inside(self, access: Op, region: Region) -> list[Loop]:
        """The loops around an access that are in the region, outermost first."""
        around = self.tree.around(access)
        bodies = [loop.body for loop in around]
        return list(around[bodies.index(region) + 1 :] if region in bodies else around)

    # --- growth ---

    def _growing(self, loop: Loop) -> list[Value]:
        """The carried values that never decrease from one iteration to the next."""
        for arg in loop.body.args:
            if (loop, arg) not in self._grows:
                self._grows[loop, arg] = _is_counter(arg) and self._by(arg, loop.following(arg), {}) >= 0
        return [arg for arg in loop.body.args if self._grows[loop, arg]]

    def _by(self, start: Value, value: Value, facts: dict[Value, bool]) -> float:
        """The least amount by which ``value`` exceeds ``start`` under the facts; minus infinity if it may be less."""
        return _Growth(self, facts).between(start, value)

    def comes_from(self, result: Value) -> Value | None:
        """A lower bound of a loop's result: its initial value, if it never decreases."""
        loop = self.tree.loops[result.defining_op]
        return loop.op.operands[1 + result.index] if loop.body.args[result.index] in self._growing(loop) else None

    # --- places ---

    def _place(self, access: Op) -> _Place | None:
        """The offset of an access as a function of a counter; None if it might wrap, or has another form."""
        (value,) = access.operands[0].defining_op.operands
        if value.type.bits < self.forms.address_bits and not self._never_negative(value):
            return None
        factor, more = 1, 0
        while value.op is not None:
            op, number = value.op, constant(value.op.operands[1]) if len(value.op.operands) == 2 else None
            if op.opcode == "add" and number is not None:
                more += factor * signed(number, value.type.bits)
            elif op.opcode == "shl" and number is not None and number < value.type.bits:
                factor <<= number
            elif op.opcode == "mul" and number is not None:
                factor *= signed(number, value.type.bits)
            elif not (
                op.opcode == "sext"
                and op.operands[0].type.bits >= 32
                and not self.forms.may_wrap(op.operands[0])
                # the bits of an address: what they leave out is the same for all places of a buffer
                or op.opcode == "trunc"
                and value.type.bits == self.forms.address_bits
                or op.opcode == "zext"
                and self._never_negative(op.operands[0])
            ):
                break
            value = op.operands[0]
        bits = self.forms.address_bits  # the places of a buffer differ in these
        factor, more = (signed(number & (1 << bits) - 1, bits) for number in (factor, more))
        return _Place(value, factor, more) if value.op is None or value.op.opcode in _GIVING else None

    def _never_negative(self, value: Value) -> bool:
        """Whether a value of 32 bits or more is never negative, as a signed number: then it does not wrap."""
        return value.type.bits >= 32 and self.forms.ranges[value].smin >= 0


class _Growth:
    """The increase from a value to values derived from it, under facts."""

    def __init__(self, growth: MonotonicAccess, facts: dict[Value, bool]):
        self.growth, self.ranges, self.facts = growth, growth.forms.ranges, facts
        self.known: dict[tuple[Value, Value], float] = {}
        self.least: dict[tuple[Value, int], float] = {}  # lower bounds of terms of sums of so many bits

    def between(self, start: Value, value: Value, deep: int = 0) -> float:
        """The least amount by which ``value`` exceeds ``start``."""
        if deep > MOST_CHOICES:
            return NOT_AT_ALL
        if (start, value) not in self.known:
            bits = self._modulus(start, value)
            first, terms = Counter(self._terms(start, bits)), Counter(self._terms(value, bits))
            fixed = _constants(terms, bits) - _constants(first, bits)
            left = first - terms
            terms -= first
            if not left:
                ways = [self._total(terms.elements(), bits)]
            elif left.total() == 1:  # one term derives from it, the others are added
                (before,) = left
                ways = [
                    self._chosen(before, term, deep) + self._total((terms - Counter([term])).elements(), bits)
                    for term in terms
                ]
            else:
                ways = []
            self.known[start, value] = max(ways, default=NOT_AT_ALL) + fixed
        return self.known[start, value]

    def _modulus(self, start: Value, value: Value) -> int:
        """The bits in which two values are compared: those of the narrower one, if these are all that addresses have.
        No place of a buffer has an address that differs in the others only."""
        bits = min(start.type.bits, value.type.bits)
        return bits if bits >= self.growth.forms.address_bits else start.type.bits

    def _chosen(self, start: Value, value: Value, deep: int) -> float:
        """The least amount by which a select, or a loop's result, exceeds ``start``."""
        alike = value.type == start.type or min(value.type.bits, start.type.bits) >= self.growth.forms.address_bits
        opcode = value.op.opcode if value.op is not None and alike else None
        if opcode == "select":
            return min(self.between(start, arm, deep + 1) for arm in self._arms(value.defining_op))
        before = self.growth.comes_from(value) if opcode == "loop" else None
        return NOT_AT_ALL if before is None else self.between(start, before, deep + 1)

    def _terms(self, value: Value, bits: int) -> Iterator[Value]:
        """The terms of which a value is the sum, modulo 2**bits; narrower terms are read as unsigned."""
        work = [value]
        while work:
            each = work.pop()
            opcode = each.op.opcode if each.op is not None else None
            arms = self._arms(each.defining_op) if opcode == "select" else []
            cut = opcode == "trunc" and each.type.bits >= bits
            if opcode == "zext" or cut or opcode == "add" and self._whole(each, bits):
                work += each.defining_op.operands
            elif len(arms) == 1:
                work += arms
            else:
                yield each

    def _whole(self, total: Value, bits: int) -> bool:
        """Whether a sum, as a term of one of so many bits, equals the sum of its operands without wrapping."""
        return (
            total.type.bits >= bits
            or sum(self.ranges[v].umax for v in total.defining_op.operands) < 1 << total.type.bits
        )

    def _total(self, terms: Iterable[Value], bits: int, deep: int = 0) -> float:
        return sum(self._least(term, bits, deep) for term in terms)

    def _least(self, term: Value, bits: int, deep: int) -> float:
        """The lower bound of a term of a sum of so many bits; minus infinity if it may be negative."""
        if (term, bits) not in self.least:
            self.least[term, bits] = self._find_least(term, bits, deep + 1)
        return self.least[term, bits]

    def _find_least(self, term: Value, bits: int, deep: int) -> float:
        if term.type == BOOL and decided(term, self.facts):
            return 1
        opcode = term.op.opcode if term.op is not None and deep < MOST_CHOICES else None
        if opcode == "select":
            return min(self._total(self._terms(arm, bits), bits, deep) for arm in self._arms(term.defining_op))
        before = self.growth.comes_from(term) if opcode == "loop" and term.type.bits >= bits else None
        if before is not None:
            return self._total(self._terms(before, bits), bits, deep)
        known = self.ranges[term]
        if term.type.bits < bits:
            return known.umin
        return known.smin if known.smin >= 0 and known.smax < 1 << bits - 1 else NOT_AT_ALL

    def _arms(self, select: Op) -> list[Value]:
        """The arms of a select that the facts permit."""
        condition, yes, no = select.operands
        truth = decided(condition, self.facts)
        return [yes, no] if truth is None else [yes] if truth else [no]


def _constants(terms: Counter, bits: int) -> int:
    """Remove the constants from the terms of a sum of so many bits; returns their sum."""
    found = [term for term in terms if constant(term) is not None]
    values = [(present(constant(term)), term) for term in found]
    mask = (1 << bits) - 1
    numbers = [signed(number & mask, bits) if term.type.bits >= bits else number for number, term in values]
    return sum(number * terms.pop(term) for number, term in zip(numbers, found, strict=True))


def _is_counter(arg: Value) -> bool:
    return isinstance(arg.type, IntType) and arg.type != BOOL
