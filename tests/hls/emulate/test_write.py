"""The generated text of emulated kernels; its behaviour is tested in tests/sim/emulator."""

import re

import pytest

from hls.diag import CompileError
from hls.emulate import Argument, write_program
from hls.emulate.effects import EFFECTS
from hls.emulate.ops import EXPRESSIONS, ROUNDED, ROWS, WRAPPED
from hls.frontend import parse_source
from hls.ir import F32, I8, I64, OPS, PTR, Builder, Function, MemoryObject, Module


def module(text: str) -> Module:
    return parse_source(text, "k.cl", {}, []).module


def stack_of(module: Module, kernel: str) -> int:
    """The bytes of stack that the table of kernels gives one of its work-items."""
    return int(re.search(rf"{{all_{kernel}, 0, (\d+),", write_program(module).text)[1])


#: What only passes of the hardware's compiler make, behind the IR that is emulated.
LATER = {"shift", "fill", "copy_number"}


def test_every_operation_of_the_ir_has_one_row():
    terminators = {name for name, row in OPS.items() if "terminator" in row.traits}
    assert ROWS | set(EFFECTS) | {"const"} == set(OPS) - terminators - LATER
    assert len(EXPRESSIONS) + len(ROUNDED) + len(WRAPPED) + len(EFFECTS) == len(
        EXPRESSIONS | ROUNDED | WRAPPED | EFFECTS
    )


def test_tables_of_numbers():
    program = write_program(
        module(
            "__kernel void f(__global int *restrict a, float x, uchar n, __global long *b) {"
            " int t[4]; t[n & 3] = n; a[0] = t[n] + x; }"
        )
    )
    (kernel,) = program.kernels
    assert kernel.buffers == ("a", "b")
    assert kernel.scalars == (Argument("x", F32, 0), Argument("n", I8, 8))
    assert kernel.argument_bytes == 16
    assert {(m.name, m.kind, m.element_bytes) for m in program.memories[1:]} == {
        ("a", "argument", 4),
        ("b", "argument", 8),
        ("t", "private array", 4),
    }
    assert {site.function for site in program.sites} == {"f"}


def test_stacks_have_room_for_private_arrays():
    text = (
        "int g(int i) { int t[10000]; t[i] = i; return t[i + 1]; } __kernel void f(__global int *restrict a) { "
        "a[0] = g(1) + g(2); }"
    )
    stack = stack_of(module(text), "f")
    assert 80_000 < stack < 600_000


def test_recursion_is_refused():
    f = Function("f", "helper")
    Builder(f.body).op("call", attrs={"callee": "f"})
    Builder(f.body).op("return")
    k = Function("k", "kernel")
    Builder(k.body).op("call", attrs={"callee": "f"})
    Builder(k.body).op("return")
    with pytest.raises(CompileError, match="f calls itself"):
        write_program(Module({"f": f, "k": k}))


def test_a_memory_of_pointers_takes_their_size():
    k = Function("k", "kernel", memories={"p": MemoryObject("p", "private", PTR, 1000)})
    b = Builder(k.body)
    item = b.value("work_item", result=I64, attrs={"fn": "global_id"})
    b.value("load", b.addr("p", item), b.true(), result=PTR)
    b.op("return")
    assert stack_of(Module({"k": k}), "k") > 40_000
