"""Random nests with small bounds: no conflict that occurs may be missed, no distance overestimated."""

import random

import pytest
from brute import conflicts, trace

from hls.analysis.dependence import dependence
from hls.analysis.dependence.dependence import dependences
from hls.frontend import parse_source
from hls.passes.order.insert_memory_tokens import InsertMemoryTokens
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from tests.repetitions import sampled

TYPES = ["int", "uint", "short", "uchar", "long"]


def folded(rng, counter):
    """A small number from an unsigned sum that wraps around and is then read as signed."""
    total = rng.choice(
        [f"(uint){counter} * 2654435761u", f"n + {counter} * 3000000001u", f"(ulong){counter} * 0x9E3779B97F4A7C15UL"]
    )
    return rng.choice(["(int)({}) % 8", "((int)({}) >> 29)", "(abs((int)({})) & 7)"]).format(total)


def index(rng, counters):
    """A sum of loop counters, a parameter and a constant; sometimes what is no sum."""
    terms = [f"{rng.choice([1, 1, 1, 2, 3, -1])}*{c}" for c in counters if rng.random() < 0.7]
    terms += [rng.choice(["n", "m"])] * (rng.random() < 0.2)
    terms += [rng.choice(["n*" + rng.choice(counters), "(m & 3)", "b[" + rng.choice(counters) + " & 15]"])] * (
        rng.random() < 0.15
    )
    if rng.random() < 0.08:
        terms.append(folded(rng, rng.choice(counters)))
    text = " + ".join([*terms, str(rng.randint(-3, 12))])
    return f"({rng.choice(TYPES)})({text})" if rng.random() < 0.15 else text


def statement(rng, counters):
    left, right = index(rng, counters), index(rng, counters)
    guard = rng.choice([f"if ({rng.choice(counters)} > {rng.randint(0, 3)}) ", ""] + [""] * 3)
    return (
        f"{guard}a[({left}) & 127] = a[({right}) & 127] + 1;"
        if rng.random() < 0.2
        else f"{guard}a[{left}] = a[{right}] + 1;"
    )


def nest(rng, depth, counters=()):
    """A loop, statements and loops in it; bounds may depend on outer counters."""
    counter = "ijk"[len(counters)]
    kind = rng.choice(["int", "int", "uint", "short", "uchar"])
    start = rng.choice(["0", "0", "1", "2", *counters])
    end = rng.choice(["4", "6", "n", "m", *[f"{c} + 2" for c in counters], *counters])
    step = rng.choice(["++", "++", "++", " += 2", " += 3"])
    inner = (*counters, counter)
    parts = [statement(rng, inner) for _ in range(rng.randint(0, 2))]
    if depth > 1 and (rng.random() < 0.7 or not parts):
        parts.insert(rng.randint(0, len(parts)), nest(rng, depth - 1, inner))
    body = "\n".join(parts or [statement(rng, inner)])
    return f"#pragma unroll 1\nfor ({kind} {counter} = {start}; {counter} < {end}; {counter}{step}) {{\n{body}\n}}"


def kernel(rng):
    element = rng.choice(["int", "int", "uchar", "short"])
    loops = "\n".join(nest(rng, rng.randint(1, 3)) for _ in range(rng.choice([1, 1, 2])))
    scalar = rng.choice(["int", "uint", "short"])
    return (
        f"__kernel void k(__global {element} *restrict a, __global const int *restrict b, {scalar} n, {scalar} m)"
        f" {{\n{loops}\n}}"
    )


def flat(text):
    """The kernel as it is when order is made of it, without that."""
    options = PipelineOptions()
    function = optimize(parse_source(text, "k.cl", {}, []).module, options).kernels[0]
    assert any(isinstance(p, InsertMemoryTokens) for p in kernel_passes(options))
    return function, options.address_bits


def element(rng, counters):
    """An element of a matrix with rows of n, mostly one that is in its row."""
    row, column = rng.choice(counters), rng.choice(counters)
    shift = rng.choice(["", "", "", " + 1", " - 1"])
    row, column = f"{row}{rng.choice(['', '', ' + 1', ' - 1'])}", f"{column}{shift}"
    return rng.choice(
        [f"a[({row}) * n + {column}]", f"a[({row}) * n + {column}]", f"a[{column}]", f"a[({row}) * n + m]"]
    )


def matrix_kernel(rng):
    """Nests over rows and columns of a matrix whose size is an argument, as solvers of equations have them."""

    def nest(depth, counters=()):
        counter = "kij"[len(counters)]
        start, end = (
            rng.choice(["0", "0", "1", *(f"{c} + 1" for c in counters), *counters]),
            rng.choice(["n", "n", "n - 1", *counters]),
        )
        inner = (*counters, counter)
        parts = [
            f"{element(rng, inner)} = {element(rng, inner)} + 1;" for _ in range(rng.randint(0 if depth > 1 else 1, 2))
        ]
        if depth > 1:
            parts.insert(rng.randint(0, len(parts)), nest(depth - 1, inner))
        body = "\n".join(parts)
        return f"#pragma unroll 1\nfor (int {counter} = {start}; {counter} < {end}; {counter}++) {{\n{body}\n}}"

    return f"__kernel void k(__global int *restrict a, __global const int *restrict b, int n, int m) {{\n{nest(rng.randint(2, 3))}\n}}"


def round_kernel(rng):
    """Counters that begin anew, in one loop or in a nest that becomes one, and what is stored at sums of them."""
    ends = rng.randint(2, 5), rng.randint(2, 4)
    factor = rng.choice([ends[0], ends[0], rng.randint(1, 6)])

    def place():
        terms = [
            rng.choice([f"{factor} * i + j", f"{factor} * i + j", "j", f"{ends[1]} * j + i", "i"]),
            str(rng.choice([0, 0, 0, 1, rng.randint(0, 9)])),
        ]
        return " + ".join([*terms, *[rng.choice(["n", "t", "(n & 3) * j"])] * (rng.random() < 0.2)])

    stores = "\n".join(
        f"{rng.choice(['', '', 'if (j > 1) '])}a[{place()}] = a[{place()}] + 1;" for _ in range(rng.randint(1, 2))
    )
    head = "__kernel void k(__global int *restrict a, __global const int *restrict b, int n, int m) {\n"
    if rng.random() < 0.4:
        return head + (
            f"#pragma loop_coalesce\nfor (int t = 0; t < {rng.choice(['n', '2 * n', 3])}; t++)\nfor (int i = 0; i < {ends[1]}; i++)\n"
            f"for (int j = 0; j < {ends[0]}; j++) {{\n{stores}\n}}\n}}"
        )
    begins, around = "int i = 0, j = 0;\n", "#pragma unroll 1\nfor (int h = 0; h < 3; h++) {\n"
    begins = rng.choice([begins, begins + around, around + begins])
    turn = f"if (++j == {ends[0]}) {{ j = 0; if (++i == {ends[1]}) i = {rng.choice([0, 0, 1])}; }}"
    many = rng.choice(["4 * n", "7", "23"])
    return f"{head}{begins}#pragma unroll 1\nfor (int t = 0; t < {many}; t++) {{\n{stores}\n{turn}\n}}\n{'}' * begins.count('{')}}}"


def growing_kernel(rng):
    """Accesses at counters that grow, or may not, under conditions and in loops of any length."""

    def amount():
        return rng.choice(["1", "1", "1", "2", "4", "(b[i] & 3)", "(b[i + m] & 1)", "n", "b[i]"])

    def moves():
        w = rng.choice("wwwv")
        return rng.choice(
            [f"a[{w}++] = i;"] * 3
            + [
                f"a[{w}] = i; {w} += {amount()};",
                f"a[{w}] = i; a[{w} + 1] = n; {w} += {rng.choice([1, 2, 2, 3])};",
                f"a[++{w}] = m;",
                f"{w} += {amount()};",
                f"a[{w} + {rng.choice([0, 1, 'j'])}] = {w};",
                f"a[{w}++] = a[{w} + {rng.choice([0, 1, 5])}] + 1;",
                f"a[{w}++] = a[{rng.choice(['i', 'm', 'i + v', '2 * i', w + ' - 1'])}];",
                f"{w}--;",
                f"{w} = {rng.choice(['i', '0', 'w', f'b[i] & 1 ? {w} + 2 : {w}', f'b[i] > {w} ? {w} : v'])};",
            ]
        )

    def block(depth):
        parts = []
        for _ in range(rng.randint(1, 3)):
            part = " ".join(moves() for _ in range(rng.randint(1, 2)))
            kind = rng.random()
            if kind < 0.3:
                part = f"if (b[i] & {rng.choice([1, 2, 4])}) {{ {part} }} {rng.choice(['', '', 'else { ' + moves() + ' }'])}"
            elif kind < 0.7 and depth:
                end = rng.choice(["3", "n", "(b[i] & 3)", "j"])
                part = f"\n#pragma unroll 1\nfor (int j = 0; j < {end}; j++) {{ {block(depth - 1)} }}\n"
            parts.append(part)
        return " ".join(parts)

    element, counter = (
        rng.choice(["int", "int", "short", "uchar"]),
        rng.choice(["int", "int", "int", "uint", "long", "short", "uchar"]),
    )
    begins = rng.choice(["", "w = m;"])
    return (
        f"__kernel void k(__global {element} *restrict a, __global const uchar *restrict b, int n, int m) {{ {counter} w = 0, v = 7; int j = 2;\n"
        f"#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ {begins} {block(2)} }} a[w] = v; }}"
    )


def closed_kernel(rng):
    """Nests whose indices are anything that their counters decide, in what is added from outside, too, and that may end
    early."""

    def counted(counters):
        c = "ijk"[len(counters)]
        heads = [
            f"int {c} = 0; {c} < {rng.choice([3, 5, 8])}; {c}++",
            f"uint {c} = 1; {c} < 17; {c} <<= 1",
            f"int {c} = 8; {c}; {c} >>= 1",
            *(f"int {c} = {d}; {c} < 9; {c} += {rng.choice(['1', '2', f'2 * {d} + 1'])}" for d in counters),
            *(f"int {c} = 0; {c} < ({d} & 3) + 1; {c}++" for d in counters),
        ]
        return c, rng.choice(heads)

    def place(counters):
        c, d, e = (rng.choice(counters) for _ in range(3))
        text = rng.choice(
            [
                f"({c} ^ {d})",
                f"(({c} * 5 + {d} * {e}) & 31)",
                f"(({c} >> 1 << 2) | ({d} & 1))",
                f"({c} > {d} ? {c} : {e} + 4)",
                f"({c} | {d})",
                f"((uchar)({c} * 37) >> 3)",
                f"({c} & ({d} - 1)) + {e}",
                f"{c} + ({d} ^ {rng.choice([1, 2, 5])})",
                f"(({c} * 24) & 127)",
            ]
        )
        return text + rng.choice(["", "", " + n", " + 16 * h", f" + {rng.randint(0, 9)}"])

    def statement(counters):
        guard = rng.choice(["", "", f"if (b[{rng.choice(counters)}] & 1) ", f"if ({rng.choice(counters)} & 1) "])
        return f"{guard}a[{place(counters)}] = a[{place(counters)}] + 1;"

    def nest(depth, counters=()):
        c, head = counted(counters)
        inner = (*counters, c)
        parts = [statement(inner) for _ in range(rng.randint(0 if depth > 1 else 1, 2))]
        parts += [f"{c} |= {rng.choice(inner)};"] * (rng.random() < 0.15 and "+" in head)
        parts += [f"if (b[{c}] == 3) break;"] * (rng.random() < 0.2)
        rng.shuffle(parts)
        if depth > 1:
            parts.insert(rng.randint(0, len(parts)), nest(depth - 1, inner))
        body = "\n".join(parts)
        return f"#pragma unroll 1\nfor ({head}) {{\n{body}\n}}"

    return (
        "__kernel void k(__global int *restrict a, __global const uchar *restrict b, int n, int m) {\n"
        f"#pragma unroll 1\nfor (int h = 0; h < m; h++) {{\n{nest(rng.randint(1, 3))}\n}} }}"
    )


def half_kernel(rng):
    """Loops that end at a part of an argument, and places counted from both of its ends."""
    kind, scalar = rng.choice([("int", "int"), ("int", "short"), ("short", "int"), ("uint", "uint")])
    parts = [
        "n / 2",
        "n >> 1",
        "n / 4",
        "(n + 1) / 2",
        "(n * m) / 8",
        *["(m - n) / 2", "(n - m) >> 1"] * (kind != "uint"),
    ]

    def place(counters):
        c = rng.choice(counters)
        return rng.choice(
            [
                c,
                f"2 * {c}",
                f"n - 1 - {c}",
                f"{rng.choice(parts)} + {c}",
                f"({c} >> 1)",
                f"({c} + n) / 2",
                f"({c} - 3) / 2 + 4",
                f"n - {c} / 2",
            ]
        )

    def statement(counters):
        p, q = place(counters), place(counters)
        return rng.choice([f"a[{p}] = a[{q}] + 1;", f"{{ int t = a[{p}]; a[{p}] = a[{q}]; a[{q}] = t; }}"])

    body = statement("i")
    if rng.random() < 0.4:
        body = f"#pragma unroll 1\nfor ({kind} j = 0; j < {rng.choice([*parts, 'i / 2'])}; j++) {{ {statement('ij')} }}\n{rng.choice(['', body])}"
    return (
        f"__kernel void k(__global int *restrict a, __global const int *restrict b, {scalar} n, {scalar} m) {{\n"
        f"#pragma unroll 1\nfor ({kind} i = 0; i < {rng.choice(parts)}; i++) {{\n{body}\n}} }}"
    )


@pytest.mark.parametrize(
    "make, seed",
    sampled(
        [
            *((kernel, seed) for seed in range(32)),
            *((matrix_kernel, seed) for seed in range(48)),
            *((round_kernel, seed) for seed in range(60)),
            *((growing_kernel, seed) for seed in range(60)),
            *((closed_kernel, seed) for seed in range(40)),
            *((half_kernel, seed) for seed in range(40)),
        ]
    ),
)
def test_nothing_is_missed(make, seed, monkeypatch):
    rng = random.Random(seed)
    text = make(rng)
    monkeypatch.setattr(InsertMemoryTokens, "run", lambda self, function: function)
    function, address_bits = flat(text)
    said = {(d.src, d.dst, d.loop): d for d in dependences(function, address_bits)}
    numbers = (
        [(9, 2), *[(-7 % (1 << function.args[0].type.bits), 13)] * ("uint" not in text)] if make is half_kernel else []
    )
    for n, m in ((5, 3), (0, 4), (6, 6), *numbers):
        memory = {"a": {}, "b": dict(enumerate(rng.randbytes(64)))}
        events = trace(function, [n, m], memory, address_bits)
        for key, distance in conflicts(events).items():
            assert key in said, f"missed {key[0]} -> {key[1]} in {key[2]}\n{text}"
            assert said[key].distance <= distance, f"{said[key]} but distance {distance}\n{text}"


def test_witnesses_agree_with_isl(monkeypatch):
    """A conflict that a point shows is the least element of the set for isl as well."""
    shown, found = [], dependence.conflicts_at_once

    def spy(question):
        if found(question):
            shown.append((question.text, int(question.loop is not None)))
        return False

    monkeypatch.setattr(dependence, "conflicts_at_once", spy)
    rng = random.Random(28)
    for _ in range(20):
        function, bits = flat(kernel(rng))
        shown.clear()
        dependences(function, bits)
        assert all(dependence._answered(text) == least for text, least in shown)
