"""Triangular nests whose inner loop is a recurrence change places where that takes fewer cycles, and are reported."""

import pytest

from hls.driver import compile_text
from hls.ir import Attr, Function
from hls.model.runs import RunCounts
from hls.options import Options
from hls.planning import iterate
from hls.report.loop_text import describe_loops
from hls.target.board import load_board
from tests.benchmarks.suite import CASES
from tests.plans import planned

BOARD = "ecp5_onchip"
