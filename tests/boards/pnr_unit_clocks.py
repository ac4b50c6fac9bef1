"""The clocks that load-store units reach on an ECP5, as rows for the tables of delays: each unit that the compiler makes
of an access to floats on a board with external memory, behind a queue of its requests, as kernels have it.

python -m tests.boards.pnr_unit_clocks [--board BOARD ...] [--path]

A unit takes a minute or more, and is remembered. Paths that begin in the block RAM of answers, or end there, are those of
the unit, too; what the kernel does with an answer is part of its loop.
"""

import argparse
from types import SimpleNamespace

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from hls.driver import compile
from hls.options import Options
from hls.rtl.access import LoadAccess, StoreAccess
from hls.target.board import Board, load_board
from rtl_lib.mem.fifo import StreamFifo

from .pnr import TABLES, Figures, place_and_route
from .pnr_alone import ASKED_MHZ, Between, verilog

__all__ = ["BOARDS", "Queued", "clock_of", "unit_of"]

#: boards with an external memory whose tables are fitted
BOARDS = ("ulx3s", "ecpix5", "orangecrab")
#: requests that wait before a unit
REQUESTS = 16
LOOP = "for (int i = 0; i < n; i++) "
WIDE = "\n#pragma unroll 8\n" + LOOP
#: bodies of kernels, and which of their accesses it is
ACCESSES = (
    (LOOP + "b[i] = a[i];", 1),
    (LOOP + "b[i] = a[i];", 0),
    (LOOP + "b[i] = a[k[i]];", 1),
    (LOOP + "d[i] = c[i];", 0),
    ("b[0] = a[n];", 0),
    ("b[0] = a[n];", 1),
    (WIDE + "b[i] = a[i];", 0),
    (WIDE + "b[i] = a[i];", 1),
    (LOOP + "b[i] = t[i & 63];", 0),
)


class Queued(wiring.Component):
    """A unit behind a queue of its requests. Its ports are those of the unit."""

    def __init__(self, unit: wiring.Component) -> None:
        self.unit = unit
        super().__init__(dict(unit.signature.members))

    def elaborate(self, platform: object) -> Module:
        """Build both."""
        m = Module()
        m.submodules.unit = unit = self.unit
        m.submodules.queue = queue = StreamFifo(unit.i.payload.shape(), REQUESTS)
        wiring.connect(m, wiring.flipped(self.i), queue.i)
        wiring.connect(m, queue.o, unit.i)
        for name, member in self.signature.members.items():
            outer, inner = getattr(self, name), getattr(unit, name)
            if member.is_signature and name != "i":
                wiring.connect(m, wiring.flipped(outer), inner)
            elif member.is_port:
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        return m


def unit_of(board: Board, body: str, which: int) -> tuple[str, wiring.Component]:
    """The unit of one of the accesses of a kernel, and what reports call it, with its direction."""
    ports = "global float *restrict a, global float *restrict b, global uchar *restrict c, global uchar *restrict d"
    source = f"kernel void f({ports}, global int *restrict k, constant float *t, int n) {{ {body} }}"
    access = list(compile(source, board, Options()).kernels[0].memory.outside.values())[which]
    kind = {"load": LoadAccess, "store": StoreAccess}[access.direction]
    unit = kind(SimpleNamespace(address_bits=board.address_bits), access).unit
    return f"{access.lsu} {access.direction}", unit


def clock_of(unit: wiring.Component, board: Board) -> Figures:
    """The figures of a unit behind its queue, on the device of a board."""
    files = verilog(Between(Queued(unit)))
    return place_and_route(files, TABLES[board.device.delays], {"clk": ASKED_MHZ}, alone=True)


def main() -> None:
    """Print a row for each unit and board."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--board", action="append", choices=BOARDS, dest="boards")
    parser.add_argument("--path", action="store_true", help="also show the critical paths")
    given = parser.parse_args()
    for board_name in given.boards or BOARDS:
        board, seen = load_board(board_name).using(()), set()
        for body, which in ACCESSES:
            name, unit = unit_of(board, body, which)
            if name not in seen:
                seen.add(name)
                found = clock_of(unit, board)
                print(f'{{ lsu = "{name}", mhz = {found.fmax:.1f} }},  # {board_name}', flush=True)
                if given.path:
                    print("\n".join(found.path), flush=True)


if __name__ == "__main__":
    main()
