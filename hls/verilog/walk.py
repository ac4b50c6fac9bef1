"""What the statements of a module of generated Verilog read and assign, and how they are rewritten."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

from .expression import Expression, names_in
from .module import Assign, Block, Case, Declared, If, Module, Other, Set, Statement

__all__ = [
    "NAMES",
    "conditions",
    "expressions",
    "local",
    "mapped",
    "mapped_item",
    "names_of",
    "read_by",
    "sets",
    "uses",
    "widths",
    "with_names",
]

#: names of signals: not those of the ports of an instance
NAMES = re.compile(r"(?<![.'\w$])[A-Za-z_][\w$]*")
_STRING_OR_NAME = re.compile(rf'"(?:[^"\\]|\\.)*"|{NAMES.pattern}')
#: the module of an instance
_INSTANTIATED = re.compile(r"  [A-Za-z_][\w$]*(?= +(?:#\(|[A-Za-z_][\w$]* *\())")


def _inside(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Statements and those within them, in their order."""
    for one in statements:
        yield one
        bodies: tuple[tuple[Statement, ...], ...] = ()
        if isinstance(one, If):
            bodies = (one.then, one.other or ())
        elif isinstance(one, Case):
            bodies = tuple(body for _, body in one.arms)
        for body in bodies:
            yield from _inside(body)


def sets(statements: tuple[Statement, ...]) -> Iterator[Set]:
    """The assignments in statements, in their order."""
    return (one for one in _inside(statements) if isinstance(one, Set))


def conditions(statements: tuple[Statement, ...]) -> Iterator[Expression]:
    """What conditionals and cases depend on."""
    for one in _inside(statements):
        if isinstance(one, (If, Case)):
            yield one.condition if isinstance(one, If) else one.subject


def expressions(statements: tuple[Statement, ...]) -> Iterator[Expression]:
    """The conditions, the targets of assignments and their values."""
    yield from conditions(statements)
    for one in sets(statements):
        yield one.target
        yield one.value


def read_by(item: Assign | Block | Other) -> Iterator[Expression]:
    """The expressions of an item."""
    match item:
        case Assign():
            yield item.target
            yield item.value
        case Block():
            yield from expressions(item.statements)


def names_of(item: Assign | Block | Other) -> list[str]:
    """The names that stand in an item, as often as they do."""
    if isinstance(item, Other):
        return NAMES.findall(item.text)
    clock = NAMES.findall(item.trigger)[1:] if isinstance(item, Block) else []
    return clock + [name for e in read_by(item) for name in names_in(e)]


def uses(module: Module) -> Counter[str]:
    """How often each name stands in the module's items."""
    return Counter(name for item in module.items for name in names_of(item))


def local(module: Module, name: str) -> Declared | None:
    """The declaration of a signal that is neither a port nor a memory; None of anything else."""
    found = module.declared.get(name)
    return found if found and not found.direction and not found.words else None


def widths(module: Module) -> tuple[dict[str, int], dict[str, int]]:
    """Bits of the signals, and of a word of each memory."""
    signals = {one.name: one.bits for one in module.declared.values() if one.bits > 0 and not one.words}
    return signals, {one.name: one.bits for one in module.declared.values() if one.words}


def mapped(
    statements: tuple[Statement, ...],
    target: Callable[[Expression], Expression],
    value: Callable[[Set], Expression],
    condition: Callable[[Expression], Expression],
    op: str | None = None,
) -> tuple[Statement, ...]:
    """The statements with functions applied to the target of each assignment, to the assignment for its value, and to
    each condition; with ``op`` as the operator of the assignments."""
    found: list[Statement] = []
    for one in statements:
        match one:
            case Set():
                found.append(Set(target(one.target), value(one), op or one.op))
            case If():
                other = None if one.other is None else mapped(one.other, target, value, condition, op)
                found.append(If(condition(one.condition), mapped(one.then, target, value, condition, op), other))
            case Case():
                arms = tuple((label, mapped(body, target, value, condition, op)) for label, body in one.arms)
                found.append(replace(one, subject=condition(one.subject), arms=arms))
    return tuple(found)


def mapped_item(item: Assign | Block | Other, change: Callable[[Expression], Expression]) -> Assign | Block | Other:
    """The item with a function applied to each of its expressions."""
    match item:
        case Assign():
            return Assign(change(item.target), change(item.value))
        case Block():
            return Block(item.trigger, mapped(item.statements, change, lambda one: change(one.value), change))
        case _:
            return item


def _with_names(text: str, of: Callable[[str], str]) -> str:
    """A line of text with other names of signals; modules and strings are none."""
    head = _INSTANTIATED.match(text)
    start = head.end() if head else 0
    rest = _STRING_OR_NAME.sub(lambda found: found[0] if found[0][0] == '"' else of(found[0]), text[start:])
    return text[:start] + rest


def with_names(item: Assign | Block | Other, of: Callable[[str], str]) -> Assign | Block | Other:
    """The item with other names of signals: ``of`` each."""

    def renamed(e: Expression) -> Expression:
        text = of(e.text) if e.kind in ("name", "select") else e.text
        return Expression(e.kind, text, tuple(renamed(part) for part in e.parts))

    if isinstance(item, Other):
        return Other(_with_names(item.text, of))
    item = mapped_item(item, renamed)
    if isinstance(item, Block) and item.trigger != "@*":
        item.trigger = NAMES.sub(lambda found: of(found[0]), item.trigger)
    return item
