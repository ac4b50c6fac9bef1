"""One service answers how long operations take: its answers, and that all consumers use it."""

import ast
import random
from bisect import bisect_left
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import hls
from hls.analysis.timing import LONG_BEFORE, START, Arrival, Arrivals, Recurrence, recurrences_of
from hls.analysis.timing.arrivals import Steps
from hls.analysis.timing.model import Step
from hls.ir import BOOL, Builder, FloatType, IntType, Op, Region, Value, walk
from hls.ir.parser import parse_module
from hls.ir.rewrite import constant
from hls.passes.recurrence.absorb_guards import AbsorbGuards
from hls.passes.recurrence.compare_by_sign import CompareBySign
from hls.passes.recurrence.flatten_linear_states import FlattenLinearStates
from hls.passes.recurrence.look_ahead_control import LookAheadControl
from hls.passes.recurrence.restructure_muxes import RestructureMuxes
from hls.passes.recurrence.retime_adders import RetimeAdders
from hls.passes.recurrence.retime_comparisons import RetimeComparisons
from hls.passes.recurrence.timing_driven_reassociation import TimingDrivenReassociation
from hls.passes.recurrence.tree_height_reduction import TreeHeightReduction
from hls.planning.memory import plan_memory
from hls.planning.schedule import OperatorTiming, plan_kernel
from hls.target.board import load_board
from tests.plans import planned_text

BOARD = load_board("de5net")
TIMING = OperatorTiming.of(BOARD)
I32 = IntType(32)

#: one recurrence with every operation of QUESTIONS on it, which also decides whether another iteration follows
TEXT = """kernel @k(%n: i32, %w: i32, %q: i1) {ndrange = false, reason = "r"} @"k.cl":1:1 {
  param n: scalar "int" 4 @"k.cl":1:1
  param w: scalar "int" 4 @"k.cl":1:1
  param q: scalar "int" 4 @"k.cl":1:1
  %true: i1 = const {value = 1}
  %zero: i32 = const {value = 0}
  %five: i32 = const {value = 5}
  %most: i32 = const {value = 48}
  %mask: i32 = const {value = 255}
  %x.0: i32, %y.0: i32 = loop %true, %w, %n {label = "i", form = "for", unroll = 0} @"k.cl":2:1 {
    (%x: i32, %y: i32):
    %same: i1 = eq %x, %five @"k.cl":3:1
    %below: i1 = slt %x, %zero @"k.cl":3:1
    %small: i1 = ult %x, %most @"k.cl":3:1
    %any: i1 = or %below, %small @"k.cl":3:1
    %both: i1 = and %same, %any @"k.cl":3:1
    %low: i32 = and %x, %mask @"k.cl":3:1
    %first: i32 = add %x, %y @"k.cl":3:1
    %second: i32 = add %first, %w @"k.cl":3:1
    %third: i32 = add %second, %n @"k.cl":3:1
    %next: i32 = select %both, %low, %third @"k.cl":3:1
    %again: i1 = and %both, %q @"k.cl":3:1
    yield %again, %next, %x @"k.cl":2:1
  }
  return @"k.cl":1:1
}
"""
#: what is asked about, and the answer on de5net in ns; four of six consumers had other answers of their own
QUESTIONS = {
    "eq x, 5": 1.674,
    "slt x, 0": 0.0,
    "ult x, 48": 1.608,
    "and i1, i1": 0.4185,
    "and x, 255": 0.0,
    "add x, x": 1.648,
    "select i1, x, x": 0.837,
}


def question(op) -> str:
    names = {BOOL: "i1", I32: "x"}
    return f"{op.opcode} {', '.join(names.get(v.type, '?') if constant(v) is None else str(constant(v)) for v in op.operands)}"


class Asked(OperatorTiming):
    """Remembers the answers."""

    def delay(self, op):
        answer = super().delay(op)
        ANSWERS.setdefault(question(op), set()).add(round(answer, 6))
        return answer

    def planned(self, memory):
        return Asked(self.model, self.address_bits, memory, self.wait, self.parts)


ANSWERS: dict[str, set[float]] = {}


def schedule(function, timing):
    return plan_kernel(function, timing, plan_memory(function, BOARD.memory), 100)


CONSUMERS = {
    "look-ahead-control": lambda function, timing: LookAheadControl(timing).run(function),
    "retime-comparisons": lambda function, timing: RetimeComparisons(timing).run(function),
    "restructure-muxes": lambda function, timing: RestructureMuxes(timing).run(function),
    "retime-adders": lambda function, timing: RetimeAdders(timing).run(function),
    "compare-by-sign": lambda function, timing: CompareBySign(timing).run(function),
    "flatten-linear-states": lambda function, timing: FlattenLinearStates(timing).run(function),
    "absorb-guards": lambda function, timing: AbsorbGuards(timing).run(function),
    "timing-driven-reassociation": lambda function, timing: TimingDrivenReassociation(timing).run(function),
    "tree-height-reduction": lambda function, timing: TreeHeightReduction(timing).run(function),
    "scheduler": schedule,
}


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_all_consumers_get_the_same_answer(consumer):
    (function,) = parse_module(TEXT).kernels
    ANSWERS.clear()
    timing = Asked(TIMING.model, TIMING.address_bits)
    CONSUMERS[consumer](function, timing)
    wanted = set(QUESTIONS)
    if consumer == "look-ahead-control":
        wanted -= {"add x, x"}
    assert wanted <= ANSWERS.keys(), "it has an answer of its own"
    for asked in wanted:
        assert [*ANSWERS[asked]] == [pytest.approx(QUESTIONS[asked], abs=1e-3)], asked


def test_nobody_else_reads_the_tables_of_delays():
    """Delays are looked up in the target's tables by the service alone."""
    root = Path(hls.__file__).parent
    users = {
        str(file.relative_to(root))
        for file in root.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("costs", "delay") and _is_model(node.value)
    }
    assert users == {"analysis/timing/model.py"}


def _is_model(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Name | ast.Attribute) and (node.id if isinstance(node, ast.Name) else node.attr) == "model"
    )


@pytest.mark.parametrize("board, from_ram", [("ulx3s", True), ("ecpix5", True), ("de5net", False)])
def test_the_answer_of_a_load_unit_comes_out_of_a_block_ram(board, from_ram):
    """A table that is not fitted says too little of block RAMs. Pieces of wide words are chosen behind the RAM."""
    used = load_board(board).using(())
    source = "kernel void k(global int *restrict a, global int *restrict b, int n) { for (int i = 0; i < n; i++) b[i] = a[i]; }"
    kernel = planned_text(source, used).kernels[0]
    timing = OperatorTiming.of(used).planned(kernel.memory)
    load, store = kernel.memory.outside
    ram = timing.model.delay("ram_out", 1)
    pieces = used.memory.word_bytes // 4
    chosen = timing.model.delay("mux", pieces) if pieces > 1 else 0.0
    assert timing.answer_output(load) == (max(timing.queue_output, ram + chosen) if from_ram else timing.queue_output)
    assert timing.answer_output(store) == timing.queue_output


def test_what_does_not_fit_begins_with_the_next_cycle():
    add = next(op for op in walk(parse_module(TEXT).kernels[0].body) if op.opcode == "add")
    one = TIMING.after(add, START)
    two = TIMING.after(add, one)
    assert (one, two) == (Arrival(0, pytest.approx(1.648)), Arrival(0, pytest.approx(3.296)))
    assert TIMING.after(add, two) == Arrival(1, pytest.approx(1.648))
    assert TIMING.after(add, LONG_BEFORE) == LONG_BEFORE


def test_registers_inside_are_cycles():
    fadd = TIMING.joined("fadd", FloatType(32), START)
    assert fadd.cycle >= 2 and fadd.ns < TIMING.room
    # what comes too late for the first register waits for the next cycle
    late = TIMING.joined("fadd", FloatType(32), Arrival(0, TIMING.room))
    assert late == fadd.later(1)


def test_an_operation_that_is_rewritten_in_place_gets_another_answer():
    (function,) = parse_module(TEXT).kernels
    add = next(op for op in walk(function.body) if op.opcode == "add")
    assert TIMING.latency(add) == 0
    add.opcode = "mul"
    assert TIMING.latency(add) > 0


def test_arrivals_and_slack():
    body = next(op for op in walk(parse_module(TEXT).kernels[0].body) if op.opcode == "loop").regions[0]
    arrivals = Arrivals(TIMING, dict.fromkeys(body.args, TIMING.register())).follow(body.ops)
    first, _, third = (op.result for op in body.ops if op.opcode == "add")
    assert arrivals.at(first) == Arrival(0, pytest.approx(0.837 + 1.648))
    assert arrivals.slack(first) == pytest.approx(TIMING.room - 0.837 - 1.648) and not arrivals.misses(first)
    assert arrivals.at(third) == Arrival(1, pytest.approx(2 * 1.648))
    assert arrivals.slack(third) < 0 and arrivals.misses(third)


def test_the_bound_of_a_recurrence_is_what_the_scheduler_gets():
    (function,) = parse_module(TEXT).kernels
    body = next(op for op in walk(function.body) if op.opcode == "loop").regions[0]
    values = {*body.args, *(op.result for op in body.ops[:-2])}
    bound = Recurrence(body, values, TIMING).least_interval(40)
    (plan,) = schedule(function, TIMING).loops.values()
    assert bound == plan.ii == 3


def random_recurrences(seed: int) -> list[Recurrence]:
    """Those of a loop with 2 to 6 carried values, each computed from others or a copy of one."""
    rng, body = random.Random(seed), Region()
    body.args = [Value(I32, owner=body, index=number) for number in range(rng.randint(2, 6))]
    b, values = Builder(body), list(body.args)
    for _ in range(rng.randint(3, 12)):
        kind = rng.choice(["add", "add", "sub", "mul", "xor", "select"])
        condition = [b.value("slt", *rng.sample(values, 2))] if kind == "select" else []
        values.append(b.value(kind, *condition, rng.choice(values), rng.choice(values)))
    b.op("yield", b.value("slt", values[-1], values[0]), *(rng.choice(values) for _ in body.args))
    return list(recurrences_of(Op("loop", [], [], {}, [body]), TIMING))


def test_the_bound_is_the_least_interval_at_which_arrivals_settle():
    bounds = []
    for seed in range(150):
        for one in random_recurrences(seed):
            works = one.cycles()
            found = one.least_interval(works)
            bounds.append((found, works))
            assert found == 1 + bisect_left(range(1, works), True, key=lambda k: one.arrivals(k) is not None), seed
    assert sum(1 < found < works for found, works in bounds) > 10


class Counting(OperatorTiming):
    """The timing of the board, which counts how often each operation is asked for."""

    times: Counter[Op]

    def step(self, op: Op) -> Step:
        self.times[op] += 1
        return super().step(op)


def test_steps_ask_for_each_operation_once_and_answer_as_arrivals_do():
    timing, asked = Counting(TIMING.model, TIMING.address_bits), 0
    for seed in range(30):
        for one in random_recurrences(seed):
            timing.times = Counter()
            steps = Steps(timing, one.ops)
            for late in range(4):  # some long before, others in cycles of their own
                starts = {
                    arg: timing.register(late * number) if (number + late) % 3 else LONG_BEFORE
                    for number, arg in enumerate(one.args)
                }
                assert steps.from_(starts).times == Arrivals(TIMING, starts, LONG_BEFORE).follow(one.ops).times, seed
            assert set(timing.times.values()) <= {1} and timing.times.keys() <= set(one.ops)
            asked += len(timing.times)
    assert asked > 100


def test_a_slower_clock_leaves_nothing_to_gain():
    """Each pass asks whether there is something to gain: with a clock as slow as this there is not."""
    slow = OperatorTiming(replace(TIMING.model, period_ns=1000.0), TIMING.address_bits)
    (function,) = parse_module(TEXT).kernels
    before = sum(1 for _ in walk(function.body))
    for name, consumer in CONSUMERS.items():
        if name not in ("scheduler", "tree-height-reduction"):
            assert sum(1 for _ in walk(consumer(function, slow).body)) == before, name
