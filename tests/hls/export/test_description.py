"""interface.json: its schema, and that it says what the Verilog and the register map say."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from hls.export.description import DescriptionError, digest, read_description, schema_text
from hls.records import plain

SCHEMA = Path(__file__).parents[3] / "docs" / "interface.schema.json"
NAMES = ("vecadd", "packets", "wires", "lite", "axis", "local")


def ports_of(verilog: str, top: str) -> dict[str, tuple[str, int]]:
    """Direction and width of each port, as the text declares them."""
    body = re.search(rf"^module {top}\(.*?^endmodule", verilog, re.MULTILINE | re.DOTALL)[0]
    found = re.findall(r"^  (input|output) (?:wire|reg) (?:\[(\d+):0\] )?(\w+)(?: = [^\s,]+)?,?$", body, re.MULTILINE)
    return {name: ({"input": "in", "output": "out"}[kind], int(high or 0) + 1) for kind, high, name in found}


def test_the_document_is_the_generated_schema():
    assert SCHEMA.read_text() == schema_text(), "python -m hls.export.description > docs/interface.schema.json"


@pytest.mark.parametrize("name", NAMES)
def test_descriptions_follow_the_schema_and_are_read_back(designs, name):
    data = json.loads((designs[name] / "interface.json").read_text())
    jsonschema.validate(data, json.loads(SCHEMA.read_text()))
    assert plain(read_description(designs[name])) == data
    wrong = data | {"resets": [{"port": "rst"}]}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(wrong, json.loads(SCHEMA.read_text()))


@pytest.mark.parametrize("name", NAMES)
def test_ports_are_those_of_the_top_module(designs, name):
    found = read_description(designs[name])
    written = ports_of((designs[name] / "rtl" / f"{found.top}.v").read_text(), found.top)
    assert {port.name: (port.direction, port.bits) for port in found.ports} == written


@pytest.mark.parametrize("name", NAMES)
def test_each_port_belongs_to_one_bus_or_has_a_meaning_of_its_own(designs, name):
    found = read_description(designs[name])
    alone = {one.port for one in (*found.clocks, *found.resets, *found.interrupts)} | {"interrupt", "stall_seed"}
    for port in found.ports:
        owners = [bus.name for bus in found.buses if port.name.startswith(f"{bus.name}_")]
        longest = [one for one in owners if one == max(owners, key=len)]
        assert port.name in alone or len(longest) == 1, port.name


def test_widths_of_the_buses_are_those_of_their_ports(designs):
    found = read_description(designs["vecadd"])
    width = {port.name: port.bits for port in found.ports}
    control, *banks = found.buses
    assert (control.protocol, width["s_axil_wdata"], width["s_axil_awaddr"]) == ("axi4-lite", 32, control.address_bits)
    for bank in banks:
        assert (bank.protocol, bank.role, bank.memory, bank.bytes) == ("axi4", "manager", "DDR", 1 << 31)
        assert width[f"{bank.name}_rdata"] == bank.data_bits == 512
        assert (width[f"{bank.name}_awaddr"], width[f"{bank.name}_arid"]) == (bank.address_bits, bank.id_bits)
    assert [bank.bank for bank in banks] == [0, 1]


def test_streams_wires_and_rams_are_buses(designs):
    streams = [bus for bus in read_description(designs["packets"]).buses if bus.protocol == "stream"]
    assert [(bus.name, bus.role, bus.data_bits) for bus in streams] == [
        ("io_in_eth_in", "sink", 64),
        ("io_out_eth_out", "source", 64),
    ]
    wires = read_description(designs["wires"])
    assert {bus.protocol for bus in wires.buses} == {"wires", "ram"} and not wires.interrupts
    assert not any(kernel.registers for kernel in wires.kernels)


def test_reset_and_streams_by_choice(designs):
    plain, chosen = read_description(designs["packets"]), read_description(designs["axis"])
    assert [(one.port, one.active) for one in (*plain.resets, *chosen.resets)] == [("rst", "high"), ("rst_n", "low")]
    names = {port.name for port in chosen.ports}
    assert {"io_in_eth_in_tvalid", "io_in_eth_in_tready", "io_in_eth_in_tdata", "rst_n"} <= names
    assert not {"io_in_eth_in_valid", "rst"} & names
    assert len(chosen.ports) == len(plain.ports) and chosen.buses == plain.buses


def test_an_autorun_kernel_has_no_interrupt(designs):
    found = read_description(designs["packets"])
    assert [kernel.name for kernel in found.kernels if kernel.autorun] == ["parser"]
    assert [(one.bit, one.kernel) for one in found.interrupts] == [(0, "log_packets")]


@pytest.mark.parametrize("name", ["vecadd", "packets", "local"])
def test_registers_are_where_arguments_and_counters_are(designs, name):
    for kernel in read_description(designs[name]).kernels:
        at = {(one.kind, one.name): one.offset for one in kernel.registers}
        assert [at["control", one] for one in ("control", "status", "identification", "interrupt", "cycles")] == [
            0x00,
            0x04,
            0x08,
            0x0C,
            0x10,
        ]
        assert {n: o for (kind, n), o in at.items() if kind == "argument"} == {
            one.name: one.offset for one in kernel.arguments if one.kind != "pipe"
        }
        assert {n: o for (kind, n), o in at.items() if kind == "launch"} == kernel.launch
        assert {n: o for (kind, n), o in at.items() if kind == "counter"} == {c.name: c.offset for c in kernel.counters}
        ends = [one.offset + one.count * one.bits // 8 for one in kernel.registers]
        assert all(end <= after.offset for end, after in zip(ends, kernel.registers[1:]))


def test_wide_arguments_have_several_registers(designs):
    scale = read_description(designs["local"]).kernels[0]
    found = {one.name: (one.bits, one.count, one.fields[0].bits) for one in scale.registers if one.kind == "argument"}
    assert found["f"] == (64, 8, 64)  # sixteen floats
    assert found["s"] == (64, 2, 64) and found["n"] == (64, 1, 8)


def test_bits_of_the_status_are_the_accesses(designs):
    (vecadd, _) = read_description(designs["vecadd"]).kernels
    fields = {one.lsb: one.description for one in vecadd.registers[1].fields}
    assert fields[2] == "Memory refused load of a (line 7)." and fields[4] == "Memory refused store of c (line 7)."


def test_the_overlap_register_is_1_after_reset(designs):
    (kernel,) = (one for one in read_description(designs["local"]).kernels if one.name == "copy")
    reset = {one.name: one.fields[0].reset for one in kernel.registers if one.kind == "launch"}
    assert reset.pop("overlap") == 1 and not any(reset.values())


def test_the_digest_is_of_names_and_texts():
    assert digest({"a": "x", "b": "y"}) == digest({"b": "y", "a": "x"})
    assert len({digest(one) for one in ({"a": "x"}, {"b": "x"}, {"a": "y"}, {"ax": ""}, {})}) == 5


@pytest.mark.parametrize(
    "text, told",
    [
        (None, "No such file or directory"),
        ("{", "not JSON"),
        ("[]", "no version of the description, not 1"),
        ('{"schema": 2}', "version 2 of the description, not 1"),
        ('{"schema": 1, "top": "t"}', "has other fields than Description"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, text, told):
    if text is not None:
        (tmp_path / "interface.json").write_text(text)
    with pytest.raises(DescriptionError, match=re.escape(told)) as error:
        read_description(tmp_path)
    assert "interface.json" in str(error.value) and "compile" in error.value.hint
