"""Memory contents at loop entry: the value that a load reads in the first iteration, if the program stored or loaded it
just before the loop."""

from ...ir import Op, Value, is_access, moved_type, walk
from ...ir.accesses import moved_value, predicate
from ..affine.affine import Affine
from ..loops.loop_tree import Loop
from ..predicates.implication import follows, implied
from .must_alias import MustAlias

__all__ = ["entry_value"]


def entry_value(places: MustAlias, loop: Loop, load: Op) -> Value | None:
    """What ``load``, an operation of the loop's body, reads in the first iteration, where an access before the loop, in
    the same iteration of the loops around, stored or loaded exactly that; stores in the loop are not considered.

    None if there is no such access, if it may not have executed although the loop does, or if another store may come
    after it.
    """
    address = _first_address(places, loop, load)
    if address is None or not places.undisturbed(places.tree.region_of(loop.op)):
        return None
    around, facts = places.tree.region_of(loop.op), implied(loop.op.operands[0])
    for op in reversed(around.ops[: around.ops.index(loop.op)]):
        if is_access(op) and _is_exact(places, op, load, address):
            return moved_value(op) if follows(predicate(op), facts) else None
        if any(_may_write(places, inner, load) for inner in (op, *(one for r in op.regions for one in walk(r)))):
            return None
    return None


def _first_address(places: MustAlias, loop: Loop, load: Op) -> Affine | None:
    """The address in the first iteration, in terms of what is known before the loop; None where that is unknown."""
    form = places.form(load)
    if not places.steady(form, loop):
        return None
    return Affine(form.const, {unknown: factor for unknown, factor in form.terms.items() if unknown is not loop})


def _is_exact(places: MustAlias, op: Op, load: Op, address: Affine) -> bool:
    if not places.plain(op) or not places.same_size(op, load) or moved_type(op) != moved_type(load):
        return False
    form = places.form(op)
    return form.terms == address.terms and form.const == address.const


def _may_write(places: MustAlias, op: Op, load: Op) -> bool:
    """Whether the operation, before the loop in the same iteration of the loops around, may write what the load
    reads."""
    return (
        is_access(op)
        and op.opcode != "load"
        and any(fact.loop is None and fact.dst is load for fact in places.between(op, load))
    )
