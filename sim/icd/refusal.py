"""Answers to requests that failed."""

import os
import sys

from hls.diag import internal_error, render
from sim.errors import BuildError, SimulationError, ToolMissing

from .wire import Writer

__all__ = ["refusal"]

OUT_OF_RESOURCES = -5


def refusal(error: BaseException) -> bytes:
    """The answer to a request that failed."""
    from sim import cl

    if os.environ.get("SLUICE_DEBUG") == "1":
        sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, cl.Error):
        return Writer().number(error.code).text(error.what or str(error)).data()
    if isinstance(error, BuildError | SimulationError | ToolMissing):
        return Writer().number(OUT_OF_RESOURCES).text(str(error)).data()
    known = error if isinstance(error, Exception) else RuntimeError(str(error))
    return Writer().number(OUT_OF_RESOURCES).text(render(internal_error(known), {})).data()
