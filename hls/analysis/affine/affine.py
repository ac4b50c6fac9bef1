"""Byte offsets as affine forms: a constant plus multiples of iteration counters of loops and of opaque values.

Integers in IR wrap, sums here do not. The form of a value of w bits is first computed modulo 2**w, which is always
correct. It stands for the value itself if its bounds show that it does not wrap; also for a signed value of 32 bits or
more, whose overflow C leaves undefined, including one read as unsigned that is never negative, unless the source
computes it as unsigned. Otherwise the multiple of 2**w between the two is one more unknown. A byte offset as wide as
an address is assumed not to wrap around the address space; a narrower one is unsigned. A value that is no sum is a
symbol.
"""

from collections.abc import Iterable
from functools import cached_property

from ...ir import Attr, Function, MemoryObject, Op, Value, memory_name, predicate, walk
from ...ir.rewrite import constant
from ...ir.values import signed as as_signed
from ...narrow import present
from ..bits.known_bits import TrailingZeros
from ..bits.ranges import Range, ranges
from ..induction.bounded_step import pace
from ..induction.periodic import PeriodicSequences
from ..loops.loop_tree import Induction, Loop, LoopTree
from ..predicates.implication import implied
from .floordiv import Quotient, quotient
from .form import Affine, Symbol, WrappedSum, compared_facts, narrowed_by
from .wrapping import WrappingValues

__all__ = ["Affine", "AffineForms", "Symbol", "WrappedSum"]

#: an index that less than two to the power of so many equal steps lead through its whole type is taken to wrap around
FEW_ROUND = 12
_FAR = 1 << 80  #: exceeds every 64-bit value: unbounded
_UNSIGNED = frozenset({"zext", "ult", "ule", "udiv", "urem", "lshr"})
_SUMS = frozenset({"zext", "sext", "trunc", "add", "sub", "shl"})
_MOST_SELECTS = 4  #: depth to which arms of selects that depend on each other are bounded
_SIZES = (
    "global_size",
    "local_size",
    "num_groups",
    "global_offset",
    "global_count",
    "local_count",
    "group_count",
    "work_dim",
)


class _KnownRanges(dict):
    """Ranges by value; the full range for values that a pass has created meanwhile."""

    def __missing__(self, value: Value) -> Range:
        return Range.full(value.type.bits)


class AffineForms:
    """Forms of the values of one flat kernel; addresses have ``address_bits`` bits."""

    def __init__(self, function: Function, address_bits: int = 64) -> None:
        self.tree = LoopTree(function)
        self.address_bits = address_bits
        scalars = sum(p.kind == "scalar" for p in function.params)
        hidden = zip(function.attrs.get(Attr.LAUNCH_ARGS, ()), function.args[scalars:])
        self._sizes = {value for name, value in hidden if name.startswith(_SIZES)}
        #: values better read as unsigned, since an operation reads them so
        self._unsigned = {v for op in walk(function.body) if op.opcode in _UNSIGNED for v in op.operands} | self._sizes
        self._function = function
        # unsigned values with an upper limit, under the predicate for which a form is computed
        self._given: frozenset[Value] = frozenset()
        self._modular: dict[tuple[frozenset, Value], Affine] = {}
        self._exact: dict[tuple[frozenset, Value, bool], Affine] = {}
        self._courses = PeriodicSequences(self.tree)
        self._offsets: dict[tuple[Op, Value, Value], Affine] = {}
        self._within = 0  #: selects whose arms are being bounded

    @cached_property
    def ranges(self) -> dict[Value, Range]:
        """The range of each value."""
        return _KnownRanges(ranges(self._function))

    @cached_property
    def _zeros(self) -> TrailingZeros:
        return TrailingZeros(self._function)

    @cached_property
    def _wrapping(self) -> WrappingValues:
        return WrappingValues(self.tree)

    def may_wrap(self, value: Value) -> bool:
        """Whether a value of 32 bits or more may wrap around though it is read as signed."""
        return self._wrapping.may_wrap(value)

    def memory(self, access: Op) -> MemoryObject:
        """The memory of a load or store."""
        return self._function.memories[memory_name(access)]

    def offset(self, access: Op) -> Affine:
        """The byte offset of a load or store in its memory, valid if it executes."""
        key = access, access.operands[0], predicate(access)
        if key not in self._offsets:
            self._offsets[key] = self._where_taken(access)
        return self._offsets[key]

    def _where_taken(self, access: Op) -> Affine:
        self._given = frozenset(self._below(predicate(access)))
        form = self._offset(access)
        self._given = frozenset()
        return form

    def _offset(self, access: Op) -> Affine:
        (offset,) = access.operands[0].defining_op.operands
        if offset.type.bits < self.address_bits:
            return self.exact(offset, False)
        form, bits = self.modular(offset), offset.type.bits
        if not self._comes_round(form) or not self.may_wrap(offset):
            return form
        return form + Affine(0, {Symbol(offset, False, 0, (1 << bits) - 1, form): 1 << bits})

    def _comes_round(self, form: Affine) -> bool:
        """Whether few iterations lead around the address space, where the source lets an index wrap around."""
        steps = [self._least_distance(unknown) * abs(factor) for unknown, factor in form.terms.items()]
        return max(abs(form.const), *steps, 0) >> max(self.address_bits - FEW_ROUND, 0) != 0

    def _least_distance(self, unknown: Symbol | Loop | WrappedSum) -> int:
        """The least change that an unknown makes to a form, or its least distance from 0. What is negative has wrapped
        around, or is far as an unsigned number."""
        if isinstance(unknown, Loop):
            return 1
        low, high = self._limits(unknown)
        return _FAR if high < 0 else max(low, 0)

    def exact(self, value: Value, is_signed: bool) -> Affine:
        """The value as a number, read as signed or unsigned."""
        key = self._given, value, is_signed
        if key not in self._exact:
            self._exact[key] = self._find_exact(value, is_signed)
        return self._exact[key]

    def modular(self, value: Value) -> Affine:
        """A form that is congruent to the value modulo 2**bits."""
        key = self._given, value
        if key not in self._modular:
            self._modular[key] = self._find_modular(value)
        return self._modular[key]

    def bounds(self, form: Affine) -> tuple[int, int]:
        """Least and greatest value of the form, from the bounds of each unknown separately."""
        low = high = form.const
        for unknown, factor in form.terms.items():
            least, most = self._limits(unknown)
            low += factor * (least if factor > 0 else most)
            high += factor * (most if factor > 0 else least)
        return low, high

    def most_trips(self, loop: Loop) -> int | None:
        """The greatest trip count that bounds of the loop's counters imply; None if they imply none below 2**32."""
        most = self._counts(loop)[1] + 1
        return most if most <= 1 << 32 else None

    # --- numbers ---

    def _find_exact(self, value: Value, is_signed: bool) -> Affine:
        bits, form = value.type.bits, self.modular(value)
        if constant(value) is not None:
            return Affine(present(as_signed(present(constant(value)), bits) if is_signed else constant(value)))
        least, most = (-1 << bits - 1, (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        low, high = self.bounds(form)
        turns = low - least >> bits
        if turns == high - least >> bits:  # the same multiple of 2**bits, whatever the unknowns are
            return form + Affine(-turns << bits)
        plain = self._unwrapped(value, is_signed, least, most)
        if plain is not None:
            return plain
        if bits >= 32 and (is_signed or self.ranges[value].smin >= 0) and not self.may_wrap(value):
            return form
        counted = None if is_signed else self._counted(value)
        return counted or form + Affine(0, {Symbol(value, is_signed, least, most, form): 1 << bits})

    def _unwrapped(self, value: Value, is_signed: bool, least: int, most: int) -> Affine | None:
        """The exact form, if the ranges of the operands show that the operation does not wrap."""
        op = value.op
        if op is None or op.opcode not in _SUMS and not (op.opcode == "or" and self._is_sum(op)):
            return None
        if op.opcode in ("zext", "sext"):
            same = is_signed or op.opcode == "zext" or self.ranges[op.operands[0]].smin >= 0
            return self.exact(op.operands[0], op.opcode == "sext") if same else None
        terms = _terms(op)
        low, high = self._range_of_sum(terms, is_signed)
        if not terms or low < least or high > most:
            return None
        return sum((self.exact(v, is_signed) * factor for v, factor in terms), Affine())

    def _range_of_sum(self, terms: list[tuple[Value, int]], is_signed: bool) -> tuple[int, int]:
        low = high = 0
        for value, factor in terms:
            known = self.ranges[value]
            ends = (known.smin, known.smax) if is_signed else (known.umin, known.umax)
            low, high = low + min(factor * end for end in ends), high + max(factor * end for end in ends)
        return low, high

    def _counted(self, value: Value) -> Affine | None:
        """The form of an unsigned counter that is known not to wrap, or of such a counter plus one if the counter is
        less than some limit."""
        op, more = value.op, 0
        if op is not None and op.opcode == "add" and constant(op.operands[1]) is not None:
            value, more = op.operands[0], present(constant(op.operands[1]))
            if not _row(value, self._given, more - 1):
                return None
        induction = self._induction(value)
        if induction is None or not self._stays_below(induction):
            return None
        return self.exact(induction.init, False) + Affine(more, {self.tree.holder(value): 1})

    def _symbol(self, value: Value, is_signed: bool) -> Affine:
        course = self._courses.of(value, is_signed)
        low, high = (course.low, course.high) if course else self._range(value, is_signed)
        symbol = Symbol(
            value,
            is_signed,
            low,
            high,
            course=course,
            quotient=self._quotient(value, is_signed),
            pace=self._pace(value, is_signed),
        )
        return Affine(0, {symbol: 1})

    def _pace(self, value: Value, is_signed: bool) -> tuple[Affine, Loop, int, int] | None:
        loop = self.tree.holder(value) if value.op is None and is_signed else None
        if loop is None or value.owner is not loop.body:
            return None
        found = pace(value, loop, self.ranges) if not self.may_wrap(value) else None
        return found and (self.exact(loop.op.operands[1 + value.index], True), loop, *found)

    def _quotient(self, value: Value, is_signed: bool) -> tuple[Quotient, Affine] | None:
        found = quotient(value)
        if found is None or found.signed != is_signed and self.ranges[value].smin < 0:
            return None
        return found, self.exact(found.dividend, found.signed)

    def _range(self, value: Value, is_signed: bool) -> tuple[int, int]:
        bits, op = value.type.bits, value.op
        full = (-1 << bits - 1, (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
        if value in self._sizes:
            return 0, (1 << 31) - 1  # guaranteed by the host
        holder = self.tree.holder(value) if op is None else None
        if holder is not None and holder.parallel:  # an id in a group, whose size may be known
            known = self.ranges[value]
            return (known.smin, known.smax) if is_signed else (known.umin, known.umax)
        if op is None:
            return full
        known = self.ranges[value]
        low, high = (known.smin, known.smax) if is_signed else (known.umin, known.umax)
        if op.opcode != "select" or self._within >= _MOST_SELECTS:
            return low, high
        self._within += 1
        arms = [self._arm(op, arm, truth, is_signed) for arm, truth in zip(op.operands[1:], (True, False))]
        self._within -= 1
        return max(low, min(least for least, _ in arms)), min(high, max(most for _, most in arms))

    def _arm(self, select: Op, arm: Value, truth: bool, is_signed: bool) -> tuple[int, int]:
        """The bounds of an arm of a select where it is chosen: in ``i + 64 > n ? n - i : 64`` at most 63 and 64."""
        known = self.ranges[arm]
        low, high = (known.smin, known.smax) if is_signed else (known.umin, known.umax)
        if arm.op is None or arm.op.opcode not in ("add", "sub"):
            return low, high
        chosen = implied(select.operands[0], truth).items()
        facts = [fact for condition, holds in chosen for fact in compared_facts(self.exact, condition, holds)]
        return narrowed_by(facts, self.exact(arm, is_signed), low, high)

    # --- modulo the width ---

    def _find_modular(self, value: Value) -> Affine:
        induction = self._induction(value)
        if induction:
            loop = self.tree.holder(value)
            return self.modular(induction.init) + Affine(0, {loop: induction.step})
        op = value.op
        handler = getattr(self, f"_on_{op.opcode}", None) if op is not None else None
        form = handler(op) if handler else None
        if form is not None:
            return form
        return self._symbol(value, value not in self._unsigned)

    def _induction(self, value: Value) -> Induction | None:
        loop = self.tree.holder(value) if value.op is None else None
        return loop.inductions.get(value) if loop else None

    def _on_const(self, op: Op) -> Affine:
        return Affine(as_signed(op.attrs[Attr.VALUE], op.result.type.bits))

    def _on_add(self, op: Op) -> Affine:
        return self.modular(op.operands[0]) + self.modular(op.operands[1])

    def _on_sub(self, op: Op) -> Affine:
        return self.modular(op.operands[0]) - self.modular(op.operands[1])

    def _on_mul(self, op: Op) -> Affine | None:
        left, right = (self.modular(v) for v in op.operands)
        if left.terms and right.terms:
            return None
        return left * right.const if left.terms else right * left.const

    def _on_shl(self, op: Op) -> Affine | None:
        count = constant(op.operands[1])
        if count is None or count >= op.result.type.bits:
            return None
        return self.modular(op.operands[0]) * (1 << count)

    def _on_sext(self, op: Op) -> Affine:
        return self.exact(op.operands[0], True)

    def _on_zext(self, op: Op) -> Affine:
        return self.exact(op.operands[0], False)

    def _on_or(self, op: Op) -> Affine | None:
        """The sum, if the operands have no set bits in common."""
        left, right = op.operands
        return self.modular(left) + self.modular(right) if self._is_sum(op) else None

    def _on_xor(self, op: Op) -> Affine | None:
        """The bitwise complement, if it is one: all ones minus the number."""
        if constant(op.operands[1]) != (1 << op.result.type.bits) - 1:
            return None
        return Affine(-1) - self.modular(op.operands[0])

    def _is_sum(self, op: Op) -> bool:
        """Whether the operands of an ``or`` have no set bits in common."""
        left, right = op.operands
        return any(
            self.ranges[other].umax.bit_length() <= self._zeros.of(one) for one, other in ((left, right), (right, left))
        )

    def _on_trunc(self, op: Op) -> Affine:
        return self.modular(op.operands[0])

    # --- loops ---

    def _limits(self, unknown) -> tuple[int, int]:
        if isinstance(unknown, Loop):
            return self._counts(unknown)
        return (unknown.low, unknown.high) if unknown.wraps is None else (-_FAR, _FAR)

    def _counts(self, loop: Loop) -> tuple[int, int]:
        """Bounds of a loop's iteration counter."""
        if loop.most_trips is not None:
            return 0, loop.most_trips - 1
        ends = [self.ranges[i.arg].umax // i.step for i in loop.inductions.values() if self._stays_below(i)]
        return 0, min(ends, default=_FAR)

    def _stays_below(self, induction: Induction) -> bool:
        """Whether an unsigned counter is known not to wrap: the step from its greatest value does not, as where another
        counter limits it; or it increases by one, and only while it is less than some limit. (In an unrolled loop by
        several, each of which is less.)"""
        loop, arg, step = self.tree.holder(induction.arg), induction.arg, induction.step
        if step > 0 and self.ranges[arg].umax + step < 1 << arg.type.bits:
            return True
        return (
            step > 0
            and _row(arg, self._below(present(loop).again), step)
            and (constant(induction.init) == 0 or induction.init in self._below(present(loop).op.operands[0]))
        )

    def _below(self, condition: Value) -> set[Value]:
        """Values that the condition bounds, as unsigned numbers, by a limit within their type."""
        found = set()
        for op in (
            fact.op
            for fact, truth in implied(condition).items()
            if truth and fact.op is not None and fact.op.opcode in ("ult", "slt")
        ):
            value, end = op.operands
            narrow = value.op.operands[0] if value.op is not None and value.op.opcode == "zext" else None
            most = self.ranges[end].umax if op.opcode == "ult" else self.ranges[end].smax
            if narrow is not None and most < 1 << narrow.type.bits:
                found.add(narrow)
            if op.opcode == "ult":
                found.add(value)
        return found


def _terms(op: Op) -> list[tuple[Value, int]]:
    """Operands and factors of an operation that is their sum, except for wrapping; none if a factor is not known."""
    first, *rest = op.operands
    if op.opcode == "shl":
        count = constant(rest[0])
        return [] if count is None or count >= op.result.type.bits else [(first, 1 << count)]
    return [(first, 1), *((v, -1 if op.opcode == "sub" else 1) for v in rest)]


def _row(base: Value, below: Iterable[Value], last: int) -> bool:
    """Whether `base + 1` to `base + last` are all among these values."""
    sums = [value.op for value in below]
    numbers = {
        constant(op.operands[1]) for op in sums if op is not None and op.opcode == "add" and op.operands[0] is base
    }
    return all(number in numbers for number in range(1, last + 1))
