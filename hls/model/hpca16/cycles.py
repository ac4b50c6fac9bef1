"""Eqs. 6 to 19: the cycles of a launch, from those of its basic blocks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from .parameters import Block, Branches, Launch, Loop, Node, Platform, blocks
from .static_figures import burst, instructions, mean_burst, wide_instructions
from .variant import Variant

__all__ = ["DRAM_LATENCY", "BlockCycles", "Cycles", "branches", "looped", "peak_rate", "sequence", "transactions"]

#: #DRAM_lat of Eq. 16, in kernel cycles. The paper neither lists nor states it; with 64 and its 2 banks, figure 6 (the
#: speed of VecAdd) bends at 128 work-items on the memory subsystem, where the paper says that it does
DRAM_LATENCY = 64


@dataclass(frozen=True)
class BlockCycles:
    """A basic block over a launch: Comp_k and Mem_k, and the least of both with endless work-items."""

    block: Block
    computation: float
    memory: float
    least_computation: float
    least_memory: float

    @property
    def cycles(self) -> float:
        """Eq. 10: C_k, as computation and memory overlap."""
        return max(self.computation, self.memory)


class Cycles:
    """The model's figures of one launch, in one variant."""

    def __init__(self, launch: Launch, platform: Platform, variant: Variant) -> None:
        self.launch, self.platform, self.variant = launch, platform, variant
        self._trips = {id(block): trips for block, trips in blocks(launch.root)}

    @property
    def seconds(self) -> float:
        """Eq. 6: T_S."""
        return self.cycles / self.platform.frequency

    @cached_property
    def cycles(self) -> float:
        """C_S of the root."""
        return self._of(self.launch.root)

    @cached_property
    def of_blocks(self) -> dict[int, BlockCycles]:
        """The basic blocks by the identity of their parameters, in the order of the hierarchy."""
        return {id(block): self._block(block) for block, _ in blocks(self.launch.root)}

    @property
    def work_items(self) -> float:
        """#WI. Printed: Table 1's global work-items. Corrected: SIMD makes them fewer, as section 2.1 says; else it
        would gain nothing in Eq. 11."""
        if self.variant is Variant.PRINTED:
            return self.launch.global_size
        return self.launch.global_size / self.launch.simd

    def trips(self, block: Block) -> float:
        """#Trip of Eqs. 11 and 14. Printed: of the loop right around a block, as Eq. 9 multiplies by that of each loop,
        this one once more. Corrected: the product of all loops around, and Eq. 9 does not multiply."""
        around = self._trips[id(block)]
        return math.prod(around[-1:] if self.variant is Variant.PRINTED else around)

    def executions(self, block: Block) -> float:
        """How often a launch executes a block: by all work-items, in all iterations of the loops around."""
        return self.work_items * math.prod(self._trips[id(block)])

    def _of(self, node: Node) -> float:
        if isinstance(node, Block):
            return self.of_blocks[id(node)].cycles
        inner = [self._of(child) for child in node.children]
        if isinstance(node, Branches):
            return branches(inner)
        fills = [_fill(child) for child in node.children]
        if isinstance(node, Loop):
            return looped(inner, fills, node.trips, self.variant)
        return sequence(inner, fills, self.variant)

    def _block(self, block: Block) -> BlockCycles:
        return BlockCycles(
            block, self.computation(block), self.memory(block), self.least_computation(block), self.least_memory(block)
        )

    def least_computation(self, block: Block) -> float:
        """Eq. 11: Comp_k^min. Printed: an iteration enters each cycle. Corrected: one in each of the cycles that the
        schedule keeps them apart (its II)."""
        interval = 1.0 if self.variant is Variant.PRINTED else block.interval
        return self.work_items * self.trips(block) * interval / self.launch.units + block.cycles - 1

    def computation(self, block: Block) -> float:
        """Eq. 12: Comp_k, with too few work-items to fill the block's pipeline where that is so."""
        least, filling = self.least_computation(block), self.launch.units * block.cycles
        return max(least, least * filling / self.active(block))

    def memory(self, block: Block) -> float:
        """Eq. 13: Mem_k; 0 of a block without memory instructions."""
        moved = self.transactions(block)
        return moved / self.rate_of(block) if moved else 0.0

    def transactions(self, block: Block) -> float:
        """Eq. 14: Mem_trans_k; see :func:`transactions`."""
        return transactions(block, self.work_items * self.trips(block), self.platform.width, self.variant)

    @property
    def rate(self) -> float:
        """Eq. 16: MTP_lsu, the transactions that the memory serves in a cycle."""
        return min(peak_rate(self.platform, self.variant), self.active_memory / DRAM_LATENCY)

    def rate_of(self, block: Block) -> float:
        """Eq. 17: MTP_lsu_k, a block's part of the rate."""
        return self.rate * self.memory_total(block) / self.all_memory

    def computation_total(self, block: Block) -> float:
        """Comp_cycles_total_k (section 4.2.3)."""
        return block.cycles * math.prod(self._trips[id(block)])

    def memory_total(self, block: Block) -> float:
        """Mem_cycles_total_k (section 4.2.3). Printed: "similar to Comp_cycles_total_k", so it starts from #Cycle_k
        even in a block without memory instructions. Corrected: it starts from #Mem_insts_k."""
        if self.variant is Variant.PRINTED:
            return self.computation_total(block)
        return instructions(block, self.platform.width, self.variant) * math.prod(self._trips[id(block)])

    @cached_property
    def all_computation(self) -> float:
        """Comp_cycles_total."""
        return sum(self.computation_total(block) for block, _ in blocks(self.launch.root))

    @cached_property
    def all_memory(self) -> float:
        """Mem_cycles_total."""
        return sum(self.memory_total(block) for block, _ in blocks(self.launch.root))

    def active(self, block: Block) -> float:
        """Eq. 18: #WI_k, the work-items in the computation of a block."""
        return self.computation_total(block) / (self.all_computation + self.all_memory) * self.work_items

    @property
    def active_memory(self) -> float:
        """Eq. 19: #WI^mem, the work-items on the memory subsystem."""
        return self.all_memory / (self.all_computation + self.all_memory) * self.work_items

    def least_memory(self, block: Block) -> float:
        """Eq. 24: Mem_t^min, with endless work-items. The printed equation mixes the indices t, i and k; here all are
        the block's, in both variants, as only then Eq. 13 comes to it with many work-items."""
        moved = self.transactions(block)
        share = self.memory_total(block) / self.all_memory if moved else 1.0
        return moved / peak_rate(self.platform, self.variant) / share


def sequence(cycles: Sequence[float], fills: Sequence[int], variant: Variant) -> float:
    """Eq. 7: C_S of nodes in sequence. Printed: the slowest. Corrected: and the others are filled before or drained
    after it, for the cycles ``fills`` of one work-item in each."""
    slowest = max(range(len(cycles)), key=lambda k: cycles[k])
    if variant is Variant.PRINTED:
        return cycles[slowest]
    return cycles[slowest] + sum(fills) - fills[slowest]


def branches(cycles: Sequence[float]) -> float:
    """Eq. 8: C_S of an ``if``, the slower side."""
    return max(cycles)


def looped(cycles: Sequence[float], fills: Sequence[int], trips: float, variant: Variant) -> float:
    """Eq. 9: C_S of a loop. Printed: an iteration fills all nodes, and the slowest is repeated. Corrected: the nodes'
    cycles are of all iterations (Eqs. 11 and 14), so that only the fill of Eq. 7 is added."""
    if variant is Variant.PRINTED:
        return sum(cycles) + (trips - 1) * max(cycles)
    return sequence(cycles, fills, variant)


def transactions(block: Block, executions: float, width: int, variant: Variant) -> float:
    """Eq. 14: Mem_trans_k of so many executions. Printed: all instructions by their mean burst. Corrected: the sum over
    instructions, each by its own burst."""
    if variant is Variant.PRINTED:
        count = instructions(block, width, variant)
        return count * executions / mean_burst(block, width, variant)
    each = (wide_instructions(one, width, variant) / burst(one, width, variant) for one in block.instructions)
    return executions * sum(each)


def peak_rate(platform: Platform, variant: Variant) -> float:
    """Eq. 15: MTP_lsu_peak, transactions a kernel cycle. Printed: one of each bank. Corrected: not more than the peak
    bandwidth of the memory."""
    if variant is Variant.PRINTED:
        return platform.banks
    return min(platform.banks, platform.bandwidth / (platform.frequency * platform.width))


def _fill(node: Node) -> int:
    """Cycles of one work-item on its way through a node, each loop once."""
    if isinstance(node, Block):
        return node.cycles
    inside = [_fill(child) for child in node.children]
    return max(inside) if isinstance(node, Branches) else sum(inside)
