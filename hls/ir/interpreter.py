"""The reference semantics of IR: it runs kernels on real bytes.

The IR of any stage can be run, from the frontend's output (calls, `if`, private memories, pointers) to flat kernels.
Each function becomes one Python function (:mod:`hls.ir.as_python`); the meaning of a pure operation is its row in
``hls.ir.optable``.

A pointer is a pair (memory, byte offset) with an unsigned offset modulo 2**64. If its true value has more than 64 bits
(:data:`hls.ir.attributes.Attr.INBOUNDS`), every access with it is outside the memory. Private memories are zero at the
start of a work-item (of a call, in a helper).
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ctypes import c_float
from dataclasses import dataclass, field, replace
from typing import Any

from ..narrow import instance
from .as_python import define, python_name
from .attributes import Attr
from .barriers import decisions
from .build import walk
from .concurrent import Channel, run_group, run_together, waiting_functions
from .launch import IndexSpace, lanes_of, launch_value, units_of
from .model_function import with_models
from .nodes import Function, Module
from .storage import BoundMemory, ExecutionError, accessors, bind_buffer
from .types import ArrayType, FloatType
from .values import one_nan, round_float

__all__ = ["ExecutionError", "Launch", "run_kernel", "run_launches"]


@dataclass(frozen=True)
class Launch:
    """One run of a kernel. ``buffers`` holds, by name, bytearrays, writable memoryviews or numpy arrays, which are
    changed in place; for local memory its size in bytes; for a pipe its :class:`Channel`. ``scalars`` holds every
    scalar parameter: a number (wrapped), or an object with a struct's bytes.

    ``local_size`` defaults to what the kernel requires, else to 1 in every dimension.
    """

    kernel: str
    buffers: Mapping[str, object] = field(default_factory=dict)
    scalars: Mapping[str, object] = field(default_factory=dict)
    global_size: Sequence[int] = (1,)
    local_size: Sequence[int] | None = None
    global_offset: Sequence[int] | None = None


def run_kernel(
    module: Module | Function,
    kernel_name: str,
    buffers: Mapping[str, object],
    scalars: Mapping[str, object] | None = None,
    global_size: Sequence[int] = (1,),
    local_size: Sequence[int] | None = None,
    global_offset: Sequence[int] | None = None,
    max_iterations: int | None = None,
    watch: object = None,
    **options: Any,
) -> None:
    """Run one kernel: :func:`run_launches` with one :class:`Launch`, whose fields are the arguments."""
    launch = Launch(kernel_name, buffers, scalars or {}, global_size, local_size, global_offset)
    run_launches(module, [launch], max_iterations, watch=watch, **options)


def run_launches(
    module: Module | Function,
    launches: Sequence[Launch],
    max_iterations: int | None = None,
    channels: dict[str, list[Channel]] | None = None,
    write: Callable[[str], object] = sys.stdout.write,
    watch: object = None,
) -> None:
    """Run kernels concurrently, each with all of its parts, together with autorun kernels until all others have ended.
    Each runs over its index space group by group, the work-items of a group one after the other, x fastest, each until
    it ends or waits.

    ``max_iterations`` bounds the loop iterations of the whole run. ``channels`` keeps the contents of channels from run
    to run; missing ones are added. ``write`` receives the text that printf prints. ``watch``, if given, is called with
    events: ``access(op, offset)`` with the byte offset of a load or store (0 for a fence), None if it is predicated
    off; ``enter(op, on)``, ``iterate(op)`` and ``leave(op)`` of loops.

    Raises ExecutionError for an access outside a memory, when the bound is reached, when all kernels wait, and when
    some work-items of a group reach a barrier and others do not; ValueError for launch arguments that do not fit the
    kernel.
    """
    module = module if isinstance(module, Module) else Module({module.name: module})
    module = with_models(module)
    channels = {} if channels is None else channels
    for name, memory in module.channels.items():
        channels.setdefault(name, Channel.all_of(memory))
    waiting = waiting_functions(module.functions.values(), _callees, walk)
    env = {
        "ticks": [-1 if max_iterations is None else max_iterations + 1],
        "c_float": c_float,
        "channels": channels,
        "round_float": round_float,
        "one_nan": one_nan,
        "ExecutionError": ExecutionError,
        "write": write,
    }
    deciding = decisions(module.functions)
    for each in module.functions.values():
        define(each, env, waiting, deciding, watch)
    launches = [one for launch in launches for one in (launch, *_with_parts(module, launch))]
    kernels = {
        f"{launch.kernel}, launch {k}" if len(launches) > 1 else launch.kernel: _steps(module, launch, env, waiting)
        for k, launch in enumerate(launches)
    }
    pipes = [given for launch in launches for given in launch.buffers.values() if isinstance(given, Channel)]
    launched = {launch.kernel for launch in launches}
    by_itself = {
        f.name: _steps(module, Launch(f.name, global_size=f.attrs.get(Attr.WORK_GROUP_SIZE) or (1,)), env, waiting)
        for f in module.kernels
        if f.attrs.get(Attr.AUTORUN) and f.name not in launched
    }
    run_together(kernels, [*pipes, *(one for several in channels.values() for one in several)], by_itself)


def _with_parts(module: Module, launch: Launch) -> list[Launch]:
    """The same launch of the other parts that a kernel consists of."""
    return [replace(launch, kernel=f.name) for f in module.kernels if f.attrs.get(Attr.PART_OF) == launch.kernel]


def _callees(function: Function) -> set[str]:
    return {op.attrs[Attr.CALLEE] for op in walk(function.body) if op.opcode == "call"}


def _steps(module: Module, launch: Launch, env: dict, waiting: set[str]) -> Iterator:
    """Run a kernel; yields the blocked operations whenever it cannot proceed."""
    function = module.functions[launch.kernel]
    space = IndexSpace.of(
        launch.global_size, launch.local_size or function.attrs.get(Attr.WORK_GROUP_SIZE), launch.global_offset
    )
    memories = [bind_buffer(m, launch.buffers) for m in function.memories.values() if m.space == "global"]
    sizes = {memory.name: memory.size for memory in memories}
    args = [_argument(function, name, value.type, launch.scalars) for name, value in _scalar_args(function)]
    run = env[python_name(function)]
    if Attr.LAUNCH_ARGS in function.attrs:
        space.check_lanes(lanes_of(function))
        groups: Iterable[tuple[list[dict], list[int]]] = [
            ([{}], _hidden_arguments(function, space, own, sizes))
            for own in (space.group_arguments() if units_of(function) > 1 else [{}])
        ]
    else:
        groups = ((items, []) for items in space.work_groups(lanes_of(function)))
    pipes = {(function.name, m.name): [launch.buffers[m.name]] for m in function.memories.values() if m.space == "pipe"}
    for group, hidden in groups:
        shared = {
            (function.name, name): BoundMemory(name, bytearray(size), size)
            for name, size in _local_sizes(function, launch.buffers)
        } | pipes
        if function.name in waiting:
            yield from run_group([run(item | {"shared": shared}, memories, *args, *hidden) for item in group])
        else:
            for item in group:
                run(item | {"shared": shared}, memories, *args, *hidden)


def _local_sizes(function: Function, buffers: Mapping[str, object]) -> list[tuple[str, int]]:
    """(name, bytes) of the kernel's local memory arguments."""
    names = [m.name for m in function.memories.values() if m.space == "local" and m.length is None]
    for name in names:
        if not isinstance(buffers.get(name), int):
            raise ValueError(  # noqa: TRY004 - as for every launch argument that does not fit
                f"kernel {function.name}: the size of the local memory {name} is missing"
            )
    return [(name, instance(buffers[name], int)) for name in names]


def _hidden_arguments(
    function: Function, space: IndexSpace, group: dict[str, int], sizes: Mapping[str, int]
) -> list[int]:
    """Their values in order; ``group`` has those of a group. The arguments say that buffers overlap, as program order
    is always kept here."""
    return [
        group[name] if name in group else launch_value(name, space, True, sizes)
        for name in function.attrs[Attr.LAUNCH_ARGS]
    ]


def _scalar_args(function: Function):
    return zip([p.name for p in function.params if p.kind == "scalar"], function.args)


def _argument(function, name, type, scalars):
    if name not in scalars:
        raise ValueError(f"kernel {function.name}: scalar argument {name} is missing")
    if isinstance(type, ArrayType):
        return _array_argument(scalars[name], type, f"kernel {function.name}: argument {name}")
    if isinstance(type, FloatType):
        return round_float(float(scalars[name]), type.bits)
    return int(scalars[name]) & (1 << type.bits) - 1


def _array_argument(given, type: ArrayType, what: str):
    """A struct or vector, given as an object with its bytes (a numpy array or scalar, bytes)."""
    data = memoryview(given).cast("B")
    if len(data) != type.bytes:
        raise ValueError(f"{what} has {len(data)} bytes, not {type.bytes}")
    load, _ = accessors(type)
    return load((BoundMemory(what, data, len(data)), 0), None)
