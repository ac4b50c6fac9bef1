"""The result of a compilation: the Verilog is made when it is asked for, and errors of the user are told at once."""

import pytest

from hls import driver
from hls.rtl import system

TEXT = "__kernel void f(__global int *restrict a) { a[0] = 1; }\n"


def test_verilog_is_made_when_it_is_first_read(monkeypatch):
    """Hosts build more programs than they launch, such as clinfo, which builds one for each device."""
    calls: list[str] = []
    convert = system.convert
    monkeypatch.setattr(
        system, "convert", lambda design, name, ports: calls.append(name) or convert(design, name, ports)
    )
    result = driver.compile(TEXT, "ecp5_onchip")
    assert [k.name for k in result.interface.kernels] == ["f"] and not calls
    assert result.verilog is result.verilog and calls == [result.top] and f"{result.top}.v" in result.verilog


def test_an_interrupt_leaves_a_result_that_can_be_converted(monkeypatch):
    result = driver.compile(TEXT, "ecp5_onchip")
    convert = system.convert

    def interrupted(design, name, ports):
        convert(design, name, ports)
        raise KeyboardInterrupt

    monkeypatch.setattr(system, "convert", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _ = result.verilog
    monkeypatch.undo()
    assert result.verilog == driver.compile(TEXT, "ecp5_onchip").verilog
