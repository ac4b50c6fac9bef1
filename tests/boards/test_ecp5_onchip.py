"""The board with on-chip global memory: plain RAM ports, nothing that stalls, control by registers or by wires."""

import numpy as np
import pytest

from hls.diag import CompileError
from hls.options import Options

from .golden import KERNELS, inputs
from .onchip import Machine, build, together

SCALED = """
kernel void scaled(global const uchar *restrict from, global uchar *restrict to, uchar factor, int n)
{
    for (int i = 0; i < n; i++)
        if (from[i] & 1)
            to[i] = from[i] * factor;
}
kernel void swapped(global const short *restrict from, global short *restrict to)
{
    int i = get_global_id(0);
    to[2 * i] = from[2 * i + 1];
    to[2 * i + 1] = from[2 * i];
}
"""


def test_ports_are_plain_ram():
    result = build(together(["vecadd"]))
    top = result.verilog["sluice_system.v"]
    assert "m_axi" not in top and "s_axil_awaddr" in top
    ports = {(p.buffer, p.kind, p.bytes, p.address_bits) for p in result.interface.ram}
    assert ports == {("a", "load", 4, 16), ("b", "load", 4, 16), ("c", "store", 4, 16)}
    for port in result.interface.ram:
        for signal in ("en", "addr", "data") if port.kind == "load" else ("addr", "data", "strobe"):
            assert f"{port.name}_{signal}" in top
    assert result.interface.axi == ()


def test_a_ram_has_words_as_wide_as_the_widest_access():
    source = (
        "kernel void k(global int *restrict a, global uchar *restrict b) { a[1] = b[2]; ((global uchar *)a)[3] = 4; }"
    )
    ports = [(p.buffer, p.kind, p.bytes, p.address_bits) for p in build(source).interface.ram]
    assert ports == [("b", "load", 1, 18), ("a", "store", 4, 16), ("a", "store", 4, 16)]


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_nothing_but_loops_waits(name):
    (kernel,) = build(together([name])).kernels
    for plan in (kernel.plan.top, *kernel.plan.loops.values()):
        assert all(row.op.opcode == "loop" for level in plan.levels for row in level.row)
    assert all(access.latency is not None for access in kernel.memory.accesses.values())


def test_wires_need_memory_on_the_chip():
    with pytest.raises(CompileError, match="de5net reports memory errors"):
        build(together(["vecadd"]), "de5net", control="wires")
    with pytest.raises(CompileError, match="counters are read"):
        build(together(["vecadd"]), control="wires", counters="all")
    with pytest.raises(ValueError, match="control must be one of"):
        Options(control="smoke")


@pytest.mark.verilator
@pytest.mark.parametrize(
    "options",
    [{"control": "wires"}, {"control": "wires", "elastic_depth": 99}, {"counters": "all"}],
    ids=["wires", "elastic", "registers"],
)
def test_kernels(options):
    with Machine(build(together(), random_stalls=True, **options), seed=0) as machine:
        for name, (_, _, trips) in KERNELS.items():
            arrays, expected = inputs(name)
            run = machine.run(name, arrays, {}, {})
            assert np.array_equal(arrays["c"], expected), name
            assert run.fault is None and run.status == 0
            assert trips < run.cycles < 1.05 * trips + 60, (name, run.cycles)


@pytest.mark.verilator
@pytest.mark.parametrize("depth", [0, 3, 99])
def test_random_stalls_change_no_byte(depth):
    for seed in (1, 2):
        with Machine(
            build(together(["dot_product", "stencil", "fir"]), random_stalls=True, elastic_depth=depth), seed
        ) as m:
            for name in ("dot_product", "stencil", "fir"):
                arrays, expected = inputs(name, seed)
                m.run(name, arrays, {}, {})
                assert np.array_equal(arrays["c"], expected), name


@pytest.mark.verilator
@pytest.mark.parametrize("control", ["wires", "axi-lite"])
def test_narrow_accesses_predicates_and_launch_sizes(control):
    rng = np.random.default_rng(3)
    with Machine(build(SCALED, control=control)) as machine:
        bytes_in = rng.integers(0, 256, 100, np.uint8)
        arrays = {"from": bytes_in.copy(), "to": np.full(100, 7, np.uint8)}
        machine.run("scaled", arrays, {"factor": 5, "n": 97}, {})
        expected = np.where(bytes_in & 1, bytes_in * np.uint8(5), 7).astype(np.uint8)
        expected[97:] = 7
        assert np.array_equal(arrays["to"], expected)
        shorts = rng.integers(-9, 9, 64).astype(np.int16)
        arrays = {"from": shorts, "to": np.zeros(64, np.int16)}
        launch = {"global_size_0": 32, "global_offset_0": 0}
        kernel = next(k for k in machine.result.interface.kernels if k.name == "swapped")
        machine.run("swapped", arrays, {}, {name: launch.get(name, 1) for name in kernel.launch})
        assert np.array_equal(arrays["to"], shorts.reshape(-1, 2)[:, ::-1].reshape(-1))


@pytest.mark.verilator
def test_an_access_outside_the_buffer_is_reported():
    with Machine(build(SCALED)) as machine:
        arrays = {"from": np.ones(8, np.uint8), "to": np.zeros(8, np.uint8)}
        run = machine.run("scaled", arrays, {"factor": 1, "n": 9}, {})
        assert run.fault is not None and run.fault.count >= 1
        assert arrays["to"].all()
