"""Which copies of a double-pumped bank share a block."""

from collections.abc import Sequence

from rtl_lib.mem.pumped import MOST_WRITES, most_reads

from .ram_blocks import Blocks

__all__ = ["share_blocks"]


def share_blocks(
    copies: Sequence[int], words: int, width: int, blocks: Blocks, writes: int, most: int | None = None
) -> tuple[tuple[tuple[int, ...], bool], ...]:
    """The copies that each block serves, and whether it is a true dual-port one: as few block RAMs as possible for
    ``words`` of ``width`` bits with so many ``writes`` per cycle, in at most ``most`` blocks. A block consists of as
    many RAMs, side by side, as its size takes. Of equal choices, the one with the fewest blocks."""
    narrow, wide = most_reads(True, writes), most_reads(False, writes)
    dual, simple = blocks.count(words, width, dual=True), blocks.count(words, width, dual=False)
    most_duals = -(-len(copies) // narrow) if writes < MOST_WRITES else 0
    ways = [(number, -(-max(0, len(copies) - number * narrow) // wide)) for number in range(most_duals + 1)]
    fine = [way for way in ways if most is None or sum(way) <= most] or ways[-1:]
    duals, simples = min(fine, key=lambda way: (way[0] * dual + way[1] * simple, sum(way)))
    sizes = [(narrow, True)] * duals + [(wide, False)] * simples
    shared, at = [], 0
    for size, is_dual in sizes:
        members = tuple(copies[at : at + size])
        shared.append((members, is_dual and (len(members) > wide or simple > dual)))
        at += size
    return tuple(shared)
