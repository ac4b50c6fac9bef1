"""RTL libraries: descriptions, calls of their functions in IR and schedule, errors, and runs on the board."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.diag import CompileError
from hls.driver import compile, plan_text
from hls.emulate.write import write_program
from hls.ir import Attr, Module, walk
from hls.ir.interpreter import run_kernel
from hls.ir.parser import parse_module
from hls.ir.printer import print_module
from hls.options import Options
from hls.rtl_functions import with_rtl_files
from hls.rtl_library import load_library, port_widths
from hls.target.board import load_board
from sim import cl

HERE = Path(__file__).parent
LIBRARY = load_library(HERE / "functions.toml")
OPTIONS = Options(include_dirs=(HERE,), libraries=LIBRARY)
SUMS = """
#include "functions.h"
__kernel void sums(__global const int *restrict a, __global int *restrict o, int n)
{
    int last = 0;
    for (int i = 0; i < n; i++) {
        last = mac3(a[i], last);
        o[i] = last + mac3(i, 5);
    }
}
__kernel void best(__global const float *restrict a, __global float *restrict o, int n)
{
    float most = -1e30f;
    for (int i = 0; i < n; i++)
        most = larger(most, a[i]);
    o[0] = most;
}
"""


def planned(text: str, options: Options = OPTIONS):
    return plan_text(text, load_board("ecp5_onchip"), options, "k.cl").kernels


def refused(text: str, options: Options = OPTIONS) -> str:
    with pytest.raises(CompileError) as found:
        compile(text, "ecp5_onchip", options, "k.cl")
    (first, *_) = found.value.diagnostics
    assert first.code.number == "E0916"
    assert first.span is not None
    return f"{first.span.file}:{first.span.line}: {first.message}"


def expected(a: np.ndarray) -> np.ndarray:
    return 3 * np.cumsum(a) + 3 * np.arange(len(a)) + 5


def test_a_call_is_one_operation_that_takes_the_cycles_of_the_description():
    sums, best = planned(SUMS)
    calls = [op for op in walk(sums.function.body) if op.opcode == "rtl"]
    assert [op.attrs[Attr.RTL_MODULE] for op in calls] == ["mac3", "mac3"]
    assert {sums.plan.parts[op].params.latency for op in calls} == {3}
    (loop,) = sums.plan.loops.values()
    assert loop.ii == 4  # the recurrence: three cycles, and half a period on each side of the module's registers
    (loop,) = best.plan.loops.values()
    assert (
        loop.ii == 1
    )  # nothing else fits into the period of a module without registers, and nothing else is there: the
    # carried value begins with a constant, which takes no choice


def test_macros_of_a_kernel_are_none_of_a_models(tmp_path):
    """Neither its own, nor those of -D, nor those of what only it includes."""
    (tmp_path / "own.h").write_text("#define y 5 +\n#define as_int none\n")
    text = SUMS.replace("__kernel void sums", "#define sum (\n# define a 7 +\n#undef a\n__kernel void sums", 1)
    text = text.replace("__kernel void sums", '#include "own.h"\n__kernel void sums', 1)
    defined = replace(OPTIONS, defines={"b": "wrong", "x": "wrong"}, include_dirs=(HERE, tmp_path))
    text = text.replace("mac3(a[i], last)", "mac3(a[i], last) + 0")
    for one in planned(text, defined):
        assert one.plan.loops


def test_ir_of_a_call_is_printed_and_read_and_means_its_model():
    sums, _ = planned(SUMS)
    module = parse_module(print_module(Module({"sums": sums.function})))
    a, o = np.arange(-3, 9, dtype=np.int32), np.zeros(12, np.int32)
    run_kernel(module, "sums", {"a": a, "o": o}, {"n": 12})
    assert (o == expected(a)).all()
    assert "helper_mac3(item" in write_program(module).text


@pytest.mark.parametrize("device", ["emulator", "board"])
def test_a_run(device):
    board = {} if device == "emulator" else {"board": "ecp5_onchip"}
    context = cl.create_some_context(device=device, **board)
    queue = cl.CommandQueue(context)
    program = cl.Program(context, SUMS).build([f"-I{HERE}", f"-library={HERE / 'functions.toml'}"])
    a = np.random.default_rng(1).integers(-1000, 1000, 60, dtype=np.int32)
    for name, given, right in (
        ("sums", a, expected(a)),
        ("best", a.astype(np.float32), np.array([a.max()], np.float32)),
    ):
        result = np.zeros(len(right), given.dtype)
        source = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=given)
        target = cl.Buffer(context, cl.mem_flags.READ_WRITE, result.nbytes)
        cl.Kernel(program, name)(queue, (1,), None, source, target, np.int32(len(a))).wait()
        cl.enqueue_copy(queue, result, target).wait()
        assert (result == right).all(), name


def test_the_files_of_used_modules_are_part_of_the_design(tmp_path):
    (tmp_path / "k.cl").write_text(SUMS.split("__kernel void best")[0])
    arguments = ["compile", str(tmp_path / "k.cl"), "-I", str(HERE), "-o", str(tmp_path / "out"), "--no-html"]
    done = CliRunner().invoke(main, [*arguments, "--library", str(HERE / "functions.toml"), "--board", "ecp5_onchip"])
    assert done.exit_code == 0, done.output
    assert "module mac3 (" in (tmp_path / "out/rtl/mac3.v").read_text()
    files = (tmp_path / "out/rtl/filelist.f").read_text().split()
    assert "mac3.v" in files
    assert "larger.v" not in files
    assert files.index("mac3.v") < files.index("sluice_system.v")


def test_ports_of_a_module():
    assert port_widths(LIBRARY[0]) == {
        "clk": ("input", 1),
        "en": ("input", 1),
        "a": ("input", 32),
        "b": ("input", 32),
        "q": ("output", 32),
    }


CALL = '#include "functions.h"\n__kernel void k(__global int *o) {\n    o[0] = mac3(o[1], 2);\n}'


def described(tmp_path: Path, **changes: str) -> Path:
    """The description of mac3 with other lines, in a folder with its files."""
    for name in ("mac3.v", "models.cl"):
        (tmp_path / name).write_text((HERE / name).read_text())
    lines = (HERE / "functions.toml").read_text().split("\n\n")[0].splitlines()
    keys = {line.partition(" =")[0] for line in lines}
    lines = [changes.get(line.partition(" =")[0], line) for line in lines]
    file = tmp_path / "lib.toml"
    file.write_text("\n".join([*lines, *(line for key, line in changes.items() if key not in keys)]))
    return file


WAITS = 'stallable = true\ninput_valid = "iv"\ninput_ready = "ir"\noutput_valid = "ov"\noutput_ready = "or"'


@pytest.mark.parametrize(
    ("changes", "line", "message"),
    [
        ({"latency": "latency = -1"}, 4, "the latency is 0 to 1024 cycles, not -1"),
        ({"latency": 'latency = "3"'}, 4, "latency is a number, not '3'"),
        ({"latency": ""}, 1, "the function has no key latency"),
        ({"module": 'module = "mac4"'}, 3, "no module mac4 in mac3.v"),
        ({"files": 'files = ["none.v"]'}, 9, "there is no file"),
        ({"files": "files = []"}, 9, "no Verilog file is named"),
        ({"model": 'model = "none.cl"'}, 10, "there is no file"),
        ({"inputs": 'inputs = ["a", "c"]'}, 5, "module mac3 has no input c"),
        ({"inputs": 'inputs = ["a"]'}, 3, "input b of module mac3 is connected to nothing"),
        ({"inputs": 'inputs = ["a", "a"]'}, 5, "a port has two meanings"),
        ({"output": 'output = "a"', "inputs": 'inputs = ["b"]'}, 6, "module mac3 has no output a"),
        ({"clock": ""}, 4, "a module with a latency has a clock"),
        ({"name": 'name = "3x"'}, 2, "name is a name, not '3x'"),
        ({"depth": "depth = 4"}, 11, "unknown key depth"),
        ({"interval": "interval = 2"}, 11, "an interval of 2 is not supported"),
        ({"stallable": "stallable = true"}, 11, "a module that waits has a port input_valid"),
        ({"capacity": "capacity = 2"}, 11, "only a module that waits has a capacity"),
        ({"capacity": "capacity = 9999"}, 11, "the capacity is 0 to 1024 operands, not 9999"),
        ({"reset": 'reset = "rst"'}, 11, "module mac3 has no input rst"),
        ({"output_valid": 'output_valid = "ov"'}, 11, "module mac3 has no output ov"),
        ({"stallable": WAITS, "enable": 'enable = "en"'}, 8, "a module that waits has no clock enable"),
        ({"name": "name ="}, 2, "the description is no TOML"),
    ],
)
def test_descriptions_that_are_refused(tmp_path, changes, line, message):
    with pytest.raises(CompileError) as found:
        load_library(described(tmp_path, **changes))
    (one,) = found.value.diagnostics
    assert message in one.message
    assert one.span.file == str(tmp_path / "lib.toml")
    assert one.span.line == line
    assert one.hint


def test_the_command_shows_where_a_description_is_wrong(tmp_path):
    (tmp_path / "k.cl").write_text(CALL)
    file = described(tmp_path, latency="latency = -1")
    done = CliRunner().invoke(main, ["compile", str(tmp_path / "k.cl"), "-l", str(file)])
    assert done.exit_code == 1
    assert f"{file}:4" in done.output
    assert "E0916" in done.output


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            "int mac3(int a, int b) { return a * get_global_id(0); }",
            "RTL function mac3 has a model that is no function of its arguments",
        ),
        (
            "int mac3(int a, int b, int c) { return a; }",
            "RTL function mac3 takes 3 numbers, but its module mac3 has 2 inputs",
        ),
        ("int mac3(__global int *a, int b) { return a[b]; }", "RTL function mac3 takes a pointer"),
        ("int2 mac3(int a, int b) { return (int2)(a, b); }", "RTL function mac3 has 2 results"),
        ("short mac3(int a, int b) { return a; }", "port q of module mac3 has 32 bits, but mac3 passes 16"),
        ("int mac3(long a, int b) { return a; }", "port a of module mac3 has 32 bits, but mac3 passes 64"),
    ],
)
def test_models_that_are_refused(tmp_path, model, message):
    file = described(tmp_path)
    (tmp_path / "models.cl").write_text(model)
    prototype = f"{model.partition('{')[0]};"
    first = "o" if "*a" in model else "o[1]"
    rest = ", 2, 3" if "int c" in model else ", 2"
    left, tail = ("o[0] =", ".x") if "int2" in model else ("o[0] =", "")
    text = f"{prototype}\n__kernel void k(__global int *o) {{\n    {left} mac3({first}{rest}){tail};\n}}"
    assert refused(text, replace(OPTIONS, libraries=load_library(file))).startswith(f"k.cl:3: {message}")


def test_a_model_of_another_name_or_type_and_recursion(tmp_path):
    file = described(tmp_path)
    for model, message in (
        ("int other(int a, int b) { return a; }", "mac3"),
        ("float mac3(int a, int b) { return a; }", "mac3"),
        ("int mac3(int a, int b) { return a ? mac3(a - 1, b) : b; }", "recursion is not supported: mac3 -> mac3"),
    ):
        (tmp_path / "models.cl").write_text(model)
        with pytest.raises(CompileError, match=message):
            compile(CALL, "ecp5_onchip", replace(OPTIONS, libraries=load_library(file)), "k.cl")


def test_names_that_the_design_has_too(tmp_path):
    file = described(tmp_path, module='module = "sluice_system"')
    (tmp_path / "mac3.v").write_text((HERE / "mac3.v").read_text().replace("mac3", "sluice_system"))
    with pytest.raises(CompileError, match="the design has sluice_system as well as the RTL library does"):
        compile(CALL, "ecp5_onchip", replace(OPTIONS, libraries=load_library(file)), "k.cl")


def two_functions(folder: Path, second: str) -> Options:
    """f in f.v, and g, whose model calls f, in another file."""
    module = "module {}(input [31:0] a, output [31:0] q); assign q = a + {}; endmodule\n"
    (folder / "x").mkdir()
    (folder / "f.v").write_text(module.format("f", 1))
    (folder / "g.v").write_text(module.format("g", 2))
    (folder / "x" / "f.v").write_text(module.format("g", 2))
    (folder / "both.v").write_text(module.format("g", 2) + module.format("f", 7))
    (folder / "models.cl").write_text("int f(int a) { return a + 1; }\nint g(int a) { return f(a) + 1; }\n")
    table = '[[function]]\nname="{0}"\nmodule="{0}"\nlatency=0\ninputs=["a"]\noutput="q"\nfiles=["{1}"]\n'
    texts = [table.format(name, file) + 'model="models.cl"\n' for name, file in (("f", "f.v"), ("g", second))]
    (folder / "lib.toml").write_text("".join(texts))
    return Options(libraries=load_library(folder / "lib.toml"))


@pytest.mark.parametrize(("second", "taken"), [("x/f.v", "f.v"), ("both.v", "f")])
def test_names_that_two_files_of_libraries_have(tmp_path, second, taken):
    options = two_functions(tmp_path, second)
    text = "int f(int a);\nint g(int a);\n__kernel void k(__global int *o) { o[0] = f(o[1]) + g(o[2]); }"
    with pytest.raises(CompileError, match=f"the design has {taken} as well as the RTL library does"):
        with_rtl_files({}, planned(text, options), options)


def test_a_model_that_calls_another_rtl_function(tmp_path):
    options = two_functions(tmp_path, "g.v")
    (kernel,) = planned("int g(int a);\n__kernel void k(__global int *o) { o[0] = g(o[1]); }", options)
    module, o = Module({"k": kernel.function}), np.array([0, 5], np.int32)
    run_kernel(module, "k", {"o": o}, {})
    assert o.tolist() == [7, 5]
    assert "helper_f(item" in write_program(module).text


@pytest.mark.parametrize(
    "ports",
    [
        "input reg_en, input signed_a, output [3:0] q);",
        "input reg_en, signed_a, output [3:0] q); function f; input x; f = x; endfunction task t; input y; ; endtask",
        'input reg_en, signed_a, output [3:0] q); initial $display("input z");',
    ],
)
def test_ports_whose_names_begin_with_a_keyword_and_inputs_of_functions(tmp_path, ports):
    (tmp_path / "m.v").write_text(f"module m({ports} endmodule")
    one = replace(LIBRARY[0], module="m", files=(tmp_path / "m.v",))
    assert port_widths(one) == {"reg_en": ("input", 1), "signed_a": ("input", 1), "q": ("output", 4)}


def test_a_pipeline_that_stalls_needs_an_enable(tmp_path):
    file = described(tmp_path, enable="")
    (tmp_path / "mac3.v").write_text((HERE / "mac3.v").read_text().replace("input wire en,", "").replace("if (en)", ""))
    options = replace(OPTIONS, libraries=load_library(file))
    compile(CALL, "ecp5_onchip", options, "k.cl")
    assert "module mac3 has no clock enable" in refused(CALL, replace(options, elastic_depth=8))
