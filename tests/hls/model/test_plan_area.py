"""Resources counted before a design is converted are those that its Verilog has."""

import pytest
from amaranth import Array, Cat, Const, Module, Mux, Signal
from amaranth.hdl import Fragment

from hls.driver import compile, plan_area, plan_text
from hls.model.area import Resources, estimate
from hls.model.cells import modules_of
from hls.model.netlist import read_modules
from hls.options import Options
from hls.target.board import load_board
from rtl_lib.library import convert
from rtl_lib.part_netlists import read_netlists

#: a cached and a streaming load, a local memory in banks with a barrier, a float sum that is interleaved, products of
#: constants and variables, a channel, and two compute units
KERNELS = """
channel int c __attribute__((depth(100)));
__kernel void send(__global const int *restrict a, int n) {
    for (int i = 0; i < n; i++)
        write_channel_intel(c, 5 * a[i] + a[i] / 3);
}
__attribute__((num_compute_units(2), reqd_work_group_size(16, 1, 1)))
__kernel void turn(__global const float *restrict x, __global float *restrict y, int n) {
    __local float tile[16];
    int me = get_local_id(0);
    tile[me] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += tile[(me + k) & 15] * x[k];
    y[get_global_id(0)] = sum;
}
__kernel void take(__global int *restrict b, int n) {
    for (int i = 0; i < n; i++)
        b[i] = read_channel_intel(c) >> (i & 3);
}
"""


@pytest.mark.parametrize("name", ["de5net", "ecp5_onchip"])
def test_design(name):
    board, options = load_board(name), Options()
    planned = plan_area(plan_text(KERNELS, board, options, "k.cl"))
    result = compile(KERNELS, board, options, "k.cl")
    counted = estimate(result.generated, result.top, result.board.device, result.foreign)
    a, b = planned.total, counted.total
    assert Resources(0, a.registers, a.rams, a.dsps) == Resources(0, b.registers, b.rams, b.dsps)
    assert a.logic == pytest.approx(b.logic, rel=0.02)
    assert set(planned.parts) >= {"send", "take", "read_interconnect"} or name == "ecp5_onchip"


def both(build) -> tuple:
    """The count of a module at the netlist, and in its Verilog."""
    found = []
    for convert_it in (_netlist, _verilog):
        m, ports = Module(), {}
        for signal in build(m):
            ports[signal.name] = (signal, None)
        found.append(convert_it(m, ports))
    return tuple(found)


def _netlist(m, ports):
    return modules_of(read_netlists(m, "top", ports)["top"])["top"]


def _verilog(m, ports):
    return read_modules(convert(Fragment.get(m, None), "top", ports)["top.v"])["top"]


def arithmetic(m):
    a, b, s, q, r = Signal(13), Signal(9), Signal(4), Signal(30), Signal(30)
    m.d.comb += [q.eq(a + b - (a << 2)), r.eq(a * b ^ (a >> s) | (b == 77))]
    return a, b, s, q, r


def constants(m):
    """A constant that decides a gate, a choice, a case and a comparison; one that is only found in another operator."""
    a, b, q, r, t = Signal(16), Signal(16), Signal(16), Signal(16), Signal(16)
    none = (Const(0, 16) & a).any()
    m.d.comb += [q.eq(Mux(none, a + b, a ^ b)), r.eq(Mux(Const(0, 4) == 0, b, a) & (a | Const(0xFFFF, 16)))]
    with m.Switch(Cat(none, Const(1, 1))):
        with m.Case(1):
            m.d.comb += t.eq(a)
        with m.Case(2):
            m.d.comb += t.eq(b)
    return a, b, q, r, t


def conditions(m):
    """Registers that are set under conditions, and reset."""
    a, b, q = Signal(12), Signal(3), Signal(12, init=5)
    with m.If(b == 0):
        m.d.sync += q.eq(a)
    with m.Elif(b[0]), m.If(a[3]):
        m.d.sync += q[:4].eq(b)
    return a, b, q


def choices(m):
    a, s, q, r = Signal(32), Signal(2), Signal(8), Signal(8)
    m.d.comb += [q.eq(a.word_select(s, 8)), r.eq(Array([a[:8], a[8:16], a[20:28]])[s])]
    return a, s, q, r


@pytest.mark.parametrize("build", [arithmetic, constants, conditions, choices], ids=lambda one: one.__name__)
def test_module(build):
    mine, theirs = both(build)
    assert (mine.registers, sorted(mine.products)) == (theirs.registers, sorted(theirs.products))
    # an attribute of a block counts as an assignment of one bit in the text
    assert mine.luts == pytest.approx(theirs.luts, abs=0.31 * (build is conditions) + 1e-6)
