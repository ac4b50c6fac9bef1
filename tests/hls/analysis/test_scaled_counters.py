"""Counters that grow by multiples of themselves or shrink to a part, as the indices of a heap do: what they have passed is
not accessed again, and no conflict that occurs is missed."""

import random

import pytest
from brute import conflicts, trace
from test_dependence import said
from test_dependence_random import flat

from hls.analysis.dependence.dependence import dependences
from hls.passes.order.insert_memory_tokens import InsertMemoryTokens
from tests.plans import planned_text
from tests.repetitions import sampled


@pytest.fixture(autouse=True)
def without_order(monkeypatch, through_memory):
    monkeypatch.setattr(InsertMemoryTokens, "run", lambda self, function: function)


def heap(body, begin="0", more="2 * i + 1 < n"):
    return (
        f"__kernel void k(__global int *restrict a, __global const int *restrict b, int n, int m) "
        f"{{ int i = {begin};\nwhile ({more}) {{ {body} }} }}"
    )


@pytest.mark.parametrize("address_bits", [32, 18])
@pytest.mark.parametrize(
    "text",
    [
        heap("int c = 2 * i + 1; if (b[i]) c++; a[i] = a[c]; i = c;"),
        heap("int c = 2 * i + 1; if (b[i]) c++; a[i] = a[c]; i = c;", begin="m & 255"),
        heap("int c = 2 * i; if (b[i]) c++; a[i] = a[c]; i = c;", begin="1", more="2 * i < n"),
        heap("int c = 3 * i + 1; a[i] = a[c]; i = c + (b[i] & 1);", more="3 * i + 2 < n"),
    ],
)
def test_children_are_behind_an_element(text, address_bits):
    assert {fact for fact in said(text, address_bits) if not fact.startswith("WAR")} == set()


@pytest.mark.parametrize("address_bits", [32, 18])
@pytest.mark.parametrize(
    "text",
    [
        heap("int p = (i - 1) / 2; a[i] = a[p]; i = p;", begin="m", more="i > 0"),
        heap("int p = i / 2; a[i] = a[p]; i = p;", begin="m", more="i > 1"),
        heap("a[i] = a[i >> 2]; i >>= 1;", begin="m", more="i > 0 && b[i]"),
        heap("a[i] = b[i]; i -= b[i] ? 2 : 1;", begin="m", more="i > 0"),
    ],
)
def test_parents_are_in_front_of_an_element(text, address_bits):
    facts = {fact for fact in said(text, address_bits) if not fact.startswith("WAR")}
    assert not any(fact.startswith("WAW") for fact in facts), facts


@pytest.mark.parametrize(
    "text",
    [
        heap("int c = 2 * i + 1; a[i] = a[c]; i = c;", begin="m"),  # which may be negative: -1 is its own child
        heap("int c = 2 * i; a[i] = a[c]; i = c;"),  # 0 is its own child
        heap("a[i] = b[i]; i = i / 2;", begin="m", more="i >= 0 && b[m]"),
        heap("a[i] = b[i]; i = 2 * i - 5;", begin="1", more="b[i]"),
    ],
)
def test_elements_that_may_be_their_own_children(text):
    assert any(fact.startswith("WAW a while") for fact in said(text))


RING = "\n#pragma unroll 1\nfor (int t = 0; t < 16; t++) {{ a[{place}] += 1; {step} }}"


@pytest.mark.parametrize("address_bits", [32, 18])
@pytest.mark.parametrize(
    "begin, place, step",
    [
        ("int w = 0;", "w", "w = (w + 4 + (b[t] & 1)) & 15;"),
        ("uint w = 0;", "w & 15", "w += 4 + (b[t] & 1);"),
        ("uchar w = 0;", "w", "w += 64 + (b[t] & 1);"),
        ("uchar w = 0;", "w", "w -= 64 + (b[t] & 1);"),
    ],
)
def test_places_in_a_ring_come_again(begin, place, step, address_bits):
    """A sum that wraps around in fewer bits than an address has comes back to a place that it has passed."""
    args = "__global int *restrict a, __global const uchar *restrict b"
    facts = said(f"__kernel void k({args}) {{ {begin}{RING.format(place=place, step=step)} }}", address_bits)
    assert any(fact.startswith("RAW a t") for fact in facts), facts


@pytest.mark.parametrize(
    "body, fact",
    [
        ("a[d / 2 + 1000] = 1; a[d + 1001] = 2;", "WAW a - 0"),  # d may be -2
        ("a[(d >> 1) + 1000] = 1; a[d + 1001] = 2;", "WAW a - 0"),
        ("#pragma unroll 1\nfor (int t = 0; t < m; t++) { a[w + 10] = 1; w += u + v + 2; }", "WAW a t 1"),
    ],
)
def test_unsigned_terms_wrap_around_together(body, fact):
    """Two numbers that are not negative may add up to a negative one where the sum is unsigned."""
    numbers = "uint u = n & 0x7fffffff, v = m & 0x7fffffff, w = n; int d = (int)(u + v);"
    facts = said(f"__kernel void k(__global int *restrict a, int n, int m) {{ {numbers}\n{body} }}")
    assert any(one.startswith(fact) for one in facts), facts


HOLE = "int c = 2 * i + 1; if (c + 1 < n && a[c + 1] < a[c]) c++; if (a[c] >= m) break; a[i] = a[c]; i = c;"
SWAPS = (
    "int c = 2 * i + 1; if (c + 1 < n && a[c + 1] < a[c]) c++; if (a[c] >= a[i]) break;"
    "int t = a[i]; a[i] = a[c]; a[c] = t; i = c;"
)


@pytest.mark.parametrize("body", [HOLE, SWAPS])
def test_what_sifts_down_does_not_wait_for_the_store_before(body, monkeypatch):
    """A swap leaves the same element at the index of each iteration: the loop carries it."""
    monkeypatch.undo()  # with the order of accesses
    (kernel,) = planned_text(heap(body), "ecp5_onchip").kernels
    assert [region.ii for region in kernel.plan.loops.values()] == [2]


def scaled_kernel(rng):
    """Accesses at counters that are multiplied and divided, under conditions, and in a loop further in."""
    kind = rng.choice(["int", "int", "int", "uint", "uint", "ushort", "uchar", "long"])

    def step(w):
        return rng.choice(
            [
                f"{w} = 2 * {w} + 1;",
                f"{w} = b[t] & 1 ? 2 * {w} + 1 : 2 * {w} + 2;",
                f"{w} = {w} / {rng.choice([2, 2, 3, 4])};",
                f"{w} = ({w} - 1) / 2;",
                f"{w} >>= 1;",
                f"{w} = ({w} << {rng.choice([1, 2])}) + {rng.choice([0, 1])};",
                f"{w} = {w} * 3 + {rng.choice(['0', '1', '(b[t] & 3)', '-2'])};",
                f"{w} -= {rng.choice(['1', '2', '(b[t] & 1)'])};",
                f"{w} = b[t] > 90 ? {w} / 2 : {w} - 1;",
            ]
        )

    def place(w):
        return rng.choice([w, w, f"2 * {w} + 1", f"2 * {w} + 2", f"{w} / 2", f"({w} - 1) / 2", f"{w} >> 1", f"{w} + 1"])

    def body(w):
        parts = [f"a[{place(w)}] = a[{place(w)}] + 1;" for _ in range(rng.randint(1, 2))]
        if rng.random() < 0.3:
            parts[-1] = f"if ({rng.choice([f'{w} < 40', 'b[t] & 2', f'{w} > 0'])}) {{ {parts[-1]} }}"
        return " ".join([*parts, step(w)])

    more = rng.choice(["", "", "&& w > 0", "&& w < n", "&& 2 * w + 1 < n"])
    loop = f"\n#pragma unroll 1\nfor (int t = 0; t < {rng.randint(3, 6)} {more}; t++) {{ {body('w')} }}"
    begin = rng.choice(["0", "1", "n", "n", "m", "m & 63", f"({kind})(3u << {rng.choice([3, 28, 29])})"])
    if rng.random() < 0.3:
        loop = f"\n#pragma unroll 1\nfor (int j = 0; j < 3; j++) {{ {rng.choice(['', f'w = {begin};'])} {loop} }}"
    return (
        f"__kernel void k(__global int *restrict a, __global const uchar *restrict b, int n, int m) "
        f"{{ {kind} w = {begin}; {loop} a[w] = 1; }}"
    )


@pytest.mark.parametrize("seed", sampled(range(12)))
def test_no_conflict_is_missed(seed):
    rng = random.Random(seed)
    for _ in range(3):
        text = scaled_kernel(rng)
        function, address_bits = flat(text)
        reported = {}
        for d in dependences(function, address_bits):
            key = d.src, d.dst, d.loop
            reported[key] = min(d.distance, reported.get(key, d.distance))
        for n, m in ((90, 11), (7, 0), (33, 5)):
            memory = {"a": {}, "b": dict(enumerate(rng.randbytes(16)))}
            for (src, dst, loop), distance in conflicts(trace(function, [n, m], memory, address_bits)).items():
                assert (src, dst, loop) in reported, (text, src, dst, loop)
                assert reported[src, dst, loop] <= distance, text
