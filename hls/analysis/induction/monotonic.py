"""Monotonic variables: a location that a counter has passed, in either direction, is not accessed again (Gerlek, Stoltz
and Wolfe 1995).

``out[w++] = x``, in one loop or in several, stores to a new location each time, although it is unknown to which one:
whenever the access executes, the counter increases by as much as the access covers, and never decreases. Affine forms
cannot express this, as conditions and loops of unknown trip count may lie between. Nor do they express counters that
grow by multiples of themselves, or shrink to a part: of a heap, the children ``2 * i + 1`` and ``2 * i + 2`` of an
element are behind it, and the parent ``(i - 1) / 2`` is in front of it.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ...ir import BOOL, Attr, IntType, Op, Region, Value, moved_type, predicate
from ...ir.rewrite import constant
from ...ir.values import signed
from ...ir.wrapping import still_wraps
from ...narrow import present
from ..affine.affine import FEW_ROUND, AffineForms
from ..affine.floordiv import divisor
from ..loops.loop_tree import Loop
from ..predicates.implication import decided, implied

__all__ = ["MonotonicAccess"]

#: the increase of a value that does not derive from the start value, or may be less than it
NOT_AT_ALL = float("-inf")
#: most selects, and loops, in sequence between a value and a later one
MOST_CHOICES = 64
#: operations that may define a counter, in addition to a loop that carries it
_GIVING = frozenset({"add", "select", "loop", "shl", "mul", "lshr", "ashr", "udiv", "sdiv"})
#: the most bits of C's types that wrap around when numbers are converted to them; others are chosen for what is needed
_NARROW = 16
#: greatest constant factor of a term
MOST_TIMES = 1 << 16


@dataclass(frozen=True)
class _Place:
    """The byte offset ``factor * counter + more``."""

    counter: Value
    factor: int
    more: int


class MonotonicAccess:
    """Tests whether a monotonic counter separates two accesses of a flat kernel with these forms."""

    def __init__(self, forms: AffineForms) -> None:
        self.forms, self.tree = forms, forms.tree
        self._moves: dict[tuple[Loop, Value, bool], bool] = {}
        self._open: dict[Value, bool] = {}  #: what is being proved not to decrease, and whether that has been assumed
        self._changes: dict[tuple, float] = {}  #: what was asked while nothing was assumed

    def apart(self, src: Op, dst: Op, loop: Loop | None) -> bool:
        """Whether ``dst``, which executes later than ``src`` in the same iteration of the loops around both, or in a
        later iteration of ``loop``, never touches a byte that ``src`` did."""
        before, after = self._places(src), self._places(dst)
        pairs = [(before[factor], after[factor]) for factor in before.keys() & after.keys() if factor >= 1]
        return any(self._passed(src, dst, pair, loop, up) for up in (True, False) for pair in pairs)

    def _passed(self, src: Op, dst: Op, places: tuple[_Place, _Place], loop: Loop | None, up: bool) -> bool:
        """Whether the counter has passed the place of ``src``, upwards or downwards, when ``dst`` executes."""
        one, other = places
        low, high = (one.more, other.more) if up else (other.more, one.more)
        # the change of the counter that separates the accesses
        least = -(-(low + moved_type(src if up else dst).bytes - high) // one.factor)
        region = loop.body if loop is not None else self._common(src, dst)
        for after, missing, facts in self._after(src, one.counter, least, region, up):
            for before in self._before(dst, other.counter, region, up):
                if loop is None and self._by(after, before, facts, up) >= missing:
                    return True
                # first what is the same for all sources: most accesses do not derive from what a loop carries
                if loop is not None and any(
                    (change := self._by(arg, before, {}, up)) > NOT_AT_ALL
                    and change + self._by(after, loop.following(arg), facts, up) >= missing
                    for arg in self._moving(loop, up)
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

    def _after(self, access: Op, counter: Value, least: int, region: Region, up: bool):
        """(value of the region, the change of the counter from that value that is still missing, facts at the
        access)."""
        found = [(counter, least, implied(predicate(access)))]
        for loop in reversed(self._inside(access, region)):
            found = [
                left
                for value, missing, facts in found
                for arg in self._moving(loop, up)
                if self._by(value, loop.following(arg), facts, up) >= missing
                for left in self._left(loop, arg, up)
            ]
        return found

    def _left(self, loop: Loop, arg: Value, up: bool):
        """The final value of a counter, as :meth:`_after`: the loop's result, or a closed form if the loop has a
        constant trip count."""
        yield loop.op.results[arg.index], 0, {}
        if Attr.TRIP_COUNT in loop.op.attrs and arg in loop.inductions:
            change = loop.inductions[arg].step * loop.op.attrs[Attr.TRIP_COUNT]
            yield loop.op.operands[1 + arg.index], change if up else -change, {}

    def _before(self, access: Op, counter: Value, region: Region, up: bool) -> list[Value]:
        """Values of the region that the counter of an access in it has reached at least."""
        found = [counter]
        for loop in reversed(self._inside(access, region)):
            found = [
                loop.op.operands[1 + arg.index]
                for value in found
                for arg in self._moving(loop, up)
                if self._by(arg, value, {}, up) >= 0
            ]
        return found

    def _inside(self, access: Op, region: Region) -> list[Loop]:
        """The loops around an access that are in the region, outermost first."""
        around = self.tree.around(access)
        bodies = [loop.body for loop in around]
        return list(around[bodies.index(region) + 1 :] if region in bodies else around)

    # --- growth ---

    def _moving(self, loop: Loop, up: bool) -> list[Value]:
        """The carried values that never decrease from one iteration to the next, or never increase."""
        return [arg for arg in loop.body.args if self._moves_on(loop, arg, up)]

    def _moves_on(self, loop: Loop, arg: Value, up: bool) -> bool:
        key = loop, arg, up
        if up and arg in self._open:
            self._open[arg] = True
            return True
        if key not in self._moves:
            self._moves[key] = _is_counter(arg) and self._proved(loop, arg, up)
        return self._moves[key]

    def _proved(self, loop: Loop, arg: Value, up: bool) -> bool:
        """By induction: until an iteration, a value that did not decrease has not been less than the first one."""
        if not up:
            return self._by(arg, loop.following(arg), {}, up) >= 0
        known = len(self._moves)
        self._open[arg] = False
        holds = self._by(arg, loop.following(arg), {}, up) >= 0
        if self._open.pop(arg) and not holds:  # what was found meanwhile may rest on it
            for key in list(self._moves)[known:]:
                del self._moves[key]
        return holds

    def _by(self, start: Value, value: Value, facts: dict[Value, bool], up: bool) -> float:
        """The least amount by which ``value`` exceeds ``start`` under the facts, or is less if not ``up``; minus
        infinity if that may be negative."""
        key = start, value, up, frozenset(facts.items())
        found = None if self._open else self._changes.get(key)
        if found is None:
            growth = _Growth(self, facts)  # its own: it notes which terms wrap around in this question
            found = growth.between(start, value) if up else growth.between(value, start)
            if not self._open:
                self._changes[key] = found
        return found

    def comes_from(self, result: Value, up: bool = True) -> Value | None:
        """A lower bound of a loop's result, or an upper one: its initial value, if it never decreases, or increases."""
        loop = self.tree.loops[result.defining_op]
        return loop.op.operands[1 + result.index] if self._moves_on(loop, loop.body.args[result.index], up) else None

    def floor(self, arg: Value) -> Value | None:
        """A lower bound of a signed value that a loop carries: its initial value, if it never decreases. None for other
        values, and for sums that wrap around."""
        loop = self.tree.holder(arg)
        if loop is None or not self.never_wraps(arg):
            return None
        return loop.op.operands[1 + arg.index] if self._moves_on(loop, arg, True) else None

    def never_wraps(self, value: Value) -> bool:
        """Whether a value is an exact sum or product, as a signed number, in a program without undefined overflow."""
        return isinstance(value.type, IntType) and value.type.bits >= 32 and not self.forms.may_wrap(value)

    def is_exact(self, value: Value) -> bool:
        """Whether a value of less than 32 bits is, as an unsigned number, what the program computes with at least 32:
        the bits that were cut off are 0."""
        while value.type.bits < 32 and value.op is not None:
            if value.op.opcode not in ("zext", "trunc", "lshr", "udiv"):
                return False
            of = value.op.operands[0]
            if value.op.opcode == "trunc" and not self.holds(value):
                return False
            value = of
        return value.type.bits >= 32

    def holds(self, cut: Value) -> bool:
        """Whether a value with fewer bits than its operand is that number."""
        return self._holds(cut.type.bits, cut.defining_op.operands[0])

    def _holds(self, bits: int, value: Value) -> bool:
        """Whether so many bits hold the value as an unsigned number."""
        return self.forms.ranges[value].umax < 1 << bits

    def _bare(self, value: Value) -> Value:
        """What a value is with another number of bits, which are as many as are needed."""
        while value.op is not None and (value.op.opcode == "zext" or value.op.opcode == "trunc" and self.holds(value)):
            if value.op.operands[0].type == BOOL:
                break
            value = value.op.operands[0]
        return value

    # --- places ---

    def _places(self, access: Op) -> dict[int, _Place]:
        """The offset of an access as a function of counters, by their factor; none if it might wrap, or has another
        form. Of the counters with one factor it is the one that is least derived."""
        (value,) = access.operands[0].defining_op.operands
        if value.type.bits < self.forms.address_bits and not (self._never_negative(value) or self._is_whole(value)):
            return {}
        bits = self.forms.address_bits  # the places of a buffer differ in these
        found = {}
        for scaled, *numbers in self._peeled(value):
            counter = self._bare(scaled)
            if counter.op is None or counter.op.opcode in _GIVING:
                factor, more = (signed(number & (1 << bits) - 1, bits) for number in numbers)
                found[factor] = _Place(counter, factor, more)
        return found

    def _peeled(self, value: Value) -> Iterator[tuple[Value, int, int]]:
        """(counter, factor, more), as of :class:`_Place`, from the offset to what it is computed from."""
        factor, more = 1, 0
        yield value, factor, more
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
                return
            value = op.operands[0]
            yield value, factor, more

    def _is_whole(self, value: Value) -> bool:
        """Whether all bits of a scaled index are in a value."""
        op = value.op
        number = constant(op.operands[1]) if op is not None and op.opcode == "shl" else None
        return number is not None and self._holds(value.type.bits - number, value.defining_op.operands[0])

    def _never_negative(self, value: Value) -> bool:
        """Whether a value of 32 bits or more is never negative, as a signed number: then it does not wrap."""
        return value.type.bits >= 32 and self.forms.ranges[value].smin >= 0


class _Growth:
    """The increase from a value to values derived from it, under facts."""

    def __init__(self, growth: MonotonicAccess, facts: dict[Value, bool]) -> None:
        self.growth, self.ranges, self.facts = growth, growth.forms.ranges, facts
        self.known: dict[tuple[Value, Value], float] = {}
        self.wrapping: set[Value] = set()  # terms of sums that the source computes as unsigned
        self.lowered: dict[tuple[Value, frozenset, int], float] = {}
        self.least: dict[tuple[Value, int], float] = {}  # lower bounds of terms of sums of so many bits

    def between(self, start: Value, value: Value, deep: int = 0) -> float:
        """The least amount by which ``value`` exceeds ``start``."""
        if deep > MOST_CHOICES:
            return NOT_AT_ALL
        if (start, value) not in self.known:
            bits = self._modulus(start, value)
            self.known[start, value] = self._exceeds(self._terms(start, bits), self._terms(value, bits), bits, deep)
        return self.known[start, value]

    def _exceeds(self, first: Counter[Value], terms: Counter[Value], bits: int, deep: int) -> float:
        """The least amount by which a sum of these terms exceeds the sum of the first ones."""
        fixed = _constants(terms, bits) - _constants(first, bits)
        left, more = first - terms, terms - first
        wraps = not self.wrapping.isdisjoint(first.keys() | terms.keys())
        if wraps and self._far(fixed, bits):
            return NOT_AT_ALL

        def added(those: Counter[Value]) -> float:
            return NOT_AT_ALL if wraps and self._far(self._most(those), bits) else self._total(those, bits)

        if not left:
            return added(more) + fixed
        if left.total() > 1:
            return NOT_AT_ALL
        (before,) = left  # one term derives from it, the others are added; or it derives from terms
        ways = [self._chosen(before, term, deep) + added(more - Counter([term])) for term in more]
        return max(*ways, self._from_below(before, more, bits, deep), NOT_AT_ALL) + fixed

    def _far(self, change: int, bits: int) -> bool:
        """Whether few steps by so much wrap around. Of a sum in less than 32 bits only some bits of the step are
        known."""
        return bits < 32 or abs(change) >> bits - FEW_ROUND != 0

    def _most(self, terms: Counter[Value]) -> int:
        """The most that terms add in one step, apart from what loops have counted."""
        counts = {term for term in terms if term.op is None or term.op.opcode == "loop"}
        return sum(n * (self.ranges[t].umin if t in counts else self.ranges[t].umax) for t, n in terms.items())

    def _from_below(self, before: Value, more: Counter[Value], bits: int, deep: int) -> float:
        """The least amount by which a sum exceeds a value that derives from its terms by selects and quotients, or is
        what a loop has decreased."""
        key = before, frozenset(more.items()), bits
        if key not in self.lowered:
            self.lowered[key] = self._find_from_below(before, more, bits, deep + 1)
        return self.lowered[key]

    def _find_from_below(self, before: Value, more: Counter[Value], bits: int, deep: int) -> float:
        op = before.op
        if op is None or deep > MOST_CHOICES:
            return NOT_AT_ALL

        def to_more(value: Value) -> float:
            return self._exceeds(self._terms(value, bits), Counter(more), bits, deep)

        if op.opcode == "select":
            return min(to_more(arm) for arm in self._arms(op))
        if op.opcode == "loop" and (above := self.growth.comes_from(before, up=False)) is not None:
            return to_more(above)
        by = divisor(op)
        if by is None or before.type.bits < bits and not self.growth.is_exact(before):
            return NOT_AT_ALL
        dividend = self._dividend(op)
        least = self._total(self._terms(dividend, bits), bits)
        # of no negative number, a quotient is less by an amount that grows with the number
        return to_more(dividend) + least - least // by if least >= 0 else NOT_AT_ALL

    def _dividend(self, quotient: Op) -> Value:
        """The number that is divided. The bits that are cut off from it do not matter if the quotient has those of an
        address without them."""
        value, needed = quotient.operands[0], self.growth.forms.address_bits
        if quotient.opcode in ("lshr", "ashr"):
            needed += present(constant(quotient.operands[1]))
            while value.op is not None and value.op.opcode == "trunc" and value.type.bits >= needed:
                (value,) = value.op.operands
        return value

    def _modulus(self, start: Value, value: Value) -> int:
        """The bits in which two values are compared: those of the narrower one, if these are all that addresses have.
        No place of a buffer has an address that differs in the others only."""
        narrow, wide = sorted((start, value), key=lambda each: each.type.bits)
        if narrow.type != wide.type and self.growth.is_exact(narrow):
            return wide.type.bits
        bits = narrow.type.bits
        return bits if bits >= self.growth.forms.address_bits else start.type.bits

    def _chosen(self, start: Value, value: Value, deep: int) -> float:
        """The least amount by which a select, or a loop's result, exceeds ``start``."""
        alike = value.type == start.type or min(value.type.bits, start.type.bits) >= self.growth.forms.address_bits
        opcode = value.op.opcode if value.op is not None and alike else None
        if opcode == "select":
            return min(self.between(start, arm, deep + 1) for arm in self._arms(value.defining_op))
        before = self.growth.comes_from(value) if opcode == "loop" else None
        return NOT_AT_ALL if before is None else self.between(start, before, deep + 1)

    def _terms(self, value: Value, bits: int) -> Counter[Value]:
        """The terms of which a value is the sum, modulo 2**bits, and how often each is added; narrower ones are read as
        unsigned."""
        found = Counter[Value]()
        work = [(value, 1)]
        wraps = False
        while work:
            each, times = work.pop()
            opcode = each.op.opcode if each.op is not None else None
            wraps |= each.op is not None and still_wraps(each.op, each.type.bits)
            arms = self._arms(each.defining_op) if opcode == "select" else []
            cut = opcode == "trunc" and self._keeps(each, bits)
            factor = self._factor(each, bits) * times
            if opcode == "zext" or cut or opcode == "add" and self._whole(each, bits):
                work += [(operand, times) for operand in each.defining_op.operands]
            elif opcode == "sub" and each.type.bits >= bits and not self._is_too_narrow(bits):
                minuend, subtrahend = each.defining_op.operands
                work += [(minuend, times), (subtrahend, -times)]
            elif 0 < abs(factor) <= MOST_TIMES:
                work.append((each.defining_op.operands[0], factor))
            elif len(arms) == 1:
                work.append((arms[0], times))
            else:
                found[each] += times
        if wraps:
            self.wrapping.update(found)
        return found

    def _factor(self, product: Value, bits: int) -> int:
        """The constant factor of a product that does not wrap around; 0 for other values."""
        op = product.op
        if op is None or op.opcode not in ("shl", "mul") or product.type.bits < bits:
            return 0
        number = constant(op.operands[1])
        if number is None or not self.growth.never_wraps(product):
            return 0
        return 1 << number if op.opcode == "shl" else signed(number, product.type.bits)

    def _is_too_narrow(self, bits: int) -> bool:
        """Whether numbers that differ in higher bits than these are different places: so a sum of so many bits, as an
        index into a ring has, may come back to a place by wrapping around."""
        return bits < min(32, self.growth.forms.address_bits)

    def _keeps(self, cut: Value, bits: int) -> bool:
        """Whether a value with fewer bits than its operand, as a term of one of so many bits, equals the operand."""
        if cut.type.bits >= bits and not self._is_too_narrow(bits):
            return True
        return self.growth.is_exact(cut) or cut.type.bits >= bits and self.growth.holds(cut)

    def _whole(self, total: Value, bits: int) -> bool:
        """Whether a sum, as a term of one of so many bits, equals the sum of its operands without wrapping."""
        if total.type.bits >= bits and not self._is_too_narrow(bits):
            return True
        ends = [self._ends(operand, bits) for operand in total.defining_op.operands]
        return sum(low for low, _ in ends) >= 0 and sum(high for _, high in ends) < 1 << total.type.bits

    def _ends(self, term: Value, bits: int) -> tuple[int, int]:
        """The least and the greatest number that a term of a sum of so many bits stands for: constants are signed."""
        number = constant(term)
        if number is not None and term.type.bits >= bits:
            return (signed(number & (1 << bits) - 1, bits),) * 2
        return self.ranges[term].umin, self.ranges[term].umax

    def _total(self, terms: Counter[Value], bits: int, deep: int = 0) -> float:
        terms = Counter(terms)
        fixed = _constants(terms, bits)
        if any(times < 0 for times in terms.values()) or self._may_wrap(terms, bits):
            return NOT_AT_ALL
        return fixed + sum(times * self._least(term, bits, deep) for term, times in terms.items() if times)

    def _may_wrap(self, terms: Counter[Value], bits: int) -> bool:
        """Whether several terms of a sum that the source computes as unsigned may wrap around together."""
        added = {term: times for term, times in terms.items() if times and term in self.wrapping}
        most = sum(times * self.ranges[term].umax for term, times in added.items())
        return sum(added.values()) > 1 and most >= 1 << bits - 1

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
        if known.smin >= 0 and (known.smax < 1 << bits - 1 or bits > _NARROW and self.growth.never_wraps(term)):
            return known.smin
        return self._least_of_carried(term, bits, deep) if term.op is None else self._least_quotient(term, bits, deep)

    def _least_of_carried(self, arg: Value, bits: int, deep: int) -> float:
        first = self.growth.floor(arg) if deep < MOST_CHOICES else None
        return NOT_AT_ALL if first is None else self._total(self._terms(first, bits), bits, deep)

    def _least_quotient(self, term: Value, bits: int, deep: int) -> float:
        by = divisor(term.defining_op)
        if by is None or deep >= MOST_CHOICES:
            return NOT_AT_ALL
        dividend = self._dividend(term.defining_op)
        if not (self.growth.never_wraps(dividend) or self.growth.is_exact(dividend)):
            return NOT_AT_ALL
        least = self._total(self._terms(dividend, bits), bits, deep)
        return least // by if least >= 0 else NOT_AT_ALL

    def _arms(self, select: Op) -> list[Value]:
        """The arms of a select that the facts permit."""
        condition, yes, no = select.operands
        truth = decided(condition, self.facts)
        return [yes, no] if truth is None else [yes] if truth else [no]


def _constants(terms: Counter[Value], bits: int) -> int:
    """Remove the constants from the terms of a sum of so many bits; returns their sum."""
    found = [term for term in terms if constant(term) is not None]
    values = [(present(constant(term)), term) for term in found]
    mask = (1 << bits) - 1
    numbers = [signed(number & mask, bits) if term.type.bits >= bits else number for number, term in values]
    return sum(number * terms.pop(term) for number, term in zip(numbers, found, strict=True))


def _is_counter(arg: Value) -> bool:
    return isinstance(arg.type, IntType) and arg.type != BOOL
