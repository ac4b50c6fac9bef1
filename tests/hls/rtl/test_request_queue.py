"""Which fields of a request wait in a memory beside its queue, and the memory."""

import random

from hls.driver import compile
from hls.options import Options
from hls.rtl.request_queue import Early, early_fields
from rtl_lib.mem.early_fields import EarlyFields
from tests.rtl_lib.mem.memory_bench import simulate

STORE = """
kernel void k(global const float *restrict a, global float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + 1.0f;
}
"""


def test_fields_that_save_registers_are_early():
    assert early_fields([(28, 0), (32, 4)], push=4, depth=8) == Early(0, (0,))
    assert early_fields([(28, 1), (8, 3), (32, 4)], push=4, depth=8) == Early(1, (0,))


def test_fields_that_save_less_than_pointers_take_are_not():
    assert early_fields([(2, 0), (32, 4)], push=4, depth=8) is None
    assert early_fields([(28, 4), (32, 4)], push=4, depth=8) is None


def test_a_queue_in_block_ram_has_all_fields():
    assert early_fields([(28, 0), (32, 4)], push=4, depth=64) is None


def test_the_address_of_a_store_has_no_registers_beside_the_arithmetic():
    text = compile(STORE, "ulx3s", Options()).verilog
    assert any("early" in name for name in text), sorted(text)


def test_values_leave_in_order():
    rng, dut, inside, seen = random.Random(1), EarlyFields(width=8, depth=4), [], 0

    async def bench(ctx):
        nonlocal seen
        for _ in range(300):
            if inside:
                assert ctx.get(dut.oldest) == inside[0]
            take = bool(inside) and rng.random() < 0.5
            put, value = len(inside) < 4 and rng.random() < 0.6, rng.randrange(256)
            ctx.set(dut.put, put)
            ctx.set(dut.value, value)
            ctx.set(dut.take, take)
            await ctx.tick()
            seen += take
            inside[:] = inside[take:] + [value] * put

    simulate(dut, bench)
    assert seen > 50
