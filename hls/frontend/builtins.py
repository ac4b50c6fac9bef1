"""The table of built-in functions: number and types of arguments, and their meaning as IR.

``rule`` maps the argument types to (parameter types, result type), or returns a message when they do not fit. ``emit``
appends the operations to a builder; it gets the converted arguments and the type of the first. For a call with vectors
it is called once for each component.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from ..ir import BOOL, I32, Builder, IntType, Value
from ..ir.values import round_float
from . import builtins_integer as integers
from . import types as ct
from .builtins_math import MATH, floating
from .builtins_parts import PARTS
from .words import DEVICE_QUEUES, RESERVATIONS

__all__ = ["BROADCAST", "BUILTINS", "NOT_BUILT", "WORK_ITEM", "BuiltinRow"]


@dataclass(frozen=True)
class BuiltinRow:
    """A built-in function: the number of its arguments, the rule for their types, and the operations that compute
    it."""

    name: str
    arity: int
    rule: Callable
    emit: Callable[[Builder, list[Value], Any], Value]  #: the last is the type, of the kind that the rule allows

    @property
    def test(self) -> bool:
        """Whether its result is a truth value: for a vector, 0 or -1 in each component."""
        return self.rule is _tests


# -- rules


def _same(types):
    """One type for all: that of the arguments if they agree, else the result of the usual conversions."""
    types = [ct.container(t) for t in types]
    first = types[0] if all(t == types[0] for t in types) else reduce(ct.common, types)
    first = ct.promoted(first) if first == ct.BOOL_T else first
    return (first,) * len(types), first


def _integers(types):
    if not all(map(ct.integer, types)):
        return "takes integers"
    return _same(types)


def _words(types):
    if not all(map(ct.integer, types)):
        return "takes int or uint"
    params, first = _same([ct.promoted(t) for t in types])
    return (params, first) if first.bits == 32 else "takes int or uint"


def _absolute(types):
    if not ct.integer(types[0]):
        return "takes an integer; fabs is the one for float"
    params, first = _same(types)
    return params, ct.unsigned_of(first)


def _distance(types):
    if not all(map(ct.integer, types)):
        return "takes integers"
    params, first = _same(types)
    return params, ct.unsigned_of(first)


def _doubled(types):
    high, low = types
    if not ct.integer(high) or low != ct.unsigned_of(high) or high.bits not in _TWICE:
        return f"takes an integer of up to 32 bits and an unsigned one as wide, not '{high}' and '{low}'"
    return tuple(types), _TWICE[high.bits][high.signed]


_TWICE = {8: (ct.USHORT, ct.SHORT), 16: (ct.UINT, ct.INT), 32: (ct.ULONG, ct.LONG)}


def _floats(types):
    widest = floating(types)
    return (widest,) * len(types), widest


def _tests(types):
    return (floating(types),) * len(types), ct.INT


def _choice(types):
    """select(a, b, c): a and b of one type, c any integer."""
    if not ct.integer(types[2]):
        return "takes an integer as its third argument"
    (first, _), result = _same(types[:2])
    return (first, first, types[2]), result


# -- meanings


def _less(b, x, y, t):
    if isinstance(t, ct.Float):
        return b.value("flt", x, y)
    return b.value("slt" if t.signed else "ult", x, y)


def _min(b, v, t):
    return b.value("select", _less(b, v[1], v[0], t), v[1], v[0])


def _max(b, v, t):
    return b.value("select", _less(b, v[0], v[1], t), v[1], v[0])


def _clamp(b, v, t):
    return _min(b, [_max(b, v[:2], t), v[2]], t)


def _mul(b, v, t):
    return b.value("mul", v[0], v[1])


def _mul_add(b, v, t):
    return b.value("add", b.value("mul", v[0], v[1]), v[2])


def _float_mul_add(b, v, t):
    return b.value("fadd", b.value("fmul", v[0], v[1]), v[2])


def _not_number(b, x):
    return b.value("fne", x, x)


def _either(b, x, y):
    return b.value("or", x, y)


def _fmin(b, v, t, swap: bool = False):
    """Of a NaN and a number, the number."""
    x, y = v
    closer = b.value("flt", x, y) if swap else b.value("flt", y, x)
    pick = b.value("select", _either(b, closer, _not_number(b, x)), y, x)
    return b.value("select", _not_number(b, y), x, pick)


def _select(b, v, t):
    return b.value("select", b.value("ne", v[2], b.const(0, v[2].type)), v[1], v[0])


def _as_int(b, bit):
    return b.value("zext", bit, result=I32)


def _compare(opcode, swap: bool = False):
    return lambda b, v, t: _as_int(b, b.value(opcode, *(v[::-1] if swap else v)))


def _less_greater(b, v, t):
    return _as_int(b, _either(b, b.value("flt", v[0], v[1]), b.value("flt", v[1], v[0])))


def _ordered(b, v, t):
    return _as_int(b, b.value("and", b.value("feq", v[0], v[0]), b.value("feq", v[1], v[1])))


def _unordered(b, v, t):
    return _as_int(b, _either(b, _not_number(b, v[0]), _not_number(b, v[1])))


def _infinite(b, v, t):
    return _as_int(b, b.value("feq", b.value("fabs", v[0]), b.const(math.inf, v[0].type)))


def _finite(b, v, t):
    return _as_int(b, b.value("flt", b.value("fabs", v[0]), b.const(math.inf, v[0].type)))


def _sign_bit(b, v, t):
    width = v[0].type.bits
    bits = b.value("bitcast", v[0], result=IntType(width))
    return _as_int(b, b.value("trunc", b.value("lshr", bits, b.const(width - 1, bits.type)), result=BOOL))


def _normal(b, v, t):
    """Neither 0 nor subnormal (exponent 0), nor infinite or NaN (exponent all ones)."""
    bits, digits = v[0].type.bits, {16: 10, 32: 23, 64: 52}[v[0].type.bits]
    ones = (1 << bits - 1 - digits) - 1
    whole = b.value("bitcast", v[0], result=IntType(bits))
    exponent = b.value("and", b.value("lshr", whole, b.const(digits, whole.type)), b.const(ones, whole.type))
    return _as_int(b, b.value("ult", b.value("sub", exponent, b.const(1, whole.type)), b.const(ones - 1, whole.type)))


def _copysign(b, v, t):
    bits = IntType(v[0].type.bits)
    top = b.const(1 << bits.bits - 1, bits)
    size, sign = (b.value("bitcast", x, result=bits) for x in v)
    kept = b.value("and", size, b.value("xor", top, b.const(-1, bits)))
    return b.value("bitcast", b.value("or", kept, b.value("and", sign, top)), result=v[0].type)


def _sign(b, v, t):
    """1 or -1 with the argument's sign; a zero stays unchanged, and NaN gives 0."""
    zero, one, minus = (b.const(x, v[0].type) for x in (0.0, 1.0, -1.0))
    unit = b.value("select", b.value("flt", v[0], zero), minus, one)
    rest = b.value("select", _not_number(b, v[0]), zero, v[0])
    return b.value("select", b.value("or", b.value("feq", v[0], zero), _not_number(b, v[0])), rest, unit)


def _fdim(b, v, t):
    return b.value("select", b.value("fle", *v), b.const(0.0, v[0].type), b.value("fsub", *v))


def _farther(swap):
    """maxmag and minmag: the argument of greater (smaller) magnitude; for equal magnitudes fmax (fmin)."""

    def emit(b, v, t):
        sizes = [b.value("fabs", x) for x in v]
        first = b.value("flt", *(sizes[::-1] if swap else sizes))
        second = b.value("flt", *(sizes if swap else sizes[::-1]))
        return b.value("select", first, v[0], b.value("select", second, v[1], _fmin(b, v, t, swap=swap)))

    return emit


def _scaled(factor: float):
    return lambda b, v, t: b.value("fmul", v[0], b.const(round_float(factor, v[0].type.bits), v[0].type))


def _smoothstep(b, v, t):
    low, high, x = v
    zero, one, two, three = (b.const(n, x.type) for n in (0.0, 1.0, 2.0, 3.0))
    part = b.value("fdiv", b.value("fsub", x, low), b.value("fsub", high, low))
    part = _clamp(b, [part, zero, one], t)
    return b.value("fmul", b.value("fmul", part, part), b.value("fsub", three, b.value("fmul", two, part)))


def _step(b, v, t):
    return b.value("select", b.value("flt", v[1], v[0]), b.const(0.0, v[0].type), b.const(1.0, v[0].type))


def _mix(b, v, t):
    return b.value("fadd", v[0], b.value("fmul", b.value("fsub", v[1], v[0]), v[2]))


def _bitcast(target):
    def emit(b, v, t):
        return v[0] if v[0].type == ct.ir_type(target) else b.value("bitcast", v[0], result=ct.ir_type(target))

    return emit


def _same_size(target):
    def rule(types):
        source = types[0]
        if source == ct.BOOL_T or source.size != target.size:
            return f"takes a type of {target.size} byte{'s' if target.size > 1 else ''}, not {source}"
        return (source,), target

    return rule


_ROWS = (
    BuiltinRow("min", 2, _same, _min),
    BuiltinRow("max", 2, _same, _max),
    BuiltinRow("clamp", 3, _same, _clamp),
    BuiltinRow("abs", 1, _absolute, integers.absolute),
    BuiltinRow("abs_diff", 2, _distance, integers.abs_diff),
    BuiltinRow("hadd", 2, _integers, integers.hadd),
    BuiltinRow("rhadd", 2, _integers, integers.rhadd),
    BuiltinRow("add_sat", 2, _integers, integers.add_sat),
    BuiltinRow("sub_sat", 2, _integers, integers.sub_sat),
    BuiltinRow("mad_sat", 3, _integers, integers.mad_sat),
    BuiltinRow("clz", 1, _integers, integers.clz),
    BuiltinRow("popcount", 1, _integers, integers.popcount),
    BuiltinRow("ctz", 1, _integers, integers.ctz),
    BuiltinRow("upsample", 2, _doubled, integers.upsample),
    BuiltinRow("bitselect", 3, _same, integers.bitselect),
    BuiltinRow("mul24", 2, _words, _mul),
    BuiltinRow("mad24", 3, _words, _mul_add),
    BuiltinRow("mad_hi", 3, _integers, integers.mad_hi),
    BuiltinRow("mul_hi", 2, _integers, integers.mul_hi),
    BuiltinRow("rotate", 2, _integers, integers.rotate),
    BuiltinRow("mad", 3, _floats, _float_mul_add),
    BuiltinRow("mix", 3, _floats, _mix),
    BuiltinRow("step", 2, _floats, _step),
    BuiltinRow("smoothstep", 3, _floats, _smoothstep),
    BuiltinRow("sign", 1, _floats, _sign),
    BuiltinRow("fdim", 2, _floats, _fdim),
    BuiltinRow("copysign", 2, _floats, _copysign),
    BuiltinRow("maxmag", 2, _floats, _farther(True)),
    BuiltinRow("minmag", 2, _floats, _farther(False)),
    BuiltinRow("degrees", 1, _floats, _scaled(57.29577951308232)),
    BuiltinRow("radians", 1, _floats, _scaled(0.017453292519943295)),
    BuiltinRow("fabs", 1, _floats, lambda b, v, t: b.value("fabs", v[0])),
    BuiltinRow("fmin", 2, _floats, _fmin),
    BuiltinRow("fmax", 2, _floats, lambda b, v, t: _fmin(b, v, t, swap=True)),
    BuiltinRow("select", 3, _choice, _select),
    BuiltinRow("isequal", 2, _tests, _compare("feq")),
    BuiltinRow("isnotequal", 2, _tests, _compare("fne")),
    BuiltinRow("isless", 2, _tests, _compare("flt")),
    BuiltinRow("islessequal", 2, _tests, _compare("fle")),
    BuiltinRow("isgreater", 2, _tests, _compare("flt", swap=True)),
    BuiltinRow("isgreaterequal", 2, _tests, _compare("fle", swap=True)),
    BuiltinRow("islessgreater", 2, _tests, _less_greater),
    BuiltinRow("isordered", 2, _tests, _ordered),
    BuiltinRow("isunordered", 2, _tests, _unordered),
    BuiltinRow("isnan", 1, _tests, lambda b, v, t: _as_int(b, _not_number(b, v[0]))),
    BuiltinRow("isinf", 1, _tests, _infinite),
    BuiltinRow("isfinite", 1, _tests, _finite),
    BuiltinRow("signbit", 1, _tests, _sign_bit),
    BuiltinRow("isnormal", 1, _tests, _normal),
    *(BuiltinRow(f"as_{t}", 1, _same_size(t), _bitcast(t)) for t in ct.SCALARS.values() if t != ct.BOOL_T),
    *(BuiltinRow(*row) for row in (*MATH, *PARTS)),
)

BUILTINS: dict[str, BuiltinRow] = {row.name: row for row in _ROWS}

#: functions that accept a scalar next to vectors: it applies to each component
BROADCAST = frozenset({"min", "max", "clamp", "mix", "step", "smoothstep", "fmin", "fmax", "ldexp", "pown", "rootn"})

#: get_X: (the IR's name for it, result type, takes a dimension)
WORK_ITEM: dict[str, tuple[str, ct.CType, bool]] = {
    **{
        f"get_{fn}": (fn, ct.ULONG, True)
        for fn in ("global_id", "local_id", "group_id", "global_size", "local_size", "num_groups", "global_offset")
    },
    "get_work_dim": ("work_dim", ct.UINT, False),
    "get_compute_id": ("compute_id", ct.INT, True),
}

#: atomic operations by their names in OpenCL C 2.0
_ATOMICS_2 = {
    **{f"fetch_{name}": name for name in ("add", "sub", "or", "xor", "and", "min", "max")},
    "exchange": "xchg",
    "compare_exchange_strong": "cmpxchg",
    "compare_exchange_weak": "cmpxchg",
}
#: collective functions of a work-group in OpenCL C 2.0
_COLLECTIVE = (
    "broadcast",
    "all",
    "any",
    *(f"{kind}_{name}" for kind in ("reduce", "scan_inclusive", "scan_exclusive") for name in ("add", "min", "max")),
)
#: OpenCL functions that are rejected: name -> (what it is, what to write instead)
NOT_BUILT: dict[str, tuple[str, str]] = {
    **{
        f"{who}_{name}": (
            f"{who}_{name} belongs to OpenCL C 2.0",
            "share the values in a __local array, and let the work-items wait at a barrier",
        )
        for who in ("work_group", "sub_group")
        for name in _COLLECTIVE
    },
    **{
        f"atomic_{name}{explicit}": (f"atomic_{name}{explicit} belongs to OpenCL C 2.0", f"write atomic_{old}")
        for name, old in _ATOMICS_2.items()
        for explicit in ("", "_explicit")
    },
    **{
        name: (f"{name} is for reservations of pipes, which are not supported", RESERVATIONS)
        for name in (
            "is_valid_reserve_id",
            *(
                f"{who}{step}_{way}_pipe"
                for who in ("", "work_group_", "sub_group_")
                for step in ("reserve", "commit")
                for way in ("read", "write")
            ),
        )
    },
    **{
        name: (f"{name} is for kernels that launch kernels, which is not supported", DEVICE_QUEUES)
        for name in (
            "enqueue_kernel",
            "enqueue_marker",
            "get_default_queue",
            "ndrange_1D",
            "ndrange_2D",
            "ndrange_3D",
            "create_user_event",
            "retain_event",
            "release_event",
            "set_user_event_status",
            "is_valid_event",
            "capture_event_profiling_info",
            "get_kernel_work_group_size",
            "get_kernel_preferred_work_group_size_multiple",
        )
    },
    **{
        name: (f"{name} is for sub-groups, which are not supported", "work on the whole work-group: get_local_id()")
        for name in (
            "get_sub_group_size",
            "get_max_sub_group_size",
            "get_num_sub_groups",
            "get_enqueued_num_sub_groups",
            "get_sub_group_id",
            "get_sub_group_local_id",
            "sub_group_barrier",
        )
    },
    **{
        name: ("images are not supported", "pass the pixels as a __global buffer")
        for name in (
            "read_imagef",
            "read_imagei",
            "read_imageui",
            "write_imagef",
            "write_imagei",
            "write_imageui",
            "get_image_width",
            "get_image_height",
        )
    },
    **{
        name: ("memory cannot be allocated in a kernel", "pass a __global buffer of the size you need")
        for name in ("malloc", "calloc", "free", "alloca")
    },
}
