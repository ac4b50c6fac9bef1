"""A built program saved between runs of a host program: its source and options, as bytes.

They contain nothing of the build itself: that is in the cache folder, where it is found by the same source and options,
or made again.
"""

import json
from dataclasses import dataclass

from .constants import status_code
from .errors import LogicError

__all__ = ["Binary"]

_HEAD = b"sluice program 1\n"


@dataclass(frozen=True)
class Binary:
    """OpenCL C ``source`` and the build ``options`` that it was built with."""

    source: str
    options: tuple[str, ...]

    def to_bytes(self) -> bytes:
        """Serialize for :meth:`of`, in this or another run."""
        return _HEAD + json.dumps({"source": self.source, "options": self.options}).encode()

    @classmethod
    def of(cls, data) -> "Binary":
        """Raises LogicError for bytes that :meth:`to_bytes` did not produce."""
        try:
            data = bytes(data)
            if not data.startswith(_HEAD):
                raise ValueError("it begins otherwise")
            found = json.loads(data[len(_HEAD) :])
            source, options = found["source"], tuple(found["options"])
            if not all(isinstance(text, str) for text in (source, *options)):
                raise ValueError("source and options are texts")
        except (ValueError, TypeError, KeyError) as error:
            raise LogicError(
                "clCreateProgramWithBinary",
                status_code.INVALID_BINARY,
                "this is no binary of a program of sluice, as Program.binaries gives; "
                f"files of other compilers cannot be run: {error}",
            ) from None
        return cls(source, options)
