"""Reports of kernels that are only planned, as far as they are known before hardware is generated; without copies of
buffers where a test does not ask for them."""

import hls
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.passes.run_stages import link_program
from hls.planning import Compilation
from hls.planning.schedule import OperatorTiming
from hls.planning.what_if import WhatIf
from hls.report.collect import collect_kernel

#: of a kernel of integers, and of one of floats
HEAD = "__kernel void k(__global const int *restrict a, __global int *restrict o, int n)\n"
FLOATS = "__kernel void k(__global const float *restrict a, __global float *restrict o, int n)\n"


def kernel(body: str, head: str = HEAD, **options):
    """The report of a kernel, its advice included."""
    module, board = parse_source(head + "{\n" + body + "\n}\n").module, hls.load_board("de5net")
    module, options = link_program(module), hls.Options(**{"copy_bytes": 0} | options)
    (planned,), _ = plan_module(module, board, options)
    timing = OperatorTiming(board.delay_model(), board.address_bits, planned.memory)
    what_if = WhatIf(module, Compilation(board, options))
    return collect_kernel(planned, module, board.memory.read_latency, timing=timing, what_if=what_if)


def only(loops):
    (loop,) = loops
    return loop


def every(loops):
    """All loops, outer ones first."""
    return [one for loop in loops for one in (loop, *every(loop.children))]
