"""Comparisons of elements that a loop carries for several indices, computed one iteration before they are used."""

from collections.abc import Collection, Mapping

from ...ir import Builder, Op, Region, Value
from ...ir.clone import clone_ops
from ...ir.loops import add_carried
from ...ir.rewrite import resolve
from .element_window import CarriedElement
from .step_tree import Choice, Steps

__all__ = ["carry_comparisons"]

_COMPARISONS = frozenset({"eq", "ne", "slt", "sle", "ult", "ule"})
#: most combinations of steps for which a comparison is computed
_MOST_OUTCOMES = 8


def carry_comparisons(region: Region, loop: Op, elements: Collection[CarriedElement]) -> None:
    """Retime comparisons of the ``elements`` that the loop, an operation of ``region``, carries, in place: the loop
    carries the outcome. In each iteration the comparison is computed for every way in which the indices may step, and
    the steps choose among the outcomes. So a comparison and the steps that depend on it take one cycle in parallel,
    not one after the other."""
    (body,) = loop.regions
    by_value = {element.now: element for element in elements}
    inside = {v for op in body.ops for v in op.results}.union(body.args)
    replaced: dict[Value, Value] = {}
    for op in list(body.ops):
        compared = [by_value.get(v) for v in op.operands] if op.opcode in _COMPARISONS else []
        if not any(compared) or any(e is None and v in inside for v, e in zip(op.operands, compared, strict=True)):
            continue
        if _outcomes([e.steps for e in compared if e is not None], {}) <= _MOST_OUTCOMES:
            replaced[op.result] = _carry(region, loop, op, compared)
    resolve(body, replaced)


def _carry(region: Region, loop: Op, op: Op, compared: list[CarriedElement | None]) -> Value:
    """Carry the outcome of a comparison, an operation of the loop; returns what replaces it."""
    (body,) = loop.regions
    before = Builder(Region(), op.span)
    initial = _compare(op, [e.first[0] if e else v for v, e in zip(op.operands, compared, strict=True)], before)
    at = region.ops.index(loop)
    region.ops[at:at] = before.region.ops
    outcome = add_carried(loop, initial, op.result.name)
    end = body.ops.pop()
    b = Builder(body, op.span)

    def following(trees: list[Steps | None], facts: Mapping[Value, bool]) -> Value:
        trees = [_known(tree, facts) for tree in trees]
        choice = next((tree for tree in trees if isinstance(tree, Choice)), None)
        if choice is not None:
            sides = [following(trees, {**facts, choice.condition: truth}) for truth in (True, False)]
            return sides[0] if sides[0] is sides[1] else b.value("select", choice.condition, *sides)
        if not any(trees):
            return outcome.arg
        steps = zip(op.operands, compared, trees, strict=True)
        return _compare(op, [e.after[t] if e and isinstance(t, int) else v for v, e, t in steps], b)

    value = following([e.steps if e else None for e in compared], {})
    body.ops.append(end)
    outcome.set_next(value)
    return outcome.arg


def _compare(op: Op, operands: list[Value], b: Builder) -> Value:
    """The comparison of other operands."""
    copies = dict(zip(op.operands, operands, strict=True))
    b.region.ops += clone_ops([op], copies)
    return copies[op.result]


def _known(tree: Steps | None, facts: Mapping[Value, bool]) -> Steps | None:
    """The tree below the conditions that are known."""
    while isinstance(tree, Choice) and tree.condition in facts:
        tree = tree.one if facts[tree.condition] else tree.other
    return tree


def _outcomes(trees: list[Steps], facts: Mapping[Value, bool]) -> int:
    """In how many ways all indices may step."""
    trees = [tree for each in trees if (tree := _known(each, facts)) is not None]
    choice = next((tree for tree in trees if isinstance(tree, Choice)), None)
    if choice is None:
        return 1
    return sum(_outcomes(trees, {**facts, choice.condition: truth}) for truth in (True, False))
