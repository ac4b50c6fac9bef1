"""Functions as Python text, one line per operation, which lets the interpreter run millions of operations in acceptable
time.

The meaning of a pure operation is its row in ``hls.ir.optable``. ``_INLINE`` repeats a few rows as expressions because
calls would dominate the run time otherwise; a test checks that they equal the table. The other names that the text uses
are in the environment in which it is defined: ``ticks`` (a list of the loop iterations left), ``channels``, ``write``,
``ExecutionError``, ``c_float``.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CodeType

from ..narrow import present
from .accesses import fixed_operands, lane_mask, last_of_run, memory_name
from .attributes import Attr
from .barriers import condition_place
from .checks import checked_loads
from .concurrent import BARRIER, POLL, Blocked, Decision, chosen_channel
from .model_function import model_of
from .nodes import Function, Op, Region, Value
from .optable import ATOMICS, OPS
from .storage import (
    BoundMemory,
    accessors,
    address,
    address_arithmetic,
    clear,
    failed_early,
    fails,
    moved,
    new_memory,
    read_early,
    same_place,
    shift,
    zero,
)
from .text import formatted
from .types import ArrayType, FloatType, IntType, PointerType, Type

__all__ = ["define", "expression", "integer_expression", "python_name"]

_INLINE = {
    "add": "({0} + {1}) & {mask}",
    "sub": "({0} - {1}) & {mask}",
    "mul": "({0} * {1}) & {mask}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "eq": "int({0} == {1})",
    "ne": "int({0} != {1})",
    "ult": "int({0} < {1})",
    "ule": "int({0} <= {1})",
    "slt": "int(({0} ^ {sign}) < ({1} ^ {sign}))",
    "sle": "int(({0} ^ {sign}) <= ({1} ^ {sign}))",
    "zext": "{0}",
    "trunc": "{0} & {mask}",
    "sext": "(({0} ^ {sign}) - {sign}) & {mask}",
    "select": "{1} if {0} else {2}",
    "feq": "int({0} == {1})",
    "fne": "int({0} != {1})",
    "flt": "int({0} < {1})",
    "fle": "int({0} <= {1})",
    "token": "0",
}
_SIGNS = {"fadd": "+", "fsub": "-", "fmul": "*"}
_INLINE_FLOAT: dict[Type, dict[str, str]] = {
    FloatType(32): {op: f"one_nan(c_float({{0}} {sign} {{1}}).value)" for op, sign in _SIGNS.items()},
    FloatType(64): {op: f"one_nan({{0}} {sign} {{1}})" for op, sign in _SIGNS.items()},
}


def _shared(group: dict, key: tuple[str, str], memory) -> BoundMemory:
    """The local memory of the work-group, made when its first work-item needs it."""
    if key not in group:
        group[key] = new_memory(memory)
    return group[key]


def python_name(function: Function) -> str:
    """The name of the function in the environment."""
    return f"run_{function.name}"


def define(function: Function, env: dict, waiting: set[str], deciding: Mapping[Op, Op], watch: object = None) -> None:
    """Define the function in ``env``. Functions named in ``waiting`` may wait: they are generators that yield what they
    wait for. ``deciding`` are the operations at which work-items may diverge (:func:`hls.ir.barriers.decisions`).
    ``watch`` is called with events, see :func:`hls.ir.interpreter.run_launches`."""
    _Emitter(function, env, waiting, deciding, watch).compile()


def expression(op: Op, names: Sequence[str], bind: Callable[[object], str]) -> str:
    """The result of a pure operation as a Python expression of its operands' ``names``; ``bind`` names an object that
    the expression needs."""
    if op.opcode == "ptradd":
        return f"{bind(moved)}({', '.join(names)})"
    if op.attrs.get(Attr.INBOUNDS):
        return f"{bind(address_arithmetic)}({op.opcode!r}, {', '.join(names)})"
    types = [v.type for v in op.operands]
    inline = integer_expression(op.opcode, types, op.results[0].type, names)
    if inline is not None:
        return inline
    if not op.attrs.get(Attr.FLUSH_DENORMALS):
        template = _INLINE_FLOAT.get(op.results[0].type, {}).get(op.opcode)
        if template is not None:
            return template.format(*names)
    meaning = bind(OPS[op.opcode].meaning)
    return f"{meaning}(({''.join(n + ', ' for n in names)}), {bind(types)}, {bind(op.result.type)}, {bind(op.attrs)})"


def integer_expression(opcode: str, types: Sequence[Type], result: Type, names: Sequence[str]) -> str | None:
    """An operation of a few simple kinds, on operands of these types, as a Python expression of their ``names``; None
    for all others."""
    template = _INLINE.get(opcode)
    if template is None:
        return None
    mask = (1 << result.bits) - 1 if isinstance(result, IntType) else 0
    sign = 1 << types[0].bits - 1 if types and isinstance(types[0], IntType) else 0
    return template.format(*names, mask=mask, sign=sign)


@functools.lru_cache(maxsize=64)
def _code(text: str, name: str) -> CodeType:
    """The compiled text of the function ``name``: tests and attempts run the same function many times."""
    return compile(text, f"<interpreter of {name}>", "exec")


class _Emitter:
    """Writes one function as Python source and defines it in ``env``."""

    def __init__(self, function: Function, env: dict, waiting: set[str], deciding: Mapping[Op, Op], watch=None) -> None:
        self.function, self.env, self.waiting, self.deciding, self.watch = function, env, waiting, deciding, watch
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.memory = {name: f"m{k}" for k, name in enumerate(function.memories)}
        self.checked = checked_loads(function)

    def compile(self) -> None:
        f = self.function
        args = ["items", "buffers", *(self._name(v) for v in f.args)]
        self._line(0, f"def {python_name(f)}({', '.join(args)}):")
        position = 0
        for m in f.memories.values():
            if m.space == "global":
                value, position = f"buffers[{position}]", position + 1
            elif m.space == "constant":
                value = self._bind(BoundMemory(m.name, memoryview(present(m.data)), len(present(m.data))))
            elif m.space == "local":
                value = f"{self._bind(_shared)}(items['shared'], {(f.name, m.name)!r}, {self._bind(m)})"
            elif m.space == "pipe":
                continue
            else:
                value = f"{self._bind(new_memory)}({self._bind(m)})"
            self._line(1, f"{self.memory[m.name]} = {value}")
        if f.name in self.waiting:
            self._line(1, "if False: yield")  # makes it a generator even if no operation of its own waits
        self._region(f.body, 1, lambda op: [f"return {', '.join(self._names(op.operands)) or None}"])
        exec(_code("\n".join(self.lines), f.name), self.env)  # noqa: S102 - the text is our own

    def _line(self, depth, text) -> None:
        self.lines.append(" " * depth + text)

    def _name(self, value):
        return self.names.setdefault(value, f"v{len(self.names)}")

    def _names(self, values):
        return [self._name(v) for v in values]

    def _bind(self, thing) -> str:
        """A name for an object that the generated code needs."""
        name = f"k{len(self.env)}"
        self.env[name] = thing
        return name

    def _region(self, region: Region, depth, finish) -> None:
        """Write the operations, then what ``finish`` makes of the terminator."""
        for op in region.ops[:-1]:
            write = getattr(self, f"_op_{op.opcode}", None)
            if write:
                write(op, depth)
            else:
                self._line(depth, f"{self._name(op.result)} = {self._expression(op)}")
        for line in finish(region.terminator):
            self._line(depth, line)

    def _expression(self, op: Op) -> str:
        return expression(op, self._names(op.operands), self._bind)

    def _assign(self, targets, sources) -> list[str]:
        return [f"{', '.join(targets)} = {', '.join(sources)}"] if targets else []

    def _op_const(self, op, depth) -> None:
        value = op.attrs[Attr.VALUE]
        text = repr(value) if isinstance(value, int) else self._bind(value)
        if isinstance(op.result.type, ArrayType):
            text = self._bind(tuple(value))
        elif isinstance(op.result.type, PointerType):  # the only pointer constant is null
            text = "None"
        self._line(depth, f"{self._name(op.result)} = {text}")

    def _op_copy_number(self, op, depth) -> None:
        self._op_const(op, depth)

    def _op_work_item(self, op, depth) -> None:
        key = (op.attrs[Attr.FN], op.attrs.get(Attr.DIM, 0))
        self._line(depth, f"{self._name(op.result)} = items[{key!r}] & {(1 << op.result.type.bits) - 1}")

    def _op_addr(self, op, depth) -> None:
        (offset,) = self._names(op.operands)
        self._line(depth, f"{self._name(op.result)} = ({self.memory[op.attrs[Attr.MEM]]}, {offset})")

    def _op_ptroffset(self, op, depth) -> None:
        (pointer,) = self._names(op.operands)
        self._line(depth, f"{self._name(op.result)} = ({pointer} or (None, 0))[1]")

    def _op_ptraddr(self, op, depth) -> None:
        (pointer,) = self._names(op.operands)
        self._line(
            depth,
            f"{self._name(op.result)} = {self._bind(address)}({pointer}, {self._bind(list(self.function.memories))})",
        )

    def _op_ptreq(self, op, depth) -> None:
        one, other = self._names(op.operands)
        self._line(depth, f"{self._name(op.result)} = {self._bind(same_place)}({one}, {other})")

    def _op_given(self, op, depth) -> None:
        self._line(depth, f"{self._name(op.result)} = int({self.memory[op.attrs[Attr.MEM]]}.size > 0)")

    def _op_fresh(self, op, depth) -> None:
        self._line(depth, f"{self._bind(clear)}({self.memory[op.attrs[Attr.MEM]]})")

    def _op_shift(self, op, depth) -> None:
        memory = self.function.memories[op.attrs[Attr.MEM]]
        self._line(
            depth, f"{self._bind(shift)}({self.memory[memory.name]}, {self._bind(op.attrs)}, {memory.element.bytes})"
        )

    def _op_fill(self, op, depth) -> None:
        (value,) = self._names(op.operands)
        store = self._bind(accessors(op.operands[0].type)[1])
        size, low, high = op.operands[0].type.bytes, op.attrs[Attr.LOW], op.attrs[Attr.HIGH]
        place = f"({self.memory[op.attrs[Attr.MEM]]}, offset)"
        self._line(depth, f"for offset in range({low * size}, {high * size}, {size}): {store}({place}, {value}, None)")

    def _tell(self, depth, event, op, *facts) -> None:
        """Report an event to the watcher."""
        if self.watch is not None:
            tell = self._bind(getattr(self.watch, event))
            self._line(depth, f"{tell}({', '.join((self._bind(op), *facts))})")

    def _decide(self, op: Op, condition: Value, depth) -> None:
        """Compare the work-item's decision with those of others, if it decides whether a barrier is reached."""
        if op in self.deciding:
            place = condition_place(self.function, condition, op.span)
            decision = self._bind(Decision(self.deciding[op].span, place))
            self._line(depth, f"{decision}(items, {self._name(condition)})")

    def _op_barrier(self, op, depth) -> None:
        if op.operands:
            self._decide(op, op.operands[0], depth)
        condition = f"if {self._name(op.operands[0])}: " if op.operands else ""
        self._line(depth, f"{condition}yield {BARRIER!r}")

    def _op_mem_fence(self, op, depth) -> None:
        """Nothing to do: accesses execute in program order here."""

    def _op_atomic(self, op, depth) -> None:
        pointer, pred, *values = self._names(op.operands[: fixed_operands(op)])
        type, fn = op.results[0].type, self._bind(ATOMICS[op.attrs[Attr.FN]])
        load, store = (self._bind(a) for a in accessors(type))
        span, old = self._bind(op.span), self._name(op.results[0])
        self._line(depth, f"{old} = {self._bind(zero(type))}")
        self._line(depth, f"if {pred}:")
        self._line(depth + 1, f"{old} = {load}({pointer}, {span})")
        new = f"{fn}({old}, ({''.join(f'{value}, ' for value in values)}), {type.bits})"
        if isinstance(type, IntType):
            new = f"{new} & {(1 << type.bits) - 1}"
        self._line(depth + 1, f"{store}({pointer}, {new}, {span})")
        for token in self._names(op.results[1:]):
            self._line(depth, f"{token} = 0")

    def _op_channel_read(self, op, depth) -> None:
        index, pred = self._names(op.operands[:2])
        value, *there = self._names(op.results)
        queue = self._channel(op, index, pred, depth)
        self._line(depth, f"{value} = {self._bind(zero(op.results[0].type))}")
        self._wait(op, pred, f"not {queue}.values", depth)
        self._ready(op, there, f"{pred} and {queue}.values", depth)
        self._line(depth + 1, f"{value} = {queue}.take()")

    def _op_channel_write(self, op, depth) -> None:
        index, pred, value = self._names(op.operands[:3])
        queue = self._channel(op, index, pred, depth)
        self._wait(op, pred, f"{queue}.full", depth)
        self._ready(op, self._names(op.results), f"{pred} and not {queue}.full", depth)
        self._line(depth + 1, f"{queue}.put({value})")

    def _channel(self, op, index: str, pred: str, depth) -> str:
        queue = f"q{len(self.lines)}"
        name = op.attrs[Attr.CHANNEL]
        pipe = name in self.function.memories
        several = f"items['shared'][{(self.function.name, name)!r}]" if pipe else f"channels[{name!r}]"
        self._line(depth, f"{queue} = {self._bind(chosen_channel)}({several}, {index}, {pred}, {self._bind(op.span)})")
        return queue

    def _wait(self, op, pred: str, stuck: str, depth) -> None:
        """Repeat the operation until it can proceed; a non-blocking one lets others run once."""
        if op.attrs[Attr.BLOCKING]:
            place = self._bind(Blocked(op.attrs[Attr.CHANNEL], op.opcode == "channel_write", op.span))
            self._line(depth, f"while {pred} and {stuck}: yield {place}")
        else:
            self._line(depth, f"if {pred} and {stuck}: yield {POLL!r}")

    def _ready(self, op, answer: list[str], condition: str, depth) -> None:
        """Begin the block that runs if the channel is ready; ``answer`` is set to whether it is."""
        for name in answer:
            self._line(depth, f"{name} = int(bool({condition}))")
        self._line(depth, f"if {answer[0] if answer else condition}:")

    def _op_printf(self, op, depth) -> None:
        pred, *values = self._names(op.operands)
        types = self._bind([v.type for v in op.operands[1:]])
        text = f"{self._bind(formatted)}({op.attrs[Attr.FORMAT]!r}, ({''.join(v + ', ' for v in values)}), {types})"
        self._line(depth, f"if {pred}: write({text})")

    def _op_load(self, op, depth) -> None:
        pointer, pred, *rest = self._names(op.operands[: fixed_operands(op)])
        last = [f"{rest.pop()}[1]"] if last_of_run(op) is not None else []
        self._tell(depth, "access", op, f"{pointer}[1] if {pred} and {pointer} else None", *last)
        load, _ = accessors(op.result.type, lane_mask(op) is not None)
        if op.attrs.get(Attr.EARLY):
            load = partial(read_early, load, op.result.type)
        value = f"{self._bind(load)}({', '.join([pointer, *rest, self._bind(op.span)])})"
        nothing = self._bind(zero(op.result.type))
        self._line(depth, f"{self._name(op.result)} = {value} if {pred} else {nothing}")

    def _op_check(self, op, depth) -> None:
        """An early load failed if the program makes it and its address is outside."""
        (load, *_), (checked, wanted) = self.checked[op], op.operands
        if checked is not load.result:
            where = f"{memory_name(load)!r}, {self._bind(op.span)}"
            flag, wanted = self._names([checked, wanted])
            self._line(depth, f"if {wanted} and {flag}: {self._bind(failed_early)}({where})")
            return
        pointer, wanted = self._names([load.operands[0], wanted])
        read, _ = accessors(load.result.type)
        self._line(depth, f"if {wanted}: {self._bind(read)}({pointer}, {self._bind(load.span)})")

    def _op_failed(self, op, depth) -> None:
        """Whether an early load was made, and its address is outside."""
        load = op.operands[0].op
        pointer, pred = self._names(load.operands[:2])
        read, _ = accessors(load.result.type)
        self._line(
            depth, f"{self._name(op.result)} = {self._bind(fails)}({self._bind(read)}, {pointer}) if {pred} else 0"
        )

    def _op_store(self, op, depth) -> None:
        pointer, value, pred, *mask = self._names(op.operands[: fixed_operands(op)])
        self._tell(depth, "access", op, f"{pointer}[1] if {pred} and {pointer} else None")
        _, store = accessors(op.operands[1].type, lane_mask(op) is not None)
        self._line(depth, f"if {pred}: {self._bind(store)}({', '.join([pointer, value, *mask, self._bind(op.span)])})")
        for token in self._names(op.results):
            self._line(depth, f"{token} = 0")

    def _op_fence(self, op, depth) -> None:
        """Nothing to wait for: accesses execute in program order here."""
        self._tell(depth, "access", op, f"0 if {self._name(op.operands[0])} else None")
        self._line(depth, f"{self._name(op.result)} = 0")

    def _op_hazard(self, op, depth) -> None:
        """No wait, and nothing is found: every earlier store is already in memory here."""
        self._tell(depth, "access", op, "0")
        for result in self._names(op.results):
            self._line(depth, f"{result} = 0")

    def _op_call(self, op, depth) -> None:
        targets = ", ".join(self._names(op.results)) + " = " if op.results else ""
        args = ", ".join(["items", "None", *self._names(op.operands)])
        call = f"run_{op.attrs[Attr.CALLEE]}({args})"
        self._line(
            depth, f"{targets}(yield from {call})" if op.attrs[Attr.CALLEE] in self.waiting else f"{targets}{call}"
        )

    def _op_rtl(self, op, depth) -> None:
        operands = op.operands[: fixed_operands(op)]
        args = ", ".join(["items", "None", *self._names(operands)])
        self._line(depth, f"{self._name(op.result)} = run_{model_of(op).name}({args})")

    _op_rtl_wait = _op_rtl

    def _op_if(self, op, depth) -> None:
        self._decide(op, op.operands[0], depth)
        for head, region in zip((f"if {self._name(op.operands[0])}:", "else:"), op.regions):
            self._line(depth, head)
            self._line(depth + 1, "pass")
            self._region(
                region, depth + 1, lambda end: self._assign(self._names(op.results), self._names(end.operands))
            )

    def _op_loop(self, op, depth) -> None:
        """The results double as the carried values: they hold the initial ones when the loop is disabled."""
        carried, (body,) = self._names(op.results), op.regions
        for line in self._assign(carried, self._names(op.operands[1:])):
            self._line(depth, line)
        go = f"go{len(self.lines)}"
        self._decide(op, op.operands[0], depth)
        self._line(depth, f"{go} = {self._name(op.operands[0])}")
        self._tell(depth, "enter", op, go)
        self._line(depth, f"while {go}:")
        self._tell(depth + 1, "iterate", op)
        watchdog = f"if not ticks[0]: raise ExecutionError('too many loop iterations', {self._bind(op.span)})"
        for line in ["ticks[0] -= 1", watchdog, *self._assign(self._names(body.args), carried)]:
            self._line(depth + 1, line)

        def again(end: Op) -> list[str]:
            self._decide(op, end.operands[0], depth + 1)
            return self._assign([go, *carried], self._names(end.operands))

        self._region(body, depth + 1, again)
        self._tell(depth, "leave", op)
