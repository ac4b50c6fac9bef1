"""Information about a kernel's work-groups (clGetKernelWorkGroupInfo)."""

import math
from collections.abc import Iterable, Sequence

from hls.ir import Function
from hls.limits import TOLD_GROUP
from hls.rtl.interface import KernelInterface

from .constants import kernel_work_group_info, status_code
from .errors import LogicError
from .platform import Device

__all__ = ["work_group_fact"]


def work_group_fact(
    kernel: KernelInterface, functions: Iterable[Function], local: Sequence[int], device: Device, parameter: int
) -> int | list[int]:
    """The value of the OpenCL query ``parameter``. ``functions`` are the kernel and the helpers that it calls,
    ``local`` the bytes of each argument in local memory. Raises LogicError if the parameter is unknown."""
    functions = list(functions)
    most = (
        math.prod(kernel.work_group_size)
        if kernel.work_group_size
        else kernel.most_work_items or min(TOLD_GROUP, device.max_work_group_size)
    )
    known: dict[int, int | list[int]] = {
        kernel_work_group_info.WORK_GROUP_SIZE: most,
        kernel_work_group_info.COMPILE_WORK_GROUP_SIZE: list(kernel.work_group_size or (0, 0, 0)),
        kernel_work_group_info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE: kernel.lanes,
        kernel_work_group_info.LOCAL_MEM_SIZE: _bytes_of(functions, "local") + sum(local),
        kernel_work_group_info.PRIVATE_MEM_SIZE: _bytes_of(functions, "private"),
    }
    if parameter not in known:
        raise LogicError("Kernel.get_work_group_info", status_code.INVALID_VALUE, f"unknown parameter {parameter:#x}")
    return known[parameter]


def _bytes_of(functions: Iterable[Function], space: str) -> int:
    """Bytes of the declarations in this address space."""
    return sum(
        memory.element.bytes * memory.length
        for f in functions
        for memory in f.memories.values()
        if memory.space == space and memory.length is not None
    )
