"""All cases, their runs on a device and the figures of the table."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import sim.cl as cl
from hls.ir import F32
from hls.target.board import load_board

from . import codes, dense, dynamic, graphs, irregular, signals, sorting, sparse, stencils
from .case import Case, Latencies

__all__ = ["CASES", "Figure", "latencies", "run"]
