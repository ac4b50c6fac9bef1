"""Values forwarded in registers instead of through memory: the same bytes, and fewer accesses where fewer are
expected."""

import random

import numpy as np
import pytest
from test_transforms import compiled, count, loops, same

from hls.ir import walk
from hls.passes.memory.forward_stores import ForwardStores
from hls.passes.memory.scalar_promotion import ScalarPromotion

ARGS = "kernel void k(global int *restrict a, global int *restrict b, global int *c, global int *d, int n, int m)"
LOOP = "\n#pragma unroll 1\nfor (int i = 0; i < n; i++)"


def buffers(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: rng.integers(-99, 99, 96).astype(np.int32) for name in "abcd"}


def check(body: str, args: str = ARGS, **options):
    module, function = compiled(f"{args} {{ {body} }}", **options)
    for n in (0, 1, 2, 3, 7, 24):
        for m in (0, 5):
            same(module, function, buffers(n), {"n": n, "m": m})
    return function


def in_loops(function, opcode: str, mem: str = "a") -> list:
    return [
        op
        for loop in loops(function)
        for op in loop.regions[0].ops
        if op.opcode == opcode and op.operands[0].op.attrs["mem"] == mem
    ]


@pytest.mark.parametrize(
    "body, loads, stores",
    [
        ("a[0] += b[i];", 0, 0),
        ("a[m] = a[m] * 3 + b[i];", 0, 0),
        ("if (b[i] & 1) a[m] += b[i];", 1, 0),  # no load that the program would not make
        ("a[m] = b[i]; if (i & 1) a[m] = i;", 0, 0),
        ("if (i & 1) a[m] = i;", 0, 0),
        ("a[m] += i; c[i] = i; if (a[m] > 3) break;", 0, 0),
        ("for (int j = 0; j < m; j++) a[i] += b[j];", 0, 0),
        ("for (int j = 0; j < m; j++) a[0] += b[j + i];", 0, 0),
        ("a[0] += b[i]; a[1] ^= a[0];", 0, 0),
        ("a[0] += b[i]; a[m] += i;", 2, 2),  # m may be 0
        ("a[0] += a[i + 1];", 1, 0),
        ("a[0] += a[i];", 1, 1),  # which reads a[0], too
    ],
    ids=range(12),
)
def test_fixed_places(body, loads, stores):
    function = check(f"{LOOP} {{ {body} }}")
    inner = [
        op
        for loop in loops(function)
        for op in walk(loop.regions[0])
        if op.opcode in ("load", "store") and op.operands[0].op.attrs["mem"] == "a"
    ]
    innermost = [
        op
        for op in inner
        if not any(
            op in outer.regions[0].ops
            for outer in loops(function)
            if any(x.opcode == "loop" for x in outer.regions[0].ops)
        )
    ]
    assert sum(op.opcode == "load" for op in innermost) == loads
    assert sum(op.opcode == "store" for op in innermost) == stores


def test_what_may_overlap_keeps_its_stores():
    function = check(f"{LOOP} c[0] += d[i];")
    assert not in_loops(function, "load", "c") and len(in_loops(function, "store", "c")) == 1
    function = check(f"{LOOP} {{ c[0] += i; d[i] = 3; }}")
    assert len(in_loops(function, "load", "c")) == 1


@pytest.mark.parametrize(
    "body, fences",
    [
        ("a[i + 1] = a[i] + b[i];", 0),
        ("a[i + 4] = a[i] * 3 + b[i];", 0),
        ("a[i + 40] = a[i] * 3;", 0),
        ("a[i + 2] = a[i] ^ a[i + 1];", 0),
        ("a[2 * i + 4] = a[2 * i] + 1; a[2 * i + 3] = a[2 * i + 1] - 1;", 0),
        ("a[40 - i] = a[41 - i] + b[i];", 0),
        ("a[i] = b[i]; a[i] += i; b[i] = a[i];", 0),
        ("a[i] = b[i]; if (b[i + 1] & 1) a[i] += 7; a[i] ^= m;", 0),
        ("if (i > 3) a[i + 1] = a[i] + b[i];", 1),  # the store of the iteration before may not have happened
        ("a[i + 1] = a[i] + b[i]; if (b[i + 2] > 90) break;", 0),
        ("if (b[i] > 90) break; a[i + 1] = a[i] + b[i];", 0),
        ("a[b[i] & 31] = i; b[i] = a[b[i + 1] & 31];", 1),
        ("int p = b[i] & 31; a[p] = i; b[i] = a[p];", 0),
    ],
    ids=range(13),
)
def test_moving_places(body, fences):
    function = check(f"{LOOP} {{ {body} }}")
    assert bool(count(function, "fence")) == fences


@pytest.mark.parametrize(
    "body, loads",
    [
        ("((global int4 *)a)[i] = (int4)(i, m, b[i], 7); b[i] = a[4 * i + 2];", 0),
        ("((global int2 *)a)[i + 1] = (int2)(a[2 * i + 1] ^ b[i], i);", 1),  # that of the first iteration
        ("((global long *)a)[i] += i; b[i] = a[2 * i + 1];", 1),
        ("a[i + 2] = b[i] * 77; b[i] = ((global uchar *)a)[4 * i + 3];", 1),
        ("((global int2 *)a)[m] = (int2)(b[i], i); b[i + 1] = a[2 * m + 1];", 0),
        ("if (b[i] & 1) ((global int2 *)a)[i] = (int2)(b[i], i); b[i] = a[2 * i];", 1),
        # m may be more
        ("((global int2 *)a)[i] = (int2)(b[i], i); ((global uchar *)a)[8 * i + m] = 3; b[i] = a[2 * i + 1];", 1),
        ("a[i] = b[i]; b[i] = ((global int2 *)a)[i / 2].x;", 1),
    ],
    ids=range(8),
)
def test_parts_of_what_was_stored(body, loads):
    function = check(f"{LOOP} {{ {body} }}")
    assert len(in_loops(function, "load")) == loads
    waits = "m] = 3" in body or "i / 2" in body
    assert bool(count(function, "fence")) == waits


@pytest.mark.parametrize(
    "body",
    [
        "a[b[i] & 31] = i; c[i] = a[b[i + 1] & 31];",
        "int p = b[i] & 31; if (p & 1) a[p] += 3; c[i] = a[b[i + 1] & 31]; a[p] = i;",
        "a[b[i] & 31] = i; a[b[i + 1] & 31] = 7; c[i] = a[b[i + 2] & 31] + a[m];",
        "if (b[i] > 3) { a[b[i] & 31] = i; if (b[i + 1] > 5) c[i] = a[b[i + 1] & 31]; }",
    ],
    ids=range(4),
)
def test_addresses_of_one_iteration_are_compared(body):
    """No load waits for a store of its own iteration."""
    function = check(f"{LOOP} {{ {body} }}", hazards=True)
    waits = [
        op for op in walk(function.body) if op.opcode == "fence" and op.attrs["flush"] and not op.result.type.overlap
    ]
    assert not waits and any(op.attrs.get("apart") for op in walk(function.body))


@pytest.mark.parametrize(
    "body, stores",
    [
        ("a[b[i] & 31] = i; a[b[i + 1] & 31] = 7;", 1),
        ("c[i] = a[b[i + 2] & 31]; a[b[i] & 31] = i; a[b[i + 1] & 31] = 7;", 2),
        ("if (b[i] & 1) a[b[i] & 31] = i; else a[b[i + 1] & 31] = 3;", 1),
        ("if (b[i] & 1) a[m] = i; else if (b[i] & 2) a[b[i] & 31] = 3; else a[b[i + 1] & 31] = 4;", 1),
        ("d[i] = a[i]; if (b[i] > 3) { a[b[i] & 31] = i; if (b[i + 1] > 5) a[b[i + 1] & 31] = 9; }", 2),
        ("a[b[i] & 31] = i; int v = a[b[i + 2] & 31]; a[b[i + 1] & 31] = v; a[v & 31] = i;", 3),
    ],
    ids=range(6),
)
def test_stores_of_one_iteration(body, stores):
    """They wait for no fence, unless an address comes out of what is stored before."""
    function = check(f"{LOOP} {{ {body} }}", hazards=True)
    assert len(in_loops(function, "store")) == stores
    assert bool(count(function, "fence")) == ("v & 31" in body)


def test_stores_do_not_pass_what_may_overlap():
    body = "if (b[i] & 1) c[b[i] & 31] = i; int v = d[i]; if (!(b[i] & 1)) c[b[i + 1] & 31] = v;"
    assert len(in_loops(check(f"{LOOP} {{ {body} }}", hazards=True), "store", "c")) == 2
    assert len(in_loops(check(f"{LOOP} {{ {body} }}".replace("d[i]", "b[i + 2]"), hazards=True), "store", "c")) == 1


@pytest.mark.parametrize(
    "body, loads",
    [
        ("if (a[i] > a[i + 1]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; }", 2),
        ("if (b[i] & 1) a[i + 1] = a[i] + 3; b[i + 1] ^= a[i + 1];", 2),
        ("int p = b[i] & 31; if (a[p] > 3) a[p] = d[p];", 1),
    ],
    ids=range(3),
)
def test_what_was_read_is_there_where_nothing_was_stored(body, loads):
    function = check(f"{LOOP} {{ {body} }}", hazards=True)
    assert len(in_loops(function, "load")) == loads


def test_copies_of_a_loop_leave_one_load():
    function = check("\n#pragma unroll 4\nfor (int i = 0; i < n; i++) a[i + 1] = a[i] + b[i];")
    assert not count(function, "fence") and len(in_loops(function, "load")) == 1


def test_memory_is_asked_in_the_first_iterations_only():
    function = check(f"{LOOP} a[i + 3] = a[i] + b[i];")
    (load,) = in_loops(function, "load")
    bits = [v for v in loops(function)[0].regions[0].args if v.name == "after"]
    assert len(bits) == 3 and load.operands[1].op.opcode == "xor" and load.operands[1].op.operands[0] in bits


def test_too_many_values_stay_in_memory():
    function = check(f"{LOOP} a[i + 70] = a[i] + b[i];")
    assert count(function, "fence") and not any(v.name == "after" for v in loops(function)[0].regions[0].args)


def test_an_array_that_is_not_read_any_more_goes():
    row = f"{LOOP} {{ t[i + 1] = t[i] + b[i]; a[i] = t[i + 1]; }}"
    function = check("int t[512]; t[0] = m; t[m & 1] = 2;" + row)
    assert "t" in function.memories  # the first iteration reads t[0]
    function = check("int t[512]; t[0] = m;" + row)
    assert "t" not in function.memories  # it takes what was stored there
    function = check("int t[512];" + f"{LOOP} {{ t[i & 511] = b[i]; a[i] = t[i & 511]; }}")
    assert "t" not in function.memories


def test_floats_read_as_integers():
    args = "kernel void k(global float *restrict a, global int *restrict b, int n, int m)"
    module, function = compiled(f"{args} {{ global int *p = (global int *)a; {LOOP} {{ a[i] = b[i]; b[i] = p[i]; }} }}")
    assert not count(function, "fence") and not in_loops(function, "load")
    same(module, function, {"a": np.ones(8, np.float32), "b": np.arange(8, dtype=np.int32)}, {"n": 8, "m": 0})


def test_volatile_places_stay():
    args = "kernel void k(global volatile int *restrict a, global int *restrict b, int n, int m)"
    _, function = compiled(f"{args} {{ {LOOP} {{ a[0] += b[i]; a[i + 2] = a[i + 1]; }} }}")
    assert len(in_loops(function, "load")) == 2 and len(in_loops(function, "store")) == 2


def test_work_items_share_nothing():
    args = "kernel void k(global int *restrict a, global int *restrict b, int n, int m)"
    module, function = compiled(
        f"{args} {{ int i = get_global_id(0); b[i] = i; a[i + 1] = a[i + 1] + b[i]; a[70] += 1; }}"
    )
    assert not in_loops(function, "load", "b")
    same(module, function, {name: data for name, data in buffers(1).items() if name in "ab"}, {"n": 1, "m": 0}, (16,))


class Programs:
    """Random loops that write and read arrays near each other's places."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def place(self, counters: list[str]) -> str:
        array = self.rng.choice(["a", "a", "a", "b", "c", "d", "t"])
        counter = self.rng.choice(counters)
        index = self.rng.choice(
            [
                f"{counter} + {self.rng.randrange(5)}",
                f"{counter} + {self.rng.randrange(3)}",
                f"2 * {counter} + {self.rng.randrange(3)}",
                f"{40 + self.rng.randrange(3)} - {counter}",
                "m",
                "3",
                f"{self.rng.randrange(4)}",
                f"(b[{counter}] & 15)",
                f"({counter} & 3)",
            ]
        )
        return f"{array}[{index}]"

    def statement(self, counters: list[str], depth: int) -> str:
        kind = self.rng.random()
        if kind < 0.15 and depth < 2:
            j = f"j{depth}"
            body = self.block([*counters, j], depth + 1)
            return (
                f"\n#pragma unroll {self.rng.choice([1, 1, 2])}\nfor (int {j} = 0; {j} < "
                f"{self.rng.choice(['m', '3', 'n / 2'])}; {j}++) {body}"
            )
        if kind < 0.3:
            return (
                f"if ({self.rng.choice(['i & 1', 'i > 2', self.place(counters) + ' & 1'])}) "
                f"{self.block(counters, depth + 1, 2)}"
            )
        if kind < 0.35:
            return f"if ({self.place(counters)} > 90) {self.rng.choice(['break', 'continue'])};"
        target = self.place(counters)
        source = target if self.rng.random() < 0.3 else self.place(counters)
        return (
            f"{target} = {source} {self.rng.choice(['+', '^', '- 2 *'])} "
            f"{self.rng.choice([self.place(counters), 'i'])};"
        )

    def block(self, counters: list[str], depth: int, most: int = 4) -> str:
        return "{ " + " ".join(self.statement(counters, depth) for _ in range(self.rng.randint(1, most))) + " }"

    def text(self) -> str:
        return (
            f"int t[96]; for (int z = 0; z < 96; z++) t[z] = a[z]; {LOOP} {self.block(['i'], 0)} for (int z = 0; "
            "z < 96; z++) d[z] ^= t[z];"
        )


@pytest.mark.parametrize("part", range(3))
def test_random_programs(part):
    replaced = 0
    for seed in range(8 * part, 8 * part + 8):
        text = Programs(seed).text()
        module, function = compiled(f"{ARGS} {{ {text} }}", hazards=seed % 2 == 0)
        replaced += any(
            v.name in ("after",) or v.name.endswith((".has", ".written"))
            for loop in loops(function)
            for v in loop.regions[0].args
        )
        for n, m in ((0, 1), (1, 2), (5, 4), (11, 3)):
            same(module, function, buffers(seed), {"n": n, "m": m})
    assert replaced


def test_inputs_stay_as_they_were():
    _, function = compiled(f"{ARGS} {{ {LOOP} a[i + 1] = b[i]; }}")
    for each in (ScalarPromotion(), ForwardStores()):
        before = sum(1 for _ in walk(function.body))
        each.run(function)
        assert sum(1 for _ in walk(function.body)) == before


@pytest.mark.parametrize(
    "behind, stays", [("", True), ("b[i] = m;", True), ("a[i] ^= m;", False), ("b[i] = a[i + 1];", True)]
)
def test_stores_that_the_next_invocation_loads_stay_beside_its_loads(behind, stays):
    """Addresses are compared of accesses of one loop; what is loaded behind it in any case is not stored twice."""
    body = f"{LOOP} {{\n#pragma unroll 1\nfor (int j = 0; j < i; j++) a[i] += a[j] * 3; {behind} }}"
    function = check(body, hazards=True)
    (inner,) = (op for op in loops(function) if not any(x.opcode == "loop" for x in op.regions[0].ops))
    assert any(op.opcode == "store" for op in inner.regions[0].ops) == stays
    assert not any(op.opcode == "fence" for op in inner.regions[0].ops)
