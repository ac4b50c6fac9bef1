"""Hosts in Python that import pyopencl itself: it is given the driver as its only platform, as hosts in C are. Without
that, it would run the kernels on whatever other platform the machine has, or on none, and nothing would say so."""

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from sim.errors import BuildError, ToolMissing

__all__ = ["CHOSEN_BY_USER", "DriverForPyopencl"]

PYOPENCL = "pyopencl"
#: variables by which users choose the platforms of a loader
CHOSEN_BY_USER = ("OCL_ICD_VENDORS", "OCL_ICD_FILENAMES")


class DriverForPyopencl(MetaPathFinder):
    """Finds no module; it is asked for each one, and sets the environment of the loader when that is pyopencl. The
    driver is built then, not before: other hosts do not need it."""

    def __init__(self) -> None:
        self.used = False  #: whether launches are those of the driver's server, which then writes what is asked for

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None for every module; before pyopencl is looked for, its loader is told of the driver."""
        if fullname == PYOPENCL and not self.used and not any(map(os.environ.get, CHOSEN_BY_USER)):
            sys.meta_path.remove(self)  # so that the others are asked whether it is installed
            if importlib.util.find_spec(PYOPENCL) is not None:
                self._use()
        return None

    def _use(self) -> None:
        from .native_host import use_driver

        try:
            use_driver()
            self.used = True
        except (BuildError, ToolMissing) as error:
            print(
                f"sluice: the host imports pyopencl, which does not run on the simulated board: {error}; or write "
                "`import sluice.cl as cl` instead, which needs no driver",
                file=sys.stderr,
            )
