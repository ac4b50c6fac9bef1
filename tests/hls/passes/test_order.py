"""Memory tokens put accesses into the levels that memory order needs, and cost nothing where none is needed."""

import random

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import Function, Module, Op, print_function, walk
from hls.ir.interpreter import run_kernel
from hls.ir.launch import OVERLAP
from hls.ir.parser import parse_module
from hls.ir.verifier import verify
from hls.passes.order.write_port_constraints import PortGroups
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.recurrence.look_ahead_control import LookAheadControl
from hls.passes.run_stages import optimize
from hls.planning.memory import plan_memory
from hls.planning.schedule import OperatorTiming, plan_kernel
from hls.planning.schedule.levels import assign_levels
from hls.target.board import load_board
from tests.plans import planned_text

pytestmark = pytest.mark.usefixtures("through_memory")
ARGS = "__global int *restrict a, __global int *restrict b, int n, int m"
BOARD = load_board("de5net")


def flat(body: str, args: str = ARGS) -> Function:
    text = f"__kernel void k({args}) {{ {body} }}".replace("for (", "\n#pragma unroll 1\nfor (")
    function = optimize(parse_source(text, "k.cl", {}, []).module).kernels[0]
    verify(function)
    return function


def ops(function: Function, opcode: str, mem: str | None = None) -> list[Op]:
    found = [op for op in walk(function.body) if op.opcode == opcode]
    return [op for op in found if mem is None or op.operands[0].op.attrs["mem"] == mem]


def only(function, opcode, mem=None) -> Op:
    (op,) = ops(function, opcode, mem)
    return op


def levels(function: Function, region=None) -> dict[Op, int]:
    memory = plan_memory(function, BOARD.memory)
    return assign_levels(region or function.body, frozenset(function.args), memory).op


def plan(function: Function):
    function = LookAheadControl(OperatorTiming.of(BOARD)).run(function)
    memory = plan_memory(function, BOARD.memory)
    return plan_kernel(function, OperatorTiming(BOARD.delay_model(), 40, memory), memory, 100)


def loop_plan(function: Function, label: str):
    return next(p for loop, p in plan(function).loops.items() if loop.attrs["label"] == label)


def test_nothing_to_order_adds_nothing():
    function = flat("for (int i = 0; i < n; i++) b[i] = a[i];")
    assert (
        not ops(function, "token")
        and not ops(function, "fence")
        and OVERLAP not in function.attrs.get("launch_args", ())
    )


def test_update_in_place_costs_nothing():
    function = flat("for (int i = 0; i < n; i++) a[i] = a[i] * 3;")
    assert not ops(function, "token") and not ops(function, "fence")
    assert loop_plan(function, "i").ii == 1


def test_write_after_read_is_a_later_level():
    function = flat("for (int i = 0; i < n; i++) { int x = a[i + 1]; a[i] = i; b[i] = x; }")
    (body,) = only(function, "loop").regions
    at = levels(function, body)
    assert at[only(function, "store", "a")] > at[only(function, "load")]
    assert not ops(function, "fence") and loop_plan(function, "i").ii == 1


def test_a_load_moves_before_a_store_that_must_not_overtake_it():
    """a[i + 1] is read behind the store in the text, yet before the next iteration's store to it: no round trip."""
    function = flat("for (int i = 0; i < n; i++) { a[i] = i; b[i] = a[i + 1]; }")
    (body,) = only(function, "loop").regions
    assert body.ops.index(only(function, "load")) < body.ops.index(only(function, "store", "a"))
    assert loop_plan(function, "i").ii == 1


def test_read_after_write_waits_for_a_fence():
    function = flat("a[m] = n; b[0] = a[n];")
    fence, load, store = only(function, "fence"), only(function, "load"), only(function, "store", "a")
    assert fence.attrs == {"mems": ("a",), "flush": ("a",)}
    assert store.result in fence.operands and fence.result in load.operands
    at = levels(function)
    assert at[load] == at[fence] + 1 and at[fence] == at[store]


def test_a_fence_follows_the_predicate_of_its_store():
    function = flat("if (n > 3) a[m] = n; b[0] = a[n];")
    assert only(function, "fence").operands[0] is only(function, "store", "a").operands[2]


def test_an_atomic_operation_that_follows_a_load_needs_no_fence_of_stores():
    """The lock might lie in the buffer that was read: a loop that takes it waits for the load's answer alone."""
    function = flat(
        "for (int i = 0; i < n; i++) { while (atomic_cmpxchg(a, 0, 1)); m += b[i]; } a[0] = m;",
        ARGS.replace("restrict", ""),
    )
    assert all("flush" not in op.attrs for op in ops(function, "token"))
    assert not [op for op in ops(function, "fence") if op.attrs["mems"] == ("b",)]


def test_a_loop_is_waited_for_as_a_whole():
    function = flat("for (int i = 0; i < n; i++) a[i] = i; for (int j = 0; j < n; j++) b[j] = a[n - j];")
    first, second = ops(function, "loop")
    fence, at = only(function, "fence"), levels(function)
    assert first.results[-1] in fence.operands
    assert at[first] < at[fence] < at[second]


def test_a_recurrence_through_memory_takes_the_round_trip():
    function = flat("for (int i = 0; i < n; i++) a[i + 1] = a[i] + 1;")
    assert loop_plan(function, "i").ii > 200
    assert "interleave" not in only(function, "loop").attrs


def test_a_distance_divides_it():
    function = flat("for (int i = 0; i < n; i++) a[i + 8] = a[i] + 1;")
    found = loop_plan(function, "i")
    (window,) = found.levels[0].windows
    assert window.most == 8 and 20 < found.ii < 40


def test_a_later_read_that_feeds_nothing_back_is_no_recurrence():
    function = flat("for (int i = 0; i < n; i++) { a[i + 1] = i; b[i] = a[i]; }")
    assert ops(function, "fence") and loop_plan(function, "i").ii == 1


def test_a_loop_that_waits_for_its_last_invocation_needs_no_other_order():
    """What the loops in it access keeps its order from one invocation to the next by that: their runs may mix, and no
    addresses are compared."""
    text = f"""__kernel void k({ARGS}) {{ for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {{ int s = 0;
        for (int k = 0; k < i; k++) {{ a[k * m + j] += b[i + k]; s = s * s + b[j + k]; }} a[i * m + j] += s; }} }}""".replace(
        "for (", "\n#pragma unroll 1\nfor ("
    )
    function = optimize(parse_source(text, "k.cl", {}, []).module, PipelineOptions(hazards=True)).kernels[0]
    (fence,) = ops(function, "fence")
    assert not ops(function, "hazard") and fence.attrs == {"mems": ("a",), "flush": ("a",)}
    innermost = next(op for op in ops(function, "loop") if op.attrs["label"] == "k")
    assert innermost.attrs.get("interleave", True)


def test_runs_of_a_loop_with_one_store_to_the_same_place_do_not_mix():
    function = flat("for (int i = 0; i < n; i++) for (int j = 0; j < 8; j++) a[i + j] = b[j] * 3;")
    inner = next(op for op in ops(function, "loop") if op.attrs["label"] == "j")
    assert inner.attrs["interleave"] is False and not ops(function, "fence")


def test_other_buffers_are_ordered_only_where_they_overlap():
    function = flat("for (int i = 0; i < n; i++) b[i + 1] = a[i];", "__global int *a, __global int *b, int n")
    assert function.attrs["launch_args"][-1] == OVERLAP
    assert only(function, "fence").operands[0] is function.args[-1]
    found = loop_plan(function, "i")
    assert found.ii == 1 and found.again.level == 0 and found.again_overlap.level > 1


def test_exceptions_draw_no_values_into_waiting():
    """The sum stays within a level, though the token of the fence comes back past it."""
    function = flat(
        "for (int i = 0; i < n; i++) { int s = 0; for (int j = 0; j < 8; j++) { s = s * 3 + a[i + j]; b[j] = s; } }",
        "__global int *a, __global int *b, int n",
    )
    assert loop_plan(function, "j").ii <= 4


def test_memory_that_never_waits_needs_stages_only():
    board = load_board("ecp5_onchip")
    function = flat("for (int i = 0; i < n; i++) a[i + 1] = a[i] + 1;")
    memory = plan_memory(function, board.memory)
    found = plan_kernel(function, OperatorTiming(board.delay_model(), 40, memory), memory, 1)
    (loop,) = found.loops.values()
    at = {op.opcode: point for op, point in loop.place.items()}
    assert len(loop.levels) == 1 and loop.ii < 8
    assert at["store"].stage + 1 <= at["load"].stage + loop.ii


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { a[i] = b[i & 3] + i; b[i] = a[i + 1]; a[(i * 7) & 15] += b[i]; }",
        "for (int i = 0; i < n; i++) { b[i] = 1; for (int j = 0; j < i; j++) b[j] += a[i]; a[i & 3] = b[0]; }",
        "for (int i = 0; i < n; i++) if (a[i] & 1) { a[i & 7] = i; for (int j = 0; j < 4; j++) b[a[j] & 15] += j; }",
    ],
)
@pytest.mark.parametrize("restricted", [True, False])
def test_same_bytes_and_text_round_trips(body, restricted):
    args = ARGS if restricted else ARGS.replace("restrict", "")
    text = f"__kernel void k({args}) {{ {body} }}"
    module = parse_source(text, "k.cl", {}, []).module
    ordered = optimize(module).kernels[0]
    verify(ordered)
    assert print_function(parse_module(print_function(ordered)).functions["k"]) == print_function(ordered)
    results = []
    for source in (module, ordered):
        buffers = {name: np.arange(32, dtype=np.int32) * k for k, name in enumerate("ab", 1)}
        run_kernel(source, "k", {name: array.view(np.uint8) for name, array in buffers.items()}, {"n": 12, "m": 3})
        results.append(buffers)
    for name in "ab":
        np.testing.assert_array_equal(results[0][name], results[1][name])


def test_no_check_waits_for_what_is_read_behind_its_loads():
    """The last load's condition is read behind a store that stores what the first load has read: no check can hold
    both."""
    text = (
        "channel int c, d;\n"
        "__kernel void x(__global int *restrict p, int n) {"
        " for (int i = 0; i < n; i++) { write_channel_intel(c, i); if (p[i]) write_channel_intel(d, i); } }\n"
        "__kernel void y(__global int *restrict p, int n) {"
        " for (int i = 0; i < n; i++) { p[0] += read_channel_intel(c); if (p[i]) p[0] += read_channel_intel(d); } }"
    )
    function = next(k.function for k in planned_text(text).kernels if k.function.name == "y")
    (body,) = next(op for op in walk(function.body) if op.opcode == "loop").regions
    place = {op: k for k, op in enumerate(body.ops)}
    for op in body.ops:
        assert all(place[v.op] < place[op] for v in op.operands if v.op in place)
    assert sum(op.opcode == "load" for op in body.ops) >= 3


def test_no_store_is_put_behind_a_load_that_is_compared_later():
    """The last load is compared under a condition that is read behind the first store, so that this cannot come after
    it."""
    text = (
        "__kernel void k(__global short *restrict s, int n, int m) { __global int *w = (__global int *)s; __global "
        "uchar *b = (__global uchar *)s;"
        " for (int i = 0; i < n; i++) { s[6 * i + 1] = w[24 - i] ^ i; if (b[m + 3] & 1) w[97 - 4 * i] = w[3 * i]; "
        "s[5] = w[24 - i]; b[4 * m + 3] = w[m] - w[4 * i + 10]; } }"
    )
    function = planned_text(text).kernels[0].function
    (body,) = next(op for op in walk(function.body) if op.opcode == "loop").regions
    assert sum(op.opcode == "hazard" for op in body.ops) >= 1
    module = parse_source(text, "k.cl", {}, []).module
    results = []
    for each in (module, Module({"k": function})):
        results.append(np.random.default_rng(1).integers(0, 99, 256).astype(np.int16))
        run_kernel(each, "k", {"s": results[-1]}, {"n": 7, "m": 2})
    np.testing.assert_array_equal(*results)


def test_operations_of_variable_latency_are_found_once(monkeypatch):
    """Whether a dependence parts stores of one port asks for them, for each of many dependences."""
    asked: list[Op] = []
    is_late = PortGroups._is_late
    monkeypatch.setattr(PortGroups, "_is_late", lambda self, op: asked.append(op) or is_late(self, op))
    rng, lines = random.Random(3), []
    for k in range(96):
        x, y, z = (f"x{rng.randrange(8)}" for _ in range(3))
        lines.append(
            f"t[{x} & 63] = {y} + {k};"
            if k % 11 == 0
            else f"{x} ^= t[({y} + {k}) & 63];"
            if k % 11 == 5
            else f"{x} = ({y} {rng.choice('+-^&|')} {z}) {rng.choice('+^')} {k};"
        )
    begin = "".join(f"int x{k} = a[{k}];" for k in range(8))
    end = "".join(f"b[{k}] = x{k};" for k in range(8))
    flat(
        f"int t[64]; {begin} for (int i = 0; i < 64; i++) t[i] = a[i];"
        f"for (int i = 0; i < n; i++) {{ x0 ^= a[i]; {' '.join(lines)} }} {end}"
    )
    assert asked and len(asked) == len(set(asked))


ROWS = "for (int i = 0; i < n; i++) { int last = t; for (int j = 0; j < 32; j++) {"
FORTH = ROWS + "last = a[i * 32 + j] + last * m; b[i * 32 + j] = last; } }"
BACK = ROWS + "last = b[i * 32 + j] - last * m; a[i * 32 + j] = last; } }"


@pytest.mark.parametrize("sweeps, apart", [(FORTH + BACK, False), (FORTH, True)])
def test_rows_interleave_if_a_pass_over_them_waits_for_the_one_before(sweeps, apart):
    """A store to a row of each pass keeps passes in order; tokens do that where the other sweep is between them."""
    function = flat(f"for (int t = 0; t < m; t++) {{ {sweeps} }}")
    inner = [op for op in ops(function, "loop") if op.attrs["label"] == "j"]
    assert {op.attrs.get("interleave", True) for op in inner} == {not apart}
