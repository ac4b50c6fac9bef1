"""Files of compiled programs (``.aocx``): one archive with source and options, Verilog, reports, and a digest of all.

``aoc`` writes them; clCreateProgramWithBinary and ``aocl`` read them. The vendor's own have another format.
"""

import hashlib
import io
import json
import zipfile
import zlib
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
#: how compiled programs of others begin
_FOREIGN = {b"\x7fELF": "the vendor's .aocx, with a bitstream for its board", b"xclbin": "an .xclbin of another vendor"}
#: what reading a damaged archive raises; RuntimeError for one with a password
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError),
    *(KeyError, ValueError, TypeError, IndexError, AttributeError),
)


@dataclass(frozen=True)
class Aocx:
    """A compiled program for the board of that name; ``march`` is ``hardware`` or ``emulator``, ``files`` are those
    that the compiler wrote, by path; ``clock_mhz`` is the kernel clock that they are for, None where any will do."""

    binary: Binary
    board: str
    march: str
    files: Mapping[str, bytes]
    clock_mhz: float | None = None

    def to_bytes(self) -> bytes:
        """The content of the file."""
        members = {PROGRAM: self.binary.to_bytes(), **self.files}
        facts = {"format": FORMAT, "board": self.board, "march": self.march, "digest": _digest(members)}
        facts |= {} if self.clock_mhz is None else {"clock_mhz": self.clock_mhz}
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in ((FACTS, json.dumps(facts).encode()), *members.items()):
                archive.writestr(zipfile.ZipInfo(name, DATE), data, zipfile.ZIP_DEFLATED)
        return out.getvalue()

    @classmethod
    def of(cls, data: bytes) -> "Aocx":
        """Raises LogicError (INVALID_BINARY) for another archive, one that is damaged, or of another format."""
        for head, kind in _FOREIGN.items():
            if data.startswith(head):
                raise _invalid(
                    f"this is {kind}: only files that our aoc wrote can be run; compile the .cl file with it"
                )
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
            facts = json.loads(members.pop(FACTS))
            number, digest = facts["format"], facts["digest"]
            board, march = str(facts["board"]), str(facts["march"])
            clock = float(facts["clock_mhz"]) if "clock_mhz" in facts else None
        except _DAMAGE as error:
            raise _invalid(f"this is no .aocx of sluice, or it is damaged; make it again with aoc: {error}") from None
        if number != FORMAT:
            raise _invalid(f"the .aocx has format {number}, and this sluice reads {FORMAT}; make it again with aoc")
        if digest != _digest(members) or PROGRAM not in members:
            raise _invalid("the .aocx does not match its digest: it is damaged; make it again with aoc")
        return cls(Binary.of(members.pop(PROGRAM)), board, march, members, clock)

    def for_device(self, board: str, kind: str, clock_mhz: float) -> Binary:
        """The program on a device: of that board with that kernel clock, run as RTL (kind ``board``) or not. Raises
        LogicError (INVALID_BINARY) if it was compiled for another board or clock, or for the emulator alone."""
        if self.board != board:
            raise _invalid(
                f"the .aocx was compiled for board {self.board}, and the device is {board}; set SLUICE_BOARD"
            )
        if kind == "board" and self.clock_mhz not in (None, clock_mhz):
            raise _invalid(
                f"the .aocx was compiled for {self.clock_mhz:g} MHz, and the clock of the device is {clock_mhz:g}; "
                f"set SLUICE_BOARD={board}@{self.clock_mhz:g}"
            )
        if self.march == "emulator" and kind == "board":
            raise _invalid(
                "the .aocx was compiled with -march=emulator; set CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA=1 or "
                "SLUICE_DEVICE=emulator, or compile it without"
            )
        return self.binary


def is_archive(data: object) -> bool:
    """Whether it begins as such a file does, or as one of another compiler."""
    return isinstance(data, bytes | bytearray) and data.startswith((b"PK", *_FOREIGN))


def _digest(members: Mapping[str, bytes]) -> str:
    found = hashlib.sha256()
    for name in sorted(members):
        for part in (name.encode(), members[name]):
            found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


def _invalid(what: str) -> LogicError:
    return LogicError("clCreateProgramWithBinary", status_code.INVALID_BINARY, what)
