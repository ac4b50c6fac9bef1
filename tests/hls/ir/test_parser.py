"""The text form round-trips, and text that is not IR is refused with the line of the error."""

import ir_kernels as kernels
import numpy as np
import pytest

from hls.diag import Span
from hls.ir import F32, I32, ArrayType, Builder, Function, MemoryObject, print_function, print_module
from hls.ir.interpreter import run_kernel
from hls.ir.parser import ParseError, parse_function, parse_module
from hls.ir.verifier import verify


@pytest.mark.parametrize("make", [kernels.scale, kernels.global_ids, kernels.swap_loop])
def test_print_parse_print(make):
    text = print_function(make())
    again = parse_function(text)
    verify(again)
    assert print_function(again) == text


def rich() -> Function:
    """One of everything that the text form knows."""
    f = Function("rich.1", "kernel", attrs={"ndrange": False, "work_group_size": (4, 1, 1)}, span=Span("a b.cl", 1, 2))
    kernels.add_buffer(f, "a", F32)
    (n,) = kernels.add_args(f, n=I32)
    f.memories["t"] = MemoryObject("t", "constant", I32, 2, const=True, data=bytes(range(8)), span=Span("x.cl", 3, 4))
    f.memories["p.0"] = MemoryObject("p.0", "private", F32, 4, volatile=True)
    b = Builder(f.body, Span('we"ird.cl', 7, 8))
    numbers = [b.const(x, F32) for x in (0.1, -0.0, float("inf"), float("nan"))]
    array = b.value("array", *numbers, name="arr")
    b.const((0.5, 1.5), ArrayType(F32, 2))
    op = b.op("if", b.value("slt", n, b.const(3, I32)), results=[F32], regions=[kernels.Region(), kernels.Region()])
    for region in op.regions:
        inner = Builder(region)
        inner.op("yield", inner.value("extract", array, n))
    b.op("store", b.addr("a"), op.result, b.true())
    b.op("loop", b.true(), regions=[kernels.Region()], attrs={"label": 'quote " and \\', "unroll": -1})
    inner = Builder(f.body.ops[-1].regions[0])
    inner.op("yield", inner.const(0, kernels.BOOL))
    b.op("return")
    return f


def test_everything_round_trips():
    text = print_function(rich())
    again = parse_function(text)
    verify(again)
    assert print_function(again) == text
    assert again.memories == rich().memories and again.params == rich().params and again.span == rich().span


def test_what_was_parsed_runs():
    a = np.arange(8, dtype=np.float32)
    run_kernel(parse_function(print_function(kernels.scale())), "scale", {"a": a}, {"n": 4, "k": 2.0})
    assert a.tolist() == [0, 2, 4, 6, 4, 5, 6, 7]


def test_comments_and_names_of_text_written_by_hand():
    text = """; what this is about
kernel @k(%n: i32) {  ; it has one argument
  memory o: global i32 x ? @"a;b.cl":1:2
  %true: i1 = const {value = 1}
  %first: i64 = const {value = 0}   ; the place
  %p: ptr = addr %first {mem = "o"}
  store %p, %n, %true
  return
}
; the end"""
    function = parse_function(text)
    verify(function)
    assert [v.name for v in function.args] == ["n"] and function.memories["o"].span.file == "a;b.cl"
    assert "%first.2: i64 = const" in print_function(function)
    with pytest.raises(ParseError, match="line 3: cannot read '!"):
        parse_module("; a comment\n\n  ! ; another one")


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "; not IR\n__kernel\nvoid k(int a) {}",
            "line 2: a function begins with kernel or helper, not with '__kernel'",
        ),
        ("kernel\nk() {}", "line 2: a function's name begins with @"),
        ("kernel @k() {\n  %1: i1 = const {value = 1}\n  %1: i1 =\n\n", "line 3: %1 is defined twice"),
        ("; all of this\n!", "line 2: cannot read '!'"),
    ],
)
def test_a_message_names_the_first_line_that_is_not_ir(text, message):
    with pytest.raises(ParseError) as raised:
        parse_module(text)
    assert str(raised.value) == message


def test_modules_hold_several_functions():
    text = "\n".join(print_function(make()) for make in (kernels.scale, kernels.swap_loop))
    assert print_module(parse_module(text)) == text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("mul", "mull"), "unknown operation mull"),
        (("sext %i.5", "sext %j"), "line 10: %j is not defined"),
        (("i64", "q64"), "unknown type q64"),
        (("loop", "!loop"), "line 8: cannot read"),
        (("yield", ""), "line"),
        (("{\n", "\n"), "expected {"),
        (("  return\n}", "  return"), "ends too early"),
    ],
)
def test_errors_name_the_line(change, message):
    text = print_function(kernels.scale())
    assert change[0] in text
    with pytest.raises(ParseError, match=message):
        parse_function(text.replace(*change, 1))
