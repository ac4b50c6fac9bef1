"""How far ahead of an iteration its sources in earlier invocations are, in random nests: a window over the tokens of a
loop that admits as many as the analysis allows never lets one enter beside its source."""

import random

import pytest
from brute import pairs, trace
from test_dependence_random import flat, kernel, matrix_kernel

from hls.analysis.dependence.dependence import DependenceTester, dependences
from hls.passes.order.insert_memory_tokens import InsertMemoryTokens
from tests.repetitions import sampled


def row_kernel(rng):
    """Nests of two to four loops around accesses to rows, of constant or other lengths."""
    depth = rng.randint(2, 4)
    counters = "hijk"[-depth:]
    width = rng.choice(["8", "n"])

    def place():
        row, column = rng.choice(counters), rng.choice([counters[-1]] * 3 + list(counters))
        column += rng.choice(["", "", "", " + 1", " - 1", " + 2"])
        return rng.choice([f"({row}) * {width} + {column}", f"{column}", f"{width} * ({row} & 1) + {column}"])

    body = "".join(f"a[{place()}] = a[{place()}] + 1;" for _ in range(rng.randint(1, 2)))
    for c in reversed(counters):
        outer = counters[: counters.index(c)]
        start = rng.choice(["0", "0", "0", "1", *(f"{d} + 1" for d in outer)])
        end = rng.choice(["4", "5", "5", "n", "m", *(f"{d} + 1" for d in outer)])
        guard = rng.choice([*["{}"] * 5, *(f"if (b[{d}] & 1) {{}}" for d in outer[-1:])])
        text = f"\n#pragma unroll 1\nfor (int {c} = {start}; {c} < {end}; {c}++) {{ {body} }}"
        body = guard.replace("{}", "{" + text + "}")
    return f"__kernel void k(__global int *restrict a, __global const int *restrict b, int n, int m) {{{body}}}"


@pytest.mark.parametrize(
    "make, seed",
    sampled(
        [
            *((row_kernel, seed) for seed in range(90)),
            *((matrix_kernel, seed) for seed in range(30)),
            *((kernel, seed) for seed in range(20)),
        ]
    ),
)
def test_no_source_is_farther_ahead(make, seed, monkeypatch):
    rng = random.Random(seed)
    text = make(rng)
    monkeypatch.setattr(InsertMemoryTokens, "run", lambda self, function: function)
    function, address_bits = flat(text)
    tester = DependenceTester(function, address_bits)
    facts = dependences(function, address_bits, tester=tester)
    ahead = {(fact.src, fact.dst, fact.loop): tester.ahead(fact) for fact in facts if fact.loop is not None}
    for n, m in ((5, 3), (2, 7), (6, 6)):
        memory = {"a": {}, "b": dict(enumerate(rng.randbytes(64)))}
        for earlier, later in pairs(trace(function, [n, m], memory, address_bits)):
            if [loop for loop, _ in earlier.loops] != [loop for loop, _ in later.loops]:
                continue
            loop = next((one for (one, k), (_, j) in zip(earlier.loops, later.loops) if k != j), None)
            bound = ahead.get((earlier.op, later.op, loop))
            if bound is not None:
                inside = max(later.before - 1 - bound, later.loops[-1][1])
                assert later.number - earlier.number > inside, f"{earlier} {later} {bound}\n{text}"


def test_rows_have_a_bound():
    """Elements with the same number, neighbours, and rows of a triangle; nothing is known of an index from memory."""
    found = {}
    for name, statement, end in (
        ("same", "a[j] = a[j] + i;", "n"),
        ("neighbour", "a[j] = a[j + 2] + a[j];", "n"),
        ("triangle", "a[j] = a[j] + i;", "i"),
        ("unknown", "a[b[j]] = a[j] + i;", "n"),
        ("turned", "a[8 - j] = a[j] + i;", "8"),
    ):
        function, bits = flat(
            "__kernel void k(__global int *restrict a, __global const int *restrict b, int n) {\n"
            f"#pragma unroll 1\nfor (int i = 0; i < n; i++)\n#pragma unroll 1\nfor (int j = 0; j < {end}; j++) {{ {statement} }} }}"
        )
        tester = DependenceTester(function, bits)
        facts = [
            fact
            for fact in dependences(function, bits, tester=tester)
            if fact.loop in function.body.ops and fact.src.opcode == "store"
        ]
        found[name] = {tester.ahead(fact) for fact in facts if fact.dst.opcode == "load"}
    assert found == {"same": {0}, "neighbour": {0, 2}, "triangle": {0}, "unknown": {None}, "turned": {6}}
