"""Changing IR in place: one walk that replaces operations and renames their uses."""

from collections.abc import Callable, Collection
from typing import Any

from ..narrow import present
from .attributes import Attr
from .build import Builder, walk
from .nodes import Op, Region, Value
from .values import Constant
from .wrapping import keep_wrapping

__all__ = ["constant", "inline_region", "is_constant", "literal", "resolve", "rewrite", "set_results", "would_rewrite"]


def rewrite(
    region: Region,
    visit: Callable[[Op, Builder], list[Value] | None],
    enter: Callable[[Op], dict[Value, Value]] | None = None,
) -> bool:
    """Walk the region in program order, inner regions before the operation that holds them; True if anything changed.

    ``visit(op, builder)`` returns None to keep the operation, or the values that replace its results, and then the
    operation is removed. What it builds is inserted before the operation. ``enter(op)`` runs before the inner regions
    are walked and returns values to be replaced from there on. Operands are up to date when either is called.
    """
    return _Rewriter(visit, enter).region(region)


def would_rewrite(
    region: Region,
    visit: Callable[[Op, Builder], list[Value] | None],
    enter: Callable[[Op], Collection[Any]] | None = None,
) -> bool:
    """Whether :func:`rewrite` would change anything, found without a change: ``visit`` and ``enter`` modify nothing of
    the region, and what ``visit`` builds is thrown away. For passes that mostly find nothing to do, and need no copy of
    the function then."""
    aside = Builder(Region())
    for op in walk(region):
        if op.regions and enter is not None and enter(op):
            return True
        aside.span = op.span
        if visit(op, aside) is not None or aside.region.ops:
            return True
    return False


class _Rewriter:
    def __init__(
        self, visit: Callable[[Op, Builder], list[Value] | None], enter: Callable[[Op], dict[Value, Value]] | None
    ) -> None:
        self.visit, self.enter = visit, enter
        self.values: dict[Value, Value] = {}

    def region(self, region: Region) -> bool:
        before, region.ops, changed = region.ops, [], False
        builder, known = Builder(region), self.values.get
        for op in before:
            operands = op.operands
            op.operands = list(map(known, operands, operands))
            if op.regions:
                changed |= self._replace(self.enter(op) if self.enter else {})
                for inner in op.regions:
                    changed |= self.region(inner)
            builder.span = op.span
            count = len(region.ops)
            new = self.visit(op, builder)
            changed |= new is not None or len(region.ops) != count
            if new is None:
                region.ops.append(op)
            else:
                self._keep_wrapping(op, new, region.ops[count:])
                self._replace(dict(zip(op.results, new, strict=True)))
        return changed

    def _keep_wrapping(self, old: Op, new: list[Value], made: list[Op]) -> None:
        """Keep the mark of a sum that wraps on a sum that was made to replace it."""
        if len(new) == 1 and new[0].op in made:
            keep_wrapping(old, present(new[0].op))

    def _replace(self, values: dict[Value, Value]) -> bool:
        for old, new in values.items():
            new.name = new.name or old.name
            self.values[old] = self.values.get(new, new)
        return bool(values)


def inline_region(region: Region, builder: Builder) -> list[Value]:
    """Move the region's operations to the builder's insertion point; returns what its terminator yields."""
    builder.region.ops += region.ops[:-1]
    return list(region.terminator.operands)


def set_results(op: Op, results: list[Value]) -> None:
    """Give the operation these results, in order."""
    op.results = results
    for k, value in enumerate(results):
        value.owner, value.index = op, k


def is_constant(value: Value) -> bool:
    """Whether a ``const`` operation defines the value."""
    return value.op is not None and value.op.opcode == "const"


def constant(value: Value) -> int | None:
    """The integer constant that a value is known to be, or None."""
    found = literal(value)
    return found if isinstance(found, int) else None


def literal(value: Value) -> Constant | None:
    """The constant of any type that a value is known to be, or None."""
    return value.defining_op.attrs[Attr.VALUE] if is_constant(value) else None


def resolve(region: Region, values: dict[Value, Value]) -> None:
    """Replace every use of a key of ``values`` by the value it maps to, which may be another key."""
    final = {}
    for old, new in values.items():
        while new in values:
            new = values[new]
        final[old] = new
    for op in walk(region):
        op.operands = [final.get(v, v) for v in op.operands]
