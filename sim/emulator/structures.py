"""The data shared by the host and a compiled program; mirrors the structures of hls/emulate/runtime.h."""

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from hls.emulate import Argument, KernelText
from hls.ir import ArrayType, FloatType, Type
from hls.ir.launch import PER_GROUP, IndexSpace, launch_value
from hls.narrow import instance

__all__ = ["Control", "Launch", "WaitRecord", "make_launch"]

_Word = ctypes.c_uint64
_Triple = _Word * 3
ONE = (1, 1, 1)


class _Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", _Word)]


class Launch(ctypes.Structure):
    """One launch: numbers, and pointers to data of the host."""

    _fields_ = [
        ("kernel", _Word),
        ("buffers", ctypes.POINTER(_Buffer)),
        ("scalars", ctypes.POINTER(ctypes.c_uint8)),
        *((name, _Triple) for name in ("global_size", "local_size", "num_groups", "global_offset")),
        ("work_dim", _Word),
        ("local_sizes", ctypes.POINTER(_Word)),
        ("after", ctypes.POINTER(_Word)),
        ("ended", ctypes.POINTER(_Word)),
    ]


class WaitRecord(ctypes.Structure):
    """A work-item that waits for a channel."""

    _fields_ = [("launch", _Word), ("site", _Word), ("channel", _Word), ("writes", _Word)]


class Control(ctypes.Structure):
    """Settings of a run, and how it ended."""

    _fields_ = [
        ("stop", _Word),
        ("max_iterations", _Word),
        ("patience", _Word),
        ("unset_reads", ctypes.POINTER(_Word)),
        ("ending", _Word),
        ("site", _Word),
        ("memory", _Word),
        ("bytes", _Word),
        ("offset", ctypes.c_int64),
        ("size", _Word),
        ("waits", ctypes.POINTER(WaitRecord)),
        ("max_waits", _Word),
        ("wait_count", _Word),
        ("launch", _Word),
        ("log", ctypes.POINTER(ctypes.c_uint8)),
        ("log_bytes", _Word),
        *((name, _Word) for name in ("promise_site", "earlier_site", "earlier", "later", "writes", "condition_site")),
        *((name, _Triple) for name in ("group", "first", "other")),
    ]


def make_launch(
    number: int,
    text: KernelText,
    buffers: Mapping[str, object],
    scalars: Mapping[str, object],
    space: IndexSpace,
    after: ctypes.c_uint64 | None,
    ended: ctypes.c_uint64,
) -> tuple[Launch, list[Any]]:
    """A launch of kernel ``number``, and the objects that must live as long as it does.

    ``buffers`` are contiguous arrays, and for local memory sizes in bytes; ``after`` and ``ended`` are flags of the
    launch that it follows (None: of none) and of this one.
    """
    views = [_view(buffers[name]) for name in text.buffers]
    table = (_Buffer * len(views))(*(_Buffer(v.ctypes.data if v.size else None, v.size) for v in views))
    sizes = (_Word * len(text.locals))(*(instance(buffers[name], int) for name in text.locals))
    values = _arguments(text, scalars, space, {name: view.size for name, view in zip(text.buffers, views, strict=True)})
    local, groups = (ONE, ONE) if text.flat else (space.local_size, space.groups)
    shape = [_Triple(*size) for size in (space.global_size, local, groups, space.offset)]
    launch = Launch(
        number,
        table,
        values,
        *shape,
        space.work_dim,
        sizes,
        None if after is None else ctypes.pointer(after),
        ctypes.pointer(ended),
    )
    return launch, [views, table, sizes, values, after, ended]


def _view(buffer: Any) -> np.ndarray:
    view = memoryview(buffer)
    return np.frombuffer(view.cast("B"), np.uint8) if view.nbytes else np.zeros(0, np.uint8)


def _arguments(text: KernelText, scalars: Mapping[str, Any], space: IndexSpace, sizes: Mapping[str, int]) -> Any:
    data = (ctypes.c_uint8 * text.argument_bytes)()
    for argument in text.scalars:
        _put(data, argument, scalars[argument.name])
    for argument in text.launch_args:
        if not argument.name.startswith(PER_GROUP):  # the text counts groups itself
            _put(data, argument, launch_value(argument.name, space, True, sizes))
    return data


def _put(data: Any, argument: Argument, value: Any) -> None:
    encoded = _bytes(value, argument.type)
    data[argument.offset : argument.offset + len(encoded)] = encoded


def _bytes(value: Any, type: Type) -> bytes:
    """The bytes of a scalar; a vector or struct is an object that has them (a numpy array or scalar, bytes)."""
    if isinstance(type, ArrayType):
        data = memoryview(value).tobytes()
        if len(data) != type.bytes:
            raise ValueError(f"{len(data)} bytes are given for a value of {type.bytes}")
        return data
    if isinstance(type, FloatType):
        return np.dtype(f"f{type.bytes}").type(value).tobytes()
    return (int(value) & (1 << type.bits) - 1).to_bytes(type.bytes, "little")
