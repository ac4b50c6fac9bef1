"""Platforms, devices and contexts: there is one platform, and a device for each board file."""

import os
from functools import cached_property
from pathlib import Path

from hls.target.board import Board, BoardError, known_boards, load_board

from .board import SimulatedBoard
from .constants import device_info, device_type, status_code
from .errors import LogicError, RuntimeError

__all__ = ["Context", "Device", "Platform", "create_some_context", "get_platforms"]

DEFAULT_BOARD = "de5net"
KINDS = ("board", "emulator")
ANY_TYPE = device_type.ALL
ACCELERATORS = device_type.ACCELERATOR | device_type.DEFAULT


class Platform:
    """All simulated boards."""

    name = "sluice simulated boards"
    vendor = "sluice"
    version = "OpenCL 1.2 sluice"
    profile = "EMBEDDED_PROFILE"
    extensions = ""

    def get_devices(self, device_type: int = ANY_TYPE) -> list["Device"]:
        """One device a board file; none where the type asked for has no accelerators."""
        return [Device(load_board(name)) for name in known_boards()] if device_type & ACCELERATORS else []


class Device:
    """A board, run as RTL or (kind "emulator") without."""

    vendor = "sluice"
    version = driver_version = opencl_c_version = "OpenCL 1.2 sluice"
    type = device_type.ACCELERATOR
    max_work_group_size = 1 << 20
    max_work_item_dimensions = 3
    max_work_item_sizes = (max_work_group_size,) * 3
    max_compute_units = 1
    available = compiler_available = True

    def __init__(self, board: Board, kind: str = "board"):
        self.board, self.kind = board, kind
        self.name = f"{board.name} ({board.description}), {'emulated' if kind == 'emulator' else 'simulated'}"
        self.global_mem_size = sum(memory.bytes for memory in board.memories)
        self.max_mem_alloc_size = board.memory.bytes
        self.max_clock_frequency = round(board.clock.kernel_mhz)
        self.local_mem_size = board.device.rams.count * board.device.rams.bits // 8
        self.mem_base_addr_align = 8 * board.memory.word_bytes

    @property
    def platform(self) -> Platform:
        return Platform()

    def get_info(self, parameter: int):
        """A few of OpenCL's facts; LogicError for others."""
        known = {device_info.TYPE: self.type, device_info.NAME: self.name, device_info.VENDOR: self.vendor,
                 device_info.VERSION: self.version, device_info.GLOBAL_MEM_SIZE: self.global_mem_size,
                 device_info.MAX_CLOCK_FREQUENCY: self.max_clock_frequency}
        if parameter not in known:
            raise LogicError("Device.get_info", status_code.INVALID_VALUE, f"unknown parameter {parameter:#x}")
        return known[parameter]

    def __repr__(self) -> str:
        return f"<sim.cl.Device {self.name!r}>"


class Context:
    """One device and its memory."""

    def __init__(self, devices: list[Device] | None = None, properties=None, dev_type: int | None = None):
        if devices is None:
            devices = [_default_device(None, None)]
        if len(devices) != 1:
            raise LogicError("Context", status_code.INVALID_VALUE, f"a context has one board, not {len(devices)}; "
                             "make a context for each")
        self.devices = list(devices)

    @property
    def device(self) -> Device:
        return self.devices[0]

    @cached_property
    def simulated(self) -> SimulatedBoard:
        """The memory and clock of the board."""
        return SimulatedBoard(self.device.board)

    def __repr__(self) -> str:
        return f"<sim.cl.Context on {self.device!r}>"


def get_platforms() -> list[Platform]:
    """The one platform."""
    return [Platform()]


def create_some_context(interactive: bool | None = None, answers: list[str] | None = None, *,
                        board: str | Path | None = None, device: str | None = None) -> Context:
    """A context on ``board`` (a name or a file), or on $SLUICE_BOARD, or on the default board.

    ``device="emulator"`` runs kernels without RTL. ``interactive`` and ``answers`` are accepted for pyopencl's sake:
    nothing is asked. Raises cl.RuntimeError for an unknown board or a wrong board file.
    """
    return Context([_default_device(board, device)])


def _default_device(board: str | Path | None, kind: str | None) -> Device:
    kind = kind or os.environ.get("SLUICE_DEVICE") or "board"
    if kind not in KINDS:
        raise LogicError("create_some_context", status_code.INVALID_DEVICE,
                         f"device must be one of {', '.join(KINDS)}, not {kind!r}")
    try:
        return Device(load_board(board or os.environ.get("SLUICE_BOARD") or DEFAULT_BOARD), kind)
    except BoardError as error:
        raise RuntimeError("create_some_context", status_code.DEVICE_NOT_FOUND, str(error)) from error
