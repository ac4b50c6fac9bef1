"""The registers that the host writes to start a kernel, and the cycles that this takes."""

from collections.abc import Iterable, Mapping

from hls.rtl.interface import KernelInterface
from rtl_lib.axi import register_map as at

__all__ = ["CYCLES_AFTER", "RESET_CYCLES", "WRITE_CYCLES", "number_of_start_writes", "start_writes"]

#: cycles of an AXI4-Lite write of a register, from one write to the next
WRITE_CYCLES = 3
#: cycles of the board before the first register is written: two resets (sim/runtime/simulation.h)
RESET_CYCLES = 32
#: cycles from the end of a kernel until the host has read its status and acknowledged it
CYCLES_AFTER = 7
WORD_BYTES = 4
WORD = (1 << 8 * WORD_BYTES) - 1


def start_writes(
    kernel: KernelInterface, arguments: Mapping[str, int], launch: Mapping[str, int], forget: bool
) -> list[tuple[int, int]]:
    """(address, value) of each write, in order, for raw values of arguments and sizes by name. With ``forget`` the
    constant cache forgets what it keeps."""
    writes = [(kernel.base + at.INTERRUPT, 1)]
    for argument in kernel.arguments:
        if argument.kind != "pipe":
            writes += _slot(kernel.base + argument.offset, arguments[argument.name], argument.bytes)
    for name, offset in kernel.launch.items():
        writes += _slot(kernel.base + offset, launch[name], at.SLOT)
    return [*writes, (kernel.base + at.CONTROL, at.START | (at.FORGET if forget else 0))]


def number_of_start_writes(argument_bytes: Iterable[int], sizes: int) -> int:
    """How many writes :func:`start_writes` makes for a kernel whose arguments (without pipes) have so many bytes each,
    and that is told so many sizes of its index space."""
    control = 2  # the interrupt's register and the control register
    return control + sum(map(_words, argument_bytes)) + sizes * _words(at.SLOT)


def _slot(offset: int, value: int, size: int) -> list[tuple[int, int]]:
    """The writes of a value of ``size`` bytes; a short one fills its slot."""
    return [(offset + WORD_BYTES * k, value >> 8 * WORD_BYTES * k & WORD) for k in range(_words(size))]


def _words(size: int) -> int:
    return -(-max(size, at.SLOT) // WORD_BYTES)
