"""The part of pylibfst that this project uses, which reads waveforms (FST), as a type checker sees it."""

from collections.abc import Callable
from typing import NamedTuple

class ffi:
    class CData:
        """A value of C: a pointer or an array."""

    NULL: CData
    @staticmethod
    def string(cdata: CData) -> bytes: ...

class _Lib:
    def fstReaderOpen(self, name: bytes) -> ffi.CData: ...
    def fstReaderClose(self, reader: ffi.CData) -> None: ...
    def fstReaderClrFacProcessMaskAll(self, reader: ffi.CData) -> None: ...
    def fstReaderSetFacProcessMask(self, reader: ffi.CData, handle: int) -> None: ...
    def fstReaderGetEndTime(self, reader: ffi.CData) -> int: ...

class _Signal(NamedTuple):
    name: str
    length: int
    handle: int

class _Signals(NamedTuple):
    by_name: dict[str, _Signal]
    by_handle: dict[int, _Signal]

lib: _Lib

def get_scopes_signals2(fst: ffi.CData) -> tuple[list[str], _Signals]: ...
def fstReaderIterBlocks2(
    reader: ffi.CData,
    # (data, time, handle, value), and for values of variable length (..., length)
    value_change_callback: Callable[[object, int, int, ffi.CData], None],
    value_change_callback_varlen: Callable[[object, int, int, ffi.CData, int], None],
) -> None: ...
