from typing import Any

from ..hdl import ShapeLike
from . import wiring

__all__ = ["Interface", "Signature"]

class Signature(wiring.Signature):
    def __init__(
        self,
        payload_shape: ShapeLike,
        *,
        payload_init: Any = None,
        always_valid: bool = False,
        always_ready: bool = False,
    ) -> None: ...
    @property
    def payload_shape(self) -> Any: ...
    @property
    def always_valid(self) -> bool: ...
    @property
    def always_ready(self) -> bool: ...

class Interface(wiring.PureInterface):
    @property
    def p(self) -> Any: ...
