"""Operations that depend on nothing but kernel arguments: computed once, beside the pipeline, before the kernel starts."""

from ..ir import Function, Op, has, walk

__all__ = ["static_operations"]


def static_operations(function: Function) -> tuple[Op, ...]:
    """All pure operations, at any depth, whose operands are arguments, constants or static themselves; in order."""
    known = set(function.args)
    found = []
    for op in walk(function.body):
        if has(op, "pure") and all(v in known for v in op.operands):
            known.update(op.results)
            found.append(op)
    return tuple(found)
