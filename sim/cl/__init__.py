"""OpenCL on the simulated board, under pyopencl's names: ``import sim.cl as cl`` instead of ``import pyopencl as cl``.

Environment: SLUICE_BOARD (board name or file), SLUICE_DEVICE (``board`` or ``emulator``), SLUICE_STATS=1 (print the
figures of every run), SLUICE_STALL_SEED (random stalls), SLUICE_TRACE (FST file), SLUICE_TRACE_WINDOW (START:CYCLES),
SLUICE_TRACE_SIGNALS (``handshakes`` or ``all``), SLUICE_MAX_CYCLES and SLUICE_MAX_ITERATIONS (watchdogs of board and
emulator), SLUICE_CACHE (folder of builds).
"""

from .constants import (
    command_execution_status,
    command_queue_properties,
    device_info,
    device_type,
    kernel_info,
    kernel_work_group_info,
    map_flags,
    mem_flags,
    profiling_info,
    program_build_info,
    status_code,
)
from .errors import Error, LogicError, MemoryError, RuntimeError
from .event import Event, wait_for_events
from .mapping import MemoryMap, enqueue_map_buffer
from .memory import Buffer, LocalMemory, Pipe
from .platform import Context, Device, Platform, create_some_context, get_platforms
from .program import Kernel, Program, enqueue_nd_range_kernel
from .queue import CommandQueue, enqueue_barrier, enqueue_copy, enqueue_fill_buffer, enqueue_marker

__all__ = [
    "Buffer", "CommandQueue", "Context", "Device", "Error", "Event", "Kernel", "LocalMemory", "LogicError", "MemoryError",
    "MemoryMap", "Pipe", "Platform", "Program", "RuntimeError", "command_execution_status", "command_queue_properties", "create_some_context",
    "device_info", "device_type", "enqueue_barrier", "enqueue_copy", "enqueue_fill_buffer", "enqueue_map_buffer", "enqueue_marker",
    "enqueue_nd_range_kernel", "get_platforms", "kernel_info", "kernel_work_group_info", "map_flags", "mem_flags", "profiling_info", "program_build_info",
    "status_code", "wait_for_events",
]
