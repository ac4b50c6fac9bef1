"""Shared by tests of passes that merge loops: kernels with random pragmas inserted, run before and after."""

import random
import re

from hls.frontend import parse_source
from hls.ir import Module, walk
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.passes.lowering.inline import Inline
from hls.passes.manager import FunctionPass
from hls.passes.memory.storage_attributes import in_memory
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from hls.planning.schedule import OperatorTiming
from hls.target.board import load_board
from tests.programs.generate import launches, random_kernel

__all__ = ["check_random", "loops", "outcome", "passes_through", "without_pragmas"]

_LOOP = re.compile(r"^(\s*)(for|while|do)\b.*\{$", re.MULTILINE)
_MAX_ITERATIONS = 30_000


def loops(function) -> int:
    return sum(op.opcode == "loop" for op in walk(function.body))


def passes_through(text: str, until: str | FunctionPass, record=None, warn=None, mark=None, held=()):
    """(module of the source, function before the last pass of that name, or the last equal one, after it, after all
    passes), each verified. The arrays ``held`` are kept as those that would hold up a loop."""
    module = parse_source(text, "k.cl", {}, []).module
    for op in walk(module.kernels[0].body) if mark else ():
        if op.opcode == "loop":
            mark(op)
    (function,) = Inline().run(module).kernels
    function = in_memory(function, held)
    stages = {}
    options = PipelineOptions(timing=OperatorTiming.of(load_board("de5net")), record=record, warn=warn)
    for each in kernel_passes(options):
        before, function = function, each.run(function)
        verify(function)
        if until in (each.name, each):
            stages = {"before": before, "after": function}
    return module, stages["before"], stages["after"], function


def outcome(function_or_module, launch) -> dict:
    """The bytes of all buffers after a run."""
    module = (
        function_or_module
        if isinstance(function_or_module, Module)
        else Module({function_or_module.name: function_or_module})
    )
    name = next(iter(f.name for f in module.kernels))
    buffers = {name: bytearray(array.tobytes()) for name, array in launch.buffers.items()}
    run_kernel(module, name, buffers, launch.scalars, launch.global_size, None, launch.offset, _MAX_ITERATIONS)
    return {name: bytes(data) for name, data in buffers.items()}


def without_pragmas(text: str) -> str:
    return re.sub(r"^ *#pragma.*\n", "", text, flags=re.MULTILINE)


def check_random(seed: int, until: str, pragmas: list[str], mark=None) -> int:
    """Compare a random kernel with pragmas before its loops, at each stage; returns how many loops were made one.

    ``mark`` is given every loop of the IR, to ask for what no pragma before a loop can.
    """
    rng, kernel = random.Random(seed), random_kernel(seed)
    text = _LOOP.sub(
        lambda m: (f"#pragma {rng.choice(pragmas)}\n" if pragmas and rng.random() < 0.7 else "") + m[0],
        without_pragmas(kernel.text),
    )
    merged = []
    module, before, after, last = passes_through(
        text, until, lambda r: merged.append(r) if hasattr(r, "how") else None, mark=mark
    )
    for launch in launches(kernel, seed):
        expected = outcome(module, launch)
        for stage in (before, after, last):
            assert outcome(stage, launch) == expected, text
    return len(merged)
