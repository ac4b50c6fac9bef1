"""The one table of built-in functions: how many arguments, of which types, and what they mean as IR.

``rule`` maps the argument types to (parameter types, result type), or returns a message when they do not fit.
``emit`` appends the operations to a builder; it gets the converted arguments and their type.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from ..ir import BOOL, I32, Builder, IntType, Value
from . import types as ct
from .builtins_math import MATH, floating

__all__ = ["BUILTINS", "NOT_BUILT", "WORK_ITEM", "BuiltinRow"]


@dataclass(frozen=True)
class BuiltinRow:
    name: str
    arity: int
    rule: Callable
    emit: Callable[[Builder, list[Value], ct.CType], Value]


# -- rules


def _same(types):
    """One type for all: theirs if they agree, else the usual conversions."""
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


def _abs(b, v, t):
    x = v[0]
    if not t.signed:
        return x
    zero = b.const(0, x.type)
    return b.value("select", b.value("slt", x, zero), b.value("sub", zero, x), x)


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


def _fmin(b, v, t, swap=False):
    """A NaN gives way to the other argument."""
    x, y = v
    closer = b.value("flt", x, y) if swap else b.value("flt", y, x)
    pick = b.value("select", _either(b, closer, _not_number(b, x)), y, x)
    return b.value("select", _not_number(b, y), x, pick)


def _select(b, v, t):
    return b.value("select", b.value("ne", v[2], b.const(0, v[2].type)), v[1], v[0])


def _as_int(b, bit):
    return b.value("zext", bit, result=I32)


def _compare(opcode, swap=False):
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


def _step(b, v, t):
    return b.value("select", b.value("flt", v[1], v[0]), b.const(0.0, v[0].type), b.const(1.0, v[0].type))


def _mix(b, v, t):
    return b.value("fadd", v[0], b.value("fmul", b.value("fsub", v[1], v[0]), v[2]))


def _rotate(b, v, t):
    x, n = v
    width = x.type.bits
    mask = b.const(width - 1, x.type)
    back = b.value("and", b.value("sub", b.const(0, x.type), n), mask)
    return b.value("or", b.value("shl", x, b.value("and", n, mask)), b.value("lshr", x, back))


def _mul_hi(b, v, t):
    wide = IntType(2 * v[0].type.bits)
    grow = "sext" if t.signed else "zext"
    product = b.value("mul", *(b.value(grow, x, result=wide) for x in v))
    return b.value("trunc", b.value("lshr", product, b.const(v[0].type.bits, wide)), result=v[0].type)


def _narrow(types):
    params = _integers(types)
    if not isinstance(params, str) and params[1].bits == 64:
        return "is not built yet for 64-bit integers"
    return params


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
    BuiltinRow("min", 2, _same, _min), BuiltinRow("max", 2, _same, _max), BuiltinRow("clamp", 3, _same, _clamp),
    BuiltinRow("abs", 1, _absolute, _abs),
    BuiltinRow("mul24", 2, _words, _mul), BuiltinRow("mad24", 3, _words, _mul_add),
    BuiltinRow("mad_hi", 3, _narrow, lambda b, v, t: b.value("add", _mul_hi(b, v[:2], t), v[2])),
    BuiltinRow("mul_hi", 2, _narrow, _mul_hi), BuiltinRow("rotate", 2, _integers, _rotate),
    BuiltinRow("mad", 3, _floats, _float_mul_add), BuiltinRow("mix", 3, _floats, _mix),
    BuiltinRow("step", 2, _floats, _step),
    BuiltinRow("fabs", 1, _floats, lambda b, v, t: b.value("fabs", v[0])),
    BuiltinRow("fmin", 2, _floats, _fmin), BuiltinRow("fmax", 2, _floats, lambda b, v, t: _fmin(b, v, t, swap=True)),
    BuiltinRow("select", 3, _choice, _select),
    BuiltinRow("isequal", 2, _tests, _compare("feq")), BuiltinRow("isnotequal", 2, _tests, _compare("fne")),
    BuiltinRow("isless", 2, _tests, _compare("flt")), BuiltinRow("islessequal", 2, _tests, _compare("fle")),
    BuiltinRow("isgreater", 2, _tests, _compare("flt", swap=True)),
    BuiltinRow("isgreaterequal", 2, _tests, _compare("fle", swap=True)),
    BuiltinRow("islessgreater", 2, _tests, _less_greater), BuiltinRow("isordered", 2, _tests, _ordered),
    BuiltinRow("isunordered", 2, _tests, _unordered),
    BuiltinRow("isnan", 1, _tests, lambda b, v, t: _as_int(b, _not_number(b, v[0]))),
    BuiltinRow("isinf", 1, _tests, _infinite), BuiltinRow("isfinite", 1, _tests, _finite),
    BuiltinRow("signbit", 1, _tests, _sign_bit),
    *(BuiltinRow(f"as_{t}", 1, _same_size(t), _bitcast(t)) for t in ct.SCALARS.values() if t != ct.BOOL_T),
    *(BuiltinRow(*row) for row in MATH),
)

BUILTINS: dict[str, BuiltinRow] = {row.name: row for row in _ROWS}

#: get_X: (the IR's name for it, result type, takes a dimension)
WORK_ITEM: dict[str, tuple[str, ct.CType, bool]] = {
    **{f"get_{fn}": (fn, ct.ULONG, True)
       for fn in ("global_id", "local_id", "group_id", "global_size", "local_size", "num_groups", "global_offset")},
    "get_work_dim": ("work_dim", ct.UINT, False),
}

_MATH = [
    "fdim", "fract", "frexp", "lgamma", "lgamma_r", "modf", "remquo", "sincos", "tgamma", "degrees",
    "radians", "sign", "smoothstep", "cross", "dot", "distance", "length", "normalize", "fast_distance",
    "fast_length", "fast_normalize",
]
_INTEGER = [
    "abs_diff", "add_sat", "hadd", "rhadd", "mad_sat", "popcount", "sub_sat", "upsample", "bitselect",
    "isnormal", "any", "all", "shuffle",
]

#: functions of OpenCL that are refused: name -> (what it is, what to write instead)
NOT_BUILT: dict[str, tuple[str, str]] = {
    **{name: (f"'{name}' is not built yet", "write it with + - * / and comparisons") for name in _MATH + _INTEGER},
    **{name: ("barriers are not built yet", "split the kernel in two where the barrier stands")
       for name in ("barrier", "work_group_barrier")},
    **{name: ("memory fences are not built yet", "within one work-item accesses are already in order")
       for name in ("mem_fence", "read_mem_fence", "write_mem_fence")},
    "printf": ("'printf' is not built yet", "store the value into a __global buffer"),
    **{name: ("channels and pipes are not built yet", "pass the data through a __global buffer")
       for name in ("read_channel_altera", "write_channel_altera", "read_channel_intel", "write_channel_intel",
                    "read_channel_nb_altera", "write_channel_nb_altera", "read_channel_nb_intel",
                    "write_channel_nb_intel", "read_pipe", "write_pipe")},
    **{f"{kind}_{op}": ("atomic operations are not built yet", "let one work-item do the update")
       for kind in ("atomic", "atom")
       for op in ("add", "sub", "xchg", "inc", "dec", "cmpxchg", "min", "max", "and", "or", "xor")},
    **{name: ("async copies are not built yet", "copy in a loop")
       for name in ("async_work_group_copy", "async_work_group_strided_copy", "wait_group_events", "prefetch")},
    **{name: ("images are not supported", "pass the pixels as a __global buffer")
       for name in ("read_imagef", "read_imagei", "read_imageui", "write_imagef", "write_imagei", "write_imageui",
                    "get_image_width", "get_image_height")},
    **{f"{op}{n}": ("vector types are not built yet", "access the elements one by one")
       for op in ("vload", "vstore") for n in (2, 3, 4, 8, 16)},
    **{name: ("memory cannot be allocated in a kernel", "pass a __global buffer of the size you need")
       for name in ("malloc", "calloc", "free", "alloca")},
}
