"""One iteration of a loop as a Python function, for loops whose iterations are evaluated one after the other."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir import OPS, IntType, Op, Region, Value
from ...ir.as_python import expression
from ...ir.attributes import Attr
from ...ir.rewrite import literal
from ..predicates.implication import arms_of

__all__ = ["Step", "compiled_step", "operands_of"]

#: from the numbers of the carried values that decide: of the continue condition, and of these values afterwards
Step = Callable[[Sequence[Any]], tuple[Any, list[Any]]]


def operands_of(value: Value) -> list[Value]:
    """What determines a value: the operands of a pure operation, condition and arms of an ``if``; else nothing."""
    op = value.op
    if op is None or op.opcode != "if" and OPS[op.opcode].meaning is None:
        return []
    return [op.operands[0], *arms_of(op, value)] if op.opcode == "if" else op.operands


def compiled_step(body: Region, carried: Sequence[int], facts: Mapping[Value, int]) -> Step | None:
    """An iteration of the loop with this body; ``carried``: positions of the carried values that decide its end, and
    ``facts``: numbers that values have where another iteration follows. None if it needs anything else that is not a
    constant."""
    text = _Text()
    known = {body.args[k]: f"v[{position}]" for position, k in enumerate(carried)}
    # the condition decides whether the facts hold, so it is computed without them
    again = text.names_of([body.terminator.operands[0]], dict(known))
    nexts = [body.terminator.operands[1 + k] for k in carried]
    following = text.names_of(nexts, known | {value: text.bound(number) for value, number in facts.items()})
    if again is None or following is None:
        return None
    text.lines.append(f" return {again[0]}, [{', '.join(following)}]")
    return text.function()


def _of_integers(op: Op) -> bool:
    """Whether the expression of the operation needs nothing but its operands, and is what its row in the table says:
    address arithmetic that is promised to stay in its object has one that checks the promise."""
    integers = all(isinstance(value.type, IntType) for value in (*op.operands, *op.results))
    return integers and not op.attrs.get(Attr.INBOUNDS)


class _Text:
    """The lines of the function, and what they are given."""

    def __init__(self) -> None:
        self.lines = ["def step(v):"]
        self._given: dict[str, Any] = {}

    def bound(self, thing: object) -> str:
        """A name for a thing."""
        name = f"k{len(self._given)}"
        self._given[name] = thing
        return name

    def names_of(self, values: Sequence[Value], names: dict[Value, str]) -> list[str] | None:
        """Emit the values, and what they are computed from as far as it has no name yet; None if one is unknown.
        Iterative, as unrolled bodies contain long chains of operations."""
        work = list(values)
        while work:
            value = work[-1]
            missing = [] if value in names else [one for one in operands_of(value) if one not in names]
            if missing:
                work += missing
                continue
            work.pop()
            if value not in names:
                text = self._expression(value, names)
                if text is None:
                    return None
                names[value] = f"x{len(self.lines)}"
                self.lines.append(f" {names[value]} = {text}")
        return [names[value] for value in values]

    def _expression(self, value: Value, names: Mapping[Value, str]) -> str | None:
        needs = [names[one] for one in operands_of(value)]
        if not needs:
            number = literal(value)
            return None if number is None else self.bound(number)
        op = value.defining_op
        if op.opcode == "if":
            condition, then, other = needs
            return f"{then} if {condition} else {other}"
        if _of_integers(op):
            return expression(op, needs, self.bound)
        meaning, types = self.bound(OPS[op.opcode].meaning), self.bound([one.type for one in op.operands])
        return f"{meaning}([{', '.join(needs)}], {types}, {self.bound(value.type)}, {self.bound(op.attrs)})"

    def function(self) -> Step:
        """The function of these lines."""
        exec(compile("\n".join(self.lines), "<step>", "exec"), self._given)  # noqa: S102 - the text is our own
        return self._given["step"]
