"""Eqs. 20 to 23: the four potentials."""

from .cycles import BlockCycles, Cycles
from .parameters import Resources, blocks
from .static_figures import burst, instructions, mean_burst, mean_bytes
from .variant import Variant

__all__ = ["balance", "computation", "inter_thread", "memory"]


def computation(used: Resources, initial: Resources, variant: Variant) -> float:
    """Eq. 20: B_comp, by the resource that is scarcest; ``used`` is what the kernels take of the device.

    Printed: (1 - U) / I, which holds if U contains the shell, as the vendor's report does. Corrected: the shell's part,
    1 - I, is added to what the kernels take.
    """
    if variant is Variant.PRINTED:
        free = [(1 - u) / i for u, i in _pairs(used, initial)]
    else:
        free = [(i - u) / i for u, i in _pairs(used, initial)]
    return min(free)


def _pairs(used: Resources, initial: Resources) -> tuple[tuple[float, float], ...]:
    return (used.logic, initial.logic), (used.memory, initial.memory), (used.dsp, initial.dsp)


def memory(cycles: Cycles) -> float:
    """Eq. 21: B_mem, what the transactions leave of the memory's width; 0 without any.

    Printed: each instruction of the text counts once, with the mean bytes and the mean burst of its block. Corrected:
    as often as it is executed, with its own bytes and burst; the product of two means may exceed the width.
    """
    width, variant = cycles.platform.width, cycles.variant
    used = whole = 0.0
    for block, _ in blocks(cycles.launch.root):
        count = instructions(block, width, variant)
        if variant is Variant.PRINTED:
            used += mean_bytes(block, width, variant) * count * mean_burst(block, width, variant)
            whole += width * count
        else:
            moved = sum(one.bytes * one.scale * burst(one, width, variant) for one in block.instructions)
            used += cycles.executions(block) * moved
            whole += cycles.executions(block) * width * count
    return 1 - used / whole if whole else 0.0


def balance(found: list[BlockCycles], variant: Variant) -> float:
    """Eq. 22: B_balance, from the slowest block to the second.

    Printed: with one block there is no second, so all of it. Corrected: then there is nothing to balance: 0.
    """
    ordered = sorted((one.cycles for one in found), reverse=True)
    if len(ordered) == 1:
        return 1.0 if variant is Variant.PRINTED else 0.0
    return (ordered[0] - ordered[1]) / ordered[0]


def inter_thread(found: list[BlockCycles], variant: Variant) -> float:
    """Eq. 23: B_itpp, from C_t to what remains of it with endless work-items.

    Printed: the larger of what computation and memory would save, so that one that hides the other counts as a lack of
    work-items. Corrected: the smaller.
    """
    choose = max if variant is Variant.PRINTED else min
    return max(
        choose((one.cycles - one.least_computation) / one.cycles, (one.cycles - one.least_memory) / one.cycles)
        for one in found
    )
