"""Launch-invariant operations: they depend on kernel arguments alone and are computed once, beside the pipeline, before
the kernel starts."""

from ...ir import Function, Op, has, walk
from ...ir.launch import per_group

__all__ = ["static_operations"]


def static_operations(function: Function) -> tuple[Op, ...]:
    """All pure operations, at any depth, whose operands are arguments of the launch, constants or launch-invariant
    themselves; in program order."""
    known = set(function.args) - set(per_group(function).values())
    found = []
    for op in walk(function.body):
        if has(op, "pure") and all(v in known for v in op.operands):
            known.update(op.results)
            found.append(op)
    return tuple(found)
