from . import wiring

__all__ = ["SyncFIFO"]

class SyncFIFO(wiring.Component):
    def __init__(self, *, width: int, depth: int) -> None: ...
