"""Language constructs as other projects use them: the same bytes on the emulator, in the interpreter and on PoCL,
and hardware can be planned for all."""

from pathlib import Path

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.passes.run_stages import link_program
from hls.target.board import load_board
from sim.emulator import Emulator
from tests import pocl
from tests.sim.emulator.both import Run, emulated, interpreted

SOURCE = Path(__file__).with_name("written_by_users.cl").read_text()
KERNELS = [line.split("(")[1].split(")")[0] for line in SOURCE.splitlines() if line.startswith("KERNEL(")]
#: forms of C that Clang does not take in OpenCL C, and what it takes
REFUSED_BY_POCL = {
    "old_style(x, y) int x; int y;": "old_style(int x, int y)",
    "register int": "int",
    "node_t *p = &(node_t){ .value = lo, .at = { 1, 2 } };": "node_t l = { .value = lo, .at = { 1, 2 } }, *p = &l;",
}
SIZES = (16, 11)


def buffers(n: int) -> dict[str, np.ndarray]:
    a = np.random.default_rng(n).integers(-40, 40, n).astype(np.int32)
    a[3] = 0
    return {"a": a, "o": np.full(n, -77, np.int32)}


@pytest.fixture(scope="module")
def module():
    return link_program(parse_source(SOURCE).module)


@pytest.fixture(scope="module")
def on_pocl():
    """The output of a kernel."""
    pocl.need()
    import pyopencl

    context = pocl.context()
    source = SOURCE
    for form, plain in REFUSED_BY_POCL.items():
        assert form in source
        source = source.replace(form, plain)
    program = pyopencl.Program(context, source).build(options=["-w"])
    queue, flags = pyopencl.CommandQueue(context), pyopencl.mem_flags

    def run(kernel: str, n: int) -> bytes:
        given = {
            key: pyopencl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=array)
            for key, array in buffers(n).items()
        }
        pyopencl.Kernel(program, kernel)(queue, (1,), (1,), given["a"], given["o"], np.int32(n))
        found = np.empty(n, np.int32)
        pyopencl.enqueue_copy(queue, found, given["o"])
        return found.tobytes()

    return run


@pytest.fixture(scope="module")
def emulator(module):
    return Emulator(module)


@pytest.mark.parametrize("kernel", KERNELS)
def test_same_bytes(module, emulator, on_pocl, kernel):
    for n in SIZES:
        run = Run(kernel, buffers(n), {"n": n})
        want = on_pocl(kernel, n)
        assert emulated(emulator, run)["o"] == want
        assert interpreted(module, run)["o"] == want
        assert want != buffers(n)["o"].tobytes()


def test_all_can_be_planned():
    plan_module(link_program(parse_source(SOURCE).module), load_board("de5net"), Options())
