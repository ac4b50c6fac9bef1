"""Variables of a program in global memory: buffers that live as long as it does, and that its kernels share."""

from collections.abc import Iterable

import numpy as np

from hls.rtl.interface import KernelInterface, VariableInterface

from .arguments import Value
from .constants import mem_flags
from .errors import MemoryError
from .memory import Buffer
from .platform import Context

__all__ = ["ProgramVariables", "variable_bytes"]


class ProgramVariables:
    """The variables that the kernels of a program use, with their first values. Raises cl.MemoryError for one that the
    board has no room for."""

    def __init__(self, context: Context, kernels: Iterable[KernelInterface]) -> None:
        self._buffers = {name: _allocated(context, name, one) for name, one in _variables(kernels).items()}

    def values(self, kernel: KernelInterface) -> list[Value]:
        """The arguments of a kernel behind those of the source."""
        return [Value(self._buffers[one.name]) for one in kernel.arguments if one.variable is not None]


def variable_bytes(kernels: Iterable[KernelInterface]) -> int:
    """Bytes of all variables that the kernels use."""
    return sum(one.size for one in _variables(kernels).values())


def _allocated(context: Context, name: str, variable: VariableInterface) -> Buffer:
    try:
        flags = mem_flags.READ_WRITE | mem_flags.COPY_HOST_PTR
        return Buffer(context, flags, hostbuf=np.frombuffer(variable.contents, np.uint8))
    except MemoryError as error:
        what = f"the program's variable '{name}': {error.what}"
        raise MemoryError("clEnqueueNDRangeKernel", error.code, what) from None


def _variables(kernels: Iterable[KernelInterface]) -> dict[str, VariableInterface]:
    """The variables by name: all kernels have the same under one name."""
    return {one.name: one.variable for kernel in kernels for one in kernel.arguments if one.variable is not None}
