"""Random kernels compute the same before and after every pass, and after all of them."""

import numpy as np
import pytest
from generate import BUFFERS, ELEMENTS, random_module

from hls.ir import F32, Module, print_module
from hls.ir.interpreter import ExecutionError, run_kernel
from hls.ir.parser import parse_module
from hls.ir.verifier import verify, verify_module
from hls.passes.lowering.inline import Inline
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from tests.repetitions import sampled

SEEDS = range(18)
_MAX_ITERATIONS = 20_000


def inputs(seed: int) -> tuple[dict, dict]:
    rng = np.random.default_rng(seed)
    buffers = {}
    for name, type in BUFFERS.items():
        raw = rng.integers(0, 256, ELEMENTS * type.bytes, dtype=np.uint8)
        buffers[name] = rng.normal(0, 100, ELEMENTS).astype(np.float32).view(np.uint8) if type == F32 else raw
    return buffers, {"n": int(rng.integers(-5, 20)), "x": float(np.float32(rng.normal()))}


def outcome(module: Module, seed: int, size=(1,)) -> dict | None:
    """The bytes of every buffer after a run; None for a kernel that runs too long."""
    buffers, scalars = inputs(seed)
    try:
        run_kernel(module, "k", buffers, scalars, size, max_iterations=_MAX_ITERATIONS)
    except ExecutionError as error:
        if "too many" in str(error):
            return None
        raise
    return {name: data.tobytes() for name, data in buffers.items()}


def stages(module: Module):
    """(pass name, module) after every pass."""
    module = Inline().run(module)
    yield "inline", module
    function = module.functions["k"]
    for each in kernel_passes(PipelineOptions()):
        before = print_module(Module({"k": function}))
        after = each.run(function)
        assert print_module(Module({"k": function})) == before, f"{each.name} modified its input"
        function = after
        yield each.name, Module({"k": function})


def check(seed: int, size: int, ndrange: bool) -> str | None:
    """What went wrong after which pass."""
    module = random_module(seed, size, ndrange)
    verify_module(module)
    space = (8,) if ndrange else (1,)
    expected = [outcome(module, s, space) for s in (seed, seed + 1)]
    if None in expected:
        return None
    for name, stage in stages(module):
        verify(stage.functions["k"], stage)
        for s, wanted in zip((seed, seed + 1), expected):
            if outcome(stage, s, space) != wanted:
                return f"{name} changed the result for input {s}:\n{print_module(stage)}"
    return None


@pytest.mark.parametrize("ndrange", [False, True])
@pytest.mark.parametrize("seed", sampled(SEEDS))
def test_same_bytes_after_every_pass(seed, ndrange):
    if check(seed, 14, ndrange) is None:
        return
    smallest = next(size for size in range(1, 15) if check(seed, size, ndrange) is not None)
    pytest.fail(f"random_module({seed}, {smallest}, {ndrange}): {check(seed, smallest, ndrange)}")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_text_form_round_trips(seed):
    for name, stage in stages(random_module(seed, 14)):
        assert print_module(parse_module(print_module(stage))) == print_module(stage), name


def test_inputs_are_worth_running():
    """The generator makes kernels that end, loop and change their buffers."""
    changed = 0
    for seed in range(20):
        before, _ = inputs(seed)
        after = outcome(random_module(seed, 14), seed)
        changed += after is not None and any(after[name] != data.tobytes() for name, data in before.items())
    assert changed >= 16
