"""Whether the contents of a constant cache may be older than memory."""

from collections.abc import Sequence

from hls.rtl.interface import KernelInterface

from .arguments import Value
from .memory import Buffer

__all__ = ["ConstantMemory", "note_outputs"]


class ConstantMemory:
    """The host's knowledge of a program's constant cache: it holds nothing written before the last time it was
    invalidated."""

    def __init__(self) -> None:
        self._emptied = -1  #: stamp of the last write before its invalidation; -1: never

    def must_forget(self, kernel: KernelInterface, values: Sequence[Value]) -> bool:
        """Whether the cache must be invalidated before a run with these arguments; assumes that it will be."""
        from hls.planning.memory import LsuKind  # loads the planner, which only a program for the board has loaded

        loaded = {access.buffer for access in kernel.layout.accesses if access.lsu == LsuKind.CONSTANT_LOAD.words}
        buffers = [
            v.value
            for a, v in zip(kernel.arguments, values, strict=True)
            if a.name in loaded and isinstance(v.value, Buffer)
        ]
        if not any(buffer.written > self._emptied for buffer in buffers):
            return False
        self._emptied = buffers[0].context.simulated.stamp
        return True

    def doubt(self) -> None:
        """Something failed: the next launch invalidates the cache."""
        self._emptied = -1


def note_outputs(kernel: KernelInterface, values: Sequence[Value]) -> None:
    """After a run of the kernel: record which buffers it may have written."""
    for argument, value in zip(kernel.arguments, values, strict=True):
        if isinstance(value.value, Buffer) and argument.direction in ("out", "inout"):
            value.value.note_write()
