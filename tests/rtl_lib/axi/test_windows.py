"""AxiLiteWindows with the control registers of a kernel in each window: every access reaches the window of its address,
and only that; an address outside of the windows is refused."""

import random

import pytest
from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from rtl_lib.axi import register_map as at
from rtl_lib.axi.control import AxiLiteControl
from rtl_lib.axi.signature import AxiLiteSignature, Response
from rtl_lib.axi.windows import AxiLiteWindows
from tests.rtl_lib.axi.test_control import Host
from tests.rtl_lib.mem.memory_bench import simulate

WINDOW_BITS, BUS_BITS = 14, 18


class Windows(wiring.Component):
    """A decoder with ``count`` windows, each with registers of one argument."""

    def __init__(self, count):
        self.controls = [AxiLiteControl(arguments=[("a", 40)], identification=k) for k in range(count)]
        super().__init__({"bus": In(AxiLiteSignature(BUS_BITS))})

    def elaborate(self, platform):
        m = Module()
        windows = AxiLiteWindows([c.map.addr_bits for c in self.controls], WINDOW_BITS, BUS_BITS)
        m.submodules.windows = windows
        wiring.connect(m, wiring.flipped(self.bus), windows.bus)
        for k, (control, window) in enumerate(zip(self.controls, windows.windows, strict=True)):
            m.submodules[f"control{k}"] = control
            wiring.connect(m, window, control.bus)
        return m


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_accesses_reach_their_window(count):
    dut, rng = Windows(count), random.Random(count)

    async def testbench(ctx):
        host, expected = Host(ctx, dut.bus, rng), [0] * count
        for _ in range(60):
            window = rng.choice([*range(count), count, (1 << BUS_BITS - WINDOW_BITS) - 1, rng.randrange(16)])
            base, word = window << WINDOW_BITS, rng.getrandbits(32)
            exists = window < count
            if rng.random() < 0.5:
                answer = await host.write(base + at.ARGUMENTS, word)
                assert answer == (Response.OKAY if exists else Response.DECERR)
                if exists:
                    expected[window] = word
            else:
                read = await host.read(base + at.ARGUMENTS)
                assert host.response == (Response.OKAY if exists else Response.DECERR)
                assert not exists or read == expected[window]
            assert [ctx.get(control.arguments["a"]) for control in dut.controls] == expected
        for k in range(count):
            assert await host.read((k << WINDOW_BITS) + at.IDENTIFICATION) == k

    simulate(dut, testbench)
