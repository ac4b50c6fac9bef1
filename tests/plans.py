"""Plans of kernels, for tests that only examine these."""

import functools

from hls.driver import CompiledKernel, plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.passes.link.place_buffers import as_used
from hls.passes.run_stages import link_program
from hls.recursion import deep_recursion
from hls.target.board import load_board

__all__ = ["planned"]


@functools.lru_cache(maxsize=4)
def planned(source: str, board: str = "de5net") -> dict[str, CompiledKernel]:
    """The kernels by name, through all stages of a compilation before hardware is made: three quarters of its time go
    into what comes behind. They wait for external memory as they are written, without copies of buffers. Parametrized tests of one source share them, and change nothing."""
    target, options = load_board(board), Options(copy_bytes=0)
    with deep_recursion():
        module = link_program(parse_source(source).module, options.fpc, limits=options.limits)
        kernels, _ = plan_module(module, as_used(module, target), options)
    return {kernel.function.name: kernel for kernel in kernels}
