"""Prints the results of work-group analyses as text."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

from hls.analysis.workgroup.barrier_convergence import check_barriers
from hls.analysis.workgroup.partial_execution import PartialExecution, local_ids, needed_for
from hls.analysis.workgroup.phases import BarrierPhases
from hls.analysis.workgroup.uniformity import lane_distances, lane_values, parts, unrepeatable_values, varying_values
from hls.diag import CompileError, Diagnostic
from hls.ir import Function, reaches_memory, walk
from tests.ir.names import Names

__all__ = ["PRINTERS"]


def _barriers(function: Function, names: Names) -> Iterator[str]:
    said: list[Diagnostic] = []
    try:
        promised = check_barriers(function, said.append)
    except CompileError as error:
        yield from (f"refused: {one.message}" for one in error.diagnostics)
        return
    yield "convergent if the program keeps its promise" if promised else "convergent"
    yield from (f"warned of: {one.message}" for one in said)


def _partial(function: Function, names: Names) -> Iterator[str]:
    size = function.attrs.get("work_group_size", (4, 1, 1))
    wanted = {v for op in walk(function.body) for v in op.operands}
    run = PartialExecution(function, local_ids(tuple(size)), needed_for(function, wanted))
    yield f"vary within a group of {size[0]}: {names.all(run.parted)}"
    yield f"unknown: {names.all(run.unknown)}"
    yield f"uniform: {names.all(run.equal)}"


def _phases(function: Function, names: Names) -> Iterator[str]:
    phases = BarrierPhases(function)
    ops = [op for op in walk(function.body) if reaches_memory(op)]
    for one, other in combinations_with_replacement(ops, 2):
        found = "may happen in parallel" if phases.together(one, other) else "never in parallel"
        yield f"{names.op(one)} and {names.op(other)}: {found}"


def _uniformity(function: Function, names: Names) -> Iterator[str]:
    varying = varying_values(function)
    yield f"vary within a group: {names.all(varying)}"
    yield f"vary between neighbours: {names.all(lane_values(function))}"
    for value, distance in lane_distances(function).items():
        yield f"{names(value)} is {distance} more in the next neighbour"
    yield f"not repeatable: {names.all(unrepeatable_values(function))}"
    for op in walk(function.body):
        if op.opcode == "loop":
            yield f"neighbours {'may leave' if parts(op, varying) else 'leave'} {names.loop(op)} {'at different times' if parts(op, varying) else 'together'}"


PRINTERS = {
    "barrier_convergence": _barriers,
    "partial_execution": _partial,
    "phases": _phases,
    "uniformity": _uniformity,
}
