"""Reduces a failing kernel: removes statements, and replaces a statement by its body."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from hls.diag import CompileError
from hls.ir.interpreter import ExecutionError

from .generate import Block, Kernel

__all__ = ["shrink", "smaller"]


def shrink(kernel: Kernel, fails: Callable[[Kernel], bool], tries: int) -> Kernel:
    """The smallest kernel found within ``tries`` calls of ``fails`` that still fails."""
    found = True
    while found and tries > 0:
        found = False
        for candidate in smaller(kernel):
            if tries == 0:
                break
            tries -= 1
            if _fails(fails, candidate):
                kernel, found = candidate, True
                break
    return kernel


def _fails(fails, kernel) -> bool:
    try:
        return fails(kernel)
    except (CompileError, ExecutionError):
        return False  # not a kernel any more (a `break` without its loop): another fault than the one sought


def smaller(kernel: Kernel) -> Iterator[Kernel]:
    """Kernels with a little less in them, the largest cuts first."""
    half = len(kernel.body) // 2
    if half:
        yield replace(kernel, body=kernel.body[half:])
        yield replace(kernel, body=kernel.body[:half])
    for body in _cuts(kernel.body):
        yield replace(kernel, body=body)


def _cuts(items: tuple) -> Iterator[tuple]:
    for k, item in enumerate(items):
        rest = items[:k], items[k + 1 :]
        yield rest[0] + rest[1]
        if isinstance(item, Block):
            for body in item.bodies:
                yield rest[0] + body + rest[1]
    for k, item in enumerate(items):
        if isinstance(item, Block):
            for j, body in enumerate(item.bodies):
                for cut in _cuts(body):
                    bodies = item.bodies[:j] + (cut,) + item.bodies[j + 1 :]
                    yield (*items[:k], replace(item, bodies=bodies), *items[k + 1 :])
