"""OpenCL on the simulated board, under pyopencl's names: ``import sim.cl as cl`` instead of ``import pyopencl as cl``.

Environment: SLUICE_BOARD (board name or file), SLUICE_DEVICE (``board`` or ``emulator``), SLUICE_STATS=1 (print the
figures of every run), SLUICE_STALL_SEED (random stalls), SLUICE_TRACE (FST file), SLUICE_TRACE_WINDOW (START:CYCLES),
SLUICE_TRACE_SIGNALS (``handshakes`` or ``all``), SLUICE_MAX_CYCLES and SLUICE_MAX_ITERATIONS (watchdogs of board and
emulator), SLUICE_CACHE (folder of builds).
"""

import sluice  # noqa: F401 - it also searches folders sim/, hls/ and boards/ next to a program

from . import cltypes
from .constants import (
    command_execution_status,
    command_queue_info,
    command_queue_properties,
    command_type,
    context_info,
    context_properties,
    device_exec_capabilities,
    device_fp_config,
    device_info,
    device_local_mem_type,
    device_mem_cache_type,
    device_type,
    event_info,
    kernel_arg_access_qualifier,
    kernel_arg_address_qualifier,
    kernel_arg_info,
    kernel_arg_type_qualifier,
    kernel_info,
    kernel_work_group_info,
    map_flags,
    mem_flags,
    mem_info,
    mem_migration_flags,
    mem_object_type,
    platform_info,
    profiling_info,
    program_build_info,
    program_info,
    status_code,
)
from .copies import enqueue_copy, enqueue_fill_buffer
from .errors import Error, LogicError, MemoryError, RuntimeError
from .event import Event, UserEvent, wait_for_events
from .mapping import MemoryMap, enqueue_map_buffer
from .memory import Buffer, LocalMemory, MemoryObject, Pipe
from .platform import Context, Device, Platform, create_some_context, get_platforms
from .program import Kernel, Program, enqueue_nd_range_kernel, enqueue_task
from .queue import CommandQueue, enqueue_barrier, enqueue_marker, enqueue_migrate_mem_objects

__all__ = [
    "VERSION",
    "Buffer",
    "CommandQueue",
    "Context",
    "Device",
    "Error",
    "Event",
    "Kernel",
    "LocalMemory",
    "LogicError",
    "MemoryError",
    "MemoryMap",
    "MemoryObject",
    "Pipe",
    "Platform",
    "Program",
    "RuntimeError",
    "UserEvent",
    "cltypes",
    "command_execution_status",
    "command_queue_info",
    "command_queue_properties",
    "command_type",
    "context_info",
    "context_properties",
    "create_some_context",
    "device_exec_capabilities",
    "device_fp_config",
    "device_info",
    "device_local_mem_type",
    "device_mem_cache_type",
    "device_type",
    "enqueue_barrier",
    "enqueue_copy",
    "enqueue_fill_buffer",
    "enqueue_map_buffer",
    "enqueue_marker",
    "enqueue_migrate_mem_objects",
    "enqueue_nd_range_kernel",
    "enqueue_task",
    "event_info",
    "get_cl_header_version",
    "get_platforms",
    "kernel_arg_access_qualifier",
    "kernel_arg_address_qualifier",
    "kernel_arg_info",
    "kernel_arg_type_qualifier",
    "kernel_info",
    "kernel_work_group_info",
    "map_flags",
    "mem_flags",
    "mem_info",
    "mem_migration_flags",
    "mem_object_type",
    "platform_info",
    "profiling_info",
    "program_build_info",
    "program_info",
    "status_code",
    "wait_for_events",
]

#: the version of pyopencl whose names and meanings these are
VERSION = (2026, 1)


def get_cl_header_version() -> tuple[int, int]:
    """The version of OpenCL whose names and numbers these are."""
    return (1, 2)
