"""A built program saved between runs of a host program: its source and options, as bytes.

They contain nothing of the build itself: that is in the cache folder, where it is found by the same source and options,
or made again.
"""

import json
from dataclasses import dataclass
from typing import Any

from .constants import status_code
from .errors import LogicError

__all__ = ["PARTS", "Binary"]

#: what a binary is that is no whole program
PARTS = ("", "object", "library")
_HEAD = b"sluice program 1\n"


@dataclass(frozen=True)
class Binary:
    """OpenCL C ``source`` and the build ``options`` that it was built with. A ``part`` is a program that was compiled
    alone, to be linked: its ``source`` includes nothing."""

    source: str
    options: tuple[str, ...]
    part: str = ""  #: "object" or "library"

    def to_bytes(self) -> bytes:
        """Serialize for :meth:`of`, in this or another run."""
        part = {"part": self.part} if self.part else {}
        return _HEAD + json.dumps({"source": self.source, "options": self.options} | part).encode()

    @classmethod
    def of(cls, data: Any) -> "Binary":
        """Raises LogicError for bytes that :meth:`to_bytes` did not produce."""
        try:
            data = bytes(data)
            if not data.startswith(_HEAD):
                raise ValueError("it begins otherwise")
            found = json.loads(data[len(_HEAD) :])
            source, options = found["source"], tuple(found["options"])
            part = found.get("part", "")
            if not all(isinstance(text, str) for text in (source, *options)):
                raise ValueError("source and options are texts")
            if part not in PARTS:
                raise ValueError(f"it is one of {', '.join(filter(None, PARTS))}, or a whole program")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise LogicError(
                "clCreateProgramWithBinary",
                status_code.INVALID_BINARY,
                "this is no binary of a program of sluice, as Program.binaries gives; "
                f"files of other compilers cannot be run: {error}",
            ) from None
        return cls(source, options, part)
