"""The definition of what IR means: it runs kernels on real bytes.

Any stage of the pipeline can be run, from what the frontend makes (calls, `if`, private memories, pointers) to flat
kernels. Each function becomes one Python function, one line an operation, so that runs of millions of operations
stay practical; the meaning of a pure operation is its row in ``hls.ir.optable``. ``_INLINE`` repeats a few rows as
expressions because calls dominate otherwise; a test holds them equal to the table.

A pointer is a pair (memory, byte offset), the offset unsigned modulo 2**64. Private memories are zero at the
start of a work-item (of a call, in a helper).
"""

from collections.abc import Mapping, Sequence
from ctypes import c_float

from .accesses import fixed_operands
from .launch import OVERLAP, IndexSpace
from .nodes import Function, Module, Op, Region, Value
from .optable import OPS
from .storage import BoundMemory, ExecutionError, accessors, bind_buffer, new_memory, zero
from .types import ArrayType, FloatType, IntType, PointerType
from .values import round_float

__all__ = ["ExecutionError", "run_kernel"]

_INLINE = {
    "add": "({0} + {1}) & {mask}", "sub": "({0} - {1}) & {mask}", "mul": "({0} * {1}) & {mask}",
    "and": "{0} & {1}", "or": "{0} | {1}", "xor": "{0} ^ {1}",
    "eq": "int({0} == {1})", "ne": "int({0} != {1})", "ult": "int({0} < {1})", "ule": "int({0} <= {1})",
    "slt": "int(({0} ^ {sign}) < ({1} ^ {sign}))", "sle": "int(({0} ^ {sign}) <= ({1} ^ {sign}))",
    "zext": "{0}", "trunc": "{0} & {mask}", "sext": "(({0} ^ {sign}) - {sign}) & {mask}",
    "select": "{1} if {0} else {2}",
    "feq": "int({0} == {1})", "fne": "int({0} != {1})", "flt": "int({0} < {1})", "fle": "int({0} <= {1})",
    "ptradd": "({0}[0], ({0}[1] + {1}) & 0xffffffffffffffff)", "token": "0",
}
_INLINE_F32 = {op: f"c_float({{0}} {sign} {{1}}).value" for op, sign in
               (("fadd", "+"), ("fsub", "-"), ("fmul", "*"))}


def run_kernel(
    module: Module | Function,
    kernel_name: str,
    buffers: Mapping[str, object],
    scalars: Mapping[str, int | float] | None = None,
    global_size: Sequence[int] = (1,),
    local_size: Sequence[int] | None = None,
    global_offset: Sequence[int] | None = None,
    max_iterations: int | None = None,
) -> None:
    """Run a kernel over its index space; ``buffers`` (bytearray, writable memoryview or numpy array) change in place.

    ``scalars`` gives every scalar parameter by name; integers of any sign are wrapped. Work-items run one after the
    other, group by group, x fastest. ``local_size`` defaults to what the kernel requires, else to 1 in every
    dimension. ``max_iterations`` bounds the loop iterations of the whole run.

    Raises ExecutionError for an access outside a memory or when the bound is reached, and ValueError for launch
    arguments that do not fit the kernel.
    """
    module = module if isinstance(module, Module) else Module({module.name: module})
    function = module.functions[kernel_name]
    space = IndexSpace.of(global_size, local_size or function.attrs.get("work_group_size"), global_offset)
    env = {"ticks": [-1 if max_iterations is None else max_iterations + 1], "c_float": c_float,
           "round_float": round_float, "ExecutionError": ExecutionError}
    for each in module.functions.values():
        _Emitter(each, env).compile()
    memories = [bind_buffer(m, buffers) for m in function.memories.values() if m.space == "global"]
    args = [_argument(function, name, value.type, scalars or {}) for name, value in _scalar_args(function)]
    run = env[_python_name(function)]
    if "launch_args" in function.attrs:
        run({}, memories, *args, *(_hidden_argument(space, n) for n in function.attrs["launch_args"]))
        return
    for item in space.items():
        run(item, memories, *args)


def _hidden_argument(space: IndexSpace, name: str) -> int:
    return 1 if name == OVERLAP else space.argument(name)  # program order is always kept here


def _scalar_args(function: Function):
    return zip([p.name for p in function.params if p.kind == "scalar"], function.args)


def _argument(function, name, type, scalars):
    if name not in scalars:
        raise ValueError(f"kernel {function.name}: scalar argument {name} is missing")
    if isinstance(type, FloatType):
        return round_float(float(scalars[name]), type.bits)
    return int(scalars[name]) & (1 << type.bits) - 1


def _python_name(function: Function) -> str:
    return f"run_{function.name}"


class _Emitter:
    """Writes one function as Python source and defines it in ``env``."""

    def __init__(self, function: Function, env: dict):
        self.function, self.env = function, env
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.memory = {name: f"m{k}" for k, name in enumerate(function.memories)}

    def compile(self):
        f = self.function
        args = ["items", "buffers", *(self._name(v) for v in f.args)]
        self._line(0, f"def {_python_name(f)}({', '.join(args)}):")
        position = 0
        for m in f.memories.values():
            if m.space == "global":
                value, position = f"buffers[{position}]", position + 1
            elif m.space == "constant":
                value = self._bind(BoundMemory(m.name, memoryview(m.data), len(m.data)))
            else:
                value = f"{self._bind(new_memory)}({self._bind(m)})"
            self._line(1, f"{self.memory[m.name]} = {value}")
        self._region(f.body, 1, lambda op: [f"return {', '.join(self._names(op.operands)) or None}"])
        code = compile("\n".join(self.lines), f"<interpreter of {f.name}>", "exec")
        exec(code, self.env)  # noqa: S102 - the text is our own

    def _line(self, depth, text):
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

    def _region(self, region: Region, depth, finish):
        """The operations, then what ``finish`` makes of the terminator."""
        for op in region.ops[:-1]:
            write = getattr(self, f"_op_{op.opcode}", None)
            if write:
                write(op, depth)
            else:
                self._line(depth, f"{self._name(op.result)} = {self._expression(op)}")
        for line in finish(region.terminator):
            self._line(depth, line)

    def _expression(self, op: Op) -> str:
        names = self._names(op.operands)
        template = _INLINE.get(op.opcode)
        if template is None and op.results[0].type == FloatType(32):
            template = _INLINE_F32.get(op.opcode)
        if template:
            result, first = op.result.type, op.operands[0].type
            mask = (1 << result.bits) - 1 if isinstance(result, IntType) else 0
            sign = 1 << first.bits - 1 if isinstance(first, IntType) else 0
            return template.format(*names, mask=mask, sign=sign)
        meaning = self._bind(OPS[op.opcode].meaning)
        types = self._bind([v.type for v in op.operands])
        rest = f"{types}, {self._bind(op.result.type)}, {self._bind(op.attrs)}"
        return f"{meaning}(({''.join(n + ', ' for n in names)}), {rest})"

    def _assign(self, targets, sources) -> list[str]:
        return [f"{', '.join(targets)} = {', '.join(sources)}"] if targets else []

    def _op_const(self, op, depth):
        value = op.attrs["value"]
        text = repr(value) if isinstance(value, int) else self._bind(value)
        if isinstance(op.result.type, ArrayType):
            text = self._bind(tuple(value))
        elif isinstance(op.result.type, PointerType):  # the only pointer constant is null
            text = "None"
        self._line(depth, f"{self._name(op.result)} = {text}")

    def _op_work_item(self, op, depth):
        key = (op.attrs["fn"], op.attrs.get("dim", 0))
        self._line(depth, f"{self._name(op.result)} = items[{key!r}] & {(1 << op.result.type.bits) - 1}")

    def _op_addr(self, op, depth):
        (offset,) = self._names(op.operands)
        self._line(depth, f"{self._name(op.result)} = ({self.memory[op.attrs['mem']]}, {offset})")

    def _op_load(self, op, depth):
        pointer, pred, *mask = self._names(op.operands[:fixed_operands(op)])
        load, _ = accessors(op.result.type)
        value = f"{self._bind(load)}({', '.join([pointer, *mask, self._bind(op.span)])})"
        nothing = self._bind(zero(op.result.type))
        self._line(depth, f"{self._name(op.result)} = {value} if {pred} else {nothing}")

    def _op_store(self, op, depth):
        pointer, value, pred, *mask = self._names(op.operands[:fixed_operands(op)])
        _, store = accessors(op.operands[1].type)
        self._line(depth, f"if {pred}: {self._bind(store)}({', '.join([pointer, value, *mask, self._bind(op.span)])})")
        for token in self._names(op.results):
            self._line(depth, f"{token} = 0")

    def _op_fence(self, op, depth):
        """Accesses take place in program order here: nothing is left to wait for."""
        self._line(depth, f"{self._name(op.result)} = 0")

    def _op_call(self, op, depth):
        targets = [f"{self._name(v)} = " for v in op.results]
        args = ", ".join(["items", "None", *self._names(op.operands)])
        self._line(depth, f"{''.join(targets)}run_{op.attrs['callee']}({args})")

    def _op_if(self, op, depth):
        for head, region in zip((f"if {self._name(op.operands[0])}:", "else:"), op.regions):
            self._line(depth, head)
            self._line(depth + 1, "pass")
            self._region(region, depth + 1,
                         lambda end: self._assign(self._names(op.results), self._names(end.operands)))

    def _op_loop(self, op, depth):
        """The results double as the carried values: they hold the initial ones when the loop is off."""
        carried, (body,) = self._names(op.results), op.regions
        for line in self._assign(carried, self._names(op.operands[1:])):
            self._line(depth, line)
        go = f"go{len(self.lines)}"
        self._line(depth, f"{go} = {self._name(op.operands[0])}")
        self._line(depth, f"while {go}:")
        watchdog = f"if not ticks[0]: raise ExecutionError('too many loop iterations', {self._bind(op.span)})"
        for line in ["ticks[0] -= 1", watchdog, *self._assign(self._names(body.args), carried)]:
            self._line(depth + 1, line)
        self._region(body, depth + 1,
                     lambda end: self._assign([go, *carried], self._names(end.operands)))
