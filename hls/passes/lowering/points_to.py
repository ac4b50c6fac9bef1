"""Points-to analysis (inclusion-based, flow-insensitive; Andersen 1994): the memories a pointer may point into."""

from collections.abc import Iterable

from ...ir import PTR, Attr, Function, Op, Value, walk

__all__ = ["NULL", "Roots"]

#: the pseudo-memory of null pointers, used where pointers are compared; no memory has this name
NULL = "(null)"


class Roots:
    """The memories that each pointer of a function may point into: the smallest sets closed under the flow of values,
    including flow through memories of pointers. :data:`NULL` is included only where pointers are compared, or converted
    to integers: no other operation can observe it."""

    def __init__(self, function: Function) -> None:
        self._sets: dict[Value, set[str]] = {}
        self._contents: dict[str, set[str]] = {m.name: set() for m in function.memories.values() if m.element == PTR}
        self._order = {name: k for k, name in enumerate([*function.memories, NULL])}
        ops = [op for op in walk(function.body) if _moves_pointers(op)]
        if any(op.opcode in ("ptreq", "ptraddr") for op in walk(function.body)):
            for op in ops:
                if op.opcode == "const":
                    self._sets[op.result] = {NULL}
            for name in self._contents:
                self._contents[name] = {NULL}
        while sum(self._flow(op) for op in ops):
            pass

    def __getitem__(self, value: Value) -> list[str]:
        return self.ordered(self._sets.get(value, ()))

    def inside(self, memory: str) -> list[str]:
        """The memories that pointers stored in a memory may point into."""
        return self.ordered(self._contents[memory])

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Memories in the function's order, null last."""
        return sorted(names, key=self._order.__getitem__)

    def _flow(self, op: Op) -> int:
        """Propagate through one operation; returns how many sets grew."""
        if op.opcode == "addr":
            return self._join(op.result, {op.attrs[Attr.MEM]})
        if op.opcode == "if":
            ends = [region.terminator.operands for region in op.regions]
            return sum(self._join(v, self._of(end[k])) for end in ends for k, v in enumerate(op.results))
        if op.opcode == "loop":
            (body,) = op.regions
            sources = zip(op.operands[1:], body.terminator.operands[1:], strict=True)
            return sum(
                self._join(target, self._of(init) | self._of(after))
                for k, (init, after) in enumerate(sources)
                for target in (op.results[k], body.args[k])
            )
        if op.opcode == "load":
            found = [self._contents.get(name, set()) for name in self._of(op.operands[0])]
            return self._join(op.result, set().union(*found))
        if op.opcode == "store":
            return sum(self._keep(name, self._of(op.operands[1])) for name in self._of(op.operands[0]))
        return sum(self._join(v, set().union(*map(self._of, op.operands))) for v in op.results)

    def _of(self, value: Value) -> set[str]:
        return self._sets.get(value, set()) if value.type == PTR else set()

    def _join(self, value: Value, more: set[str]) -> bool:
        if value.type != PTR or more <= self._sets.get(value, set()):
            return False
        self._sets.setdefault(value, set()).update(more)
        return True

    def _keep(self, memory: str, more: set[str]) -> bool:
        """Record that a pointer into ``more`` is stored in a memory of pointers."""
        inside = self._contents.get(memory)
        if inside is None or more <= inside:
            return False
        inside |= more
        return True


def _moves_pointers(op: Op) -> bool:
    if op.opcode == "store":
        return op.operands[1].type == PTR
    if op.opcode in ("load", "const"):
        return op.result.type == PTR
    return op.opcode in ("addr", "ptradd", "select", "if", "loop")
