"""cocotb bench for vector_add_top: its AXI ports against cocotbext-axi."""

import random
import struct

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiRam, AxiSlave, MemoryRegion

from rtl_lib.axi import register_map as at
from rtl_lib.axi.register_map import RegisterMap
from tests.rtl_lib.axi.vector_add_top import ACCESS, ARGUMENTS, COUNTERS, MAP, WORD

SIZE = 1 << 17
REGISTERS = RegisterMap(tuple(ARGUMENTS), tuple(COUNTERS))


class Board:
    """Two memories and a control master around the design."""

    def __init__(self, dut, memory=AxiRam, **options):
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk, 4, "ns").start())
        # A board's memory is not reset with the kernel, so these are not either.
        self.rams = [memory(AxiBus.from_prefix(dut, f"m_axi{n}"), dut.clk, **options) for n in range(MAP.banks)]
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
            for channel in (
                ram.read_if.ar_channel,
                ram.read_if.r_channel,
                ram.write_if.aw_channel,
                ram.write_if.w_channel,
                ram.write_if.b_channel,
            ):
                channel.set_pause_generator(pauses())

    def write(self, addr, content):
        for n, value in enumerate(content):
            bank, local = MAP.locate(addr + n)
            self.rams[bank].write(local, bytes([value]))

    def read(self, addr, length):
        places = [MAP.locate(addr + n) for n in range(length)]
        return b"".join(self.rams[bank].read(local, 1) for bank, local in places)

    async def start(self, **arguments):
        for addr, word in REGISTERS.argument_writes(arguments):
            await self.control.write_dword(addr, word)
        await self.control.write_dword(at.CONTROL, at.START)

    async def run(self, **arguments):
        await self.start(**arguments)
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
    assert board.read(out - 64, n * ACCESS + 128) == before[:64] + total + before[64 + n * ACCESS :]
    assert await board.control.read_dword(at.STATUS) == 0
    return out


@cocotb.test()
async def adds_under_stalls(dut):
    board, rng = Board(dut, size=SIZE // MAP.banks), random.Random(1)
    await board.reset()
    assert await board.control.read_dword(at.IDENTIFICATION) == 0x51
    for n, share in [(1, 0.0), (700, 0.0), (333, 0.3), (500, 0.7), (0, 0.0)]:
        board.stall(n, share)
        out = await add(board, rng, n)
        words = -(-(out % WORD + n * ACCESS) // WORD) if n else 0
        assert words <= await board.counter("words_written") <= words * 1.5, "words were written in pieces"
        assert words * 2 - 2 <= await board.counter("words_read") <= words * 2 + 2


@cocotb.test()
async def survives_resets_in_mid_run(dut):
    board, rng = Board(dut, size=SIZE // MAP.banks), random.Random(2)
    await board.reset()
    board.stall(3, 0.3)
    for cycles in (5, 20, 33, 60, 120):
        await board.start(a=0, b=SIZE // 4, c=SIZE - 4096, n=400)
        for _ in range(cycles):
            await RisingEdge(dut.clk)
        await board.reset()
        await add(board, rng, 100)


@cocotb.test()
async def reports_errors(dut):
    """What the memory refuses reaches the status register: two bits for each of read 0, write 0, read 1, write 1."""
    board = Board(dut, AxiSlave, target=MemoryRegion(SIZE // 4))
    await board.reset()
    inside, outside = 0, SIZE
    for a, c, status in [(inside, inside, 0), (outside, inside, 2), (inside, outside + MAP.granule, 2 << 6)]:
        await with_timeout(board.run(a=a, b=inside, c=c, n=1), 100, "us")
        assert await board.control.read_dword(at.STATUS) == status
        await board.reset()
