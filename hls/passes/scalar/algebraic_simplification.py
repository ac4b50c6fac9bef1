"""Algebraic simplification (peephole rules): one function for each operation, exact for every operand.

``rule(op, b)`` returns the value that replaces the operation, or None. Rules expect constants on the right of
commutative operations. Floating-point operations are only changed if every result stays the same, signs of zero
included.
"""

import math

from ...analysis.bits.wiring import possible_ones
from ...analysis.predicates.facts import Facts
from ...analysis.predicates.implication import INVERSE, decided, implied
from ...ir import BOOL, Attr, Builder, Op, Value, lane_mask, predicate
from ...ir.rewrite import constant, literal
from ...ir.types import FloatType, IntType
from ...ir.values import signed
from ...narrow import instance
from ..float.flush_denormals import flush_of
from .sign_changes import product_with_sign, with_plain_operands
from .specialize import conjuncts, specialized_choice

__all__ = ["simplify"]


def simplify(op: Op, b: Builder) -> Value | None:
    """The value of an equivalent, simpler expression, or None."""
    rule = _RULES.get(op.opcode)
    return rule(op, b) if rule else None


def _defined_by(value: Value, *opcodes: str) -> Op | None:
    op = value.op
    return op if op is not None and op.opcode in opcodes else None


def _ones(type: IntType) -> int:
    return (1 << type.bits) - 1


def _not(value: Value, b: Builder) -> Value:
    return b.value("xor", value, b.true())


def _negated(value: Value) -> Value | None:
    """x where the value is ``xor x, true``."""
    op = _defined_by(value, "xor")
    return op.operands[0] if op and value.type == BOOL and constant(op.operands[1]) == 1 else None


def _gather(op: Op, b: Builder) -> Value | None:
    """(x . c1) . c2 = x . (c1 . c2)"""
    inner, right = _defined_by(op.operands[0], op.opcode), constant(op.operands[1])
    if inner is None or right is None or constant(inner.operands[1]) is None:
        return None
    return b.value(op.opcode, inner.operands[0], b.value(op.opcode, inner.operands[1], op.operands[1]))


def _add(op, b):
    x, y = op.operands
    if constant(y) == 0:
        return x
    return _gather(op, b)


def _sub(op, b):
    x, y = op.operands
    if x is y:
        return b.const(0, x.type)
    if (number := constant(y)) is not None:
        return b.value("add", x, b.const(-number, x.type))
    inner = _defined_by(x, "add")
    if inner and y in inner.operands:  # (a + y) - y
        return inner.operands[1 - inner.operands.index(y)]
    if constant(x) == 0 and x.type != BOOL and possible_ones(y) == 1:  # a mask: all bits are that one
        return b.value("sext", b.value("trunc", y, result=BOOL), result=x.type)
    return None


def _mul(op, b):
    x, y = op.operands
    if constant(y) in (0, 1):
        return y if constant(y) == 0 else x
    return _gather(op, b)


def _and(op, b):
    x, y = op.operands
    if constant(y) == 0 or x is y:
        return y
    if constant(y) == _ones(x.type):
        return x
    if _opposite(x, y):
        return b.const(0, x.type)
    mask = _defined_by(x, "sext")
    if mask and mask.operands[0].type == BOOL and constant(y) is not None:
        return b.value("select", mask.operands[0], y, b.const(0, y.type))
    return _absorb(op, "or") or _gather(op, b) or _settled(op, b)


#: columns of a truth table of four unknowns, a bit for each of the sixteen combinations
_COLUMNS = (0xAAAA, 0xCCCC, 0xF0F0, 0xFF00)
_CASES, _MOST_PARTS = 0xFFFF, 24


def _settled(op: Op, b: Builder) -> Value | None:
    """What a condition over up to four unknowns is by its truth table, where that is a constant or one of them: e.g.
    the OR of exhaustive exclusive cases. Unknowns are negated values, and everything that is no ``and`` or ``or``."""
    if op.result.type != BOOL or not all(_defined_by(v, "and", "or", "xor") for v in op.operands):
        return None
    denied = {inner for part in _parts(op) if (inner := _negated(part)) is not None}
    unknowns: dict[Value, int] = {}
    table = _table(op.result, denied, unknowns) if denied else None
    if table in (0, _CASES):
        return b.const(int(table != 0), BOOL)
    return next((value for value, column in unknowns.items() if column == table), None)


def _parts(op: Op) -> list[Value]:
    """The operands of a condition, and their operands recursively, unless there are too many."""
    found = list(op.operands)
    for value in found:
        if len(found) < _MOST_PARTS and (inner := _defined_by(value, "and", "or")):
            found += inner.operands
    return found


def _table(value: Value, denied: set[Value], unknowns: dict[Value, int]) -> int | None:
    """The combinations of its unknowns for which the condition is true; None if there are too many unknowns."""
    inner, op = _negated(value), _defined_by(value, "and", "or")
    if inner is not None:
        table = _table(inner, denied, unknowns)
        return None if table is None else _CASES ^ table
    if op is None or value in denied:
        if value not in unknowns and len(unknowns) == len(_COLUMNS):
            return None
        return unknowns.setdefault(value, _COLUMNS[len(unknowns) % len(_COLUMNS)])
    one, other = (_table(operand, denied, unknowns) for operand in op.operands)
    if one is None or other is None:
        return None
    return one & other if op.opcode == "and" else one | other


def _or(op, b):
    x, y = op.operands
    if constant(y) == 0 or x is y:
        return x
    if constant(y) == _ones(x.type):
        return y
    if _opposite(x, y):
        return b.const(1, x.type)
    return _absorb(op, "and") or _gather(op, b) or _settled(op, b)


def _opposite(x: Value, y: Value) -> bool:
    """Whether each condition is the negation of the other."""
    if _negated(x) is y or _negated(y) is x and _negated(y) is not None:
        return True
    return x.type == BOOL and decided(x, {y: True}) is False


def _absorb(op: Op, dual: str) -> Value | None:
    """x . (x , y) = x for the dual; x . (x . y) = x . y"""
    for one, other in (op.operands, op.operands[::-1]):
        inner = _defined_by(other, dual, op.opcode)
        if inner and one in inner.operands:
            return one if inner.opcode == dual else other
    return None


def _xor(op, b):
    x, y = op.operands
    if constant(y) == 0:
        return x
    if x is y:
        return b.const(0, x.type)
    compare = _defined_by(x, *INVERSE)
    if compare and constant(y) == 1 and x.type == BOOL:
        return opposite(compare, b)
    return _gather(op, b)


def opposite(compare: Op, b: Builder) -> Value:
    """The negation of a comparison, by :data:`~hls.analysis.predicates.implication.INVERSE`."""
    opcode, swap = INVERSE[compare.opcode]
    return b.value(opcode, *(compare.operands[::-1] if swap else compare.operands))


def _shift(op, b):
    x, y = op.operands
    amount = constant(y)
    if amount == 0:
        return x
    if amount is None:
        return None
    if amount >= x.type.bits and op.opcode != "ashr":
        return b.const(0, x.type)
    inner = _defined_by(x, op.opcode)
    if inner and (more := constant(inner.operands[1])) is not None:
        total = min(amount + more, _ones(x.type))
        return b.value(op.opcode, inner.operands[0], b.const(total, x.type))
    return None


def _divide(op, b):
    return op.operands[0] if constant(op.operands[1]) == 1 else None


def _remainder(op, b):
    return b.const(0, op.result.type) if constant(op.operands[1]) == 1 else None


def _equal(op, b):
    """eq and ne."""
    (x, y), same = op.operands, op.opcode == "eq"
    if x is y:
        return b.const(same, BOOL)
    number = constant(y)
    if number is None:
        return None
    if x.type == BOOL:
        return x if (number == 1) == same else _not(x, b)
    wide = _defined_by(x, "zext", "sext")
    if wide:
        narrow = wide.operands[0]
        cut = number & _ones(instance(narrow.type, IntType))
        extended = signed(cut, narrow.type.bits) & _ones(x.type) if wide.opcode == "sext" else cut
        return b.value(op.opcode, narrow, b.const(cut, narrow.type)) if extended == number else b.const(not same, BOOL)
    return _compare_of_choice(op, b) or _bit_test(x, number, same, b)


def _bit_test(x: Value, number: int, same: bool, b: Builder) -> Value | None:
    """(x & 8) == 0 tests a bit of x."""
    ones = possible_ones(x)
    if ones & ones - 1 or not ones or number & ~ones:
        return None
    place = ones.bit_length() - 1
    bit = b.value("trunc", b.value("lshr", x, b.const(place, x.type)), result=BOOL)
    return bit if bool(number) == same else _not(bit, b)


def _compare_of_choice(op, b):
    """(c ? 3 : 4) == 3 is c."""
    choice = _defined_by(op.operands[0], "select")
    if choice is None or any(literal(arm) is None for arm in choice.operands[1:]):
        return None
    arms = [b.value(op.opcode, arm, op.operands[1]) for arm in choice.operands[1:]]
    return b.value("select", choice.operands[0], *arms)


def _less(op, b):
    """ult, ule, slt, sle."""
    x, y = op.operands
    low, high = (0, _ones(x.type)) if op.opcode[0] == "u" else (1 << x.type.bits - 1, (1 << x.type.bits - 1) - 1)
    strict = op.opcode[2] == "t"
    if x is y:
        return b.const(not strict, BOOL)
    if strict and (constant(y) == low or constant(x) == high):
        return b.const(0, BOOL)
    if not strict and (constant(x) == low or constant(y) == high):
        return b.const(1, BOOL)
    return None


def _select(op, b):
    c, x, y = op.operands
    if constant(c) is not None:
        return x if constant(c) else y
    if x is y:
        return x
    if _negated(c) is not None:
        return b.value("select", _negated(c), y, x)
    if x.type == BOOL:
        return _bool_select(c, x, y, b)
    return _same_number(c, x, y) or _nested_select(c, x, y, b)


def _same_number(c: Value, x: Value, y: Value) -> Value | None:
    """x == y ? x : y is y, also if c implies x == y: a select between equal numbers needs no condition."""
    if not isinstance(x.type, IntType):
        return None
    for truth, other in ((True, y), (False, x)):
        for fact, holds in implied(c, truth).items():
            op = fact.owner
            if type(op) is Op and op.opcode == ("eq" if holds else "ne") and op.operands in ([x, y], [y, x]):
                return other
    return None


def _bool_select(c, x, y, b):
    if constant(x) is not None:
        return b.value("or", c, y) if constant(x) else b.value("and", _not(c, b), y)
    if constant(y) is not None:
        return b.value("or", _not(c, b), x) if constant(y) else b.value("and", c, x)
    if c is x or c is y:
        return b.value("or", c, y) if c is x else b.value("and", c, x)
    return _nested_select(c, x, y, b)


def _nested_select(c, x, y, b):
    """c ? (d ? p : q) : y = c ? p : y if c implies d, and similar rules."""
    for arm, truth in ((x, True), (y, False)):
        inner = _defined_by(arm, "select")
        chosen = specialized_choice(inner, Facts().where(c, truth), b) if inner else None
        if chosen is not None:
            return b.value("select", c, chosen, y) if truth else b.value("select", c, x, chosen)
    return _nothing_loaded(c, x, y)


def _nothing_loaded(c, x, y):
    """c ? (load with predicate c) : 0 is the load, which is 0 if its predicate is false."""
    number = literal(y)
    if not isinstance(y.type, (IntType, FloatType)) or number != 0 or math.copysign(1, number) < 0:
        return None
    load, conditions = _defined_by(x, "load"), []
    if load is None and (part := _defined_by(x, "extract")):
        load = _defined_by(part.operands[0], "load")
        mask = lane_mask(load) if load else None
        by_lane = _defined_by(mask, "array") if mask is not None else None
        lane = constant(part.operands[1])
        conditions = by_lane.operands[lane : lane + 1] if by_lane and lane is not None else []
    needed = set(conjuncts(c))
    return x if load and any(set(conjuncts(known)) == needed for known in (predicate(load), *conditions)) else None


def _extend(op, b):
    """zext and sext."""
    x, type = op.operands[0], op.result.type
    inner = _defined_by(x, "zext", op.opcode)
    return b.value(inner.opcode, inner.operands[0], result=type) if inner else None


def _trunc(op, b):
    x, type = op.operands[0], op.result.type
    inner = _defined_by(x, "zext", "sext", "trunc")
    if inner is None:
        return None
    source = inner.operands[0]
    if source.type == type:
        return source
    return b.value("trunc" if source.type.bits > type.bits else inner.opcode, source, result=type)


def _bitcast(op, b):
    x = op.operands[0]
    if x.type == op.result.type:
        return x
    inner = _defined_by(x, "bitcast")
    if inner is None or isinstance(x.type, FloatType) or isinstance(getattr(x.type, "element", None), FloatType):
        return None  # a float stays a float: float recurrences are found by type
    source = inner.operands[0]
    return source if source.type == op.result.type else b.value("bitcast", source, result=op.result.type)


def _extract(op, b):
    """A known element of an array that was just assembled."""
    whole, index = op.operands
    number, source = constant(index), _defined_by(whole, "array", "insert")
    if number is None or source is None:
        return None
    if source.opcode == "array":
        return source.operands[number] if number < len(source.operands) else None
    before, place, value = source.operands
    if constant(place) is None:
        return None
    return value if constant(place) == number else b.value("extract", before, index)


def _array(op, b):
    """An array assembled of all elements of another one, in order, is that array."""
    sources = {v.op.operands[0] for v in op.operands if v.op is not None and v.op.opcode == "extract"}
    if len(sources) != 1:
        return None
    (source,) = sources
    in_order = all(
        v.op is not None and v.op.opcode == "extract" and constant(v.op.operands[1]) == k
        for k, v in enumerate(op.operands)
    )
    return source if in_order and source.type == op.result.type else None


def _is_float(value: Value, number: float) -> bool:
    x = literal(value)
    return x == number and math.copysign(1, x) == math.copysign(1, number)


#: operations whose only NaN result is the canonical one
_ONE_NAN = ("fadd", "fsub", "fmul", "fdiv", "fma", "fsum", "fsqrt", "fintegral", "fresize", "sitofp", "uitofp")


def _same(op, x, b):
    """``x`` with every NaN canonical, as arithmetic makes it; None for an operation that flushes, as it replaces a
    subnormal ``x`` by zero."""
    if op.attrs.get(Attr.FLUSH_DENORMALS):
        return None
    if _defined_by(x, *_ONE_NAN):
        return x
    return b.value("select", b.value("feq", x, x), x, b.const(math.nan, x.type))


def _fadd(op, b):
    x, y = op.operands
    return _same(op, x, b) if _is_float(y, -0.0) else with_plain_operands(op, b)


def _fsub(op, b):
    x, y = op.operands
    return _same(op, x, b) if _is_float(y, 0.0) else with_plain_operands(op, b)


def _fmul(op, b):
    x, y = op.operands
    if _is_float(y, 1.0):
        return _same(op, x, b)
    return product_with_sign(op, b) or with_plain_operands(op, b)


def _fdiv(op, b):
    """x / 2^k = x * 2^-k: both round the same real number."""
    x, y = op.operands
    divisor = literal(y)
    if divisor == 1.0:
        return _same(op, x, b)
    if not isinstance(divisor, int | float) or not math.isfinite(divisor) or abs(math.frexp(divisor)[0]) != 0.5:
        return with_plain_operands(op, b)
    limit = {16: 14, 32: 126, 64: 1022}[x.type.bits]
    if abs(math.frexp(divisor)[1]) > limit:
        return None
    return b.value("fmul", x, b.const(1.0 / divisor, x.type), attrs=flush_of(op))


def _fneg(op, b):
    inner = _defined_by(op.operands[0], "fneg")
    return inner.operands[0] if inner else None


def _fabs(op, b):
    inner = _defined_by(op.operands[0], "fneg", "fabs")
    return b.value("fabs", inner.operands[0]) if inner else None


_RULES = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "shl": _shift,
    "lshr": _shift,
    "ashr": _shift,
    "udiv": _divide,
    "sdiv": _divide,
    "urem": _remainder,
    "srem": _remainder,
    "eq": _equal,
    "ne": _equal,
    "ult": _less,
    "ule": _less,
    "slt": _less,
    "sle": _less,
    "select": _select,
    "zext": _extend,
    "sext": _extend,
    "trunc": _trunc,
    "bitcast": _bitcast,
    "fadd": _fadd,
    "fsub": _fsub,
    "fmul": _fmul,
    "fdiv": _fdiv,
    "fma": with_plain_operands,
    "fsqrt": with_plain_operands,
    "fneg": _fneg,
    "fabs": _fabs,
    "extract": _extract,
    "array": _array,
}
