"""The equations of the HPCA 2016 model: each correction by a small example that the printed equation gets wrong."""

import pytest

from hls.model.hpca16 import cycles, potentials, static_figures
from hls.model.hpca16.cycles import DRAM_LATENCY, Cycles
from hls.model.hpca16.parameters import Block, Branches, Launch, Loop, MemoryInstruction, Platform, Resources, Sequence
from hls.model.hpca16.variant import Variant

PRINTED, CORRECTED = Variant.PRINTED, Variant.CORRECTED
WIDTH = 64
DE5NET = Platform(banks=2, width=WIDTH, frequency=240e6, bandwidth=25.6e9)

SEQUENTIAL = MemoryInstruction(4, copies_adjacent=True, items_adjacent=True)
RANDOM = MemoryInstruction(4, copies_adjacent=False, items_adjacent=False)
WIDE = MemoryInstruction(4, copies_adjacent=True, items_adjacent=True, scale=16)


def block(*instructions, latency=4, interval=1.0):
    return Block("b", instructions, latency, interval)


def figures(root, variant, items=1024, simd=1, units=1, platform=DE5NET):
    return Cycles(Launch(items, simd, units, root), platform, variant)


def vecadd(items, variant):
    return figures(block(SEQUENTIAL, SEQUENTIAL, SEQUENTIAL, latency=2), variant, items)


def found(model):
    return list(model.of_blocks.values())


def test_eq_2_counts_whole_transactions():
    assert static_figures.wide_instructions(WIDE, WIDTH, PRINTED) == 1.9375
    assert static_figures.wide_instructions(WIDE, WIDTH, CORRECTED) == 1
    three = MemoryInstruction(4, True, True, scale=33)
    assert static_figures.wide_instructions(three, WIDTH, CORRECTED) == 3


@pytest.mark.parametrize("variant", Variant)
def test_eqs_1_and_3_of_copies_that_are_apart(variant):
    apart = MemoryInstruction(8, False, False, scale=4)
    assert static_figures.instructions(block(apart, SEQUENTIAL), WIDTH, variant) == 5
    assert static_figures.mean_bytes(block(apart), WIDTH, variant) == 8
    assert static_figures.mean_bytes(block(), WIDTH, variant) == 0


def test_coalesced_copies_and_coalesced_items_are_two_conditions():
    """A[i][k], unrolled over k: its copies are adjacent, its work-items i are not."""
    row = MemoryInstruction(4, copies_adjacent=True, items_adjacent=False, scale=4)
    assert static_figures.burst(row, WIDTH, PRINTED) == 4
    assert static_figures.burst(row, WIDTH, CORRECTED) == 1
    column = MemoryInstruction(4, copies_adjacent=False, items_adjacent=True, scale=4)
    assert static_figures.burst(column, WIDTH, PRINTED) == 1
    assert static_figures.burst(column, WIDTH, CORRECTED) == 16


def test_eq_4_is_at_least_one():
    double = MemoryInstruction(8, True, True, scale=16)
    assert static_figures.burst(double, WIDTH, PRINTED) == 0.5
    assert static_figures.burst(double, WIDTH, CORRECTED) == 1


def test_eq_5_weighs_with_transactions():
    """Two transactions of burst 1, and one of burst 1: the mean of ones is 1."""
    two = MemoryInstruction(8, True, True, scale=16)
    one = MemoryInstruction(8, True, True, scale=8)
    assert static_figures.mean_burst(block(two, one), WIDTH, PRINTED) < 0.5
    assert static_figures.mean_burst(block(two, one), WIDTH, CORRECTED) == 1


def test_eq_14_sums_over_accesses():
    mixed = block(SEQUENTIAL, RANDOM)
    assert cycles.transactions(mixed, 1.0, WIDTH, PRINTED) == pytest.approx(2 / 8.5)
    assert cycles.transactions(mixed, 1.0, WIDTH, CORRECTED) == 1 + 1 / 16


def test_eq_14_of_copies_that_are_apart_is_not_their_square():
    copies = block(MemoryInstruction(4, False, False, scale=8))
    assert cycles.transactions(copies, 1.0, WIDTH, PRINTED) == 64
    assert cycles.transactions(copies, 1.0, WIDTH, CORRECTED) == 8


def test_simd_makes_fewer_work_items():
    one, four = (figures(block(), PRINTED, 4096, simd).cycles for simd in (1, 4))
    assert one == four
    one, four = (figures(block(), CORRECTED, 4096, simd).cycles for simd in (1, 4))
    assert (one, four) == (4096 + 3, 1024 + 3)


def test_eqs_9_and_11_multiply_by_the_trip_count_once():
    """100 iterations of 1,024 work-items are 102,400 issues."""
    loop = Loop(100, (block(),))
    assert figures(loop, PRINTED).cycles == 100 * (102_400 + 3)
    assert figures(loop, CORRECTED).cycles == 102_400 + 3


def test_trip_is_of_all_loops_around():
    inner = block()
    nest = Loop(10, (Loop(20, (inner,)),))
    assert figures(nest, PRINTED).trips(inner) == 20
    assert figures(nest, CORRECTED).trips(inner) == 200


def test_eq_7_has_the_fill_of_the_others():
    """The second block gets its first work-item 30 cycles late."""
    nodes = Sequence((block(latency=30), block(latency=50)))
    assert figures(nodes, PRINTED).cycles == 1024 + 49
    assert figures(nodes, CORRECTED).cycles == 1024 + 49 + 30


def test_eq_9_adds_the_fill():
    nodes = Loop(4, (block(latency=30), block(latency=50)))
    assert figures(nodes, CORRECTED).cycles == 4096 + 49 + 30


def test_eq_8_takes_the_slower_side():
    nodes = Branches((block(latency=30), block(latency=50)))
    for variant in Variant:
        assert figures(nodes, variant).cycles == 1024 + 49
    after = Sequence((nodes, block(latency=60)))
    assert figures(after, CORRECTED).cycles == 1024 + 59 + 50


def test_eq_11_has_the_interval_of_the_schedule():
    slow = block(interval=7.0)
    assert figures(slow, PRINTED).cycles == 1024 + 3
    assert figures(slow, CORRECTED).cycles == 7 * 1024 + 3


@pytest.mark.parametrize("variant", Variant)
def test_eq_11_divides_among_units(variant):
    assert figures(block(), variant, 4096, units=4).cycles == 1024 + 3


@pytest.mark.parametrize("variant", Variant)
def test_eq_12_of_too_few_work_items(variant):
    """Two work-items in a pipeline of 8 cycles: it takes 4 times as long as if it were full."""
    assert figures(block(latency=8), variant, 2).cycles == (2 + 7) * (8 / 1 if variant is PRINTED else 4)


def test_eq_15_has_the_bandwidth():
    """A word of 64 bytes a bank and cycle of 240 MHz would be 30.7 GB/s."""
    assert cycles.peak_rate(DE5NET, PRINTED) * WIDTH * 240e6 == pytest.approx(30.72e9)
    assert cycles.peak_rate(DE5NET, CORRECTED) * WIDTH * 240e6 == pytest.approx(25.6e9)
    slow = Platform(2, WIDTH, 100e6, 25.6e9)
    assert cycles.peak_rate(slow, CORRECTED) == 2


@pytest.mark.parametrize("variant", Variant)
def test_eq_16_bends_where_work_items_hide_the_latency(variant):
    """With all work-items on the memory subsystem, 128 of them keep two banks busy."""
    model = figures(block(SEQUENTIAL), variant)
    share = model.all_memory / (model.all_memory + model.all_computation)
    bend = DRAM_LATENCY * cycles.peak_rate(DE5NET, variant) / share
    assert figures(block(SEQUENTIAL), variant, bend / 2).rate == pytest.approx(model.rate / 2)
    assert figures(block(SEQUENTIAL), variant, 2 * bend).rate == pytest.approx(model.rate)


def test_eq_17_gives_the_memory_to_blocks_that_use_it():
    user, other = block(SEQUENTIAL), block(latency=36)
    nodes = Sequence((user, other))
    printed, corrected = (figures(nodes, variant, 10**6) for variant in (PRINTED, CORRECTED))
    assert printed.rate_of(user) == pytest.approx(0.1 * printed.rate)
    assert corrected.rate_of(user) == corrected.rate


@pytest.mark.parametrize("variant", Variant)
def test_eqs_18_and_19_distribute_all_work_items(variant):
    nodes = Sequence((block(SEQUENTIAL), Loop(5, (block(RANDOM, latency=9),))))
    model = figures(nodes, variant)
    assert sum(model.active(one.block) for one in found(model)) + model.active_memory == pytest.approx(1024)


@pytest.mark.parametrize("variant", Variant)
def test_eq_24_is_the_limit_of_eq_13(variant):
    first, second = block(SEQUENTIAL), block(RANDOM, latency=9)
    model = figures(Sequence((first, Loop(5, (second,)))), variant, 10**6)
    for one in (first, second):
        assert model.least_memory(one) == pytest.approx(model.memory(one))
    few = figures(Sequence((first, Loop(5, (second,)))), variant, 4)
    assert few.least_memory(second) < few.memory(second)


def test_eq_6_is_of_the_clock():
    assert figures(block(), CORRECTED, 2400).seconds == pytest.approx(2403 / 240e6)


def test_eq_20_counts_the_shell():
    """Kernels that take half of the logic leave 0.33 of 0.83 that the shell leaves them."""
    used, initial = Resources(0.5, 0.0, 0.0), Resources(0.83, 0.89, 1.0)
    assert potentials.computation(used, initial, PRINTED) == pytest.approx(0.5 / 0.83)
    assert potentials.computation(used, initial, CORRECTED) == pytest.approx(0.33 / 0.83)
    full = Resources(0.83, 0.0, 0.0)
    assert potentials.computation(full, initial, PRINTED) == pytest.approx(0.17 / 0.83)
    assert potentials.computation(full, initial, CORRECTED) == 0


def test_eq_21_of_a_perfect_access_is_zero():
    assert potentials.memory(figures(block(WIDE), PRINTED)) == pytest.approx(0.734, abs=0.001)
    assert potentials.memory(figures(block(WIDE), CORRECTED)) == 0
    assert potentials.memory(figures(block(), CORRECTED)) == 0


def test_eq_21_counts_executions():
    """A random access before a loop of 100 wide ones hardly matters."""
    nodes = Sequence((block(RANDOM), Loop(100, (block(SEQUENTIAL),))))
    assert potentials.memory(figures(nodes, PRINTED)) == pytest.approx((60 / 64) / 2)
    assert potentials.memory(figures(nodes, CORRECTED)) == pytest.approx((60 / 64) / 101)


def test_eq_21_is_never_negative():
    """Sequential accesses of 4 bytes beside a wide one: the product of the mean bytes and the mean burst is 264, not
    64."""
    mixed = block(SEQUENTIAL, SEQUENTIAL, WIDE)
    assert (
        static_figures.mean_bytes(mixed, WIDTH, CORRECTED) * static_figures.mean_burst(mixed, WIDTH, CORRECTED) == 264
    )
    assert potentials.memory(figures(mixed, CORRECTED)) == 0


def test_eq_22_of_one_block_is_zero():
    assert potentials.balance(found(figures(block(), PRINTED)), PRINTED) == 1
    assert potentials.balance(found(figures(block(), CORRECTED)), CORRECTED) == 0


@pytest.mark.parametrize("variant", Variant)
def test_eq_22_of_two_blocks(variant):
    nodes = Sequence((Loop(128, (block(latency=1),)), Loop(16, (block(latency=1),))))
    assert potentials.balance(found(figures(nodes, variant)), variant) == pytest.approx(1 - 16 / 128)


def test_eq_23_of_many_work_items_is_zero():
    """VecAdd of 64 Ki work-items: computation hides memory, which is no lack of work-items."""
    assert potentials.inter_thread(found(vecadd(65536, PRINTED)), PRINTED) == pytest.approx(0.9, abs=0.01)
    assert potentials.inter_thread(found(vecadd(65536, CORRECTED)), CORRECTED) == pytest.approx(0, abs=1e-3)
    assert potentials.inter_thread(found(vecadd(1, CORRECTED)), CORRECTED) > 0.5
