"""One kernel launch: its index space, its registers and its results."""

import math
import operator
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from hls.ir.launch import IndexSpace, launch_value
from hls.rtl.interface import KernelInterface

from .arguments import Value
from .constants import status_code
from .emulated import run_emulated
from .errors import LogicError
from .event import Event, PendingEvent
from .memory import Buffer
from .placement import place_arguments
from .queue import CommandQueue

if TYPE_CHECKING:
    from .program import Program

__all__ = ["IndexSpace", "execute", "index_space"]

DIMENSIONS = 3
#: Largest work-group that is chosen if the host specifies none.
DEFAULT_GROUP = 256
ROUTINE = "clEnqueueNDRangeKernel"


def index_space(
    kernel: KernelInterface,
    global_size: Sequence[int],
    local_size: Sequence[int] | None,
    offset: Sequence[int] | None,
    g_times_l: bool = False,
) -> IndexSpace:
    """Check a launch's sizes. Raises LogicError with OpenCL's code and what to do."""
    global_size = _sizes("global size", global_size, status_code.INVALID_GLOBAL_WORK_SIZE)
    work_dim = len(global_size)
    local_size = None if local_size is None else _sizes("local size", local_size, status_code.INVALID_WORK_GROUP_SIZE)
    offset = _whole("global offset", offset or (), status_code.INVALID_GLOBAL_OFFSET)
    offset += (0,) * (DIMENSIONS - len(offset))
    if min(offset) < 0:
        raise LogicError(ROUTINE, status_code.INVALID_GLOBAL_OFFSET, f"the global offset {offset} is negative")
    if any(offset) and not kernel.may_be_offset:
        raise LogicError(
            ROUTINE,
            status_code.INVALID_GLOBAL_OFFSET,
            f"kernel {kernel.name} is declared with uses_global_work_offset(0): launch it without the global offset "
            f"{offset}, or remove the attribute",
        )
    if work_dim > kernel.most_dims and kernel.ndrange:
        raise LogicError(
            ROUTINE,
            status_code.INVALID_WORK_DIMENSION,
            f"kernel {kernel.name} is declared with max_global_work_dim({kernel.most_dims}): launch it with as many "
            f"dimensions at most, not with the {work_dim} of {global_size}",
        )
    if local_size is not None and len(local_size) != work_dim:
        raise LogicError(
            ROUTINE,
            status_code.INVALID_VALUE,
            f"global size {global_size} and local size {local_size} differ in dimensions",
        )
    if g_times_l and local_size:
        global_size = tuple(g * size for g, size in zip(global_size, local_size))
    if not kernel.ndrange and math.prod(global_size) != 1:
        why = (
            "its reqd_work_group_size is (1, 1, 1); for many work-items, give it a max_work_group_size instead"
            if kernel.work_group_size == (1, 1, 1)
            else "it asks for no work-item id, or is declared as one; "
            "a reqd_work_group_size of many work-items makes it a kernel of many"
        )
        raise LogicError(
            ROUTINE,
            status_code.INVALID_GLOBAL_WORK_SIZE,
            f"kernel {kernel.name} is a single work-item kernel ({why}): launch it "
            f"with global size (1,), not {global_size}",
        )
    local_size = _group(kernel, global_size, local_size)
    x, y, z = offset
    return IndexSpace(_three(global_size), _three(local_size), (x, y, z), work_dim)


def _whole(what: str, sizes: Sequence[int], code: int) -> tuple[int, ...]:
    try:
        return tuple(map(operator.index, sizes))
    except TypeError:
        raise LogicError(ROUTINE, code, f"{what} must be a tuple of integers, such as (1024,), not {sizes!r}") from None


def _sizes(what: str, sizes: Sequence[int], code: int) -> tuple[int, ...]:
    sizes = _whole(what, sizes, code)
    if not 1 <= len(sizes) <= DIMENSIONS:
        raise LogicError(
            ROUTINE,
            status_code.INVALID_WORK_DIMENSION,
            f"{what} {sizes} has {len(sizes)} dimensions; 1 to {DIMENSIONS} are possible",
        )
    if min(sizes) < 1:
        raise LogicError(
            ROUTINE,
            code,
            f"{what} {sizes} must be at least 1 in each dimension; skip the launch, or "
            "pass allow_empty_ndrange=True, if there is no work",
        )
    return sizes


def _group(
    kernel: KernelInterface, global_size: tuple[int, ...], local_size: tuple[int, ...] | None
) -> tuple[int, ...]:
    required = kernel.work_group_size
    if local_size is None:
        if required is not None:
            local_size = tuple(required[: len(global_size)])
        else:
            most = min(DEFAULT_GROUP, kernel.most_work_items or DEFAULT_GROUP)
            sizes = [size for size in range(kernel.lanes, most + 1, kernel.lanes) if global_size[0] % size == 0]
            shared = (
                [size for size in sizes if math.prod(global_size) // size >= 4 * kernel.units]
                if kernel.units > 1
                else []
            )
            # a group for every compute unit, and some for those that end early; if no size fits, the check below
            # reports why
            first = max(shared or sizes, default=1)
            local_size = (first, *(1 for _ in global_size[1:]))
    if required is not None and _three(local_size) != tuple(required):
        raise LogicError(
            ROUTINE,
            status_code.INVALID_WORK_GROUP_SIZE,
            f"kernel {kernel.name} requires work-groups of {tuple(required)}, not {local_size}",
        )
    if local_size[0] % kernel.lanes:
        raise LogicError(
            ROUTINE,
            status_code.INVALID_WORK_GROUP_SIZE,
            f"kernel {kernel.name} has {kernel.lanes} lanes (num_simd_work_items): the first size of its work-groups "
            f"must be a multiple of that, not {local_size[0]}; if global size {global_size} has no such divisor, round "
            "it up and let the kernel skip the additional work-items",
        )
    if kernel.most_work_items is not None and math.prod(local_size) > kernel.most_work_items:
        raise LogicError(
            ROUTINE,
            status_code.INVALID_WORK_GROUP_SIZE,
            f"kernel {kernel.name} has room for groups of {kernel.most_work_items} work-items, not "
            f"{math.prod(local_size)}; declare it with __attribute__((max_work_group_size({math.prod(local_size)})))",
        )
    if any(g % size for g, size in zip(global_size, local_size)):
        raise LogicError(
            ROUTINE,
            status_code.INVALID_WORK_GROUP_SIZE,
            f"global size {global_size} is not a multiple of local size {local_size}",
        )
    return local_size


def _three(sizes: Sequence[int]) -> tuple[int, int, int]:
    x, y, z = (*sizes, *(1,) * (DIMENSIONS - len(sizes)))
    return x, y, z


def execute(
    program: "Program",
    queue: CommandQueue,
    kernel: KernelInterface,
    values: Sequence[Value],
    space: IndexSpace,
    after: Sequence[PendingEvent] = (),
) -> Event:
    """Queue the kernel after the commands ``after``. The emulator runs it as far as it gets without others."""
    program._restrict.check(kernel, values)
    if program._emulated:
        return run_emulated(program._native, queue, kernel, values, space, after)
    place_arguments(kernel, values, program.context.simulated.facts)
    arguments = {
        argument.name: value.register
        for argument, value in zip(kernel.arguments, values, strict=True)
        if argument.kind != "pipe"
    }
    shared = overlap(values)
    sizes = {
        argument.name: value.value.size
        for argument, value in zip(kernel.arguments, values, strict=True)
        if isinstance(value.value, Buffer)
    }
    launch = {name: launch_value(name, space, shared, sizes) for name in kernel.launch}
    return program._launches.add(queue, kernel, values, space, (arguments, launch), after)


def overlap(values: Sequence[Value]) -> bool:
    """Whether two buffer arguments share bytes: only then does the kernel order accesses between them."""
    ranges = sorted((v.value.address, v.value.address + v.value.size) for v in values if isinstance(v.value, Buffer))
    return any(later < end for (_, end), (later, _) in pairwise(ranges))
