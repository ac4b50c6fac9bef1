"""Forms of expressions, by type: each maps a generator, a type and a depth to a tree.

``g`` is the generator: ``g.rng``, ``g.expression(type, depth)``, ``g.leaf(type)``, and ``g.inputs``: whether inputs can
be read.
"""

from .tree import FLOATS, INTEGERS, Node, Type

__all__ = ["LANES", "USUAL_LANES", "forms_of", "literal"]

LANES = (2, 3, 4, 8, 16)
#: how often a vector has so many: long ones cost a lot of time and show little that is new
USUAL_LANES = (2, 2, 2, 2, 3, 3, 4, 4, 4, 8, 16)
#: functions of integers that give the type of their arguments
ANY_INTEGER = {
    "min": 2,
    "max": 2,
    "add_sat": 2,
    "sub_sat": 2,
    "hadd": 2,
    "rhadd": 2,
    "rotate": 2,
    "mul_hi": 2,
    "mad_hi": 3,
    "clz": 1,
    "popcount": 1,
    "bitselect": 3,
}


def literal(rng, t: Type) -> Node:
    """A constant."""
    if t.is_float:
        value = rng.choice(["0.0", "1.0", "0.5", "-3.25", "1e-3", "6.5e8", "100.0"])
        return Node(f"(({t})({value}{'f' if t.bits == 32 else ''}))", (), t)
    bits, signed = INTEGERS[t.element]
    value = rng.choice([0, 1, 2, 3, 7, 31, 100, (1 << bits - 1) - 1, rng.getrandbits(bits - 1), rng.getrandbits(4)])
    sign = "-" if signed and rng.random() < 0.4 else ""
    suffix = ("" if signed else "u") + ("L" if bits == 64 else "")
    return Node(f"(({t})({sign}{value}{suffix}))", (), t)


def node(form: str, t: Type, *parts: Node) -> Node:
    return Node(form, parts, t)


def _two(g, t, depth):
    return g.expression(t, depth), g.expression(t, depth)


def _wide(t: Type) -> str:
    """The unsigned type in which a scalar is computed without overflow that would be undefined."""
    return "ulong" if t.bits == 64 else "uint"


# --- integers, scalars and vectors alike


def arithmetic(g, t, depth):
    op = g.rng.choice("+-*")
    if t.lanes == 1:
        return node(f"(({t})(({_wide(t)}){{0}} {op} ({_wide(t)}){{1}}))", t, *_two(g, t, depth))
    if not t.signed:
        scalar = g.rng.random() < 0.2
        return node(
            f"({{0}} {op} {{1}})", t, g.expression(t, depth), g.expression(Type(t.element) if scalar else t, depth)
        )
    u = t.sized(False)
    return node(f"as_{t}(as_{u}({{0}}) {op} as_{u}({{1}}))", t, *_two(g, t, depth))


def bitwise(g, t, depth):
    return node(f"(({t})({{0}} {g.rng.choice('&|^')} {{1}}))", t, *_two(g, t, depth))


def shift(g, t, depth):
    """Distances count modulo the width of what is shifted, which OpenCL C defines."""
    mask = f" & ({t})({t.bits - 1})" if g.rng.random() < 0.5 else ""
    if g.rng.random() < 0.5:
        return node(f"(({t})({{0}} >> ({{1}}{mask})))", t, *_two(g, t, depth))
    return node(f"(({t})({{0}} << ({{1}}{mask})))", t, *_two(g, t, depth))


def division(g, t, depth):
    left = f"({{0}} >> ({t})(1))" if t.signed else "{0}"  # the least number divided by -1 has no result
    return node(f"(({t})({left} {g.rng.choice('/%')} ({{1}} | ({t})(1))))", t, *_two(g, t, depth))


def unary(g, t, depth):
    if g.rng.random() < 0.5:
        return node(f"(({t})(~{{0}}))", t, g.expression(t, depth))
    if t.lanes == 1:
        return node(f"(({t})(-({_wide(t)}){{0}}))", t, g.expression(t, depth))
    u = t.sized(False)
    return node(f"as_{t}(-as_{u}({{0}}))", t, g.expression(t, depth))


def function(g, t, depth):
    name = g.rng.choice(list(ANY_INTEGER))
    return node(
        f"{name}({', '.join(f'{{{k}}}' for k in range(ANY_INTEGER[name]))})",
        t,
        *(g.expression(t, depth) for _ in range(ANY_INTEGER[name])),
    )


def absolute(g, t, depth):
    s = g.rng.choice([t.sized(True), t.sized(False)])
    # never of the least number: the compiler inside of PoCL takes its absolute value, 2**31 of an int, as one that is
    # not negative
    form = g.rng.choice(["abs(({s})({0} | ({s})1))" if s.signed else "abs({0})", "abs_diff({0}, {1})"]).replace(
        "{s}", str(s)
    )
    return node(f"as_{t}({form})", t, *_two(g, s, depth))


def clamped(g, t, depth):
    low, high = literal(g.rng, t), literal(g.rng, t)
    return node("clamp({0}, min({1}, {2}), max({1}, {2}))", t, g.expression(t, depth), low, high)


def reinterpreted(g, t, depth):
    """The bytes of other elements; of floats only where they are moved, as a NaN that was computed may have any."""
    kinds = [*(Type(e) for e in INTEGERS), *(Type(e, 1, True) for e in FLOATS for _ in range(2))]
    others = [
        kind.with_lanes(n)
        for kind in kinds
        for n in (1, *LANES)
        if n * kind.bits == t.lanes * t.bits and 3 not in (n, t.lanes)
    ]
    return node(f"as_{t}({{0}})", t, g.expression(g.rng.choice(others or [t.sized(not t.signed)]), depth))


def converted(g, t, depth):
    source = t.of(g.rng.choice(list(INTEGERS)))
    form = g.rng.choice([f"convert_{t}({{0}})", f"convert_{t}_sat({{0}})"])
    if t.lanes == 1 and g.rng.random() < 0.6:
        form = f"(({t}){{0}})"
    return node(form, t, g.expression(source, depth))


def from_float(g, t, depth):
    """Saturating; the conversion of NaN is not defined everywhere."""
    f = t.of(g.rng.choice(list(FLOATS)))
    mode = g.rng.choice(["", "", "_rte", "_rtz", "_rtp", "_rtn"])
    return node(f"convert_{t}_sat{mode}(select({{0}}, ({f})(0), {_isnan('{0}', f)}))", t, g.expression(f, depth))


def _isnan(x: str, f: Type) -> str:
    """For a scalar double it gives an int, where ``select`` wants as many bits as it selects from."""
    return f"(long)isnan({x})" if f == Type("double") else f"isnan({x})"


def compared(g, t, depth):
    other = t.of(g.rng.choice([*INTEGERS, *FLOATS]))
    if other.is_float and g.rng.random() < 0.3:
        other = Type(other.element, other.lanes, True)
    op = g.rng.choice(["<", "<=", ">", ">=", "==", "!="])
    form = f"(({t})({{0}} {op} {{1}}))" if t.lanes == 1 else f"convert_{t}({{0}} {op} {{1}})"
    return node(form, t, *_two(g, other, depth))


# --- scalars only


def promoted(g, t, depth):
    """Arithmetic of mixed types as C converts them; unsigned, or too narrow to overflow."""
    if g.rng.random() < 0.5:
        a, b = (Type(g.rng.choice(["char", "uchar", "short"])) for _ in range(2))
    else:
        a, b = Type("uint"), Type(g.rng.choice(["char", "ushort", "int", "uint"]))
        if g.rng.random() < 0.4:
            a, b = Type("ulong"), Type(g.rng.choice(list(INTEGERS)))
    op = g.rng.choice(["+", "-", "*", "&", "|", "^", "<", ">", "=="])
    form = f"({{0}} {op} {{1}})" if t.element == "int" and a.bits < 32 else f"(({t})({{0}} {op} {{1}}))"
    return node(form, t, g.expression(a, depth), g.expression(b, depth))


def logical(g, t, depth):
    kinds = [Type(g.rng.choice([*INTEGERS, *FLOATS])) for _ in range(2)]
    form = g.rng.choice(["{0} && {1}", "{0} || {1}", "!{0}", "!({0} || !{1})"])
    return node(f"(({t})({form}))", t, *(g.expression(k, depth) for k in kinds))


def reduced(g, t, depth):
    lanes = g.rng.choice(USUAL_LANES)
    v = Type(g.rng.choice(["char", "short", "int", "long"]), lanes)
    return node(f"(({t}){g.rng.choice(['any', 'all'])}({{0}}))", t, g.expression(v, depth))


def called(g, t, depth):
    helper = g.rng.choice(g.helpers)
    return node(f"(({t}){helper.name}({{0}}, {{1}}))", t, *(g.expression(p, depth) for p in helper.parameters))


def mixed_product(g, t, depth):
    name = g.rng.choice(["mul24({0}, {1})", "mad24({0}, {1}, {2})"])
    small = Type("short" if t.signed else "ushort")
    return node(
        f"(({t}){name.format('(int){0} & 0xfff', '(int){1} & 0xfff', '(int){2} & 0xffff')})",
        t,
        *(g.expression(small, depth) for _ in range(3)),
    )


# --- of any type


def chosen(g, t, depth):
    condition = Type(g.rng.choice(list(INTEGERS)))
    return node(
        "({0} ? {1} : {2})" if t.lanes > 1 else f"(({t})({{0}} ? {{1}} : {{2}}))",
        t,
        g.expression(condition, depth),
        *_two(g, t, depth),
    )


def selected(g, t, depth):
    condition = t.sized(g.rng.random() < 0.5)
    return node("select({0}, {1}, {2})", t, *_two(g, t, depth), g.expression(condition, depth))


def component(g, t, depth):
    lanes = g.rng.choice(USUAL_LANES)
    k = g.rng.randrange(lanes)
    name = "xyzw"[k] if lanes <= 4 and g.rng.random() < 0.5 else f"s{k:x}"
    return node(f"{{0}}.{name}", t, g.expression(t.with_lanes(lanes), depth))


# --- vectors only


def built(g, t, depth):
    """A literal of scalars and shorter vectors."""
    parts, left = [], t.lanes
    while left:
        n = g.rng.choice([1, 1, *(x for x in LANES if x < left)])
        parts.append(g.expression(t.with_lanes(n), depth - 1))
        left -= n
    return node(f"(({t})({', '.join(f'{{{k}}}' for k in range(len(parts)))}))", t, *parts)


def swizzled(g, t, depth):
    lanes = g.rng.choice(USUAL_LANES)
    return node(
        f"{{0}}.s{''.join(f'{g.rng.randrange(lanes):x}' for _ in range(t.lanes))}",
        t,
        g.expression(t.with_lanes(lanes), depth),
    )


def halved(g, t, depth):
    if t.lanes in (2, 4, 8):
        return node(
            f"{{0}}.{g.rng.choice(['lo', 'hi', 'even', 'odd'])}", t, g.expression(t.with_lanes(2 * t.lanes), depth)
        )
    return swizzled(g, t, depth)


def shuffled(g, t, depth):
    if t.lanes == 3:
        return swizzled(g, t, depth)
    source = t.with_lanes(g.rng.choice([2, 2, 4, 4, 8, 16]))
    mask = t.sized(False)
    if g.rng.random() < 0.5:
        return node("shuffle({0}, {1})", t, g.expression(source, depth), g.expression(mask, depth))
    return node("shuffle2({0}, {1}, {2})", t, *_two(g, source, depth), g.expression(mask, depth))


def fetched(g, t, depth):
    if not g.inputs:
        return g.leaf(t)
    return node(f"vload{t.lanes}({{0}} & 3, {t.source})", t, g.expression(Type("uint"), depth))


# --- floats


def real_arithmetic(g, t, depth):
    return node(f"({{0}} {g.rng.choice('+-*/')} {{1}})", t, *_two(g, t, depth))


def real_function(g, t, depth):
    """Sums with 0 have one zero, of either sign."""
    signed = f"copysign({{0}}, select({{1}}, ({t})(1), {_isnan('{1}', t)}))"  # the sign of a NaN may be either
    form = g.rng.choice(
        [
            "fabs({0})",
            "(-{0})",
            f"(fmin({{0}}, {{1}}) + ({t})(0))",
            f"(fmax({{0}}, {{1}}) + ({t})(0))",
            signed,
            "floor({0})",
            "ceil({0})",
            "trunc({0})",
            "rint({0})",
            "round({0})",
            "sqrt({0})",
        ]
    )
    return node(form, t, *_two(g, t, depth))


def fused(g, t, depth):
    return node("fma({0}, {1}, {2})", t, *_two(g, t, depth), g.expression(t, depth))


def to_real(g, t, depth):
    source = t.of(g.rng.choice([*INTEGERS, *FLOATS]))
    mode = g.rng.choice(["", "", "_rte", "_rtz", "_rtp", "_rtn"])
    if source.element == "long" and mode:
        mode = "_rte"  # PoCL's others compare with abs of the least number, which it takes for a positive one
    form = f"(({t}){{0}})" if t.lanes == 1 and g.rng.random() < 0.5 else f"convert_{t}{mode}({{0}})"
    return node(form, t, g.expression(source, depth))


def real_bits(g, t, depth):
    """A finite number from its bits."""
    u = t.sized(False)
    return node(
        f"as_{t}({{0}} & ({u})({'0xbfffffffu' if t.bits == 32 else '0xbfffffffffffffffUL'}))", t, g.expression(u, depth)
    )


# --- floats that are moved


def as_bits(g, t, depth):
    """Whatever the bits mean."""
    return node(f"as_{t}({{0}})", t, g.expression(t.sized(False), depth))


def signs(g, t, depth):
    """What only touches the sign, of a NaN as well."""
    return node(g.rng.choice(["fabs({0})", "(-{0})", "copysign({0}, {1})"]), t, *_two(g, t, depth))


def mixed_bits(g, t, depth):
    return node("bitselect({0}, {1}, {2})", t, *_two(g, t, depth), g.expression(t, depth))


INTEGER_FORMS = (
    arithmetic,
    arithmetic,
    arithmetic,
    bitwise,
    bitwise,
    shift,
    division,
    unary,
    function,
    function,
    absolute,
    clamped,
    reinterpreted,
    converted,
    from_float,
    compared,
    chosen,
    selected,
)
SCALAR_FORMS = (promoted, promoted, logical, reduced, component)
VECTOR_FORMS = (built, swizzled, halved, shuffled, fetched)
FLOAT_FORMS = (
    real_arithmetic,
    real_arithmetic,
    real_function,
    real_function,
    fused,
    to_real,
    real_bits,
    chosen,
    selected,
)


MOVED_FORMS = (chosen, chosen, selected, selected, as_bits, signs, mixed_bits)


def forms_of(g, t: Type) -> tuple:
    """What an expression of the type may be."""
    if t.moved:
        return MOVED_FORMS + ((component,) if t.lanes == 1 else VECTOR_FORMS)
    if t.is_float:
        return FLOAT_FORMS + ((component,) if t.lanes == 1 else VECTOR_FORMS)
    if t.lanes > 1:
        return INTEGER_FORMS + VECTOR_FORMS
    products = (mixed_product,) if t.bits == 32 else ()
    return INTEGER_FORMS + SCALAR_FORMS + products + ((called, called) if g.helpers else ())
