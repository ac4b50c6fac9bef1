"""Prints the results of timing analyses as text, for the board of all cases at its own clock."""

from collections.abc import Iterator

from hls.analysis.timing import Arrival, TimingModel, carried_arrivals, recurrences_of
from hls.ir import Function, walk
from hls.planning.schedule import OperatorTiming
from tests.ir.names import BOARD, Names
from tests.ir.walks import counted, loops_of

__all__ = ["PRINTERS"]

#: an interval between iterations at which every recurrence of a case works
LONG = 1_000


def _timing(function: Function) -> TimingModel:
    return OperatorTiming.of(BOARD).unplanned(function)


def _model(function: Function, names: Names) -> Iterator[str]:
    timing = _timing(function)
    for op in walk(function.body):
        delay, cycles = timing.delay(op), timing.expected(op)
        behind = f", then {counted(cycles, 'cycle')} and {timing.out_delay(op):.2f} ns" if cycles else ""
        if delay or behind:
            yield f"{names.op(op)}: {delay:.2f} ns{behind}"


def _arrivals(function: Function, names: Names) -> Iterator[str]:
    timing = _timing(function)
    for op in loops_of(function):
        arrivals, together = carried_arrivals(op.regions[0], timing)
        for value in [v for v in names.values() if v in together]:
            late = ", too late" if arrivals.misses(value) else ""
            yield f"{names(value)}: {_when(arrivals.at(value))}, slack {arrivals.slack(value):.2f} ns{late}"
        if not together:
            yield f"{names.loop(op)}: nothing is carried"


def _when(arrival: Arrival) -> str:
    return f"cycle {arrival.cycle:.0f} after {arrival.ns:.2f} ns"


def _recurrences(function: Function, names: Names) -> Iterator[str]:
    timing = _timing(function)
    for op in loops_of(function):
        for one in recurrences_of(op, timing):
            end = ", decides the end" if one.decides_the_end() else ""
            yield (
                f"{names.loop(op)}: {names.all(one.values)}: longest way {counted(one.cycles(), 'cycle')},"
                f" an iteration every {one.least_interval(LONG)}{end}"
            )


PRINTERS = {"arrivals": _arrivals, "model": _model, "recurrence": _recurrences}
