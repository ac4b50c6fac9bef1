"""Files of compiled programs (``.aocx``): one archive with source and options, Verilog, reports, and a digest of all.

``aoc`` writes them; clCreateProgramWithBinary and ``aocl`` read them. The vendor's own have another format.
"""

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from .binary import Binary
from .constants import status_code
from .errors import LogicError

__all__ = ["Aocx", "is_archive"]

FORMAT = 1
FACTS, PROGRAM = "sluice.json", "program"
#: a fixed date, so that the same program makes the same file
DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Aocx:
    """A compiled program for the board of that name; ``march`` is ``hardware`` or ``emulator``, ``files`` are those
    that the compiler wrote, by path."""

    binary: Binary
    board: str
    march: str
    files: Mapping[str, bytes]

    def to_bytes(self) -> bytes:
        """The content of the file."""
        members = {PROGRAM: self.binary.to_bytes(), **self.files}
        facts = {"format": FORMAT, "board": self.board, "march": self.march, "digest": _digest(members)}
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in ((FACTS, json.dumps(facts).encode()), *members.items()):
                archive.writestr(zipfile.ZipInfo(name, DATE), data, zipfile.ZIP_DEFLATED)
        return out.getvalue()

    @classmethod
    def of(cls, data: bytes) -> "Aocx":
        """Raises LogicError (INVALID_BINARY) for another archive, one that is damaged, or of another format."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
            facts = json.loads(members.pop(FACTS))
            number, digest = facts["format"], facts["digest"]
            board, march = str(facts["board"]), str(facts["march"])
        except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError, EOFError, NotImplementedError) as error:
            raise _invalid(f"this is no .aocx of sluice, or it is damaged; make it again with aoc: {error}") from None
        if number != FORMAT:
            raise _invalid(f"the .aocx has format {number}, and this sluice reads {FORMAT}; make it again with aoc")
        if digest != _digest(members) or PROGRAM not in members:
            raise _invalid("the .aocx does not match its digest: it is damaged; make it again with aoc")
        return cls(Binary.of(members.pop(PROGRAM)), board, march, members)

    def for_device(self, board: str, kind: str) -> Binary:
        """The program on a device: of that board, run as RTL (kind ``board``) or not. Raises LogicError
        (INVALID_BINARY) if it was compiled for another board, or for the emulator alone."""
        if self.board != board:
            raise _invalid(
                f"the .aocx was compiled for board {self.board}, and the device is {board}; set SLUICE_BOARD"
            )
        if self.march == "emulator" and kind == "board":
            raise _invalid(
                "the .aocx was compiled with -march=emulator; set CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA=1 or "
                "SLUICE_DEVICE=emulator, or compile it without"
            )
        return self.binary


def is_archive(data: bytes) -> bool:
    """Whether it begins as such a file does."""
    return data[:2] == b"PK"


def _digest(members: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name in sorted(members):
        for part in (name.encode(), members[name]):
            found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def _invalid(what: str) -> LogicError:
    return LogicError("clCreateProgramWithBinary", status_code.INVALID_BINARY, what)
