"""The op table: arity, result type, properties, and the meaning of the pure operations.

A property is a member of ``OpInfo.traits``; predicates over operations test membership, and no code compares opcodes
for it. Operations with "logic" are plain logic on integers that takes less than a cycle: loop control that consists of
them can be computed ahead.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..narrow import present
from . import exact
from .attributes import Attr, AttributeValue
from .nodes import Op
from .types import BOOL, I64, PTR, ArrayType, FloatType, Type
from .values import bits_to_float, float_to_bits, one_nan, round_float, signed

__all__ = ["ATOMICS", "OPS", "OpInfo", "evaluate", "has"]


@dataclass(frozen=True)
class OpInfo:
    """One row of the table.

    ``arity`` is None if the number of operands is arbitrary. ``result`` maps (operand types, attrs) to the result type,
    or is None if the operation names its own result types. ``check`` says which operand types are allowed. ``meaning``
    maps (operand values, operand types, result type, attrs) to the result.
    """

    name: str
    arity: int | None
    traits: frozenset = frozenset()
    result: Callable | None = None
    check: str = "any"  #: "int", "float", "same", "any": what the verifier requires of the operands
    meaning: Callable | None = None


def _mask(t):
    return (1 << t.bits) - 1


def _first(types, attrs):
    return types[0]


def _bool(types, attrs):
    return BOOL


def _int(name, fn, *traits):
    def meaning(v, t, r, attrs):
        return fn(*v, t[0].bits) & _mask(r)

    return OpInfo(name, 2, frozenset({"pure", *traits}), _first, "int", meaning)


def _compare(name, fn, check, *traits):
    return OpInfo(
        name, 2, frozenset({"pure", "compare", *traits}), _bool, check, lambda v, t, r, attrs: int(fn(*v, t[0].bits))
    )


def _arithmetic(name, arity, fn, *traits):
    """``fn`` maps (values, bits, attrs) to the result. With the attribute ``flush``, subnormal operands and results
    become zeros of their sign (FTZ)."""

    def meaning(v, t, r, attrs):
        if not attrs.get(Attr.FLUSH_DENORMALS):
            return one_nan(fn(v, r.bits, attrs))
        return one_nan(exact.flushed(fn([exact.flushed(x, r.bits) for x in v], r.bits, attrs), r.bits))

    return OpInfo(name, arity, frozenset({"pure", "float", "flushes", *traits}), _first, "float", meaning)


def _float(name, fn, *traits):
    return _arithmetic(name, 2, lambda v, bits, attrs: round_float(fn(*v), bits), *traits)


def _convert(name, fn, check, *traits):
    return OpInfo(
        name, 1, frozenset({"pure", "convert", *traits}), None, check, lambda v, t, r, attrs: fn(v[0], t[0], r)
    )


def _rounding(name, fn, check, default):
    """A conversion that may round; attribute ``rounding`` names a mode other than the default."""
    return OpInfo(
        name,
        1,
        frozenset({"pure", "convert"}),
        None,
        check,
        lambda v, t, r, attrs: fn(v[0], t[0], r, attrs.get(Attr.ROUNDING, default)),
    )


def _div(a, b, n):
    return a // b if b else -1


def _rem(a, b, n):
    return a % b if b else a


def _sdiv(a, b, n):
    a, b = signed(a, n), signed(b, n)
    return (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b else -1


def _srem(a, b, n):
    x, y = signed(a, n), signed(b, n)
    return (abs(x) % abs(y)) * (-1 if x < 0 else 1) if y else x


def _fdiv(a, b):
    if b:
        return a / b
    if a == 0 or math.isnan(a) or math.isnan(b):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def _fmul(a, b):
    return a * b


def _bitcast(x, source, target):
    return _from_bits(_to_bits(x, source), target)


def _to_bits(x, type):
    if isinstance(type, ArrayType):
        return sum(_to_bits(one, type.element) << k * type.element.bits for k, one in enumerate(x))
    return float_to_bits(x, type.bits) if isinstance(type, FloatType) else x


def _from_bits(bits, type):
    if isinstance(type, ArrayType):
        width = type.element.bits
        return tuple(_from_bits(bits >> k * width & (1 << width) - 1, type.element) for k in range(type.length))
    return bits_to_float(bits, type.bits) if isinstance(type, FloatType) else bits


def _lut(v, t, r, attrs):
    found = 0
    for minterm in range(1 << len(v)):
        if attrs[Attr.TABLE] >> minterm & 1:
            where = _mask(r)
            for k, x in enumerate(v):
                where &= x if minterm >> k & 1 else ~x
            found |= where
    return found


def _extract(v, t, r, attrs):
    array, index = v
    return array[index] if index < len(array) else type(array[0])(0)


def _insert(v, t, r, attrs):
    array, index, value = v
    return array[:index] + (value,) + array[index + 1 :] if index < len(array) else array


_ROWS = [
    OpInfo("const", 0, frozenset({"pure", "constant", "logic"})),
    # `copy_number {value}` -> an integer: which of the copies of a kernel this one is. No pass evaluates it, so that
    # copies stay alike; when they are planned it becomes a const
    OpInfo("copy_number", 0, frozenset({"pure"})),
    _int("add", lambda a, b, n: a + b, "commutative", "associative", "logic"),
    _int("sub", lambda a, b, n: a - b, "logic"),
    _int("mul", lambda a, b, n: a * b, "commutative", "associative"),
    _int("udiv", _div),
    _int("sdiv", _sdiv),
    _int("urem", _rem),
    _int("srem", _srem),
    _int("and", lambda a, b, n: a & b, "commutative", "associative", "bitwise", "logic"),
    _int("or", lambda a, b, n: a | b, "commutative", "associative", "bitwise", "logic"),
    _int("xor", lambda a, b, n: a ^ b, "commutative", "associative", "bitwise", "logic"),
    # `lut {table}` of any number of integers is the same function of their bits in each place, as a lookup table of the
    # device computes it
    OpInfo("lut", None, frozenset({"pure", "logic"}), _first, "int", _lut),
    _int("shl", lambda a, b, n: a << b if b < n else 0, "shift", "logic"),
    _int("lshr", lambda a, b, n: a >> b if b < n else 0, "shift", "logic"),
    _int("ashr", lambda a, b, n: signed(a, n) >> min(b, n - 1), "shift", "logic"),
    _compare("eq", lambda a, b, n: a == b, "int", "commutative", "logic"),
    _compare("ne", lambda a, b, n: a != b, "int", "commutative", "logic"),
    _compare("ult", lambda a, b, n: a < b, "int", "logic"),
    _compare("ule", lambda a, b, n: a <= b, "int", "logic"),
    _compare("slt", lambda a, b, n: signed(a, n) < signed(b, n), "int", "logic"),
    _compare("sle", lambda a, b, n: signed(a, n) <= signed(b, n), "int", "logic"),
    _float("fadd", lambda a, b: a + b, "commutative"),
    _float("fsub", lambda a, b: a - b),
    _float("fmul", _fmul, "commutative"),
    _float("fdiv", _fdiv),
    OpInfo("fneg", 1, frozenset({"pure", "float"}), _first, "float", lambda v, t, r, attrs: -v[0]),
    OpInfo("fabs", 1, frozenset({"pure", "float"}), _first, "float", lambda v, t, r, attrs: abs(v[0])),
    _arithmetic("fma", 3, lambda v, bits, attrs: exact.fma(v[0], v[1], v[2], bits)),
    # `fsum {terms}` is the sum of products and numbers with one rounding; terms: "+", "-" (a number is added,
    # subtracted), "+*", "-*" (a product of two), in the order of the operands; hls.ir.exact.fused_sum defines which
    # bits are truncated before
    _arithmetic("fsum", None, lambda v, bits, attrs: exact.fused_sum(attrs[Attr.TERMS], v, bits)),
    _arithmetic("fsqrt", 1, lambda v, bits, attrs: exact.sqrt(v[0], bits)),
    OpInfo(
        "fintegral",
        1,
        frozenset({"pure", "float"}),
        _first,
        "float",
        lambda v, t, r, attrs: one_nan(exact.integral(v[0], attrs[Attr.ROUNDING])),
    ),
    _compare("feq", lambda a, b, n: a == b, "float", "commutative", "float"),
    _compare("fne", lambda a, b, n: a != b, "float", "commutative", "float"),
    _compare("flt", lambda a, b, n: a < b, "float", "float"),
    _compare("fle", lambda a, b, n: a <= b, "float", "float"),
    _convert("zext", lambda x, s, r: x, "int", "logic"),
    _convert("sext", lambda x, s, r: signed(x, s.bits) & _mask(r), "int", "logic"),
    _convert("trunc", lambda x, s, r: x & _mask(r), "int", "logic"),
    _convert("bitcast", _bitcast, "any"),
    _rounding("sitofp", lambda x, s, r, mode: exact.rounded(signed(x, s.bits), r.bits, mode), "int", "even"),
    _rounding("uitofp", lambda x, s, r, mode: exact.rounded(x, r.bits, mode), "int", "even"),
    _rounding("fptosi", lambda x, s, r, mode: exact.to_integer(x, r.bits, True, mode), "float", "zero"),
    _rounding("fptoui", lambda x, s, r, mode: exact.to_integer(x, r.bits, False, mode), "float", "zero"),
    _rounding("fresize", lambda x, s, r, mode: one_nan(exact.resize(x, r.bits, mode)), "float", "even"),
    OpInfo(
        "select",
        3,
        frozenset({"pure", "logic"}),
        lambda t, attrs: t[1],
        "select",
        lambda v, t, r, attrs: v[1] if v[0] else v[2],
    ),
    OpInfo(
        "array",
        None,
        frozenset({"pure"}),
        lambda t, attrs: ArrayType(t[0], len(t)),
        "same",
        lambda v, t, r, attrs: tuple(v),
    ),
    OpInfo("extract", 2, frozenset({"pure"}), lambda t, attrs: t[0].element, "any", _extract),
    OpInfo("insert", 3, frozenset({"pure"}), _first, "any", _insert),
    # pointers: `addr {mem}` of a byte offset (i64) into a memory object; `ptradd` moves a pointer by bytes (i64)
    OpInfo("addr", 1, frozenset({"pure", "pointer"}), lambda t, attrs: PTR, "int"),
    OpInfo("ptradd", 2, frozenset({"pure", "pointer"}), lambda t, attrs: PTR),
    # `ptroffset` is the byte offset (i64) of a pointer in its memory object; `ptreq` whether two are the same address
    # (i1)
    OpInfo("ptroffset", 1, frozenset({"pure", "pointer"}), lambda t, attrs: I64),
    OpInfo("ptreq", 2, frozenset({"pure", "pointer"}), lambda t, attrs: BOOL),
    # `ptraddr` is a pointer as a number (i64): 0 for null, else the byte offset plus the first address of its memory
    # object, see `hls.ir.storage.first_address`
    OpInfo("ptraddr", 1, frozenset({"pure", "pointer"}), lambda t, attrs: I64),
    # `given {mem}`: whether the host passed a buffer for this argument (i1). A pointer to a buffer that it did not pass
    # is null
    OpInfo("given", 0, frozenset({"pure"}), lambda t, attrs: BOOL),
    # memory: load (ptr, pred, token...) -> its own result type (0 if pred is false); store (ptr, value, pred, token...)
    # -> nothing, or a token that is valid when the store is on its way to memory. "ordered": may take tokens after its
    # operands. An access that moves an array may have a mask of its lanes after pred (see hls.ir.accesses)
    OpInfo("load", 2, frozenset({"memory", "read", "ordered"})),
    OpInfo("store", 3, frozenset({"memory", "write", "effect", "ordered"})),
    # `check` (result of a load with the attribute ``early``, wanted): the program makes the load only where ``wanted``
    # is true; elsewhere, the load has no effect, and its result is any value. Where the program makes it long after it
    # was made, `check` (flag, wanted) has the bit (i1) that `failed` (result of an early load) gives: whether the load
    # was made, and memory refused it. Only `select`, `and`, `or` and carried values stand between them
    OpInfo("check", 2, frozenset({"effect"})),
    OpInfo("failed", 1, frozenset({"pure"}), lambda t, attrs: BOOL),
    # `fresh {mem, set}`: a new instance of a private memory begins here, all 0; ``set``: because the program
    # initializes it, else reads before a write are a mistake
    OpInfo("fresh", 0, frozenset({"effect"})),
    # whole arrays, elements ``low`` to ``high`` - 1 of a private memory: `shift {mem, by, low, high}` moves each
    # element up by ``by`` (down if negative); elements moved outside are lost, and positions that nothing is moved to
    # keep their value. `fill {mem, low, high}` (value) sets each
    OpInfo("shift", 0, frozenset({"effect", "whole"})),
    OpInfo("fill", 1, frozenset({"effect", "whole"})),
    # work-groups: at `barrier {flags}` (optional pred) all work-items of the group synchronize; `mem_fence {kind,
    # flags}` keeps the accesses of one work-item in order as seen by others; flags: 1 local, 2 global, 4 channels;
    # kind: "all", "read" or "write"
    OpInfo("barrier", None, frozenset({"effect", "group"})),
    OpInfo("mem_fence", 0, frozenset({"effect"})),
    # `atomic {fn}` (ptr, pred, operand..., token...) -> the old value (0 if pred is false), and a token where order
    # matters; fn: a key of ATOMICS
    OpInfo("atomic", None, frozenset({"effect", "atomic"})),
    # `channel_read {channel, blocking}` (index, pred) -> value, or (value, i1: there was one) if non-blocking;
    # `channel_write {channel, blocking}` (index, pred, value) -> nothing, or i1: there was room. ``index`` (i64) is the
    # position in an array of channels. ``channel`` names a channel of the module, or a memory of the function whose
    # space is "pipe". A last result that is a token is valid when the call is complete
    OpInfo("channel_read", 2, frozenset({"effect", "channel", "ordered"})),
    OpInfo("channel_write", 3, frozenset({"effect", "channel", "ordered"})),
    # `printf {format}` (pred, argument...): as in C, one argument for each conversion
    OpInfo("printf", None, frozenset({"effect"})),
    # order: `token` of any values is valid when all of them are; `fence {mems, flush}` (pred, token...) -> token is
    # valid when every earlier store of this kernel to ``mems`` is in memory, and loads of ``flush`` will see these
    # stores
    OpInfo("token", None, frozenset({"pure"}), None, "any", lambda v, t, r, attrs: 0),
    OpInfo("fence", 1, frozenset({"wait", "ordered"})),
    # `hazard {number, mem, asks, certain}` (access ptr, pred, ..., store ptr, pred, ...) -> token is valid when no
    # store of an earlier iteration to an access's address is in flight; ``asks``: for each access, numbers of the
    # stores that matter to it. Store k is the one that has (number, k) in ``hazards``; if ``certain`` is 0, that
    # store's own predicate is known only later. Tokens may follow, which it waits for. With ``finds`` it waits for no
    # store, and has further results: for each access and store that it asks for (i1 that this store is in flight to the
    # address, its slot), then for each store the slot of this iteration. With ``until_pushed`` slots stand in the place
    # of addresses, and stores count until they are issued
    OpInfo("hazard", None, frozenset({"wait"})),
    # a barrier where work-items are iterations: `meet {mems, flush}` (pred, last, token...) -> token; the group is
    # complete when the work-item with ``last`` has arrived, and is released when its stores to ``mems`` are in memory;
    # loads of ``flush`` then read memory again
    OpInfo("meet", None, frozenset({"effect", "wait"})),
    # `group {mems, copies}` (first, last): each group (from its first work-item to its last) uses one of ``copies``
    # copies of ``mems``
    OpInfo("group", 2, frozenset({"effect"})),
    # `work_item {fn, dim}` -> i64; fn: global_id local_id group_id global_size local_size num_groups global_offset
    # work_dim
    OpInfo("work_item", 0, frozenset({"pure", "work_item"})),
    OpInfo("call", None, frozenset({"effect"})),
    # `rtl {module, latency, ports, model}` (argument...) is computed by a Verilog module of the user; model defines it.
    # `rtl_wait {..., waits}` is the same by a module that waits by ready and valid
    OpInfo("rtl", None, frozenset({"pure"})),
    OpInfo("rtl_wait", None, frozenset({"wait"})),
    OpInfo("if", 1, frozenset({"region"})),
    OpInfo("loop", None, frozenset({"region"})),
    OpInfo("yield", None, frozenset({"terminator"})),
    OpInfo("return", None, frozenset({"terminator"})),
]


def _bits(value, bits: int) -> int:
    """What memory holds for a number, which atomic operations compare."""
    return float_to_bits(value, bits) if isinstance(value, float) else value


def _two(fn):
    return lambda old, values, bits: fn(old, values[0], bits)


#: new memory contents of an atomic operation: (old value, operands, bits) -> new value, before truncation to its width
ATOMICS: dict[str, Callable] = {
    "add": _two(lambda a, b, n: a + b),
    "sub": _two(lambda a, b, n: a - b),
    "xchg": _two(lambda a, b, n: b),
    "and": _two(lambda a, b, n: a & b),
    "or": _two(lambda a, b, n: a | b),
    "xor": _two(lambda a, b, n: a ^ b),
    "umin": _two(lambda a, b, n: min(a, b)),
    "umax": _two(lambda a, b, n: max(a, b)),
    "smin": _two(lambda a, b, n: min(signed(a, n), signed(b, n))),
    "smax": _two(lambda a, b, n: max(signed(a, n), signed(b, n))),
    "cmpxchg": lambda old, values, n: values[1] if _bits(old, n) == _bits(values[0], n) else old,
    "read": lambda old, values, n: old,
}

#: number of operands of the atomic operations that do not have exactly one
ATOMIC_OPERANDS = {"cmpxchg": 2, "read": 0}

OPS: dict[str, OpInfo] = {row.name: row for row in _ROWS}


def evaluate(
    opcode: str, values: Sequence, types: Sequence[Type], result: Type, attrs: Mapping[str, AttributeValue]
) -> AttributeValue:
    """The result of a pure operation on values as described in ``hls.ir.values``."""
    return present(OPS[opcode].meaning)(values, types, result, attrs)


def has(op: Op, trait: str) -> bool:
    """Whether the operation's row has the trait."""
    return trait in OPS[op.opcode].traits
