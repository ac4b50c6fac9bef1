"""Rectangular regions of buffers (clEnqueueCopyBufferRect and similar calls)."""

from collections.abc import Sequence

import numpy as np

from .constants import status_code
from .errors import LogicError

__all__ = ["box"]


def box(
    data: np.ndarray, origin: Sequence[int], region: Sequence[int], pitches: Sequence[int], what: str
) -> np.ndarray:
    """The bytes of ``region`` (bytes of a row, rows, planes) from ``origin`` on, as a view with three axes; ``pitches``
    are the bytes from row to row and from plane to plane, 0 where these follow without a gap. Raises LogicError if the
    region is not within ``data``."""
    width, rows, planes = _three(region, 1)
    x, y, z = _three(origin, 0)
    row, plane = (*pitches, 0, 0)[:2]
    row = row or width
    plane = plane or row * rows
    first = x + y * row + z * plane
    end = first + (planes - 1) * plane + (rows - 1) * row + width
    if (
        min(width, rows, planes) < 1
        or min(x, y, z) < 0
        or row < width
        or plane < row * rows
        or plane % row
        or end > data.size
    ):
        raise LogicError(
            "enqueue_copy",
            status_code.INVALID_VALUE,
            f"{what}: a region of {(width, rows, planes)} from {(x, y, z)} on with {row} bytes from row to row and "
            f"{plane} from plane to plane "
            f"is not within its {data.size} bytes",
        )
    return np.lib.stride_tricks.as_strided(data[first:], (planes, rows, width), (plane, row, 1))


def _three(numbers: Sequence[int], missing: int) -> tuple[int, int, int]:
    x, y, z = (*(int(n) for n in numbers), *(missing,) * (3 - len(numbers)))
    return x, y, z
