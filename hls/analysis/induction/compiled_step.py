"""Values of a loop as Python functions, for loops whose iterations are evaluated one after the other.

A number may be unknown (None): an operation with an unknown operand is unknown, unless another operand decides it
(``x & 0``), or both arms of a select are equal.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from ...ir import OPS, IntType, Op, Region, Value
from ...ir.as_python import expression
from ...ir.attributes import Attr
from ...ir.rewrite import is_constant, literal
from ..predicates.implication import arms_of

__all__ = ["ABSORBING", "CompiledValues", "Step", "compiled_step", "operands_of"]

#: from the numbers of the carried values that decide: of the continue condition, and of these values afterwards, none
#: where no iteration follows
Step = Callable[[Sequence[Any]], tuple[Any, list[Any]]]

#: operations, with the operand that determines the result by itself, by its width
ABSORBING = {"and": lambda bits: 0, "mul": lambda bits: 0, "or": lambda bits: (1 << bits) - 1}

#: evaluations of a value one operation at a time before it is compiled, which takes as long as some tens
_FEW = 32


def operands_of(value: Value) -> list[Value]:
    """What determines a value: the operands of a pure operation, condition and arms of an ``if``; else nothing."""
    op = value.op
    if op is None or op.opcode != "if" and OPS[op.opcode].meaning is None:
        return []
    return [op.operands[0], *arms_of(op, value)] if op.opcode == "if" else op.operands


def compiled_step(
    body: Region, carried: Sequence[int], facts: Mapping[Value, int], unknown: Collection[int] = ()
) -> Step:
    """An iteration of the loop with this body; ``carried``: positions of the carried values that decide its end, and
    ``facts``: numbers that values have where another iteration follows. At the start nothing is known of the carried
    values at the positions ``unknown``."""
    nexts = [body.terminator.operands[1 + k] for k in carried]
    unsure = frozenset(unknown)
    while True:
        text = _Text()
        args = {body.args[k]: f"v[{position}]" for position, k in enumerate(carried)}
        maybe = {args[body.args[k]] for k in carried if k in unsure}
        # the condition decides whether the facts hold, so it is computed without them
        (again,) = text.names_of([body.terminator.operands[0]], dict(args), maybe)
        text.lines.append(f" if {again} == 0: return 0, []")
        known = args | {value: text.bound(number) for value, number in facts.items()}
        following = text.names_of(nexts, known, maybe)
        lost = {k for k, name in zip(carried, following, strict=True) if name in maybe} - unsure
        if not lost:
            text.lines.append(f" return {again}, [{', '.join(following)}]")
            return text.function()
        unsure |= lost


class CompiledValues:
    """Values of a kernel by the numbers of the region arguments that they depend on. Those that are asked for often are
    compiled."""

    def __init__(self) -> None:
        self._asked: dict[Value, int] = {}
        self._found: dict[Value, tuple[list[Value], Callable[[list[Any]], Any]]] = {}

    def often(self, value: Value) -> bool:
        """Count a question; whether there were enough of them to compile the value."""
        self._asked[value] = count = self._asked.get(value, 0) + 1
        return count > _FEW

    def __call__(self, value: Value, numbers: Mapping[Value, Any]) -> Any:
        """The number of the value, given those of the arguments; None if they do not determine it."""
        if value not in self._found:
            args = list(_arguments(value))
            text, names = _Text(), {arg: f"v[{k}]" for k, arg in enumerate(args)}
            (name,) = text.names_of([value], dict(names), set(names.values()))
            text.lines.append(f" return {name}")
            self._found[value] = args, text.function()
        args, function = self._found[value]
        return function([numbers.get(arg) for arg in args])


def _arguments(value: Value) -> Iterator[Value]:
    """What a value depends on and that neither an operation computes nor is a constant."""
    seen, work = {value}, [value]
    while work:
        one = work.pop()
        needs = [v for v in operands_of(one) if v not in seen]
        seen.update(needs)
        work += needs
        if not operands_of(one) and not is_constant(one):
            yield one


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

    def names_of(self, values: Sequence[Value], names: dict[Value, str], maybe: set[str]) -> list[str]:
        """Emit the values, and what they are computed from as far as it has no name yet; ``maybe`` are the names of
        what may be unknown. Iterative, as unrolled bodies contain long chains of operations."""
        work = list(values)
        while work:
            value = work[-1]
            missing = [] if value in names else [one for one in operands_of(value) if one not in names]
            if missing:
                work += missing
                continue
            work.pop()
            if value not in names:
                names[value] = name = f"x{len(self.lines)}"
                text, sure = self._expression(value, names, maybe)
                self.lines.append(f" {name} = {text}")
                if not sure:
                    maybe.add(name)
        return [names[value] for value in values]

    def _expression(self, value: Value, names: Mapping[Value, str], maybe: set[str]) -> tuple[str, bool]:
        """The value as an expression, and whether it is certainly known."""
        needs = [names[one] for one in operands_of(value)]
        if not needs:
            number = literal(value)
            return self.bound(number), number is not None
        op = value.defining_op
        unsure = [name for name in dict.fromkeys(needs) if name in maybe]
        if op.opcode in ("if", "select"):
            condition, then, other = needs
            text = f"{then} if {condition} else {other}"
            if condition in maybe:
                text = f"({then} if {then} == {other} else None) if {condition} is None else {text}"
            return text, not unsure
        text = self._of(op, value, needs)
        if not unsure:
            return text, True
        otherwise = "None"
        if op.opcode in ABSORBING:
            result = self.bound(ABSORBING[op.opcode](value.type.bits))
            otherwise = f"({result} if {' or '.join(f'{name} == {result}' for name in needs)} else None)"
        return f"{otherwise} if {' or '.join(f'{name} is None' for name in unsure)} else {text}", False

    def _of(self, op: Op, value: Value, needs: list[str]) -> str:
        """The operation as an expression of known operands."""
        if _of_integers(op):
            return expression(op, needs, self.bound)
        meaning, types = self.bound(OPS[op.opcode].meaning), self.bound([one.type for one in op.operands])
        return f"{meaning}([{', '.join(needs)}], {types}, {self.bound(value.type)}, {self.bound(op.attrs)})"

    def function(self) -> Callable[[Sequence[Any]], Any]:
        """The function of these lines."""
        exec(compile("\n".join(self.lines), "<step>", "exec"), self._given)  # noqa: S102 - the text is our own
        return self._given["step"]
