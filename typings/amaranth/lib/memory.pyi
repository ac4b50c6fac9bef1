from collections.abc import Iterable, Mapping
from typing import Any

from ..hdl import ShapeLike
from . import wiring

__all__ = ["Memory", "ReadPort", "WritePort"]

class ReadPort(wiring.PureInterface): ...
class WritePort(wiring.PureInterface): ...

class Memory(wiring.Component):
    def __init__(
        self,
        data: Any = None,
        *,
        shape: ShapeLike | None = None,
        depth: int | None = None,
        init: Iterable[Any] | None = None,
        attrs: Mapping[str, Any] | None = None,
        src_loc_at: int = 0,
    ) -> None: ...
    def read_port(
        self, *, domain: str = "sync", transparent_for: Iterable[WritePort] = (), src_loc_at: int = 0
    ) -> ReadPort: ...
    def write_port(self, *, domain: str = "sync", granularity: int | None = None, src_loc_at: int = 0) -> WritePort: ...
