"""Runs kernels by PoCL, an independent compiler, and by our frontend and interpreter, and compares their bytes."""

from collections.abc import Mapping, Sequence

import numpy as np

from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify_module
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from tests.pocl import context, need

__all__ = ["check_here", "compare", "pocl_context", "run_both"]


def pocl_context():
    """A context of the PoCL that works; skips the test where there is none."""
    need()
    return context()


def run_pocl(
    context, program, name: str, arguments: Mapping[str, object], size: Sequence[int], group=None
) -> dict[str, np.ndarray]:
    """The buffers after a run; ``arguments`` in the order of the parameters: arrays are buffers, all else is passed by
    value."""
    import pyopencl as cl

    queue, flags = cl.CommandQueue(context), cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = {
        n: cl.Buffer(context, flags, hostbuf=a) for n, a in arguments.items() if isinstance(a, np.ndarray) and a.ndim
    }
    cl.Kernel(program, name)(queue, tuple(size), group, *(buffers.get(n, a) for n, a in arguments.items()))
    results = {n: np.empty_like(arguments[n]) for n in buffers}
    for n, array in results.items():
        cl.enqueue_copy(queue, array, buffers[n])
    return results


def run_here(module: Module, name: str, arguments: Mapping[str, object], size: Sequence[int]) -> dict[str, np.ndarray]:
    """The buffers after the interpreter ran the kernel."""
    buffers = {n: a.copy() for n, a in arguments.items() if isinstance(a, np.ndarray) and a.ndim}
    views = {n: a.view(np.uint8) for n, a in buffers.items()}
    scalars = {n: a for n, a in arguments.items() if n not in buffers}
    run_kernel(module, name, views, scalars, size, max_iterations=1_000_000)
    return buffers


def compare(expected: Mapping[str, np.ndarray], found: Mapping[str, np.ndarray], where: str, triples=()):
    """AssertionError with the first buffer whose bytes differ; every NaN is as good as any other.

    ``triples`` names buffers of vectors of three, of which the fourth element is padding.
    """
    for name, array in expected.items():
        pair = [a.reshape(-1, 4)[:, :3] if name in triples else a for a in (found[name], array)]
        np.testing.assert_array_equal(*pair, err_msg=f"{where}: {name}")


def run_both(
    context,
    source: str,
    name: str,
    arguments: Mapping[str, object],
    size: Sequence[int] = (1,),
    triples=(),
    passes=True,
):
    """Run a kernel with PoCL, as the frontend made it, and (``passes``) after all passes; all must leave the same
    bytes."""
    import pyopencl as cl

    program = cl.Program(context, source).build(options=["-w"])
    expected = run_pocl(context, program, name, arguments, size)
    check_here(expected, source, name, arguments, size, triples, passes)
    return expected


def check_here(
    expected: Mapping[str, np.ndarray],
    source: str,
    name: str,
    arguments: Mapping[str, object],
    size: Sequence[int] = (1,),
    triples=(),
    passes=True,
):
    """AssertionError where the kernel leaves other bytes than expected, as the frontend made it or (``passes``) after
    all passes."""
    module = parse_source(source, "k.cl").module
    verify_module(module)
    compare(expected, run_here(module, name, arguments, size), f"{name} as written", triples)
    if passes:
        optimized = optimize(module, PipelineOptions(check=True))
        compare(expected, run_here(optimized, name, arguments, size), f"{name} after the passes", triples)
