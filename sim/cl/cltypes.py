"""OpenCL's scalar and vector types as numpy types: ``float``, ``uint4``, and ``make_float4(1, 2, 3, 4)``, as in
pyopencl.cltypes."""

import builtins
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from hls.narrow import present

__all__ = ["make_vector"]

_SCALARS = {
    "char": np.int8,
    "uchar": np.uint8,
    "short": np.int16,
    "ushort": np.uint16,
    "int": np.int32,
    "uint": np.uint32,
    "long": np.int64,
    "ulong": np.uint64,
    "half": np.float16,
    "float": np.float32,
    "double": np.float64,
}
_LENGTHS = (2, 3, 4, 8, 16)
_XYZW = "xyzw"


def _vector(scalar: type, length: builtins.int) -> np.dtype:
    """A record of elements s0, s1, ..., also named x, y, z, w if there are up to four; a vector of three occupies the
    space of four."""
    room, size = 4 if length == 3 else length, np.dtype(scalar).itemsize
    names = [f"s{k:x}" for k in range(room)]
    titles = [_XYZW[k] if k < length <= 4 else None for k in range(room)]
    return np.dtype(
        {"names": names, "formats": [scalar] * room, "titles": titles, "offsets": [k * size for k in range(room)]}
    )


def make_vector(dtype: np.dtype, length: builtins.int, values: Sequence[Any]) -> Any:
    """A vector of the values; a single value is copied to all elements. Raises TypeError for another number of
    values."""
    if len(values) == 1:
        values = tuple(values) * length
    if len(values) != length:
        raise TypeError(f"a vector of {length} takes 1 or {length} values, not {len(values)}")
    return np.array((*values, *(0 for _ in range(len(present(dtype.names)) - length))), dtype)[()]


def _define() -> None:
    module = sys.modules[__name__]
    for name, scalar in _SCALARS.items():
        setattr(module, name, scalar)
        for length in _LENGTHS:
            dtype = _vector(scalar, length)
            setattr(module, f"{name}{length}", dtype)
            setattr(
                module,
                f"make_{name}{length}",
                lambda *values, dtype=dtype, length=length: make_vector(dtype, length, values),
            )


_define()
