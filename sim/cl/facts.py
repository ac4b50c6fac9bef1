"""Answers to the ``get_info`` of objects: by OpenCL's number, from the attribute of the same name."""

from typing import Any

from .constants import status_code
from .errors import LogicError

__all__ = ["fact"]

_MISSING = object()


def fact(of: object, numbers: type, parameter: int, routine: str) -> Any:
    """The attribute that ``parameter`` queries: the number's name among ``numbers``, in lower case. Raises
    LogicError for a number that is none of them, or that the object does not support."""
    names = [name for name, number in vars(numbers).items() if name.isupper() and number == parameter]
    found = getattr(of, names[0].lower(), _MISSING) if names else _MISSING
    if found is _MISSING:
        text = f"{parameter:#x}" if isinstance(parameter, int) else repr(parameter)
        raise LogicError(
            routine, status_code.INVALID_VALUE, f"unknown parameter {text}; pass one of cl.{numbers.__name__}"
        )
    return found
