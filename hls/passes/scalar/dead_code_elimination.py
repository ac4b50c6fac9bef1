"""Dead code goes."""

from dataclasses import dataclass

from ...ir import Attr, Function, Op, Region, TokenType, Value, has, walk
from ...ir.clone import clone_function
from ...ir.rewrite import is_constant, keep_carried, set_results
from ..manager import FunctionPass

__all__ = ["DeadCodeElimination"]


@dataclass(frozen=True)
class DeadCodeElimination(FunctionPass):
    """After: every operation has an effect or a use that leads to one.

    Unused results of `if`, and carried values whose argument and result are needed by nothing but themselves, go too;
    but the tokens that a loop waits for stay. A loop that only computes what nobody uses goes even if it might not end:
    OpenCL C lets it. Loads go, unless their memory is volatile.
    """

    name = "dead-code-elimination"

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        live = _Liveness(result)
        _sweep(result.body, live)
        return result


class _Liveness:
    """Marks backwards from effects; ``ops`` are the operations that stay, ``values`` what they need."""

    def __init__(self, function: Function):
        self.memories = function.memories
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self.parent: dict[Region, Op] = {r: op for op in walk(function.body) for r in op.regions}
        self.home: dict[Op, Region] = {}
        self._find_homes(function.body)
        self.work: list[Value] = []
        for op in walk(function.body):
            if self._is_root(op):
                self._keep(op)
        while self.work:
            self._value(self.work.pop())

    def _find_homes(self, region: Region):
        for op in region.ops:
            self.home[op] = region
            for inner in op.regions:
                self._find_homes(inner)

    def _is_root(self, op: Op) -> bool:
        if op.opcode == "load":
            addr = op.operands[0].op
            return addr is not None and addr.opcode == "addr" and self.memories[addr.attrs[Attr.MEM]].volatile
        return has(op, "effect") or op.opcode == "return"

    def _keep(self, op: Op):
        """The operation stays, with what it needs by itself, and so does what holds it."""
        if op in self.ops:
            return
        self.ops.add(op)
        if op.regions:
            self._use(op.operands[0])  # condition or enable
            if op.opcode == "loop":
                self._use(op.regions[0].terminator.operands[0])
                for k, value in enumerate(op.operands[1:]):
                    if isinstance(value.type, TokenType) and not is_constant(value):
                        self._carried(op, k)
        else:
            for value in op.operands:
                self._use(value)
        holder = self.parent.get(self.home[op])
        if holder is not None:
            self._keep(holder)

    def _use(self, value: Value):
        if value not in self.values:
            self.values.add(value)
            self.work.append(value)

    def _value(self, value: Value):
        op = value.op
        if op is None:
            holder = self.parent.get(value.owner)
            if holder is not None:
                self._carried(holder, value.index)
        elif op.opcode == "loop":
            self._carried(op, value.index)
        else:
            self._keep(op)
            for region in op.regions:
                self._use(region.terminator.operands[value.index])

    def _carried(self, loop: Op, index: int):
        self._keep(loop)
        (body,) = loop.regions
        for value in (
            loop.results[index],
            body.args[index],
            loop.operands[1 + index],
            body.terminator.operands[1 + index],
        ):
            self._use(value)


def _sweep(region: Region, live: _Liveness):
    region.ops = [op for op in region.ops if op in live.ops or has(op, "terminator")]
    for op in region.ops:
        wanted = [k for k, value in enumerate(op.results) if value in live.values]
        if op.opcode == "loop":
            keep_carried(op, wanted)
        elif op.regions:
            for inner in op.regions:
                inner.terminator.operands = [inner.terminator.operands[k] for k in wanted]
            set_results(op, [op.results[k] for k in wanted])
        for inner in op.regions:
            _sweep(inner, live)
