"""Values that the inner loop of a nest carries, kept in elements of memory instead."""

from ...analysis.loops.backward_slice import pure_slice
from ...analysis.loops.loop_tree import step_of
from ...ir import Builder, Op, Region, Value, walk
from ...ir.clone import clone_ops
from ...ir.loops import keep_carried
from ...narrow import present

__all__ = ["carry_in_memory"]


def carry_in_memory(outer: Op, inner: Op) -> set[Op] | None:
    """Let each value that the inner loop carries, besides counters, live in an element that every iteration of the
    outer loop stores behind the inner loop: in ``{ s = f(); for (...) s += g(); x[i] = h(s); }`` the sum is kept in
    ``x[i]``.

    The nest is changed in place. Returns the loads and stores that are new; None, with the nest unchanged, if a value
    has no such element. Nobody else may access the element between the inner loop's start and that store.
    """
    (body,), (deep,) = outer.regions, inner.regions
    following = deep.terminator.operands[1:]
    counters = [k for k, arg in enumerate(deep.args) if step_of(arg, following[k]) is not None]
    kept = [k for k in range(len(deep.args)) if k not in counters]
    places = _places([deep.args[k] for k in kept], body, body.ops.index(inner))
    if places is None:
        return None
    ahead, first, last, behind = (Builder(Region(), inner.span) for _ in range(4))
    now: dict[Value, Value] = {}
    for k, (home, ops) in zip(kept, places, strict=True):
        arg, copies = deep.args[k], dict[Value, Value]()
        ahead.region.ops += clone_ops(ops, copies)
        address, _, enabled = (copies.get(v, v) for v in home.operands)
        for b, value in ((ahead, inner.operands[1 + k]), (last, following[k])):
            b.span = home.span
            b.op("store", address, value, enabled)
        for b, value in ((first, arg), (behind, inner.results[k])):
            b.span = home.span
            now[value] = b.value("load", address, enabled, result=arg.type, name=arg.name)
    new = {op for b in (ahead, first, last, behind) for op in b.region.ops if op.opcode in ("load", "store")}
    at, end = body.ops.index(inner), deep.terminator
    body.ops[at : at + 1] = [*ahead.region.ops, inner, *behind.region.ops]
    deep.ops = [*first.region.ops, *deep.ops[:-1], *last.region.ops, end]
    for op in walk(body):
        op.operands = [now.get(v, v) for v in op.operands]
    keep_carried(inner, counters)
    return new


def _places(values: list[Value], body: Region, at: int) -> list[tuple[Op, list[Op]]] | None:
    """For each value a store behind operation ``at`` of the body, and what its address is computed from; None if there
    are not enough."""
    left = [op for op in body.ops[at + 1 :] if op.opcode == "store"]
    found = []
    for value in values:
        home = next((op for op in left if op.operands[1].type == value.type), None)
        ops = pure_slice([home.operands[0], *home.operands[2:]], body.ops[:-1]) if home is not None else None
        if ops is None:
            return None
        left.remove(present(home))
        found.append((present(home), ops))
    return found
