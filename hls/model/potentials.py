"""What a launch would gain if one thing about it were ideal: 1 - T(ideal) / T, both predicted by the same model.

The names are those of Wang et al., "A Performance Analysis Framework for Optimizing OpenCL Applications on FPGAs"
(HPCA 2016, section 5), but each is a what-if here, not a utilization; B_dep and B_fp are ours.
"""

from ..ir import Op
from ..target.board import Board
from .estimate import Planned, Timed, timed
from .ideal import Ideal
from .workload import Workload

__all__ = ["potentials"]


def potentials(planned: Planned, workload: Workload, board: Board, relaxed: Planned | None = None) -> dict[str, float]:
    """The share of a launch's cycles, from 0 to below 1, that each of these would save:

    - ``B_mem``: memory that answers at once;
    - ``B_comp``: resources without limit, for the best unrolling, lanes and compute units;
    - ``B_balance``: the loop whose header is busiest being as fast as the second; 0 with fewer than two loops;
    - ``B_itpp``: endless work-items or invocations, so that the pipeline is never filled nor drained;
    - ``B_dep``: no dependence between iterations;
    - ``B_fp``: other orders of floating-point additions; only where ``relaxed``, the plans of the same kernel with
      ``-fp-relaxed``, is given.

    Calls on channels never wait here: only kernels without them have potentials of their own.
    """
    now = timed(planned, workload, board)
    ideal = {
        "B_mem": timed(planned, workload, board, ideal=Ideal.MEMORY).cycles,
        "B_comp": timed(planned, workload, board, ideal=Ideal.RESOURCES).cycles,
        "B_balance": timed(planned, workload, board, scaled=_balanced(now)).cycles,
        "B_itpp": now.pace.filled,
        "B_dep": timed(planned, workload, board, ideal=Ideal.DEPENDENCES).cycles,
    }
    if relaxed:
        ideal["B_fp"] = timed(relaxed, workload, board).cycles
    return {name: max(0.0, 1 - cycles / now.cycles) for name, cycles in ideal.items()}


def _balanced(now: Timed) -> dict[Op, float]:
    """The busiest loop, and the share of its iterations that makes it as fast as the second; empty if there is none."""
    loops = sorted(now.pace.plan.loops, key=lambda op: _busy(now, op), reverse=True)
    if len(loops) < 2 or not _busy(now, loops[0]):
        return {}
    return {loops[0]: _busy(now, loops[1]) / _busy(now, loops[0])}


def _busy(now: Timed, op: Op) -> float:
    """Cycles for which a loop's own iterations hold its header: its recurrences are hidden as far as invocations are
    interleaved."""
    pace, count = now.pace.of(op), now.counts.loop(op)
    return count.iterations * max(pace.alone / max(1.0, min(pace.slots, count.entered)), 1.0)
