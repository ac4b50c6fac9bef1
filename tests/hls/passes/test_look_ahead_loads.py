"""Elements at a stepping index are loaded some iterations ahead: the same results, and the II that is left."""

import random

import numpy as np
import pytest
from merging import outcome

from hls.frontend import parse_source
from hls.ir import Module, is_early, walk
from hls.ir.interpreter import ExecutionError
from hls.ir.parser import parse_module
from hls.passes.recurrence.step_tree import leaves, step_tree
from hls.recursion import deep_recursion
from tests.kernels.system import Launch
from tests.plans import planned

BOARD = "ecp5_onchip"
ARGS = "__global const int *restrict a, __global const int *restrict b, __global int *restrict out, int n, int m"
BODIES = {
    "moved_in_a_branch": "int i = 0; for (int k = 0; k < n; k++) { out[k] = a[i]; if (a[i] > m) i++; }",
    "product": "int i = 5; for (int k = 0; k < n; k++) { out[k] = i; i += a[i] * b[i] > m ? 2 : 1; }",
    "falling": "int i = 200; for (int k = 0; k < n; k++) { int x = a[i]; out[k] = x; i -= x > m ? 1 : 3; }",
    "multiples": "int i = 0; for (int k = 0; k < n; k++) { int x = a[i] ^ b[i + 1]; out[k] = x; i += x & 1 ? 4 : 2; }",
    "two_streams": (
        "int i = 0, j = 0; for (int k = 0; k < n; k++) { int x = a[i], y = b[j]; out[k] = x < y ? x : y; "
        "if (x < y) i++; else j++; }"
    ),
    "three_steps": (
        "int i = 0; for (int k = 0; k < n; k++) { int x = a[i]; out[k] = x; if (x > m) i += 3; else if (x < 0) i++; }"
    ),
    "guarded": (
        "int i = 0, j = 0; for (int k = 0; k < n; k++) if (j >= m || (i < 9 && a[i] <= b[j])) out[k] = a[i++]; "
        "else out[k] = b[j++];"
    ),
    "scattered": "int i = 0; for (int k = 0; k < n; k++) { int x = a[i]; out[x & 63] = k; i += x > m ? 2 : 1; }",
    "entered_often": (
        "for (int r = 0; r < 5; r++) { int i = r; for (int k = 0; k < n; k++) { int x = a[i]; out[r * 20 + k] = x; "
        "i += x > m; } }"
    ),
}
KEPT = {
    "stored": "int i = 0; for (int k = 0; k < n; k++) { int x = out[i]; out[k] = x + 1; i += x > m ? 2 : 1; }",
    "both_ways": "int i = 99; for (int k = 0; k < n; k++) { int x = a[i]; out[k] = x; i += x > m ? 1 : -1; }",
    "any_step": "int i = 0; for (int k = 0; k < n; k++) { int x = a[i]; out[k] = x; i += x & 3; }",
}


def kernels(bodies: dict[str, str]) -> str:
    return "\n".join(f"__kernel void {name}({ARGS}) {{ {body} }}" for name, body in bodies.items())


def made_early(kernel) -> int:
    return sum(map(is_early, walk(kernel.function.body)))


def check(source: str, board: str = BOARD) -> None:
    modules = parse_source(source, "k.cl", {}, []).module
    for name, kernel in planned(source, board).items():
        module = Module({name: modules.functions[name]}, modules.sources, modules.channels)
        rng = np.random.default_rng(len(name))
        for n, m in ((0, 0), (1, 3), (2, -3), (19, 0), (20, 12), (20, -12)):
            launch = Launch(
                {each: rng.integers(-20, 20, 256).astype(np.int32) for each in ("a", "b", "out")}, {"n": n, "m": m}
            )
            assert outcome(kernel.function, launch) == outcome(module, launch), (name, n, m)


@pytest.mark.parametrize("bodies", [BODIES, KEPT], ids=["ahead", "kept"])
def test_same_results(bodies):
    check(kernels(bodies))


@pytest.mark.parametrize("name", BODIES)
def test_the_load_is_off_the_recurrence(name):
    kernel = planned(kernels(BODIES), BOARD)[name]
    assert made_early(kernel)
    assert [plan.ii for plan in kernel.plan.loops.values()][:1] == [1]


@pytest.mark.parametrize("name", KEPT)
def test_what_cannot_be_known_ahead_stays(name):
    assert not made_early(planned(kernels(KEPT), BOARD)[name])


#: of the loops above those whose loads are streams where memory stalls
STREAMS = ("moved_in_a_branch", "product", "multiples", "two_streams", "guarded", "scattered")


def test_where_memory_stalls_streams_are_loaded_ahead():
    """By units inside the pipeline, at 240 MHz with comparisons that are carried; not where invocations take turns, and not an index that falls."""
    for name, kernel in planned(kernels(BODIES), "de5net").items():
        units = [access.lsu for access in kernel.memory.accesses.values()]
        assert ("stepping prefetching" in units) == (name in STREAMS), name
        if name in STREAMS:
            assert [plan.ii for plan in kernel.plan.loops.values()] == [1]


def ending(module, launch: Launch) -> dict | str | None:
    """The bytes of all buffers; of a run that leaves one, the name of that one."""
    try:
        return outcome(module, launch)
    except ExecutionError as error:
        return error.memory


@pytest.mark.parametrize("board", [BOARD, "de5net"])
def test_a_load_fails_where_the_program_makes_it(board):
    """Not where it is made ahead: with buffers of all lengths around what the program reads."""
    modules = parse_source(kernels(BODIES), "k.cl", {}, []).module
    for name, kernel in planned(kernels(BODIES), board).items():
        module, ended = Module({name: modules.functions[name]}, modules.sources, modules.channels), set()
        rng = np.random.default_rng(len(name))
        for length in range(40):
            given = {each: rng.integers(-20, 20, length).astype(np.int32) for each in "ab"}
            launch = Launch(given | {"out": np.zeros(256, np.int32)}, {"n": 12, "m": int(rng.integers(-9, 9))})
            expected, found = ending(module, launch), ending(kernel.function, launch)
            assert found == expected or isinstance(found, str) and isinstance(expected, str), (name, length)
            ended.add(type(found))
        assert ended == {dict, str} or name == "falling", name  # that one begins at 200: always outside


KEPT_STREAMS = {
    "own_memory": (
        "int t[64]; for (int k = 0; k < 64; k++) t[k] = b[k]; int i = 0; "
        "for (int k = 0; k < n; k++) { t[(k * 7 + m) & 63] += k; out[k] = a[i]; i += a[i] > t[k & 63]; } "
    ),
    "far": "int i = 0; for (int k = 0; k < n; k++) { out[k] = i; i += a[i] > m ? 4 : 1; }",
    "of_an_index": "int i = 0; for (int k = 0; k < n; k++) { int x = a[(b[i] & 63) + i]; out[k] = x; i += x > m; }",
    "chosen": "int i = 0; for (int k = 0; k < n; k++) { int x = __pipelined_load(a + i); out[k] = x; i += x > m; }",
}


def test_what_cannot_be_loaded_inside_the_pipeline_stays():
    for name, kernel in planned(kernels(KEPT_STREAMS), "de5net").items():
        assert not made_early(kernel), name


def test_streams_give_the_same_results():
    check(kernels({name: BODIES[name] for name in STREAMS}), "de5net")


def random_body(rng: random.Random) -> str:
    """A loop with up to two indices, each moved by steps that what is loaded decides."""
    unit, falls = rng.choice([1, 1, 1, 2, 3]), rng.random() < 0.3
    start = rng.randrange(180, 240) if falls else rng.randrange(8)
    lengths = rng.sample(range(5 if unit == 1 else 2), 2)
    signs = "-" if falls else "+"
    value = rng.choice(
        ["a[i]", "a[i] * b[i]", "(a[i] ^ b[i + 2])", "(a[i] > 3 ? b[i] : 7)", "a[i] + k", "(uchar)a[i] * 3"]
    )
    test = rng.choice(["x > m", "x & 1", "x > y", "x + k < y", "x != a[k]"])
    other = rng.choice(["", f"else if (x < {rng.randrange(-9, 9)}) j++;"])
    stored = rng.choice(["x", "x - y", "i", "j + (x > 2)"])
    return (
        f"int i = {start}, j = 0; for (int k = 0; k < n; k++) {{ int x = {value}, y = b[j]; out[k] = {stored}; "
        f"if ({test}) i {signs}= {lengths[0] * unit}; else {{ i {signs}= {lengths[1] * unit}; if (y < 5) j++; {other} }} "
        f"{'if (x > 0) j++;' if rng.random() < 0.3 else ''} }} out[250] = i; out[251] = j;"
    )


@pytest.mark.parametrize("seed", range(4))
def test_random_loops(seed):
    rng = random.Random(seed)
    source = kernels({f"k{number}": random_body(rng) for number in range(12)})
    check(source)
    assert sum(made_early(kernel) > 0 for kernel in planned(source, BOARD).values()) >= 6


def tree_of(*lines: str) -> object:
    """The step tree of the last operation from the index ``%i.0`` on, which these lines of IR compute."""
    body = "\n".join(f"  {line}" for line in (*lines, "return"))
    function = parse_module(f'kernel @k(%i.0: i32) {{\n  param i: scalar "int" 4\n{body}\n}}\n').functions["k"]
    *_, last, _ = walk(function.body)
    with deep_recursion():  # as in a compilation
        return step_tree(function.args[0], last.result)


def test_chains_of_conditions_are_given_up_at_once():
    """Each condition doubles the paths to the last value: a tree of more constants than a loop can carry must not be
    built first."""
    for count in (4, 500):
        lines, last = ["%1: i32 = const {value = 1}", "%2: i1 = slt %i.0, %1"], "i.0"
        for k in range(3, 2 * count + 3, 2):
            lines += [f"%{k}: i32 = add %{last}, %1", f"%{k + 1}: i32 = select %2, %{k}, %{last}"]
            last = str(k + 1)
        made = tree_of(*lines)
        assert (made is None) == (count > 4)
        if made:
            assert sorted(leaves(made[0])) == sorted(k.bit_count() for k in range(1 << count))


@pytest.mark.parametrize(
    ("inner", "outer", "steps"),
    [("sext", "sext", [-1, 2]), ("sext", "zext", [65535, 2]), ("zext", "sext", [255, 2]), ("zext", "zext", [255, 2])],
)
def test_steps_are_extended_as_written(inner, outer, steps):
    found, _ = tree_of(
        "%1: i8 = const {value = 255}",
        "%2: i8 = const {value = 2}",
        "%3: i32 = const {value = 9}",
        "%4: i1 = slt %i.0, %3",
        "%5: i8 = select %4, %1, %2",
        f"%6: i16 = {inner} %5",
        f"%7: i32 = {outer} %6",
        "%8: i32 = add %i.0, %7",
    )
    assert list(leaves(found)) == steps
