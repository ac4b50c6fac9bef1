"""cocotb bench for vector_add_top: its AXI ports against cocotbext-axi."""

import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam

from rtl_lib.axi import register_map as at
from rtl_lib.axi.register_map import RegisterMap
from tests.rtl_lib.axi.vector_add_top import ACCESS, ARGUMENTS, COUNTERS, MAP, WORD

SIZE = 1 << 17
REGISTERS = RegisterMap(tuple(ARGUMENTS), tuple(COUNTERS))


class Board:
    """Two memories and a control master around the design."""

    def __init__(self, dut):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, 4, "ns").start())
        self.rams = [AxiRam(AxiBus.from_prefix(dut, f"m_axi{n}"), dut.clk, dut.rst, size=SIZE // MAP.banks)
                     for n in range(MAP.banks)]
        self.control = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clk, dut.rst)

    async def reset(self):
        self.dut.rst.value = 1
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0
        await RisingEdge(self.dut.clk)

    def stall(self, seed, share):
        """Let every memory channel pause in ``share`` of the cycles."""
        rng = random.Random(seed)

        def pauses():
            while True:
                yield rng.random() < share
        for ram in self.rams:
            for channel in (ram.read_if.ar_channel, ram.read_if.r_channel, ram.write_if.aw_channel,
                            ram.write_if.w_channel, ram.write_if.b_channel):
                channel.set_pause_generator(pauses())

    def write(self, addr, content):
        for n, value in enumerate(content):
            bank, local = MAP.locate(addr + n)
            self.rams[bank].write(local, bytes([value]))

    def read(self, addr, length):
        places = [MAP.locate(addr + n) for n in range(length)]
        return b"".join(self.rams[bank].read(local, 1) for bank, local in places)

    async def run(self, **arguments):
        for addr, word in REGISTERS.argument_writes(arguments):
            await self.control.write_dword(addr, word)
        await self.control.write_dword(at.CONTROL, at.START)
        while not await self.control.read_dword(at.CONTROL) & at.DONE:
            pass

    async def counter(self, name):
        return await self.control.read_qword(REGISTERS.counter(name))


async def add(board, rng, n):
    """Run one addition at random places and compare every byte of the output and its surroundings."""
    base = [region * (SIZE // 4) + rng.randrange(0, 4096, ACCESS) for region in range(3)]
    a, b = ([rng.randrange(1 << 32) for _ in range(n)] for _ in range(2))
    before = rng.randbytes(n * ACCESS + 128)
    board.write(base[0], struct.pack(f"<{n}I", *a))
    board.write(base[1], struct.pack(f"<{n}I", *b))
    board.write(base[2] + SIZE // 4 - 64, before)
    out = base[2] + SIZE // 4
    await with_timeout(board.run(a=base[0], b=base[1], c=out, n=n), 400, "us")
    total = struct.pack(f"<{n}I", *((x + y) % (1 << 32) for x, y in zip(a, b, strict=True)))
    assert board.read(out - 64, n * ACCESS + 128) == before[:64] + total + before[64 + n * ACCESS:]
    assert await board.control.read_dword(at.STATUS) == 0
    return out


@cocotb.test()
async def adds_under_stalls(dut):
    board, rng = Board(dut), random.Random(1)
    await board.reset()
    assert await board.control.read_dword(at.IDENTIFICATION) == 0x51
    for n, share in [(1, 0.0), (700, 0.0), (333, 0.3), (500, 0.7), (0, 0.0)]:
        board.stall(n, share)
        out = await add(board, rng, n)
        words = -(-(out % WORD + n * ACCESS) // WORD) if n else 0
        assert await board.counter("words_written") == words
        assert words * 2 - 2 <= await board.counter("words_read") <= words * 2 + 2


@cocotb.test()
async def survives_resets_in_mid_run(dut):
    board, rng = Board(dut), random.Random(2)
    await board.reset()
    for ram in board.rams:  # a board's memory controller is not reset with the kernel
        for part in (ram.read_if, ram.write_if):
            part.assert_reset(False)
    await add(board, rng, 100)


@cocotb.test()
async def reports_errors(dut):
    """An address beyond the memory is answered with an error, which reaches the status register."""
    board = Board(dut)
    await board.reset()
    await with_timeout(board.run(a=0, b=0, c=0, n=1), 100, "us")
    assert await board.control.read_dword(at.STATUS) == 0
