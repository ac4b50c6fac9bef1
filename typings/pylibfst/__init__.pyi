"""The part of pylibfst that this project uses, which reads waveforms (FST), as a type checker sees it."""

from collections.abc import Callable
from typing import NamedTuple

class CData:
    """A value of C: a pointer or an array."""

class _FFI:
    NULL: CData
    def string(self, cdata: CData) -> bytes: ...

class _Lib:
    def fstReaderOpen(self, name: bytes) -> CData: ...
    def fstReaderClose(self, reader: CData) -> None: ...
    def fstReaderClrFacProcessMaskAll(self, reader: CData) -> None: ...
    def fstReaderSetFacProcessMask(self, reader: CData, handle: int) -> None: ...
    def fstReaderGetEndTime(self, reader: CData) -> int: ...

class Signal(NamedTuple):
    name: str
    length: int
    handle: int

class Signals(NamedTuple):
    by_name: dict[str, Signal]
    by_handle: dict[int, Signal]

ffi: _FFI
lib: _Lib

def get_scopes_signals2(fst: CData) -> tuple[list[str], Signals]: ...
def fstReaderIterBlocks2(
    reader: CData,
    # (data, time, handle, value), and for values of variable length (..., length)
    value_change_callback: Callable[[object, int, int, CData], None],
    value_change_callback_varlen: Callable[[object, int, int, CData, int], None],
) -> None: ...
