"""Eqs. 1 to 5: what unrolling and SIMD make of the memory instructions of a basic block."""

import math

from .parameters import Block, MemoryInstruction
from .variant import Variant

__all__ = ["burst", "instructions", "mean_burst", "mean_bytes", "wide_instructions"]


def instructions(block: Block, width: int, variant: Variant) -> float:
    """Eq. 1: #Mem_insts, the memory instructions of a block after unrolling and SIMD."""
    return sum(wide_instructions(one, width, variant) for one in block.instructions)


def wide_instructions(one: MemoryInstruction, width: int, variant: Variant) -> float:
    """Eq. 2: ls_num, the transactions of up to ``width`` bytes that the copies of an instruction issue.

    Printed: 1 + b (f - 1) / w, which is 1.94 for one transaction of 64 bytes. Corrected: ceil(f b / w).
    """
    if variant is Variant.PRINTED:
        return 1 + one.bytes * (one.scale - 1) / width if _coalesced(one) else one.scale
    return math.ceil(one.scale * one.bytes / width) if one.copies_adjacent else one.scale


def _coalesced(one: MemoryInstruction) -> bool:
    """The one condition that the paper has for Eqs. 2 and 4: as it introduces it for each case, of copies where there
    are any, else of work-items."""
    return one.copies_adjacent if one.scale > 1 else one.items_adjacent


def mean_bytes(block: Block, width: int, variant: Variant) -> float:
    """Eq. 3: #Mem_bytes, the mean bytes of an instruction; 0 in a block without any."""
    count = instructions(block, width, variant)
    return sum(one.scale * one.bytes for one in block.instructions) / count if count else 0.0


def burst(one: MemoryInstruction, width: int, variant: Variant) -> float:
    """Eq. 4: #Mem_burst of one instruction, the accesses of neighbouring work-items that are one transaction.

    Printed: w / (b f), also where that is below 1, and under the condition of Eq. 2. Corrected: at least 1, under its
    own condition, and of the bytes of a transaction of Eq. 2: copies that are not adjacent have one each.
    """
    if variant is Variant.PRINTED:
        return width / (one.bytes * one.scale) if _coalesced(one) else 1.0
    moved = one.bytes * (one.scale if one.copies_adjacent else 1)
    return max(1.0, width / moved) if one.items_adjacent else 1.0


def mean_burst(block: Block, width: int, variant: Variant) -> float:
    """Eq. 5: #Mem_burst of a block, the mean over its instructions; 1 in a block without any.

    Printed: a sum over instructions of the source, divided by a number of transactions. Corrected: weighted with the
    transactions of each instruction (Eq. 2).
    """
    count = instructions(block, width, variant)
    if not count:
        return 1.0
    if variant is Variant.PRINTED:
        return sum(burst(one, width, variant) for one in block.instructions) / count
    weighted = (wide_instructions(one, width, variant) * burst(one, width, variant) for one in block.instructions)
    return sum(weighted) / count
