from typing import Any, ClassVar

class MustUse:
    _MustUse__silence: ClassVar[bool]
    def __new__(cls, *args: Any, src_loc_at: int = 0, **kwargs: Any) -> Any: ...
