"""What must have become values by now is refused if it did not."""

from dataclasses import dataclass

from ..diag import CompileError, Diagnostic
from ..ir import Function, walk
from ..ir.clone import clone_function
from ..ir.rewrite import rewrite

__all__ = ["NoPrivateMemory"]


@dataclass(frozen=True)
class NoPrivateMemory:
    """After: no private memories. Those without accesses are dropped."""

    name = "no-private-memory"

    def run(self, function: Function) -> Function:
        """Raises CompileError naming every private memory that is still accessed."""
        private = {m.name: m for m in function.memories.values() if m.space == "private"}
        used = {op.attrs["mem"]: op for op in walk(function.body) if op.opcode == "addr" and op.attrs["mem"] in private}
        if used:
            raise CompileError(*(_message(private[name], op.span) for name, op in used.items()))
        result = clone_function(function)
        for name in private:
            del result.memories[name]
        rewrite(result.body, lambda op, b: [] if op.opcode == "fresh" else None)
        return result


def _message(memory, span) -> Diagnostic:
    if memory.length > 1:
        return Diagnostic(f"the private array {memory.name} of {memory.length * memory.element.bits:,} bits needs local "
                          "memory (not built yet)", memory.span or span,
                          "make it smaller, or index it by constants only (unroll the loop)")
    return Diagnostic(f"{memory.name} is accessed through a pointer to another type", span,
                      "use as_int, as_float and the like to read a value as another type")
