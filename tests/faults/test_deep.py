"""Programs with deep nesting or very many repetitions: they are compiled, run, or refused with a message."""

from types import ModuleType

import numpy as np
import pytest

from hls.analysis.induction import trip_count
from hls.analysis.memory import access_groups, reaching_stores
from hls.analysis.predicates.implication import Exclusions
from hls.diag import CompileError
from hls.driver import compile, compile_module, plan_module
from hls.frontend import parse_source
from hls.ir import I32, Builder, Region
from hls.options import Options
from hls.passes.recurrence import distribute_over_selects
from hls.passes.run_stages import link_program
from hls.report.bottleneck import LoopExplainer
from hls.report.collect import collect
from hls.target.board import load_board
from sim import cl

KERNEL = "__kernel void k(__global int *restrict o, int n) {{ {} }}"
IFS = KERNEL.format("".join(f"if (n != {k}) " for k in range(380)) + "o[0] = 1;")
IFS_WITH_ELSE = KERNEL.format(
    "".join(f"if (n != {k}) {{ " for k in range(380)) + "o[0] = 1;" + "} else o[0] = 2;" * 380
)
RETURNS = KERNEL.format(
    "if (n < 0) {}" + "".join(f" else if (n == {k}) {{ o[0] = {k * k}; return; }}" for k in range(1000)) + " o[0] = 3;"
)
INDICES = KERNEL.format("o[0] = " + "o[" * 200 + "n" + "]" * 200 + ";")
LOOPS, MORE_LOOPS = (
    KERNEL.format("".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(depth)) + "o[0] += 1;")
    for depth in (32, 60)
)

#: text, n, and what o[0], which was 0, becomes
PROGRAMS = {
    "380 nested ifs": (IFS, 400, 1),
    "380 nested ifs with else": (IFS_WITH_ELSE, 200, 2),
    "1,000 else ifs that return": (RETURNS, 900, 810_000),
    "200 nested indices": (INDICES, 0, 0),
    "32 nested loops": (LOOPS, 1, 1),
    "60 nested loops": (MORE_LOOPS, 1, 1),
}


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "32 nested loops"])
def test_on_the_emulator(name):
    text, n, wanted = PROGRAMS[name]
    context = cl.create_some_context(device="emulator")
    queue, found = cl.CommandQueue(context), np.zeros(1, np.int32)
    out = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1, np.int32))
    cl.Program(context, text).build().k(queue, (1,), None, out, np.int32(n)).wait()
    cl.enqueue_copy(queue, found, out).wait()
    assert found[0] == wanted


@pytest.mark.parametrize("name", ["380 nested ifs", "380 nested ifs with else", "32 nested loops", "60 nested loops"])
def test_planned(name):
    module = link_program(parse_source(PROGRAMS[name][0]).module)
    plan_module(module, load_board("de5net"), Options())


def test_few_loops_of_a_nest_are_retimed(monkeypatch):
    """Each retiming of adders copies a loop with all inside it: one for each would be the square of the depth."""
    asked, retimed = (_calls(monkeypatch, distribute_over_selects, name) for name in ("_best", "retimed_length"))
    text = KERNEL.format("".join(f"for (int i{k} = 0; i{k} < n; i{k}++) " for k in range(8)) + "o[0] += 1;")
    plan_module(link_program(parse_source(text).module), load_board("de5net"), Options())
    assert len(asked) > 30 and len(retimed) < len(asked) / 2


def test_each_of_many_stores_is_looked_at_a_few_times(monkeypatch):
    looked, count = _calls(monkeypatch, reaching_stores, "moved_type"), 80
    text = (
        "__local int l[4096];\n" + "".join(f"l[n * {k} & 4095] = {k};\n" for k in range(count)) + "o[0] = l[n & 4095];"
    )
    plan_module(link_program(parse_source(KERNEL.format(text)).module), load_board("de5net"), Options())
    assert count <= len(looked) < 8 * count


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "typedef struct { int a[1000]; } big; __kernel void k(big b, __global int *o, int n) { o[0] = b.a[n]; }",
            "with 'b' the arguments of kernel k take 4,000 bytes; there is room for 3,584",
        ),
        (
            f"__kernel void k({', '.join(f'int a{k}' for k in range(449))}) {{ }}",
            "with 'a448' the arguments of kernel k take 3,592 bytes; there is room for 3,584",
        ),
        (
            "__attribute__((reqd_work_group_size(1000000, 1000000, 1))) __kernel void k(__global int *o) { barrier(1); }",
            "a group of 1,000,000,000,000 work-items; the limit is 1,048,576",
        ),
        (
            "int f0(int x) { return x + 1; }\n"
            + "".join(f"int f{k}(int x) {{ return f{k - 1}(x) * 3; }}\n" for k in range(1, 1000))
            + KERNEL.format("o[0] = f999(n);"),
            "the functions that kernel k calls become",
        ),
        (
            "__kernel void k(__global int *restrict a, int n) { __local int l[4096];\n"
            + "".join(f"l[n * {k} & 4095] = {k};\n" for k in range(1100))
            + "a[0] = l[n & 4095]; }",
            "kernel k accesses the array 'l' at 1,101 sites",
        ),
    ],
    ids=["struct", "arguments", "group", "chain of calls", "array"],
)
def test_refused(text, message):
    with pytest.raises(CompileError) as caught:
        compile_module(parse_source(text).module, load_board("de5net"), Options())
    (one,) = caught.value.diagnostics
    assert message in one.message and one.span is not None and one.hint


def test_as_many_arguments_as_there_is_room_for():
    """The registers have room for all of them, and for what a launch adds."""
    names = [f"a{k}" for k in range(446)]
    text = (
        f"__kernel void k({', '.join(f'int {name}' for name in names)}, __global int *restrict o, __global int *p) {{ "
        f"o[get_global_id(0) + get_global_size(1)] = p[get_group_id(2)] + {' + '.join(names)}; }}"
    )
    compile_module(parse_source(text).module, load_board("de5net"), Options())


@pytest.mark.parametrize("computed", [False, True])
def test_many_constants_of_an_enumeration(computed):
    names = ", ".join(f"e{k} = e{k - 1} + 1" if computed and k else f"e{k}" for k in range(5000))
    parse_source(f"enum many {{ {names} }};\n" + KERNEL.format("o[0] = e4999;"))


def test_conditions_of_a_long_chain_exclude_each_other():
    """The first and the last of 1,000 `else if`s compare with different numbers; what lies between is not looked at."""
    builder = Builder(Region())
    x, y = (builder.const(0, I32) for _ in range(2))  # stand for values that nobody knows
    x.owner = y.owner = builder.region
    passed = builder.true()
    taken = []
    for k in range(1000):
        same = builder.value("eq", x, builder.const(k, I32))
        taken.append(builder.value("and", passed, same))
        passed = builder.value("and", passed, builder.value("xor", same, builder.true()))
    assert Exclusions().never_both(taken[0], taken[999]) and Exclusions().never_both(taken[999], taken[0])
    other = builder.value("eq", y, builder.const(0, I32))
    assert not Exclusions().never_both(taken[999], other)


def test_alternatives_of_shared_disjunctions_are_counted_once():
    """Each `or` uses the one before twice: with a way to each use, 40 of them had 2**40 alternatives."""
    builder = Builder(Region())
    x = builder.const(0, I32)
    x.owner = builder.region  # stands for a value that nobody knows
    small, large = (
        [builder.value("eq", x, builder.const(k, I32)) for k in range(first, first + 41)] for first in (0, 100)
    )
    ladders = []
    for conditions in (small, large):
        ladder = conditions[0]
        for one in conditions[1:]:
            ladder = builder.value("or", builder.value("or", ladder, one), ladder)
        ladders.append(ladder)
    exclusions = Exclusions()
    assert [len(exclusions.alternatives(ladder)) for ladder in ladders] == [41, 41]
    assert exclusions.never_both(*ladders) and exclusions.never_both(*ladders[::-1])
    assert not exclusions.never_both(ladders[0], small[7])


def test_a_trip_count_by_an_unknown_choice_is_not_searched(monkeypatch):
    """The bound is one of three constants, by an argument: each iteration up to the limit was evaluated."""
    evaluated = _calls(monkeypatch, trip_count, "_apply")
    text = KERNEL.format("int m = n == 1 ? 4 : n == 2 ? 6 : 8; for (int i = 0; i < m; i++) o[i] += m;")
    plan_module(link_program(parse_source(text).module), load_board("de5net"), Options())
    assert len(evaluated) < 2000


def _calls(monkeypatch, owner: type | ModuleType, name: str) -> list[tuple]:
    """A list that gets the arguments of each call of a method or function from now on."""
    calls, plain = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *arguments: calls.append(arguments) or plain(*arguments))
    return calls


def test_each_of_many_loads_is_compared_with_few_others(monkeypatch):
    """Adjacent elements: an access fits into one of the groups that begin near it; the others are not asked."""
    fits, count = _calls(monkeypatch, access_groups._Gathering, "fits"), 300
    values = " ^ ".join(f"a[n + {k}]" for k in range(count))
    text = f"__kernel void k(__global const int *restrict a, __global int *restrict o, int n) {{ o[0] = {values}; }}"
    plan_module(link_program(parse_source(text).module), load_board("de5net"), Options())
    assert count <= len(fits) < 8 * count


def test_the_pace_of_each_loop_of_a_deep_nest_is_found_once(monkeypatch):
    found = _calls(monkeypatch, LoopExplainer, "_find_serial")
    depth = 6
    text = KERNEL.format(
        "".join(f"for (int i{k} = 0; i{k} < 9; i{k}++) " for k in range(depth)) + "o[n] = o[n] * 3 + 1;"
    )
    collect(compile(text, "de5net", Options(), "k.cl"), "k.cl")
    assert len(found) == len(set(found)) >= depth  # once for each plan, of the kernel and of what-if trials
