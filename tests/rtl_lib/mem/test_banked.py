"""BankedRam against a list of words: several ports write at once, each into another bank."""

import random

import pytest
from amaranth.sim import Simulator

from rtl_lib.mem.banked import BankedRam


@pytest.mark.parametrize("banks, words", [(2, 2), (4, 16), (8, 64)])
def test_banks(banks, words):
    rng, ports = random.Random(words), 2
    dut = BankedRam(banks=banks, word_bytes=4, words=words, reads=2, writes=ports, addr_bits=8, bytewise=True)
    content = [0] * words
    inside = words // banks

    async def drive(ctx):
        expected = [None, None]
        for _ in range(300):
            chosen = rng.sample(range(banks), ports)
            writes = [(bank * inside + rng.randrange(inside), rng.getrandbits(32), rng.choice([0, 1, 6, 15])) for bank in chosen]
            for port in dut.writes:  # never two in one bank, not even while the signals are set
                ctx.set(port.strobe, 0)
            for port, (address, value, _) in zip(dut.writes, writes, strict=True):
                ctx.set(port.addr, address)
                ctx.set(port.data, value)
            for port, (_, _, strobe) in zip(dut.writes, writes, strict=True):
                ctx.set(port.strobe, strobe)
            for k, port in enumerate(dut.reads):
                on, address = rng.random() < 0.7, rng.randrange(words)
                ctx.set(port.en, on)
                ctx.set(port.addr, address)
                expected[k] = content[address] if on else expected[k]
            for address, value, strobe in writes:
                for byte in range(4):
                    if strobe >> byte & 1:
                        content[address] = content[address] & ~(255 << 8 * byte) | value & 255 << 8 * byte
            await ctx.tick()
            for port, value in zip(dut.reads, expected, strict=True):
                assert value is None or ctx.get(port.data) == value

    sim = Simulator(dut)
    sim.add_clock(1e-6)
    sim.add_testbench(drive)
    sim.run()


def test_sizes():
    """Banks are powers of two, and so are their words."""
    for banks, words in ((3, 12), (2, 12), (1, 8)):
        with pytest.raises(ValueError, match="power of two|must be"):
            BankedRam(banks=banks, word_bytes=4, words=words, reads=1, writes=1, addr_bits=8, bytewise=False)
