"""Places buffers in the memories that the arguments of a kernel specify (buffer_location)."""

from collections.abc import Sequence

from hls.narrow import present
from hls.rtl.interface import KernelInterface
from hls.target.board import Board

from .arguments import Value
from .constants import status_code
from .errors import LogicError
from .memory import Buffer

__all__ = ["place_arguments"]


def place_arguments(kernel: KernelInterface, values: Sequence[Value], board: Board) -> None:
    """Move every buffer to the memory of its argument. Raises LogicError for one that would have to be in two memories,
    or that cannot move."""
    wanted: dict[Buffer, str] = {}
    for argument, value in zip(kernel.arguments, values, strict=True):
        if not isinstance(value.value, Buffer):
            continue
        home, whole = board.memory_named(argument.memory), value.value.whole
        other = wanted.setdefault(whole, argument.name)
        if value.value.memory is home:
            continue
        if other != argument.name:
            raise LogicError(
                "clEnqueueNDRangeKernel",
                status_code.INVALID_ARG_VALUE,
                f"kernel {kernel.name} has one buffer for `{other}`, in memory {value.value.memory.name}, and for "
                f"`{argument.name}`, in memory "
                f"{present(home).name}; give it two buffers",
            )
        value.value.move_to(present(home))
