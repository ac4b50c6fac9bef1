"""Random programs of loops with late exits, on buffers of exactly their size; ``late_exits`` runs many on the board."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.passes.run_stages import link_program, optimize
from sim.emulator import Emulator
from tests.sim.emulator.both import Run, emulated, interpreted

from .late_exits import failures_of, late_launches, late_program

PROGRAMS = 40


@pytest.fixture(scope="module")
def module():
    return link_program(parse_source("".join(map(late_program, range(PROGRAMS)))).module)


def test_emulator_and_interpreter(module):
    """No program leaves its buffers, and most have results that depend on the inputs."""
    emulator, results = Emulator(module), set()
    for seed in range(PROGRAMS):
        for launch in late_launches(seed):
            run = Run(f"late{seed}", launch.buffers, launch.scalars)
            want = interpreted(module, run)
            assert isinstance(want, dict), late_program(seed)
            assert emulated(emulator, run) == want, late_program(seed)
            results.add(want["r"])
    assert len(results) > PROGRAMS


@pytest.mark.parametrize("first", (0, 10))
def test_no_pass_changes_a_byte(first):
    for seed in range(first, first + 5):
        module = link_program(parse_source(late_program(seed)).module)
        flat = optimize(module)
        launch = late_launches(seed)[1]
        run = Run(f"late{seed}", launch.buffers, launch.scalars)
        optimized = Run(run.kernel, run.buffers, dict(run.scalars) | {"overlap": 0})
        assert interpreted(flat, optimized) == interpreted(module, run), late_program(seed)


@pytest.mark.verilator
def test_board():
    runs, failures = failures_of(0, 10, "ecp5_onchip")
    assert runs == 60
    assert not failures, "\n\n".join(failures)


def test_programs_have_what_they_are_there_for():
    text = "".join(map(late_program, range(PROGRAMS)))
    for part in ("do {", "while (1)", "break;", "continue;", "return;", ">= 0 &&", "a[p["):
        assert part in text, part
    assert len({late_program(k).replace(f"late{k}", "") for k in range(PROGRAMS)}) == PROGRAMS
    launch = late_launches(3)[0]
    assert late_launches(3)[0].misalign == launch.misalign
    assert all(np.array_equal(a, b) for a, b in zip(launch.buffers.values(), late_launches(3)[0].buffers.values()))
