"""What iterations of loops need of each other: whether the programmer may exchange two loops, and whether all
iterations of one enter those inside it alike."""

from ..analysis.loops.backward_slice import pure_slice
from ..ir import Function, Op, Region, Value, has, memory_name, reaches_memory, walk
from .workload import Place

__all__ = ["may_be_exchanged", "runs_alike"]


def may_be_exchanged(function: Function, outer: Place, inner: Place, main: str) -> bool:
    """Whether two loops of a flat kernel, one directly inside the other, compute the same if each iteration of
    ``inner`` becomes a loop over those of ``outer``. It is assumed that buffers do not overlap.

    What the outer loop carries comes from no memory and from no inner loop, so that no iteration needs the data of the
    one before; the inner loop only loads, and nothing that the outer one stores; and how often it runs depends on
    nothing that changes in the outer one. What the inner loop carries then belongs to one iteration of the outer loop.
    """
    around, inside = _loop_at(function, outer, main), _loop_at(function, inner, main)
    if around is None or inside is None or inside not in around.regions[0].ops:
        return False
    body = around.regions[0]
    counts = pure_slice(body.terminator.operands, body.ops) is not None
    return counts and runs_alike(around, inside) and _loads_the_same(around, inside)


def _loop_at(function: Function, place: Place, main: str) -> Op | None:
    """The one loop of that place; None if it was merged with another one, or copied."""
    found = [op for op in walk(function.body) if op.opcode == "loop" and op.span and place.is_at(op.span, main)]
    return found[0] if len(found) == 1 else None


def runs_alike(outer: Op, inner: Op) -> bool:
    """Whether the inner loop is entered, and runs as often, in each iteration of the outer one: nothing decides that is
    loaded, or that changes from one of these iterations to the next."""
    (body,) = inner.regions
    ops = set(walk(outer.regions[0]))
    changing = {*outer.regions[0].args, *(arg for op in ops for region in op.regions for arg in region.args)}
    changing.difference_update(body.args)
    seen, todo = set[Value](), [inner.operands[0], body.terminator.operands[0]]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in body.args:
            number = 1 + body.args.index(value)
            todo += [inner.operands[number], body.terminator.operands[number]]
        elif value in changing:
            return False
        elif value.op is not None and value.op in ops:
            if not has(value.op, "pure"):
                return False
            todo += value.op.operands
    return True


def _loads_the_same(outer: Op, inner: Op) -> bool:
    """Whether the inner loop has no effect, and loads nothing that the outer one stores, as is so ahead of it."""
    (around,) = outer.regions
    stored = {memory_name(op) for op in walk(around) if reaches_memory(op) and op.opcode != "load"}
    ahead = walk(Region(ops=around.ops[: around.ops.index(inner)]))
    effects = [op for op in (*ahead, *walk(inner.regions[0])) if not has(op, "pure")]
    accesses = [op for op in effects if op.opcode not in ("loop", "yield")]
    return all(op.opcode == "load" and memory_name(op) not in stored for op in accesses)
