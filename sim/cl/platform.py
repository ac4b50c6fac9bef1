"""Platforms, devices and contexts: there is one platform, and a device for each board file."""

import os
from pathlib import Path
from typing import Any

from hls.limits import MOST_ARGUMENT_BYTES, MOST_ARRAY_BYTES, TOLD_WORK_ITEMS
from hls.narrow import present
from hls.target.board import Board, BoardError, known_boards, load_board
from hls.target.links import LINK_FORMS, is_link
from sim.locks import ProcessLock

from .board import SimulatedBoard
from .constants import (
    command_queue_properties,
    context_info,
    context_properties,
    device_exec_capabilities,
    device_fp_config,
    device_info,
    device_local_mem_type,
    device_mem_cache_type,
    device_type,
    platform_info,
    status_code,
)
from .errors import LogicError, RuntimeError
from .facts import fact

__all__ = ["KINDS", "Context", "Device", "Platform", "create_some_context", "get_platforms"]

DEFAULT_BOARD = "de5net"
KINDS = ("board", "emulator", "model")
#: how the name of a device says what it is
KIND_WORDS = {"board": "simulated", "emulator": "emulated", "model": "modelled"}
ANY_TYPE = device_type.ALL
ACCELERATORS = device_type.ACCELERATOR | device_type.DEFAULT


_making = ProcessLock()

FLOATS = device_fp_config.DENORM | device_fp_config.INF_NAN | device_fp_config.ROUND_TO_NEAREST | device_fp_config.FMA


class Platform:
    """All simulated boards."""

    name = "sluice simulated boards"
    vendor = "sluice"
    version = "OpenCL 1.2 sluice"
    profile = "EMBEDDED_PROFILE"
    extensions = ""

    def get_devices(self, device_type: int = ANY_TYPE) -> list["Device"]:
        """All boards. Those that the command line or the environment selects come first, then the other boards, of the
        same kind; none if the requested type has no accelerators. Raises cl.RuntimeError for an invalid selection."""
        if not device_type & ACCELERATORS:
            return []
        first = _default_device(None, None)
        return [first, *(Device(load_board(name), first.kind) for name in known_boards() if name != first.board.name)]

    def get_info(self, parameter: int) -> str:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one."""
        return fact(self, platform_info, parameter, "Platform.get_info")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Platform)

    def __hash__(self) -> int:
        return hash(Platform)


class Device:
    """A board, run as RTL or (kinds "emulator" and "model") without."""

    vendor = "sluice"
    version = driver_version = opencl_c_version = "OpenCL 1.2 sluice"
    type = device_type.ACCELERATOR
    max_work_group_size = TOLD_WORK_ITEMS
    max_work_item_dimensions = 3
    max_work_item_sizes = (max_work_group_size,) * 3
    max_compute_units = 1
    available = compiler_available = endian_little = True
    image_support = host_unified_memory = error_correction_support = linker_available = False
    max_read_image_args = max_write_image_args = max_samplers = 0
    image2d_max_width = image2d_max_height = image3d_max_width = image3d_max_height = image3d_max_depth = 0
    # hardware is built for the types of the kernel: no vector width is preferred
    preferred_vector_width_char = preferred_vector_width_short = preferred_vector_width_int = 1
    preferred_vector_width_long = preferred_vector_width_float = preferred_vector_width_double = 1
    native_vector_width_char = native_vector_width_short = native_vector_width_int = native_vector_width_long = 1
    native_vector_width_float = native_vector_width_double = 1
    preferred_vector_width_half = native_vector_width_half = 1
    max_parameter_size, max_constant_args, min_data_type_align_size = MOST_ARGUMENT_BYTES, 64, 128
    # caches belong to the accesses of a kernel
    global_mem_cache_type, global_mem_cache_size, global_mem_cacheline_size = device_mem_cache_type.NONE, 0, 0
    execution_capabilities = device_exec_capabilities.KERNEL
    queue_properties = (
        command_queue_properties.PROFILING_ENABLE | command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE
    )
    profiling_timer_resolution = 1  #: in ns
    printf_buffer_size = 1 << 20
    built_in_kernels, parent_device, partition_max_sub_devices = "", None, 1
    preferred_interop_user_sync, reference_count = True, 1
    profile, vendor_id, address_bits = Platform.profile, 0, 64
    extensions = (
        "cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_fp64 cl_khr_global_int32_base_atomics "
        "cl_khr_global_int32_extended_atomics "
        "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics cl_khr_local_int32_base_atomics "
        "cl_khr_local_int32_extended_atomics cles_khr_int64"
    )
    single_fp_config = half_fp_config = FLOATS
    double_fp_config = FLOATS | device_fp_config.ROUND_TO_ZERO | device_fp_config.ROUND_TO_INF  #: by conversions
    local_mem_type = device_local_mem_type.LOCAL

    def __init__(self, board: Board, kind: str = "board", link: str = "") -> None:
        self.board, self.kind, self.link = board, kind, link
        # the whole description would make lists of all devices longer than tools such as clinfo have room for
        self.name = f"{board.name} ({board.description.partition(',')[0]}), {link or KIND_WORDS[kind]}"
        self.global_mem_size = sum(memory.bytes for memory in board.memories)
        self.max_mem_alloc_size = self.max_constant_buffer_size = board.memory.bytes
        self.max_clock_frequency = round(board.clock.kernel_mhz)
        self.local_mem_size = min(board.device.rams.count * board.device.rams.bits // 8, MOST_ARRAY_BYTES)
        self.mem_base_addr_align = 8 * board.memory.word_bytes

    @property
    def platform(self) -> Platform:
        """The only platform."""
        return Platform()

    def get_info(self, parameter: int) -> Any:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one."""
        return fact(self, device_info, parameter, "Device.get_info")

    def __repr__(self) -> str:
        return f"<sim.cl.Device {self.name!r}>"


class Context:
    """One device and its memory."""

    reference_count = 1

    def __init__(
        self, devices: list[Device] | None = None, properties: Any = None, dev_type: int | None = None
    ) -> None:
        if devices is None:
            devices = Platform().get_devices(ANY_TYPE if dev_type is None else dev_type)[:1]
            if not devices:
                raise RuntimeError(
                    "clCreateContextFromType",
                    status_code.DEVICE_NOT_FOUND,
                    f"no device is a {device_type.to_string(present(dev_type))}: boards are accelerators; ask for "
                    "device_type.ACCELERATOR or ALL",
                )
        if len(devices) != 1:
            raise LogicError(
                "Context",
                status_code.INVALID_VALUE,
                f"a context has one board, not {len(devices)}; make a context for each",
            )
        self.devices = list(devices)
        self._simulated: SimulatedBoard | None = None

    @property
    def device(self) -> Device:
        """The only device of the context."""
        return self.devices[0]

    @property
    def num_devices(self) -> int:
        """The number of devices: always 1."""
        return len(self.devices)

    @property
    def properties(self) -> list[tuple[int, Platform]]:
        """The properties in the form of ``clGetContextInfo``: the platform."""
        return [(context_properties.PLATFORM, self.device.platform)]

    def get_info(self, parameter: int) -> Any:
        """The value of an OpenCL query. Raises cl.LogicError for an unknown one."""
        return fact(self, context_info, parameter, "Context.get_info")

    @property
    def simulated(self) -> SimulatedBoard:
        """The memory and clock of the board."""
        if self._simulated is None:
            with _making:  # two threads that call at the same time get the same one
                if self._simulated is None:
                    self._simulated = SimulatedBoard(self.device.board)
        return self._simulated

    def __repr__(self) -> str:
        return f"<sim.cl.Context on {self.device!r}>"


def get_platforms() -> list[Platform]:
    """The one platform."""
    return [Platform()]


def create_some_context(
    interactive: bool | None = None,
    answers: list[str] | None = None,
    *,
    board: str | Path | None = None,
    device: str | None = None,
) -> Context:
    """A context on ``board`` (a name or a file), or on $SLUICE_BOARD, or on the default board.

    ``device="emulator"`` runs kernels without RTL, ``device="model"`` also predicts their cycles. ``interactive`` and
    ``answers`` are accepted for compatibility with pyopencl and ignored. Raises cl.RuntimeError for an unknown board or
    a wrong board file.
    """
    return Context([_default_device(board, device)])


def _default_device(board: str | Path | None, kind: str | None) -> Device:
    kind = kind or os.environ.get("SLUICE_DEVICE") or "board"
    link = kind if is_link(kind) else ""
    if kind not in KINDS and not link:
        raise LogicError(
            "create_some_context",
            status_code.INVALID_DEVICE,
            f"device must be one of {', '.join(KINDS)}, {LINK_FORMS}; not {kind!r}",
        )
    try:
        found = load_board(board or os.environ.get("SLUICE_BOARD") or DEFAULT_BOARD)
    except BoardError as error:
        raise RuntimeError("create_some_context", status_code.DEVICE_NOT_FOUND, str(error)) from error
    return Device(found, "board", link) if link else Device(found, kind)
