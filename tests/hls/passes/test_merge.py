"""Arrays that share one memory by the attribute ``merge``."""

import numpy as np
import pytest

from hls.diag import CompileError
from hls.driver import compile
from hls.frontend import parse_source
from hls.ir import Attr, walk
from hls.ir.interpreter import run_kernel
from hls.passes.link.check_legality import check_hardware
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from hls.report.collect import collect

BODY = """
  for (int i = 0; i < 64; i++) { x[i] = a[i]; y[(i * 7) & 63] = a[i] + 1; }
  for (int i = 0; i < 64; i++) out[i] = x[a[i] & 63] * 3 + y[i];
"""


def kernel(x: str, y: str, body: str = BODY) -> str:
    return f"__kernel void f(__global const int *restrict a, __global int *restrict out) {{\n  {x};\n  {y};{body}}}\n"


def asked(name: str, direction: str, type: str = "int", label: str = "m", more: str = "", length: int = 64) -> str:
    return f'{type} __attribute__((merge("{label}", "{direction}"){more})) {name}[{length}]'


@pytest.mark.parametrize("direction", ["depth", "width"])
@pytest.mark.parametrize("type", ["int", "uchar", "short"])
def test_bytes(direction, type):
    text = kernel(asked("x", direction, type), asked("y", direction, type, length=80))
    module, a = parse_source(text).module, np.random.default_rng(1).integers(0, 200, 64).astype(np.int32)
    found = []
    for version in (module, optimize(module, PipelineOptions(check=True))):
        out = np.zeros(64, np.int32)
        run_kernel(version, "f", {"a": a, "out": out})
        found.append(out)
    assert (found[0] == found[1]).all() and found[0].any()
    function = optimize(module).functions["f"]
    assert {op.attrs["mem"] for op in walk(function.body) if op.opcode == "addr"} == {"a", "out", "x_y"}
    assert dict(function.memories["x_y"].attrs)[Attr.MERGED] == ("x", "y")


def test_without_it_they_are_two():
    function = optimize(parse_source(kernel("int x[64]", "int y[64]")).module).functions["f"]
    assert "x_y" not in function.memories


def test_the_report_names_both():
    report = collect(compile(kernel(asked("x", "depth"), asked("y", "depth"))), "k.cl")
    (memory,) = report.kernels[0].memories
    assert memory.merged == ("x (line 2)", "y (line 3)") and memory.merged_by == "depth"
    assert memory.requested == 512 and memory.blocks <= 2 and memory.attributes == ("merge",)
    assert "merged into memory x_y" in str(report.kernels[0].privates)


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (asked("x", "depth"), asked("y", "width"), "one by depth and one by width"),
        (asked("x", "depth"), asked("y", "depth", "short"), "their elements have 4 and 2 bytes"),
        (
            asked("x", "depth", more=", numbanks(2)"),
            asked("y", "depth", more=", numbanks(4)"),
            r"ask for numbanks\(2\) and numbanks\(4\)",
        ),
        (
            asked("x", "depth", more=", doublepump"),
            asked("y", "depth", more=", singlepump"),
            "ask for doublepump and singlepump",
        ),
        (
            asked("x", "depth", more=', memory("MLAB")'),
            asked("y", "depth", more=", doublepump"),
            r'ask for doublepump and memory\("MLAB"\)',
        ),
    ],
)
def test_what_cannot_be_one_memory_is_refused(x, y, said):
    with pytest.raises(CompileError, match=said) as error:
        optimize(parse_source(kernel(x, y)).module)
    assert error.value.diagnostics[0].span.line == 3 and error.value.diagnostics[0].hint


def test_only_by_depth_or_by_width():
    with pytest.raises(CompileError, match='memories are merged by "depth" or by "width", not by "length"') as error:
        parse_source(kernel(asked("x", "length"), "int y[64]"))
    assert error.value.diagnostics[0].span.line == 2 and error.value.diagnostics[0].hint == 'write merge("m", "depth")'


def test_a_single_value_is_not_merged():
    (warning,) = check_hardware(
        parse_source(
            kernel(
                asked("x", "depth"),
                'int __attribute__((merge("m", "depth"))) y[64], z = a[0]',
                BODY + "  out[0] += z;\n",
            )
        ).module
    )
    assert warning.message == "the attribute 'merge' of 'z' has no effect" and warning.span.line == 3


def test_parts_of_elements_cannot_be_side_by_side():
    body = (
        "\n  for (int i = 0; i < 64; i++) { ((uchar *)x)[i * 3] = a[i]; y[i] = 1; }\n  for (int i = 0; i < 64; "
        "i++) out[i] = x[a[i] & 63] + y[i];\n"
    )
    with pytest.raises(
        CompileError, match="'x' is merged by width, but its elements have 4 bytes and are not accessed as a whole"
    ):
        optimize(parse_source(kernel(asked("x", "width"), asked("y", "width"), body)).module)


def test_fields_of_structures_are_arrays_too():
    body = (
        "\n  for (int i = 0; i < 64; i++) { x[i].p = a[i]; y[i].p = i; }\n  for (int i = 0; i < 64; i++) out[i] = "
        "x[a[i] & 63].p + y[i].p;\n"
    )
    pairs = (asked(name, "width", "struct pair") for name in "xy")
    function = optimize(parse_source("struct pair { int p, q; };\n" + kernel(*pairs, body)).module).functions["f"]
    assert dict(function.memories["x.p_y.p"].attrs)[Attr.MERGED] == ("x.p", "y.p")


def test_a_label_of_one_array_is_told():
    said = []
    optimize(
        parse_source(kernel(asked("x", "depth"), asked("y", "depth", label="other"))).module,
        PipelineOptions(warn=said.append),
    )
    assert [one.message for one in said] == [f"the attribute 'merge' of '{name}' has no effect" for name in "xy"]


def test_a_promise_for_one_of_them_is_none_for_both():
    def promised(pragma):
        body = (
            f"\n  for (int i = 0; i < 64; i++) y[i] = a[i];\n  {pragma}\n  for (int i = 0; i < 64; i++) x[a[i] & 63] "
            "= x[a[i + 1] & 63] + y[i];\n" + "  for (int i = 0; i < 64; i++) out[i] = x[i] + y[i];\n"
        )
        function = optimize(parse_source(kernel(asked("x", "depth"), asked("y", "depth"), body)).module).functions["f"]
        return [op.attrs["ivdep"] for op in walk(function.body) if op.attrs.get("ivdep")]

    assert promised("#pragma ivdep array(x)") == []
    assert promised("#pragma ivdep") != []
