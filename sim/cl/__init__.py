"""OpenCL on the simulated board, under pyopencl's names: ``import sim.cl as cl`` instead of ``import pyopencl as cl``.

Environment: SLUICE_BOARD (board name or file), SLUICE_DEVICE (``board`` or ``emulator``), SLUICE_STATS=1 (print the
figures of every run), SLUICE_PREDICT_RUN=1 (print what the model says of it, too), SLUICE_STALL_SEED (random stalls),
SLUICE_TRACE (FST file), SLUICE_TRACE_WINDOW (START:CYCLES), SLUICE_TRACE_SIGNALS (``accounts``, ``handshakes`` or
``all``), SLUICE_MAX_CYCLES and SLUICE_MAX_ITERATIONS (watchdogs of board and emulator), SLUICE_CACHE (folder of
builds), SLUICE_SHORT_RUNS=1 (simulators that are built faster, and run slower).
"""

import sluice  # noqa: F401 - it also searches folders sim/, hls/ and boards/ next to a program

from . import cltypes, constants
from .constants import *
from .copies import enqueue_copy, enqueue_fill_buffer
from .errors import Error, LogicError, MemoryError, RuntimeError
from .event import Event, UserEvent, wait_for_events
from .mapping import MemoryMap, enqueue_map_buffer
from .memory import Buffer, LocalMemory, MemoryObject, Pipe
from .platform import Context, Device, Platform, create_some_context, get_platforms
from .program import Kernel, Program, enqueue_nd_range_kernel, enqueue_task, get_profile_data_device_intel
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
    "create_some_context",
    "enqueue_barrier",
    "enqueue_copy",
    "enqueue_fill_buffer",
    "enqueue_map_buffer",
    "enqueue_marker",
    "enqueue_migrate_mem_objects",
    "enqueue_nd_range_kernel",
    "enqueue_task",
    "get_cl_header_version",
    "get_platforms",
    "get_profile_data_device_intel",
    "wait_for_events",
]
__all__ += constants.__all__
#: the version of pyopencl whose names and meanings these are
VERSION = (2026, 1)


def get_cl_header_version() -> tuple[int, int]:
    """The version of OpenCL whose names and numbers these are."""
    return (1, 2)
