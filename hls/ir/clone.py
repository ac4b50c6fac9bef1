"""Copies of IR. A pass clones first, so that its input stays unchanged."""

from .nodes import Function, Module, Op, Region, Value

__all__ = ["clone_function", "clone_module", "clone_ops", "clone_region"]


def clone_ops(ops: list[Op], values: dict[Value, Value]) -> list[Op]:
    """Copies of the operations; ``values`` maps old values to new ones, and the results of the copies are added to it.

    A value that is not in the map is used as it is (it comes from outside).
    """
    known, copies = values.get, []
    for op in ops:
        operands = op.operands
        copy = Op(op.opcode, list(map(known, operands, operands)), [], op.attrs.copy(), [], op.span)
        if op.regions:
            copy.regions = [clone_region(region, values) for region in op.regions]
        for v in op.results:
            values[v] = result = Value(v.type, v.name, copy, v.index)
            copy.results.append(result)
        copies.append(copy)
    return copies


def clone_region(region: Region, values: dict[Value, Value]) -> Region:
    """A copy of the region with arguments of its own; see ``clone_ops`` for ``values``."""
    copy = Region()
    copy.args = [Value(v.type, v.name, copy, k) for k, v in enumerate(region.args)]
    values.update(zip(region.args, copy.args))
    copy.ops = clone_ops(region.ops, values)
    return copy


def clone_function(f: Function) -> Function:
    """A copy that shares no mutable object with the original: a spare one, where a pass that changed nothing has left
    its copy."""
    if f.spares:
        return f.spares.pop()
    copy = Function(f.name, f.kind, list(f.params), memories=dict(f.memories), attrs=dict(f.attrs), span=f.span)
    copy.args = [Value(v.type, v.name, copy.body, k) for k, v in enumerate(f.args)]
    copy.body.ops = clone_ops(f.body.ops, dict(zip(f.args, copy.args)))
    return copy


def clone_module(m: Module) -> Module:
    """A copy with functions of its own; memory objects, which never change, are shared."""
    return Module({name: clone_function(f) for name, f in m.functions.items()}, dict(m.sources), dict(m.channels))
