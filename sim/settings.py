"""Settings from variables of the environment."""

import os

from .errors import BadSetting

__all__ = ["number", "switch"]


def number(variable: str, default: int, most: int = 2**64 - 1) -> int:
    """The value of the variable, 1 to ``most``, or ``default`` if it is not set. Raises BadSetting."""
    text = os.environ.get(variable) or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise BadSetting(f"{variable} must be a number from 1 to {most}, not {text!r}")
    return int(text)


def switch(variable: str) -> bool:
    """Whether the variable is 1; it is 0, or not set, otherwise. Raises BadSetting."""
    text = os.environ.get(variable) or "0"
    if text not in ("0", "1"):
        raise BadSetting(f"{variable} must be 0 or 1, not {text!r}")
    return text == "1"
