"""Plans of kernels, for tests that only examine these."""

import functools

from hls.driver import CompiledKernel, Plan, plan_module, plan_text
from hls.frontend import parse_source
from hls.ir import Module
from hls.options import Options
from hls.passes.link.place_buffers import as_used
from hls.passes.run_stages import link_program
from hls.recursion import deep_recursion
from hls.target.board import Board, load_board

__all__ = ["linked", "planned", "planned_alone", "planned_text"]


def planned_text(
    source: str, board: str | Board = "de5net", options: Options | None = None, file: str = "kernel.cl"
) -> Plan:
    """What :func:`hls.driver.compile` plans, with the same defaults and messages, without the hardware: for tests that
    examine kernels, channels or warnings."""
    return plan_text(source, board if isinstance(board, Board) else load_board(board), options or Options(), file)


@functools.lru_cache(maxsize=4)
def planned(source: str, board: str = "de5net") -> dict[str, CompiledKernel]:
    """The kernels by name, through all stages of a compilation before hardware is made: three quarters of its time go
    into what comes behind. They wait for external memory as they are written, without copies of buffers. Parametrized tests of one source share them, and change nothing."""
    target, options = load_board(board), Options(copy_bytes=0)
    with deep_recursion():
        module = link_program(parse_source(source).module, options.fpc, limits=options.limits)
        kernels, _ = plan_module(module, as_used(module, target), options)
    return {kernel.function.name: kernel for kernel in kernels}


@functools.lru_cache(maxsize=16)
def linked(source: str) -> Module:
    """The program as it is linked, which nobody changes."""
    with deep_recursion():
        return link_program(parse_source(source, "kernels.cl", {}, []).module)


@functools.cache
def planned_alone(source: str, kernel: str, board: str, copy_bytes: int | None = None) -> tuple[CompiledKernel, ...]:
    """One kernel of a source, with the parts it is split into, as it is planned by default: kernels without channels
    are planned independently of each other. Tests that need the same kernel share its plan, and change nothing."""
    module = linked(source)
    assert not module.channels, "kernels that channels join are planned together"
    functions = {name: f for name, f in module.functions.items() if f.kind != "kernel" or name == kernel}
    with deep_recursion():
        used = as_used(module, load_board(board))
        kernels, _ = plan_module(Module(functions, module.sources), used, Options(copy_bytes=copy_bytes))
    return kernels
