"""Names of values, operations and sums in printed results of analyses."""

from hls.analysis.affine.affine import Affine, Symbol, WrappedSum
from hls.analysis.loops.loop_tree import Loop
from hls.ir import Function, Module, Op, Region, Value, memory_name, reaches_memory
from hls.passes.link.place_buffers import as_used
from hls.target.board import load_board

__all__ = ["Names", "address_bits"]

#: for which all cases are run
BOARD = load_board("de5net")


def address_bits(function: Function) -> int:
    """Those of a byte offset into the memories that the function uses."""
    return as_used(Module({function.name: function}), BOARD).address_bits


class Names:
    """The names that the printed text of a function has: ``%i.5``; an operation is called by its first result, or by
    what it does."""

    def __init__(self, function: Function):
        self._names: dict[Value, str] = {}
        for value in function.args:
            self(value)
        self._region(function.body)

    def __call__(self, value: Value) -> str:
        if value not in self._names:
            self._names[value] = f"%{value.name}.{len(self._names)}" if value.name else f"%{len(self._names)}"
        return self._names[value]

    def _region(self, region: Region) -> None:
        for value in region.args:
            self(value)
        for op in region.ops:
            for value in (*op.results, *op.operands):
                self(value)
            for inner in op.regions:
                self._region(inner)

    def op(self, op: Op) -> str:
        """An access with its memory and place, a loop with its first carried value."""
        if reaches_memory(op):
            made = f"{self(op.results[0])} = " if op.opcode != "store" else ""
            return f"{made}{op.opcode} {memory_name(op)}[{self(op.operands[0].op.operands[0])}]"
        if op.opcode == "loop":
            return self.loop(op)
        return f"{self(op.results[0])} = {op.opcode}" if op.results else op.opcode

    def loop(self, loop: Op | Loop | None) -> str:
        """A loop by its first carried value."""
        if loop is None:
            return "the kernel"
        op = loop.op if isinstance(loop, Loop) else loop
        args = op.regions[0].args
        return f"loop of {self(args[0])}" if args else f"loop on {self(op.operands[0])}"

    def sum(self, form: Affine) -> str:
        """A sum, in the order of the names of its terms; t(...) counts the iterations of a loop."""
        terms = sorted((self._unknown(unknown), factor) for unknown, factor in form.terms.items())
        parts = [name if factor == 1 else f"{factor}*{name}" for name, factor in terms]
        return " + ".join([*parts, *([str(form.const)] if form.const or not parts else [])])

    def _unknown(self, unknown: object) -> str:
        if isinstance(unknown, Loop):
            return f"t({self.loop(unknown)})"
        symbol = unknown.symbol if isinstance(unknown, WrappedSum) else unknown
        assert isinstance(symbol, Symbol)
        name = self(symbol.value)
        if isinstance(unknown, WrappedSum):
            return f"whole({name})"
        return f"wraps({name})" if symbol.wraps is not None else name if symbol.signed else f"unsigned({name})"

    def all(self, values) -> str:
        """Values in the order in which they are printed."""
        order = {value: k for k, value in enumerate(self._names)}
        return ", ".join(self(value) for value in sorted(values, key=order.__getitem__)) or "none"

    def values(self) -> list[Value]:
        """All values of the function, in order."""
        return list(self._names)
