"""Phrases for operations and variables in a report."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ..diag import Span
from ..ir import Attr, Function, MemoryObject, Module, Op, Value, reachable
from ..mathlib import FOLDER

__all__ = ["at", "copies", "declared", "reader_of", "say_operation", "variable"]

#: the file that the reader has open; None if unknown
_main: ContextVar[str | None] = ContextVar("main", default=None)

_OPERATIONS = {
    "add": "integer add",
    "sub": "integer subtract",
    "mul": "integer multiply",
    "udiv": "integer divide",
    "sdiv": "integer divide",
    "urem": "integer remainder",
    "srem": "integer remainder",
    "and": "bitwise and",
    "or": "bitwise or",
    "xor": "bitwise exclusive or",
    "lut": "bitwise logic",
    "shl": "shift left",
    "lshr": "shift right",
    "ashr": "shift right",
    "eq": "integer compare",
    "ne": "integer compare",
    "ult": "integer compare",
    "ule": "integer compare",
    "slt": "integer compare",
    "sle": "integer compare",
    "fadd": "floating-point add",
    "fsub": "floating-point subtract",
    "fmul": "floating-point multiply",
    "fma": "fused multiply-add",
    "fsum": "fused floating-point sum",
    "fsqrt": "square root",
    "fintegral": "rounding to an integral value",
    "fresize": "floating-point conversion",
    "fdiv": "floating-point divide",
    "fneg": "floating-point negate",
    "fabs": "floating-point absolute value",
    "feq": "floating-point compare",
    "fne": "floating-point compare",
    "flt": "floating-point compare",
    "fle": "floating-point compare",
    "zext": "integer conversion",
    "sext": "integer conversion",
    "trunc": "integer conversion",
    "bitcast": "bitcast",
    "sitofp": "integer to floating-point conversion",
    "uitofp": "integer to floating-point conversion",
    "fptosi": "floating-point to integer conversion",
    "fptoui": "floating-point to integer conversion",
    "select": "select",
    "extract": "read of array",
    "insert": "write to array",
    "addr": "address",
}


def at(span: Span | None) -> str:
    """The location of something in the user's source, for a reader who has it open; locations in library functions are
    marked as such."""
    if span is None:
        return ""
    if span.file.startswith(f"{FOLDER}/"):
        return " (in a mathematical function)"
    main = _main.get()
    return f" (line {span.line})" if main in (None, span.file) else f" ({Path(span.file).name}:{span.line})"


@contextmanager
def reader_of(file: str | None) -> Iterator[None]:
    """While active, :func:`at` addresses a reader of that file: locations in other files include the file name."""
    before = _main.set(file)
    try:
        yield
    finally:
        _main.reset(before)


def declared(module: Module, kernel: str) -> dict[str, MemoryObject]:
    """The memories of the source that a kernel can access, by their names in its IR (calls of one helper may add a
    number to a name). ``module`` is the IR before optimization."""
    source = module.functions[kernel]
    return {
        memory.name if function is source or memory.space == "constant" else f"{function.name}.{memory.name}": memory
        for function in reachable(module, source)
        for memory in function.memories.values()
    }


def say_operation(op: Op, memories: Mapping[str, MemoryObject]) -> str:
    """A short phrase for an operation; ``memories`` are those of the source, which tell what is an array's element."""
    if op.opcode == "loop":
        return f"inner loop {op.attrs.get(Attr.LABEL, '')}".rstrip()
    if op.opcode in ("load", "store", "atomic"):
        address = op.operands[0].op
        joint = "to" if op.opcode == "store" else "of"
        return f"{op.opcode} {joint} {_memory(address.attrs[Attr.MEM], memories)}" if address is not None else op.opcode
    if op.opcode in ("channel_read", "channel_write"):
        return f"{op.opcode.removeprefix('channel_')} of channel {op.attrs[Attr.CHANNEL]}"
    if op.opcode == "hazard":
        return f"hazard unit of {op.attrs[Attr.MEM]}"
    if op.opcode == "fence":
        return f"fence for stores to {', '.join(op.attrs[Attr.MEMS])}"
    if op.opcode == "rtl_wait":
        return f"module {op.attrs[Attr.RTL_MODULE]}"
    words = _OPERATIONS.get(op.opcode, op.opcode)
    name = variable(op.results[0], memories) if op.results else ""
    if op.opcode in ("extract", "insert"):
        name = name or variable(op.operands[0], memories)
        return f"{words} {name}".rstrip()
    return f"{words} for {name}" if name else words


def copies(function: Function) -> dict[str, MemoryObject]:
    """The memories that stand for buffers and arrays in launches that work on copies of buffers, by name."""
    return {name: one for name, one in function.memories.items() if Attr.COPY_OF in dict(one.attrs)}


def _memory(name: str, memories: Mapping[str, MemoryObject]) -> str:
    """The name of a memory; that of the buffer or array whose copy it is, where ``memories`` say so."""
    original = dict(memories[name].attrs).get(Attr.COPY_OF) if name in memories else None
    return f"the copy of {original}" if original is not None else name


def variable(value: Value, memories: Mapping[str, MemoryObject]) -> str:
    """The source's name for a value, "" if it has none.

    ``name.k`` is element k where the source has an array of that name, else the k-th variable of the name.
    """
    name = value.name
    stem, dot, number = name.rpartition(".")
    if not dot or not number.isdecimal():
        return name.rpartition(".")[2]
    array = memories.get(stem)
    short = stem.rpartition(".")[2]
    return f"{short}[{number}]" if name not in memories and array is not None and (array.length or 1) > 1 else short
