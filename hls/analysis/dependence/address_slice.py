"""Backward slices of a loop nest: the operations that compute offsets of accesses and control its loops, as Python."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ...ir import OPS, Op, Region, Value, predicate
from ...ir.as_python import expression
from ...ir.rewrite import constant, literal
from ..affine.affine import Affine, Symbol, WrappedSum
from ..loops.loop_tree import Loop, LoopTree

__all__ = ["Exhausted", "PythonEmitter", "Row", "Slice", "value_of"]

#: most nested loops; Python allows 20
MOST_DEPTH = 16

#: the iterations of the loops around accesses, outermost first, and the byte offset of each access there; None if it
#: does not execute
Row = tuple[tuple[int, ...], tuple[int | None, ...]]


class Exhausted(Exception):
    """A nest has more iterations than the limit."""


class Slice:
    """The backward slice of the offsets of accesses of one region inside the loop ``top``, by their ``forms``: values,
    and control of loops. ``closed``: everything in it is computed by ``top`` from constants, or from values whose
    possible numbers ``known`` returns.

    If the exit condition or enable of an enclosing loop also depends on something else, the loop is assumed to run
    longer, or to be entered more often, than it does. With ``known`` accesses execute under the known parts of their
    predicates, else always; and if ``top`` is the work-item loop, one iteration represents all.
    """

    def __init__(
        self,
        tree: LoopTree,
        top: Loop,
        forms: Mapping[Op, Affine],
        known: Callable[[Value], range | None] | None = None,
    ) -> None:
        self.tree, self.top, self.forms, self.known = tree, top, forms, known
        around = tree.around(next(iter(forms)))
        self.path = around[around.index(top) :]
        self.values: set[Value] = set()
        self.free: dict[Value, range] = {}  #: values that are enumerated, with all their possible numbers
        self.conditions: dict[Op, list[Value]] = {op: [] for op in forms}
        self.again: dict[Loop, list[Value]] = {}
        self.enabled: set[Loop] = set()
        self.exact: set[Loop] = set()  #: loops whose final values are needed
        self.closed = self._close()

    def _close(self) -> bool:
        unknowns = [unknown for form in self.forms.values() for unknown in form.terms]
        if any(unknown not in self.path or self._once(unknown) for unknown in unknowns if isinstance(unknown, Loop)):
            return False
        if not self._need(value_of(unknown) for unknown in unknowns if not isinstance(unknown, Loop)):
            return False
        if self.known is not None:
            self.conditions = {
                op: [value for value in _conjuncts(predicate(op)) if self._need([value])] for op in self.forms
            }
        decided: set[tuple[Loop, bool]] = set()
        while left := [loop for loop in (*self.path, *self.exact) if (loop, loop in self.exact) not in decided]:
            for loop in left:
                decided.add((loop, loop in self.exact))
                if not self._control(loop):
                    return False
        return max(len(loop.path) for loop in self.again) - len(self.top.path) < MOST_DEPTH

    def inside(self, op: Op) -> bool:
        """Whether the operation is inside ``top``, not before it."""
        return self.top in self.tree.around(op)

    def _once(self, loop: Loop) -> bool:
        """Whether one iteration of the loop represents all."""
        return self.known is not None and loop.parallel

    def _control(self, loop: Loop) -> bool:
        if self._once(loop):
            self.again[loop] = []
            return loop is self.top
        wanted = [loop.again] if loop in self.exact else _conjuncts(loop.again)
        self.again[loop] = [value for value in wanted if self._need([value])]
        enabled = loop is self.top or self._need([loop.op.operands[0]])
        if enabled and loop is not self.top:
            self.enabled.add(loop)
        ends = any(constant(value) != 1 for value in self.again[loop])  # an endless loop cannot be enumerated
        return ends and (enabled or loop not in self.exact)

    def _need(self, values: Iterable[Value]) -> bool:
        """Add values with everything they are computed from; adds nothing and returns False if that is not
        available."""
        todo, exact, free = list(values), set[Loop](), {}
        seen: set[Value] = set()
        while todo:
            value = todo.pop()
            if value in seen or value in self.values:
                continue
            seen.add(value)
            choices = self.known(value) if self.known is not None else None
            if choices is not None:
                free[value] = choices
                continue
            needed = self._from(value, exact)
            if needed is None:
                return False
            todo += needed
        self.values |= seen
        self.exact |= exact
        self.free |= free
        return True

    def _from(self, value: Value, exact: set[Loop]) -> list[Value] | None:
        """The operands that a value is computed from; None if it is unknown here."""
        op = value.op
        if op is not None and op.opcode == "const":
            return []
        if op is None:
            loop = self.tree.holder(value)
            if loop is None or self.top not in loop.path or self._once(loop):
                return None
            return [loop.following(value), loop.op.operands[1 + value.index]]
        if op.opcode == "loop" and self.inside(op):
            loop = self.tree.loops[op]
            exact.add(loop)
            return [loop.body.terminator.operands[1 + value.index], op.operands[1 + value.index]]
        return list(op.operands) if OPS[op.opcode].meaning is not None else None


def value_of(unknown: Symbol | WrappedSum) -> Value:
    """The value of an unknown in a form."""
    return unknown.symbol.value if isinstance(unknown, WrappedSum) else unknown.value


def _conjuncts(condition: Value) -> list[Value]:
    if condition.op is not None and condition.op.opcode == "and":
        return [part for operand in condition.op.operands for part in _conjuncts(operand)]
    return [condition]


class PythonEmitter:
    """Emits a slice as Python."""

    def __init__(self, part: Slice) -> None:
        self.part = part
        self.env: dict[str, Any] = {"Exhausted": Exhausted}  # what the text of the run is given, and defines
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.offsets = {op: f"o{k}" for k, op in enumerate(part.forms)}

    def run(self, steps: int) -> tuple[list[Row], int]:
        """The rows in execution order, and the number of steps left. Raises Exhausted if these do not suffice."""
        self._line(0, "def run(rows, steps):")
        for value in self.part.values:
            if literal(value) is not None:
                self._before(value, 1)
        depth = 1
        for value, choices in self.part.free.items():
            self._line(depth, f"for {self._name(value)} in {choices}:")
            depth += 1
        for value in self.part.values:
            if value.op is not None and not self.part.inside(value.op):
                self._before(value, depth)
        self._loop(self.part.top, depth, ())
        self._line(1, "return steps")
        exec(compile("\n".join(self.lines), "<trace>", "exec"), self.env)  # noqa: S102 - the text is our own
        rows: list[Row] = []
        return rows, self.env["run"](rows, steps)

    def _before(self, value: Value, depth: int) -> None:
        """Emit a constant, or a value computed from constants and enumerated values, in front of the nest."""
        if value in self.names:
            return
        number = literal(value)
        if number is not None:
            self._line(
                depth, f"{self._name(value)} = {self._bind(tuple(number) if isinstance(number, list) else number)}"
            )
            return
        for operand in value.defining_op.operands:
            self._before(operand, depth)
        op = value.defining_op
        self._line(depth, f"{self._name(value)} = {expression(op, [self._name(v) for v in op.operands], self._bind)}")

    def _loop(self, loop: Loop, depth: int, counters: tuple[str, ...]) -> None:
        """Emit the loop, with the variables that count iterations of the enclosing loops."""
        part, counter = self.part, f"n{len(self.lines)}"
        if not part.again[loop]:
            self._line(depth, f"{counter} = 0")
            self._count_steps(loop, depth)
            self._region(loop.body, depth, (*counters, counter))
            return
        args = [arg for arg in loop.body.args if arg in part.values]
        results = [result for result in loop.op.results if result in part.values]
        self._assign(depth, results, [loop.op.operands[1 + result.index] for result in results])
        if loop in part.enabled:
            self._line(depth, f"if {self._name(loop.op.operands[0])}:")
            depth += 1
        self._assign(depth, args, [loop.op.operands[1 + arg.index] for arg in args])
        self._line(depth, f"{counter} = 0")
        self._line(depth, "while True:")
        self._region(loop.body, depth + 1, (*counters, counter))
        self._count_steps(loop, depth + 1)
        self._line(depth + 1, f"goes_on = {' and '.join(map(self._name, part.again[loop]))}")
        self._assign(depth + 1, results, [loop.body.terminator.operands[1 + result.index] for result in results])
        self._line(depth + 1, "if not goes_on: break")
        self._assign(depth + 1, args, [loop.following(arg) for arg in args])
        self._line(depth + 1, f"{counter} += 1")

    def _count_steps(self, loop: Loop, depth: int) -> None:
        self._line(
            depth,
            f"steps -= {1 + sum(op.results[0] in self.part.values for op in loop.body.ops if len(op.results) == 1)}",
        )
        self._line(depth, "if steps < 0: raise Exhausted")

    def _region(self, region: Region, depth: int, counters: tuple[str, ...]) -> None:
        part, here = self.part, dict(zip(self.part.path, counters))
        for op in region.ops[:-1]:
            if op in part.forms:
                self._access(op, depth, here)
            elif op.opcode == "loop":
                if part.tree.loops[op] in part.again:
                    self._loop(part.tree.loops[op], depth, counters)
            elif len(op.results) == 1 and op.result in part.values and op.opcode != "const":
                self._line(
                    depth,
                    f"{self._name(op.result)} = {expression(op, [self._name(v) for v in op.operands], self._bind)}",
                )
        if any(op in part.forms for op in region.ops):
            self._line(depth, f"rows.append((({', '.join(counters)},), ({', '.join(self.offsets.values())},)))")

    def _access(self, op: Op, depth: int, counters: dict[Loop, str]) -> None:
        conditions = "".join(
            f" if {' and '.join(map(self._name, conditions))} else None"
            for conditions in [self.part.conditions[op]]
            if conditions
        )
        self._line(depth, f"{self.offsets[op]} = {self._offset(self.part.forms[op], counters)}{conditions}")

    def _offset(self, form: Affine, counters: dict[Loop, str]) -> str:
        terms = [str(form.const)]
        for unknown, factor in form.terms.items():
            if isinstance(unknown, Loop):
                terms.append(f"{counters[unknown]} * {factor}")
                continue
            value, name = value_of(unknown), self._name(value_of(unknown))
            sign = 1 << value.type.bits - 1
            is_signed = (unknown.symbol if isinstance(unknown, WrappedSum) else unknown).signed
            terms.append(f"(({name} ^ {sign}) - {sign}) * {factor}" if is_signed else f"{name} * {factor}")
        return " + ".join(terms)

    def _assign(self, depth: int, targets: list[Value], sources: list[Value]) -> None:
        if targets:
            self._line(depth, f"{', '.join(map(self._name, targets))} = {', '.join(map(self._name, sources))}")

    def _line(self, depth: int, text: str) -> None:
        self.lines.append(" " * depth + text)

    def _name(self, value: Value) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def _bind(self, thing) -> str:
        name = f"k{len(self.env)}"
        self.env[name] = thing
        return name
