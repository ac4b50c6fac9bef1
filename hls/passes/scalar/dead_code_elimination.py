"""Dead code elimination."""

from dataclasses import dataclass

from ...ir import OPS, Attr, Function, Op, Region, TokenType, Value, has, walk
from ...ir.checks import checked_loads
from ...ir.clone import clone_function
from ...ir.loops import keep_carried
from ...ir.rewrite import constant, is_constant, set_results
from ..manager import FunctionPass

__all__ = ["DeadCodeElimination"]

#: operations that are live whatever uses them; a check lives as long as its loads
_ROOTS = frozenset(name for name, row in OPS.items() if "effect" in row.traits) - {"check"} | {"return"}


@dataclass(frozen=True)
class DeadCodeElimination(FunctionPass):
    """Dead code elimination by mark and sweep (LLVM: ADCE). Before: any IR in SSA form. After: every operation has an
    effect or a use that leads to one.

    Unused results of `if` are removed, and so are carried values whose argument and result only serve themselves; the
    tokens that a loop waits for stay. A loop whose results are all unused is removed even if it might not end, unless
    its condition is the constant 1: a program may rely on the end of other loops only (C11, 6.8.5, 6). Unused loads are
    removed, unless their memory is volatile, and their checks with them.
    """

    name = "dead-code-elimination"

    def run(self, function: Function) -> Function:
        """A copy without dead operations; the function itself if everything is live."""
        live = _Liveness(function)
        if live.whole(function):
            return function
        result = clone_function(function)
        _sweep(result.body, function.body, live)
        return result


class _Liveness:
    """Marks backwards from effects; ``ops`` are the live operations, ``values`` the live values."""

    def __init__(self, function: Function) -> None:
        self.memories = function.memories
        self.ops: set[Op] = set()
        self.values: set[Value] = set()
        self.parent: dict[Region, Op] = {}  #: the operation that contains a region
        self.holder: dict[Op, Op | None] = {}  #: the operation that contains an operation
        self.work: list[Value] = []
        roots: list[Op] = []
        self._enter(function.body, None, roots)
        checks = checked_loads(function)
        for op in roots:
            self._keep(op)
        self._follow()
        # a check lives as long as any of its loads: what it needs may be another early load
        while waiting := [op for op in checks if op not in self.ops and not self.ops.isdisjoint(checks[op])]:
            for op in waiting:
                self._keep(op)
            self._follow()

    def _follow(self) -> None:
        while self.work:
            self._value(self.work.pop())

    def whole(self, function: Function) -> bool:
        """Whether every operation and result is live, so that nothing is to be removed."""
        return all(
            (op in self.ops or has(op, "terminator")) and (not op.regions or self.values.issuperset(op.results))
            for op in walk(function.body)
        )

    def _enter(self, region: Region, holder: Op | None, roots: list[Op]) -> None:
        """Find what contains the operations of a region and of those inside, and which of them are live by
        themselves."""
        for op in region.ops:
            self.holder[op] = holder
            if op.opcode in _ROOTS or (op.opcode == "load" and self._is_volatile(op)) or _is_endless(op):
                roots.append(op)
            for inner in op.regions:
                self.parent[inner] = op
                self._enter(inner, op, roots)

    def _is_volatile(self, load: Op) -> bool:
        addr = load.operands[0].op
        return addr is not None and addr.opcode == "addr" and self.memories[addr.attrs[Attr.MEM]].volatile

    def _keep(self, op: Op) -> None:
        """Mark the operation, the values it needs unconditionally, and the operations that contain it."""
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
                if value not in self.values:
                    self.values.add(value)
                    self.work.append(value)
        holder = self.holder[op]
        if holder is not None:
            self._keep(holder)

    def _use(self, value: Value) -> None:
        if value not in self.values:
            self.values.add(value)
            self.work.append(value)

    def _value(self, value: Value) -> None:
        op = value.op
        if op is None:
            holder = self.parent.get(value.owner) if isinstance(value.owner, Region) else None
            if holder is not None:
                self._carried(holder, value.index)
        elif op.opcode == "loop":
            self._carried(op, value.index)
        else:
            self._keep(op)
            for region in op.regions:
                self._use(region.terminator.operands[value.index])

    def _carried(self, loop: Op, index: int) -> None:
        self._keep(loop)
        (body,) = loop.regions
        for value in (
            loop.results[index],
            body.args[index],
            loop.operands[1 + index],
            body.terminator.operands[1 + index],
        ):
            self._use(value)


def _is_endless(op: Op) -> bool:
    """Whether it is a loop that starts iterations forever once it is entered."""
    return op.opcode == "loop" and constant(op.regions[0].terminator.operands[0]) == 1


def _sweep(region: Region, original: Region, live: _Liveness) -> None:
    """Remove what is dead from a copy of a region, of whose ``original`` it is known what is live."""
    kept = [
        (op, old) for op, old in zip(region.ops, original.ops, strict=True) if old in live.ops or has(old, "terminator")
    ]
    region.ops = [op for op, _ in kept]
    for op, old in kept:
        wanted = [k for k, value in enumerate(old.results) if value in live.values]
        if op.opcode == "loop":
            keep_carried(op, wanted)
        elif op.regions:
            for inner in op.regions:
                inner.terminator.operands = [inner.terminator.operands[k] for k in wanted]
            set_results(op, [op.results[k] for k in wanted])
        for inner, whole in zip(op.regions, old.regions, strict=True):
            _sweep(inner, whole, live)
