"""The form of a nest whose inner loop runs over the iterations of the outer one that came before, and its parts."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...analysis.loops.backward_slice import backward_slice, pure_slice
from ...analysis.loops.loop_tree import step_of
from ...ir import Op, Region, Value, has, uses, walk
from ...ir.rewrite import literal
from ...narrow import present

__all__ = ["TriangularNest", "only_loop", "triangular_nest"]

#: operations with an effect, or regions, that a part of a nest may have
_ALLOWED = frozenset({"load", "store", "if", "yield"})


@dataclass(frozen=True, eq=False)
class TriangularNest:
    """A nest ``for (i = first; ...; i += step) { ahead; for (j = first; j < i; j += step) inner; behind }``.

    ``number`` is the index of ``i`` among the values that the outer loop carries. ``control`` are the operations of the
    outer body that compute its next iteration; ``ahead`` and ``behind`` those before and after the inner loop that
    store, with all that they are computed from, and ``shared`` those before it that the inner loop is computed from.
    The parts may have operations in common, which are pure.
    """

    outer: Op
    inner: Op
    number: int
    control: tuple[Op, ...]
    ahead: tuple[Op, ...]
    shared: tuple[Op, ...]
    behind: tuple[Op, ...]

    def accesses(self) -> tuple[list[Op], list[Op], list[Op]]:
        """The loads and stores of ``ahead``, of the inner loop, and of ``behind``."""
        ahead, inner, behind = (
            [op for op in _with_inner(ops) if op.opcode in ("load", "store")]
            for ops in (self.ahead, self.inner.regions[0].ops, self.behind)
        )
        return ahead, inner, behind


def triangular_nest(outer: Op) -> TriangularNest | None:
    """The nest of a loop and the only one inside it; None if it has another form, or an effect besides loads and
    stores."""
    (body,) = outer.regions
    inner = only_loop(body)
    if inner is None or not set(uses(body)).isdisjoint(inner.results):
        return None
    number = _triangular(outer, inner)
    control = pure_slice(body.terminator.operands, body.ops[:-1])
    if number is None or control is None:
        return None
    at = body.ops.index(inner)
    before, after = body.ops[:at], body.ops[at + 1 : -1]
    ahead, behind = _slice(_storing(before), before), _slice(_storing(after), [*before, *after])
    shared = pure_slice((v for op in walk(inner.regions[0]) for v in op.operands), before)
    if shared is None or any(op in before and not has(op, "pure") for op in behind):
        return None  # an element that is loaded before the inner loop is needed in or behind it
    return TriangularNest(outer, inner, number, tuple(control), ahead, tuple(shared), behind)


def only_loop(body: Region) -> Op | None:
    """The only loop of a body, under no condition, if everything else are loads, stores and operations without an
    effect."""
    found = [op for op in walk(body) if op.opcode == "loop"]
    plain = all(has(op, "pure") or op.opcode in _ALLOWED or op.opcode == "loop" for op in walk(body))
    return found[0] if plain and len(found) == 1 and found[0] in body.ops else None


def _triangular(outer: Op, inner: Op) -> int | None:
    """The index of the outer loop's value up to which the inner loop counts; None unless its only carried value counts
    like that one."""
    (body,), (deep,) = outer.regions, inner.regions
    if len(deep.args) != 1:
        return None
    (count,), (again, following) = deep.args, deep.terminator.operands
    for number, arg in enumerate(body.args):
        first, goes_on = outer.operands[1 + number], body.terminator.operands[1 + number]
        step = step_of(count, following)
        if not step or step != step_of(arg, goes_on) or not _same(inner.operands[1], first):
            continue
        compares = [_compared(value, arg, step) for value in (inner.operands[0], again)]
        if None in compares or compares[0] != compares[1]:
            continue
        if not compares[0] and not (step == 1 and _bounded_as_unsigned(outer, number)):
            continue
        if _left(inner.operands[0], step, inner.operands[1]) and _left(again, step, following):
            return number
    return None


def _compared(condition: Value, limit: Value, step: int) -> bool | None:
    """Whether the condition compares with ``limit``, in the direction of the step, as signed; None for others."""
    op = condition.op
    if op is None or op.opcode not in ("slt", "ult") or op.operands[1 if step > 0 else 0] is not limit:
        return None
    return op.opcode == "slt"


def _left(condition: Value, step: int, value: Value) -> bool:
    """Whether the condition compares ``value`` with the limit."""
    return _same(present(condition.op).operands[0 if step > 0 else 1], value)


def _bounded_as_unsigned(outer: Op, number: int) -> bool:
    """Whether an unsigned counter with step 1 of the outer loop never wraps around: each of its values is below one
    limit. (A signed one that wraps around is undefined.)"""
    (body,) = outer.regions
    enabled, again = outer.operands[0].op, body.terminator.operands[0].op
    if enabled is None or again is None or enabled.opcode != "ult" or again.opcode != "ult":
        return False
    starts = _same(enabled.operands[0], outer.operands[1 + number])
    steps = again.operands[0] is body.terminator.operands[1 + number]
    return starts and steps and _same(enabled.operands[1], again.operands[1])


def _same(one: Value, two: Value) -> bool:
    """Whether both are one value, or one constant."""
    if one is two:
        return True
    return one.type == two.type and literal(one) is not None and literal(one) == literal(two)


def _storing(ops: list[Op]) -> list[Op]:
    return [op for op in ops if any(one.opcode == "store" for one in _with_inner((op,)))]


def _slice(seeds: list[Op], ops: list[Op]) -> tuple[Op, ...]:
    """The seeds and all of the operations that they are computed from, in order."""
    found = {*seeds, *backward_slice((v for one in _with_inner(seeds) for v in one.operands), ops)}
    return tuple(op for op in ops if op in found)


def _with_inner(ops: Iterable[Op]) -> list[Op]:
    return list(walk(Region(ops=list(ops))))
