"""Where the compiler keeps what it makes once for all programs of a user."""

import os
from pathlib import Path

__all__ = ["user_cache"]


def user_cache(name: str) -> Path | None:
    """The folder ``name`` in $SLUICE_CACHE, else in the user's cache folder; None for a user without one."""
    root = os.environ.get("SLUICE_CACHE")
    if root:
        return Path(root).absolute() / name
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # stays "~" where the user has no home
    return Path(home) / "sluice" / name if os.path.isabs(home) else None
