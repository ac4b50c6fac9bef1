"""Kernels with barriers, before hardware: which are refused, which accesses the barriers separate, and the number of
copies of local memory."""

import re

import pytest

from hls.analysis.workgroup.phases import BarrierPhases
from hls.diag import CompileError, render
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import walk
from hls.options import Options
from hls.target.board import load_board


def planned(body: str, attribute: str = "", arguments: str = "__global int *restrict a, int n", **options):
    """The planned kernel of a body; ``l`` and ``g`` are its local and group id."""
    text = f"{attribute}__kernel void k({arguments}) {{ int l = get_local_id(0), g = get_group_id(0); {body} }}"
    module = parse_source(text, "k.cl", {}, []).module
    return plan_module(module, load_board("de5net"), Options(**options))[0][0]


def messages(body: str, **options) -> list[str]:
    with pytest.raises(CompileError) as caught:
        planned(body, **options)
    return [render(d, {}) for d in caught.value.diagnostics]


@pytest.mark.parametrize(
    "body, note",
    [
        ("if (l & 1)\n barrier(1);", "1:.*: note: this condition"),
        ("for (int k = 0;\n k < l; k++)\n barrier(1);", "2:.*: note: this condition"),
        ("if (atomic_inc(a) == 0)\n barrier(1);", "1:.*: note: this condition"),
        ("for (int k = l;\n k < 1000; k += 16)\n barrier(1);", "1:.*: note: this loop"),
        ("if (l > 3) return;\n barrier(1);", "1:.*: note: this condition"),
    ],
)
def test_not_all_reach_it(body, note):
    (message,) = messages(body)
    assert "not all work-items of a group may reach this barrier" in message
    assert re.search(note, message), message
    assert "hint: put the barrier where all of them reach it equally often" in message


@pytest.mark.parametrize(
    "body",
    [
        "if (n) barrier(1);",
        "if (g & 1) barrier(1);",
        "for (int k = 0; k < a[g]; k++) barrier(1);",
        "if ((int)get_global_id(0) - l < n) barrier(1);",
        "for (int k = 0; k < n; k += get_local_size(0)) { if (k + l < n) a[k + l] = 1; barrier(1); }",
        "__local int go; if (l == 0) go = 3; barrier(1); while (go > 0) { barrier(1); if (l == 0) go--; barrier(1); }",
    ],
)
def test_all_reach_it(body):
    assert any(op.opcode == "meet" for op in walk(planned(body).function.body))


FILL = "for (int k = 0; k < 99; k++) t[k] = a[k];"


@pytest.mark.parametrize(
    "body",
    [
        f"int t[99]; {FILL} barrier(1); a[l] = t[n];",
        f"int t[99]; for (int i = 0; i < n; i++) {{ a[l] = t[i]; barrier(1); {FILL} }}",  # read in the next iteration
        f"int t[99]; {FILL} for (int i = 0; i < n; i++) {{ barrier(1); a[l] = t[i]; }}",
        f"int t[99]; {FILL} if (n) {{ barrier(1); }} a[l] = t[n];",
    ],
)
def test_a_private_array_keeps_its_values_across_a_barrier(body):
    """Each work-item has a part of its own, in a memory of which groups have copies."""
    kernel = planned(body, "__attribute__((reqd_work_group_size(16, 2, 1))) ")
    memory = kernel.function.memories["t"]
    copies = dict(memory.attrs)["copies"]
    assert (memory.space, memory.length) == ("local", copies * 32 * 128)


@pytest.mark.parametrize(
    "body",
    [
        f"int t[99]; {FILL} a[l] = t[n]; barrier(1);",
        f"barrier(1); int t[99]; {FILL} a[l] = t[n];",
        # begins anew in each iteration
        f"for (int i = 0; i < n; i++) {{ barrier(1); int t[99]; {FILL} a[l] = t[i]; }}",
        f"for (int i = 0; i < n; i++) {{ int t[99]; {FILL} a[l] = t[i]; barrier(1); }}",
        f"if (n) {{ int t[99]; {FILL} a[l] = t[n]; barrier(1); }}",
    ],
)
def test_a_private_array_on_one_side_of_a_barrier(body):
    assert "t" in planned(body).function.memories


@pytest.mark.parametrize(
    "body",
    [
        "if (n) { t[l] = 1; barrier(1); a[l] = t[n]; barrier(1); } t[l + 1 & 63] = 2;",
        "t[l] = 1; if (n) { barrier(1); a[l] = t[n]; barrier(1); t[l + 1 & 63] = 2; }",
        (
            "for (int k = 0; k < n; k++) { t[l] = 1; barrier(1); a[l] = t[k]; barrier(1); } for (int k = 0; k < g; k++) "
            "{ t[l] = k; barrier(1); }"
        ),
    ],
)
def test_a_meeting_under_the_same_condition_separates(body):
    planned(f"__local int t[64]; {body} barrier(1); a[l] = t[g & 63];")


def books(body: str) -> int:
    """How many levels share a port with others."""
    return sum(
        len(booking.users)
        for booking in planned(f"__local int t[64]; {body} barrier(1); a[l] = t[g & 63];").plan.bookings
    )


@pytest.mark.parametrize(
    "body",
    [
        "if (n) { t[l] = 1; if (g) { barrier(1); a[l] = t[n]; barrier(1); } a[g] = a[n]; t[l + 1 & 63] = a[n + g]; }",
        (
            "for (int k = 0; k < n; k++) { if (k & 1) { barrier(1); t[l] = k; } for (int j = 0; j < l; j++) t[j] = j; if "
            "(k & 2) barrier(1); }"
        ),
    ],
)
def test_one_under_another_condition_does_not(body):
    assert books(body) == 2


def test_two_stores_at_once_book_cycles_of_their_port():
    assert books("t[l] = 0; for (int k = 0; k < l; k++) t[k] = k;") == 2


def test_those_of_one_level_and_those_that_a_meeting_separates_do_not():
    assert books("t[l] = 0; t[l ^ 1] = 1; barrier(1); for (int k = 0; k < l; k++) t[k] = k;") == 0


def test_what_books_cycles_is_never_held_up():
    """Levels that may stop between entry and store keep no appointment."""
    plan = planned(
        "__local int t[64]; t[l] = 0; for (int k = 0; k < l; k++) t[k] = k; barrier(1); a[l] = t[l];", elastic_depth=64
    ).plan
    ((booking,),) = (plan.bookings,)
    assert not any(region.levels[k].elastic for region, k in booking.levels)


def test_a_store_beside_an_atomic_operation():
    (message,) = messages("__local int t[64]; t[l] = 0; atomic_inc(&t[n]); barrier(1); a[l] = t[l];")
    assert "a store to t and an atomic operation on it may execute in the same cycle here" in message


def test_phases():
    """Accesses that no barrier separates are together, also from one iteration to the next."""
    function = planned(
        "__local int t[64]; t[l] = 1; for (int k = 0; k < n; k++) { barrier(1); t[l ^ 1] = t[l]; } "
        "barrier(1); a[l] = t[l];"
    ).function
    first, second = [op for op in walk(function.body) if op.opcode == "store"][:2]
    read, last = [op for op in walk(function.body) if op.opcode == "load"]
    phases = BarrierPhases(function)
    assert phases.together(read, second) and phases.together(second, second)
    assert not phases.together(first, second) and not phases.together(first, last) and not phases.together(second, last)


@pytest.mark.parametrize("size, copies", [(32, 4), (64, 4), (1024, 4)])
def test_copies(size, copies):
    """Room for the group that waits, those that go round meanwhile, and those that come and go."""
    kernel = planned(
        f"__local int t[{size}]; t[l] = a[l]; barrier(1); for (int s = {size} / 2; s > 0; s >>= 1) "
        "{ if (l < s) t[l] += t[l + s]; barrier(1); } if (l == 0) a[g] = t[0];",
        attribute=f"__attribute__((reqd_work_group_size({size}, 1, 1))) ",
    )
    memory = kernel.memory.onchip["t"]
    # each a bank of its own, or several
    assert memory.copies == copies and memory.map.banks == copies * memory.banking.map.banks
    (ring,) = [plan.ring for plan in kernel.plan.loops.values() if plan.ring]
    assert ring.items == size and ring.groups >= 2


def copies(body: str, size=64) -> int:
    attribute = f"__attribute__((reqd_work_group_size({size}, 1, 1))) "
    return planned(body, attribute, "__global float *restrict a, __global int *restrict c").memory.onchip["t"].copies


ROUND = "{ barrier(1); if (l < s) t[l] += t[l + s]; } "


def test_a_group_gathers_at_each_of_the_meetings_in_a_row():
    """A reduction whose rounds are unrolled: a work-item a cycle takes a copy for a group at each, as far as there is
    room."""
    rounds = "".join(f"{{ int s = {1 << k}; {ROUND} }} " for k in range(6))
    assert copies(f"__local float t[64]; t[l] = a[l]; {rounds} barrier(1); a[g] = t[0];") == 16
    assert copies(f"__local float t[65536]; t[l] = a[l]; {rounds} barrier(1); a[g] = t[0];") == 4
    assert copies("__local float t[64]; t[l] = a[l]; barrier(1); a[l] = t[63 - l];") == 4


def test_rings_behind_one_another_are_busy_with_different_groups():
    ring = f"for (int s = 32; s > 0; s >>= 1) {ROUND}"
    assert copies(f"__local float t[64]; t[l] = a[l]; {ring} barrier(1); a[g] = t[0];") == 4
    assert (
        copies(
            f"__local float t[64]; t[l] = a[l]; {ring} barrier(1); t[l] += t[63 - l]; {ring} barrier(1); a[g] = t[0];"
        )
        == 8
    )


def test_a_long_way_from_meeting_to_meeting_has_room_for_more():
    assert copies("__local float t[64]; t[l] = a[l]; barrier(1); a[l] = t[63 - l] + c[l];") == 8
    assert (
        copies(
            "__local float t[64]; t[l] = a[l]; barrier(1); float x = t[63 - l]; barrier(1); t[l] = x; a[l] = t[l ^ 5];"
        )
        == 8
    )


def test_one_work_item_a_cycle():
    """However many dimensions the groups have."""
    for dims in (1, 2, 3):
        index = " + ".join(f"get_local_id({d}) * {7**d} + get_global_id({d})" for d in range(dims))
        kernel = planned(f"__local int t[256]; t[l] = a[{index}]; barrier(1); a[g] = t[{index}];")
        assert [plan.ii for loop, plan in kernel.plan.loops.items() if loop.attrs.get("form") == "ndrange"] == [1]
