"""Answers to clGetDeviceInfo, as the bytes that the host gets."""

import os
import struct
from collections.abc import Callable, Iterable

from hls.predefined import FEATURES
from sim import cl
from sim.cl.constants import device_info, device_type

__all__ = ["device_facts"]

_UINT, _ULONG, _SIZE = struct.Struct("<I").pack, struct.Struct("<Q").pack, struct.Struct("<Q").pack
#: the type of devices for hosts that accept no accelerators
_TYPES = {"gpu": device_type.GPU, "cpu": device_type.CPU, "accelerator": device_type.ACCELERATOR}
_VERSION_3, _VERSION_1_2, _VERSION_1 = 3 << 22, 1 << 22 | 2 << 12, 1 << 22
_LANGUAGES = (_VERSION_1, 1 << 22 | 1 << 12, _VERSION_1_2, _VERSION_3)
_NAME_BYTES = 64  #: of a name in a list of names and versions


def _text(value: str) -> bytes:
    return value.encode() + b"\0"


def _flag(value: bool) -> bytes:
    return _UINT(int(value))


#: queries of sim.cl, whose names begin with these words, by the C type of their values
_BY_NAME: tuple[tuple[tuple[str, ...], Callable[..., bytes]], ...] = (
    (("NAME", "VENDOR", "DRIVER_VERSION", "PROFILE", "VERSION", "EXTENSIONS", "BUILT_IN_KERNELS"), _text),
    (
        ("MAX_WORK_GROUP_SIZE", "IMAGE2D_MAX_WIDTH", "IMAGE2D_MAX_HEIGHT", "IMAGE3D_MAX_WIDTH", "IMAGE3D_MAX_HEIGHT"),
        _SIZE,
    ),
    (("IMAGE3D_MAX_DEPTH", "MAX_PARAMETER_SIZE", "PROFILING_TIMER_RESOLUTION", "PRINTF_BUFFER_SIZE"), _SIZE),
    (("MAX_MEM_ALLOC_SIZE", "GLOBAL_MEM_CACHE_SIZE", "GLOBAL_MEM_SIZE", "MAX_CONSTANT_BUFFER_SIZE"), _ULONG),
    (("LOCAL_MEM_SIZE", "SINGLE_FP_CONFIG", "DOUBLE_FP_CONFIG", "HALF_FP_CONFIG"), _ULONG),
    (("EXECUTION_CAPABILITIES", "QUEUE_PROPERTIES"), _ULONG),
    (("IMAGE_SUPPORT", "ERROR_CORRECTION_SUPPORT", "ENDIAN_LITTLE", "AVAILABLE", "COMPILER_AVAILABLE"), _flag),
    (("HOST_UNIFIED_MEMORY", "PREFERRED_INTEROP_USER_SYNC"), _flag),
)
#: what is answered here, or by the library
_OTHERS = {
    "LINKER_AVAILABLE",
    "TYPE",
    "PLATFORM",
    "PARENT_DEVICE",
    "MAX_WORK_ITEM_SIZES",
    "OPENCL_C_VERSION",
    "VERSION",
    "DRIVER_VERSION",
}
_ENCODERS = {name: encode for names, encode in _BY_NAME for name in names}


def device_facts(device: cl.Device) -> dict[int, bytes]:
    """All answers for a device, by OpenCL's number. Raises cl.LogicError for an unknown $SLUICE_DEVICE_TYPE."""
    found = {}
    for name, number in vars(device_info).items():
        if name.isupper() and name not in _OTHERS:
            found[number] = _ENCODERS.get(name, _UINT)(getattr(device, name.lower()))
    extensions = [*device.extensions.split(), "cl_khr_icd"]
    return found | {
        device_info.TYPE: _ULONG(_type()),
        device_info.LINKER_AVAILABLE: _flag(True),  # sim.icd.linking; sim.cl has none
        device_info.PARENT_DEVICE: _ULONG(0),
        device_info.MAX_WORK_ITEM_SIZES: struct.pack("<3Q", *device.max_work_item_sizes),
        device_info.VERSION: _text("OpenCL 3.0 sluice"),
        device_info.OPENCL_C_VERSION: _text("OpenCL C 1.2 sluice"),
        device_info.DRIVER_VERSION: _text(cl.Platform.version),
        device_info.EXTENSIONS: _text(" ".join(extensions)),
        **_later(extensions),
    }


def _type() -> int:
    wanted = os.environ.get("SLUICE_DEVICE_TYPE") or "accelerator"
    if wanted not in _TYPES:
        raise cl.LogicError(
            "clGetDeviceIDs",
            cl.status_code.INVALID_DEVICE_TYPE,
            f"SLUICE_DEVICE_TYPE is one of {', '.join(_TYPES)}, not {wanted!r}",
        )
    return _TYPES[wanted]


def _versions(names: Iterable[str], version: int) -> bytes:
    return b"".join(struct.pack(f"<I{_NAME_BYTES}s", version, name.encode()) for name in names)


def _later(extensions: Iterable[str]) -> dict[int, bytes]:
    """Queries of OpenCL 1.2 that sim.cl does not have, and those of 2.0 to 3.0: nothing of these versions is there
    but coarse-grained shared virtual memory."""
    return {
        **{number: _UINT(0) for number in _ZERO_UINTS},
        **{number: _SIZE(0) for number in _ZERO_SIZES},
        **{number: b"" for number in _EMPTY_LISTS},
        0x105B: _text(""),  # IL_VERSION
        0x1072: _text("v0000-01-01-00"),  # LATEST_CONFORMANCE_VERSION_PASSED, in its format: none
        0x1053: _ULONG(1),  # SVM_CAPABILITIES: coarse-grained buffers
        0x105E: _UINT(_VERSION_3),  # NUMERIC_VERSION
        0x1060: _versions(extensions, _VERSION_1),  # EXTENSIONS_WITH_VERSION
        0x1063: _ULONG(_RELAXED_IN_GROUP),  # ATOMIC_MEMORY_CAPABILITIES
        0x1064: _ULONG(_RELAXED_IN_GROUP | 1 << 1),  # ATOMIC_FENCE_CAPABILITIES: acquire and release, too
        0x1066: b"".join(_versions(["OpenCL C"], one) for one in _LANGUAGES),  # OPENCL_C_ALL_VERSIONS
        0x106F: _versions(FEATURES, _VERSION_3),  # OPENCL_C_FEATURES
        0x1067: _SIZE(1),  # PREFERRED_WORK_GROUP_SIZE_MULTIPLE
    }


#: IMAGE_PITCH_ALIGNMENT, IMAGE_BASE_ADDRESS_ALIGNMENT, MAX_READ_WRITE_IMAGE_ARGS, QUEUE_ON_DEVICE_*_SIZE,
#: MAX_ON_DEVICE_QUEUES and _EVENTS, MAX_PIPE_ARGS, PIPE_MAX_*, PREFERRED_*_ATOMIC_ALIGNMENT, MAX_NUM_SUB_GROUPS, and
#: what is false: SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, NON_UNIFORM_WORK_GROUP_SUPPORT,
#: WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, GENERIC_ADDRESS_SPACE_SUPPORT, PIPE_SUPPORT
_ZERO_UINTS = (
    *(0x104A, 0x104B, 0x104C, 0x104F, 0x1050, 0x1051, 0x1052, 0x1055, 0x1056, 0x1057, 0x1058, 0x1059, 0x105A, 0x105C),
    *(0x105D, 0x1065, 0x1068, 0x1069, 0x1071),
)
#: IMAGE_MAX_BUFFER_SIZE, IMAGE_MAX_ARRAY_SIZE, PARTITION_PROPERTIES (a list with nothing but its end),
#: PARTITION_AFFINITY_DOMAIN, MAX_GLOBAL_VARIABLE_SIZE, QUEUE_ON_DEVICE_PROPERTIES,
#: GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE, DEVICE_ENQUEUE_CAPABILITIES
_ZERO_SIZES = (0x1040, 0x1041, 0x1044, 0x1045, 0x104D, 0x104E, 0x1054, 0x1070)
#: PARTITION_TYPE, ILS_WITH_VERSION, BUILT_IN_KERNELS_WITH_VERSION
_EMPTY_LISTS = (0x1046, 0x1061, 0x1062)
#: CL_DEVICE_ATOMIC_ORDER_RELAXED and CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
_RELAXED_IN_GROUP = 1 << 0 | 1 << 4
