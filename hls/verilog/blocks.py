"""Blocks of generated Verilog as a person would write them: a register with its conditions in the clocked block, a
signal with few conditions as one expression.

Amaranth and Yosys give each register a second signal for its next value, which a block of its own computes.
"""

from dataclasses import replace

from .expression import Expression, has_sign, names_in, width_of, written
from .module import Assign, Block, Case, If, Module, Other, Set, Statement
from .walk import local, mapped, sets, uses, widths

__all__ = [
    "as_assignments",
    "merge_registers",
    "one_block_for_each_clock",
    "reset_in_assignments",
    "simplify_conditions",
]

#: of a block that becomes one expression
_MOST_CHOICES = 3
_LONGEST_CHOICE = 200
#: of other expressions
_LONGEST = 90


def merge_registers(module: Module) -> None:
    """Let the clocked block of a register hold the statements of the block that computes its next value, if nothing
    else reads that."""
    used = uses(module)
    homes: dict[str, list[Block]] = {}
    for item in module.items:
        if isinstance(item, Block) and item.trigger == "@*":
            for target in {one.target.text for one in sets(item.statements)}:
                homes.setdefault(target, []).append(item)
    gone = set()
    for item in module.items:
        if not isinstance(item, Block) or item.trigger == "@*":
            continue
        register, following = _next_value(module, item)
        blocks = homes.get(following, [])
        if len(blocks) != 1 or not local(module, following):
            continue
        targets = [one.target.text for one in sets(blocks[0].statements)]
        if set(targets) == {following} and used[following] == len(targets) + 1:
            item.statements = _clocked(blocks[0].statements, register, following)
            del module.declared[following]
            gone.add(id(blocks[0]))
    module.items = [item for item in module.items if id(item) not in gone]


def simplify_conditions(module: Module) -> None:
    """Write a condition within a condition as one, and what is done only where one does not hold without an else."""
    for item in module.items:
        if isinstance(item, Block):
            item.statements = _simplified(item.statements)


def _simplified(statements: tuple[Statement, ...]) -> tuple[Statement, ...]:
    found: list[Statement] = []
    for one in statements:
        match one:
            case If():
                then, other = _simplified(one.then), _simplified(one.other or ())
                if then or other:
                    found.append(_condition(one.condition, then, other))
            case Case():
                arms = _joined([(label, _simplified(body)) for label, body in one.arms], full=bool(one.attribute))
                if arms:
                    found.append(_selection(replace(one, arms=arms)))
            case _:
                found.append(one)
    return tuple(found)


def _joined(arms: list[tuple[str, tuple[Statement, ...]]], full: bool) -> tuple[tuple[str, tuple[Statement, ...]], ...]:
    """The arms of a case, where those that do the same are one. Where no two labels match the same value, the order is
    of no account, and an arm that does nothing is left out unless the case is said to be ``full``."""
    labels = [label for label, _ in arms]
    if any("?" in label or "," in label or label == "default" for label in labels) or len(set(labels)) < len(arms):
        return tuple(arms)
    found: list[tuple[str, tuple[Statement, ...]]] = []
    homes: dict[tuple[Statement, ...], int] = {}
    for label, body in arms:
        home = homes.get(body)
        if home is not None and len(found[home][0]) + len(label) < _LONGEST - 16:
            found[home] = (f"{found[home][0]}, {label}", body)
        elif body or full:
            homes[body] = len(found)
            found.append((label, body))
    return tuple(found)


def _selection(case: Case) -> Statement:
    """The case, or a conditional where it has a single value."""
    label, body = case.arms[0]
    if len(case.arms) > 1 or any(c in label for c in "?,") or label == "default":
        return case
    return _condition(Expression("binary", "==", (case.subject, Expression("number", label))), body, ())


def _condition(condition: Expression, then: tuple[Statement, ...], other: tuple[Statement, ...]) -> If:
    if not then:
        condition, then, other = Expression("unary", "!", (condition,)), other, ()
    inner = then[0]
    if not other and len(then) == 1 and isinstance(inner, If) and inner.other is None:
        return If(Expression("binary", "&&", (condition, inner.condition)), inner.then)
    return If(condition, then, other or None)


def _next_value(module: Module, item: Block) -> tuple[str, str]:
    """The register that a block assigns, and the signal with its next value; empty names if it does anything else."""
    one = item.statements[0]
    if len(item.statements) == 1 and isinstance(one, Set) and one.target.kind == one.value.kind == "name":
        register, following = module.declared.get(one.target.text), module.declared.get(one.value.text)
        if register and following and register.bits == following.bits:
            return register.name, following.name
    return "", ""


def _clocked(statements: tuple[Statement, ...], register: str, following: str) -> tuple[Statement, ...]:
    """Statements that compute ``following``, as those of the register."""

    def target(e: Expression) -> Expression:
        return replace(e, text=register) if e.text == following else e

    found = mapped(statements, target, lambda one: one.value, lambda e: e, "<=")
    first = found[0]
    holds = isinstance(first, Set) and first.target == first.value
    return found[1:] if holds and len(found) > 1 else found


def reset_in_assignments(module: Module) -> None:
    """Write a register that is reset, and otherwise assigned without a condition, in one line."""
    signals, words = widths(module)
    for item in module.items:
        if not isinstance(item, Block) or item.trigger == "@*":
            continue
        found: list[Statement] = []
        for one in item.statements:
            before = found[-1] if found else None
            joined = _reset(before, one) if isinstance(before, Set) and isinstance(one, If) else None
            if joined and _fits(joined, signals, words):
                found[-1] = joined
            else:
                found.append(one)
        item.statements = tuple(found)


def _reset(before: Set, one: If) -> Set | None:
    inner = one.then[0]
    if one.other or len(one.then) > 1 or not isinstance(inner, Set) or inner.target != before.target:
        return None
    return Set(before.target, Expression("choice", "?:", (one.condition, inner.value, before.value)), before.op)


def _fits(one: Set, signals: dict[str, int], words: dict[str, int]) -> bool:
    """Whether both values of a choice are plain, of the width of the target, and short."""
    plain = ("name", "number", "select", "concat", "repeat")
    try:
        bits = width_of(one.target, signals, words)
        same = all(e.kind in plain and width_of(e, signals, words) == bits for e in one.value.parts[1:])
    except ValueError:
        return False
    return same and len(written(one.value)) <= _LONGEST // 2


def one_block_for_each_clock(module: Module) -> None:
    """Gather the registers of each clock edge in the first of its blocks."""
    first: dict[str, Block] = {}
    items: list[Assign | Block | Other] = []
    for item in module.items:
        if isinstance(item, Block) and item.trigger != "@*":
            home = first.setdefault(item.trigger, item)
            if home is not item:
                home.statements += item.statements
                continue
        items.append(item)
    module.items = items


class _TooMuch(Exception):
    """A block is better left as statements."""


def as_assignments(module: Module) -> None:
    """Turn blocks that compute one signal by few conditions into an assignment."""
    signals, words = widths(module)

    def plain(e: Expression, bits: int) -> bool:
        """Whether it is computed in so many bits, as no operand has more, and none is signed."""
        return width_of(e, signals, words) <= bits and not has_sign(e)

    for k, item in enumerate(module.items):
        if not isinstance(item, Block) or item.trigger != "@*":
            continue
        targets = {written(one.target) for one in sets(item.statements)}
        declared = module.declared.get(targets.pop()) if len(targets) == 1 else None
        if not declared or not declared.bits or declared.init or not isinstance(item.statements[0], Set):
            continue
        try:
            value = _chosen(item.statements, None)
            fits = plain(value, declared.bits)
        except (_TooMuch, ValueError):
            continue
        if fits and len(written(value)) <= _LONGEST_CHOICE and declared.name not in names_in(value):
            module.items[k] = Assign(Expression("name", declared.name), value)
            declared.kind = "wire"


def _chosen(statements: tuple[Statement, ...], before: Expression | None) -> Expression:
    """The value that statements leave in their only target, which had the value ``before``."""
    for one in statements:
        match one:
            case Set():
                before = one.value
            case If() if before is not None:
                other = before if one.other is None else _chosen(one.other, before)
                before = Expression("choice", "?:", (one.condition, _chosen(one.then, before), other))
                if _choices(before) > _MOST_CHOICES:
                    raise _TooMuch
            case _:
                raise _TooMuch
    if before is None:
        raise _TooMuch
    return before


def _choices(e: Expression) -> int:
    return (e.kind == "choice") + sum(_choices(part) for part in e.parts)
