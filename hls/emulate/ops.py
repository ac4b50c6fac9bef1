"""Pure operations as C++ expressions: one row per operation, in the order of ``hls.ir.optable``.

A row is a template. ``{0}``, ``{1}``... are the operands, ``{s0}``, ``{s1}`` the same as signed numbers; ``{n}`` and
``{r}`` are the bits of the first operand and of the result, ``{T}`` is the C++ type of the result, ``{W}`` and ``{S}``
the unsigned and signed type wide enough to compute in, ``{mode}`` how a result is rounded. Rows of :data:`WRAPPED` give
integers that must be truncated to their low bits, rows of :data:`ROUNDED` floats that must still be rounded if the
format is half precision.
"""

from ..ir import ArrayType, Attr, IntType, Op
from ..narrow import instance
from .types import c_type, from_memory, masked, memory_type, to_memory

__all__ = ["ROWS", "expression"]

WRAPPED = {
    "add": "({W}){0} + {1}",
    "sub": "({W}){0} - {1}",
    "mul": "({W}){0} * {1}",
    "udiv": "divide(({W}){0}, ({W}){1})",
    "sdiv": "divide({s0}, {s1})",
    "urem": "remain(({W}){0}, ({W}){1})",
    "srem": "remain({s0}, {s1})",
    "shl": "shift_left({0}, {1}, {n})",
    "ashr": "shift_arithmetic({s0}, {1}, {n})",
    "sext": "(i64){s0}",
    "trunc": "{0}",
    "fptosi": "to_signed({0}, {r}, {mode})",
    "fptoui": "to_unsigned({0}, {r}, {mode})",
}

ROUNDED = {
    "fadd": "{0} + {1}",
    "fsub": "{0} - {1}",
    "fmul": "{0} * {1}",
    "fdiv": "{0} / {1}",
    "fsqrt": "({T})sqrt({0})",
}

EXPRESSIONS = {
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "lshr": "shift_right({0}, {1}, {n})",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "ult": "{0} < {1}",
    "ule": "{0} <= {1}",
    "slt": "{s0} < {s1}",
    "sle": "{s0} <= {s1}",
    "fneg": "-{0}",
    "fabs": "magnitude({0})",
    "fintegral": "one_nan(({T})integral({0}, {mode}))",
    "feq": "{0} == {1}",
    "fne": "{0} != {1}",
    "flt": "{0} < {1}",
    "fle": "{0} <= {1}",
    "zext": "{0}",
    "sitofp": "({T})from_signed({s0}, {r}, {mode})",
    "uitofp": "({T})from_unsigned({0}, {r}, {mode})",
    "fresize": "one_nan(({T})resize({0}, {r}, {mode}))",
    "select": "{0} ? {1} : {2}",
    "array": "{T}{{{{{all}}}}}",
    "extract": "extracted({0}, {1})",
    "insert": "inserted({0}, {1}, {2})",
    "ptroffset": "{0}.off",
    "ptreq": "same_place({0}, {1})",
    "ptraddr": "address({0})",
}


def expression(op: Op, names: list[str]) -> str:
    """The value of a pure operation whose operands have these names. Raises KeyError for one without a row."""
    if op.attrs.get(Attr.FLUSH_DENORMALS):
        return f"flushed({_plain(op, [f'flushed({name})' for name in names])})"
    return _plain(op, names)


def _plain(op: Op, names: list[str]) -> str:
    if op.opcode in _SPECIAL:
        return _SPECIAL[op.opcode](op, names)
    opcode, result = op.opcode, op.result.type
    if op.attrs.get(Attr.INBOUNDS):
        return f"address_{opcode}({', '.join(names)})"
    fields = _fields(op, names)
    if opcode in WRAPPED:
        return masked(WRAPPED[opcode].format(*names, **fields), instance(result, IntType))
    if opcode in ROUNDED:
        value = ROUNDED[opcode].format(*names, **fields)
        return f"one_nan(half_round({value}))" if result.bits == 16 else f"one_nan({value})"
    return EXPRESSIONS[opcode].format(*names, **fields)


def _fields(op: Op, names: list[str]) -> dict[str, str]:
    first = op.operands[0].type
    mode = op.attrs.get(Attr.ROUNDING, "zero" if op.opcode in ("fptosi", "fptoui") else "even").upper()
    fields = {
        "mode": mode,
        "T": c_type(op.result.type),
        "r": op.result.type.bits,
        "n": first.bits,
        "all": ", ".join(names),
    }
    if isinstance(first, IntType):
        width = 32 if first.bits <= 32 else 64
        signed = {f"s{k}": f"sign{width}({name}, {first.bits})" for k, name in enumerate(names)}
        fields |= {"W": f"u{width}", "S": f"i{width}", **signed}
    return fields


def _bitcast(op: Op, names: list[str]) -> str:
    """Bits reinterpreted as another type of the same size. Elements of arrays are laid out as in memory; elements
    smaller than bytes lie side by side."""
    source, target = op.operands[0].type, op.result.type
    if isinstance(source, ArrayType) and source.element.bits % 8 and isinstance(target, IntType):
        return f"packed<{c_type(target)}>({names[0]}, {source.element.bits})"
    return from_memory(f"bits_as<{memory_type(target)}>({to_memory(names[0], source)})", target)


def _fma(op: Op, names: list[str]) -> str:
    return f"one_nan({'half_' if op.result.type.bits == 16 else ''}fused({', '.join(names)}))"


def _fused_sum(op: Op, names: list[str]) -> str:
    """Each term is a product; a single number is its product with 1."""
    given = iter(names)
    terms = [
        f"{{{'true' if term[0] == '-' else 'false'}, {next(given)}, {next(given) if '*' in term else '1'}}}"
        for term in op.attrs[Attr.TERMS]
    ]
    return f"one_nan(fused_sum<{op.result.type.bits}, {c_type(op.result.type)}>({{{', '.join(terms)}}}))"


def _lut(op: Op, names: list[str]) -> str:
    """The sum of the products for which the table has a 1."""
    products = [
        " & ".join(f"{'' if minterm >> k & 1 else '~'}{name}" for k, name in enumerate(names))
        for minterm in range(1 << len(names))
        if op.attrs[Attr.TABLE] >> minterm & 1
    ]
    return masked(" | ".join(f"({product})" for product in products) or "0", instance(op.result.type, IntType))


_SPECIAL = {"lut": _lut, "bitcast": _bitcast, "fma": _fma, "fsum": _fused_sum}

#: every operation that :func:`expression` knows
ROWS = frozenset({*WRAPPED, *ROUNDED, *EXPRESSIONS, *_SPECIAL})
