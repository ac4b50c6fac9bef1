"""Counting cells in Verilog, on parts whose content is known from their construction."""

import pytest
from amaranth import Module, Mux, Signal
from amaranth.back import verilog
from amaranth.lib.memory import Memory

from hls.model.netlist import Memory as FoundMemory
from hls.model.netlist import NetlistError, read_modules


def count(m: Module, *ports):
    """The one module that Amaranth writes for ``m``."""
    text = verilog.convert(m, name="dut", ports=ports, emit_src=False, strip_internal_attrs=True)
    return read_modules(text)["dut"]


def logic(make, *widths):
    """Tables for the expression that ``make`` builds from inputs of these widths."""
    m, inputs = Module(), [Signal(width, name=f"i{k}") for k, width in enumerate(widths)]
    value = make(*inputs)
    out = Signal(len(value), name="o")
    m.d.comb += out.eq(value)
    return count(m, *inputs, out)


@pytest.mark.parametrize("width", [1, 7, 64])
def test_registers_are_exact(width):
    m, a, b, out = Module(), Signal(width), Signal(), Signal(width)
    state = Signal(3)
    m.d.sync += [out.eq(a), state.eq(state + 1)]
    with m.If(b):
        m.d.sync += out.eq(~a)
    assert count(m, a, b, out).registers == width + 3


@pytest.mark.parametrize(
    ("make", "widths", "tables"),
    [
        (lambda a, b: a + b, (16, 16), 17),
        (lambda a, b: a - b, (16, 16), 17),
        (lambda a, b: a < b, (16, 16), 16),
        (lambda a, b: a == b, (8, 8), 5),
        (lambda a: a == 5, (16,), 5),
        (lambda a: a.any(), (16,), 5),
        (lambda a: ~a, (16,), 0),
        (lambda a: a[2:7], (16,), 0),
        (lambda a, b: a & b, (10, 10), 4),
        (lambda c, a, b: Mux(c, a, b), (1, 10, 10), 8),
        (lambda a, b: a >> b, (16, 4), 0.8 * 16 * 4),
    ],
)
def test_logic_of_one_operator(make, widths, tables):
    assert logic(make, *widths).luts == pytest.approx(tables)


def test_products_are_counted_by_the_widths_of_their_factors():
    assert logic(lambda a, b: (a * b)[:40], 27, 13).products == [(27, 13)]


@pytest.mark.parametrize("registered", [True, False])
def test_memories_and_how_they_are_read(registered):
    m, at, out = Module(), Signal(5), Signal(12)
    m.submodules.memory = memory = Memory(shape=12, depth=32, init=[])
    read = memory.read_port(domain="sync" if registered else "comb")
    write = memory.write_port()
    m.d.comb += [read.addr.eq(at), out.eq(read.data), write.addr.eq(at), write.data.eq(at), write.en.eq(at[0])]
    found = count(m, at, out)
    assert found.memories == [FoundMemory(32, 12, registered)] and found.registers == 0


def test_instances_lead_to_their_modules():
    m, inner, a, out = Module(), Module(), Signal(4), Signal(4)
    inner.d.sync += out.eq(a)
    m.submodules.first = inner
    text = verilog.convert(m, name="dut", ports=(a, out), emit_src=False, strip_internal_attrs=True)
    modules = read_modules(text)
    assert modules["dut"].registers == 0
    (inside,) = modules["dut"].instances.values()
    assert modules[inside].registers == 4


def test_a_text_from_elsewhere_is_an_error():
    with pytest.raises(NetlistError, match="module m: b is not declared"):
        read_modules("module m(a);\n  output a;\n  wire a;\n  assign a = b & b;\nendmodule\n")
