"""Random kernels of work-groups, through the planner and PoCL. ``campaign --groups`` runs them on the board."""

import itertools

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import Module
from hls.ir.interpreter import run_kernel
from hls.ir.launch import units_of
from hls.options import Options
from hls.passes.lowering.inline import Inline
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions
from hls.target.board import load_board
from tests.kernels.system import MAX_CYCLES
from tests.pocl import context as pocl_context
from tests.pocl import need
from tests.repetitions import sampled

from .groups import group_launches, random_group_kernel
from .like_pocl import differing


@pytest.mark.parametrize("seed", sampled(range(0, 240, 8)))
def test_every_kernel_can_be_planned(seed):
    kernel = random_group_kernel(seed)
    (planned,), _ = plan_module(parse_source(kernel.text, "k.cl", {}, []).module, load_board("de5net"), Options())
    alone = not planned.function.attrs["ndrange"]  # one that works in groups of one is a single work-item
    assert units_of(planned.function) == (1 if alone else kernel.units)


@pytest.mark.parametrize("first", range(60, 120, 20))
def test_like_pocl(first):
    """What the interpreter says such kernels do, an OpenCL that nobody here wrote does as well."""
    need()
    assert differing(pocl_context(), first, 20) == []


def prepared(module, name):
    """The kernel as it is when its work-items become iterations: what comes later has no meaning without the
    machine."""
    function = Inline().run(module).functions[name]
    for each in itertools.takewhile(lambda one: one.name != "form-work-item-loop", kernel_passes(PipelineOptions())):
        function = each.run(function)
    return Module({name: function}, module.sources, module.channels)


#: kernels whose work-items keep private arrays and stand alone: lanes have no meaning before the machine either
KEEPING = [
    seed
    for seed in range(60)
    if "int mine[" in (k := random_group_kernel(seed)).text and "barrier" in k.text and k.lanes == 1
]


@pytest.mark.parametrize("seed", KEEPING[:3])
def test_passes_keep_the_meaning(seed):
    kernel = random_group_kernel(seed)
    module = parse_source(kernel.text, "k.cl", {}, []).module
    kinds = module, prepared(module, "k")
    for launch in group_launches(kernel, seed, count=1):
        found = []
        for one in kinds:
            buffers = {name: array.copy() for name, array in launch.buffers.items()}
            run_kernel(
                one,
                "k",
                {n: a.view("u1") for n, a in buffers.items()},
                launch.scalars,
                launch.global_size,
                launch.local_size,
                launch.offset,
                MAX_CYCLES,
            )
            found.append({name: array.tobytes() for name, array in buffers.items()})
        assert found[0] == found[1], kernel.text


def test_all_kinds_come_by():
    kernels = [random_group_kernel(seed) for seed in range(200)]
    assert {k.lanes for k in kernels} == {1, 2, 4} and {k.units for k in kernels} == {1, 2, 3}
    texts = "\n".join(k.text for k in kernels)
    assert all(
        word in texts
        for word in ("barrier", "mine[(uint)", "atomic_min", "atomic_xor", "for (i0", "get_group_id(0) & 3")
    )
