"""Strongly connected components: which values of a loop depend on themselves across iterations."""

from collections.abc import Mapping
from types import MappingProxyType

import networkx as nx

from ...ir import Op, Region, Value, has, walk

__all__ = ["components"]


def components(region: Region, ignored: Mapping[Op, int] = MappingProxyType({})) -> dict[Value, int]:
    """The values of a loop's body that depend on themselves across iterations, each with the number of its strongly
    connected component. For some operations the number of an operand is given that does not count."""
    ops = [op for op in region.ops if not has(op, "terminator")]
    reads = {op: _read(op, ignored.get(op)) for op in ops}
    nexts = list(zip(region.terminator.operands[1:], region.args, strict=True))
    within = _between(ops, reads, nexts)
    graph = nx.DiGraph()
    for op in ops:
        if len(op.results) == 1 and op.results[0] in within:
            graph.add_edges_from((v, op.results[0]) for v in within & reads[op])
        elif results := within & set(op.results):
            # edges via the operation: a loop may have thousands of operands and results
            graph.add_edges_from((v, op) for v in within & reads[op])
            graph.add_edges_from((op, r) for r in results)
    graph.add_edges_from((value, arg) for value, arg in nexts if value in within and arg in within)
    together = ([v for v in part if isinstance(v, Value)] for part in nx.strongly_connected_components(graph))
    return {value: k for k, part in enumerate(part for part in together if len(part) > 1) for value in part}


def _between(ops: list[Op], reads: Mapping[Op, set[Value]], nexts: list[tuple[Value, Value]]) -> set[Value]:
    """The values that depend on a carried value, and that the next value of one depends on: all others, most of a long
    body, are on no cycle. Operations are in an order in which each follows what it uses."""
    after = {arg for _, arg in nexts}
    for op in ops:
        if not after.isdisjoint(reads[op]):
            after.update(op.results)
    before = {value for value, _ in nexts}
    for op in reversed(ops):
        if not before.isdisjoint(op.results):
            before |= reads[op]
    return after & before


def _read(op: Op, ignored: int | None) -> set[Value]:
    """The values that an operation, or anything inside it, uses, without one of its operands."""
    operands = op.operands if ignored is None else [v for k, v in enumerate(op.operands) if k != ignored]
    return {*operands, *(v for inner in op.regions for each in walk(inner) for v in each.operands)}
