"""Synthesis and place-and-route of single channel parts on an ECP5, compared with the plain FIFO of the same size.

Run as ``python -m tests.boards.pnr_channels [NAME ...]`` from the project's root; a part takes half a minute and more.
"""

from rtl_lib.channel import ChannelBuffer, ChannelReader, ChannelWriter
from rtl_lib.mem.fifo import StreamFifo

from .pnr_alone import print_table

DEPTHS = (2, 16, 32, 64, 512)
#: name -> what makes the part; values of 32 bits
PARTS = {
    **{
        f"{what} {depth}": lambda kind=kind, depth=depth: kind(32, depth)
        for depth in DEPTHS
        for what, kind in (("channel", ChannelBuffer), ("plain FIFO", StreamFifo))
    },
    "reader": lambda: ChannelReader(32, (True,)),
    "reader that does not wait": lambda: ChannelReader(32, (False,)),
    "reader of 4 calls": lambda: ChannelReader(32, (True,) * 4),
    "writer": lambda: ChannelWriter(32, (True,), (False,)),
    "writer that does not wait": lambda: ChannelWriter(32, (False,), (True,)),
    "writer of 4 calls": lambda: ChannelWriter(32, (True,) * 4, (False,) * 4),
}

if __name__ == "__main__":
    print_table(__doc__.splitlines()[0], PARTS)
