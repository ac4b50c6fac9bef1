"""Queues of requests whose answers wait for slower operations of the same boundary."""

from hls.target.board import load_board
from tests.plans import planned

BESIDE = """__kernel void k(__global const int *restrict a, __global int *restrict y, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[j] += a[i * n + j];
}
"""


def test_a_hazard_lets_the_loads_beside_it_run_ahead():
    """The loads of its boundary have as many requests under way as memory takes; alone, nothing waits."""
    board = "de5net"
    (kernel,) = planned(BESIDE, board).values()
    rows = [level.row for plan in kernel.plan.loops.values() for level in plan.levels]
    hazards = {row: others for others in rows for row in others if row.op.opcode == "hazard"}
    beside = [row for row, others in hazards.items() if any(other.op.opcode == "load" for other in others)]
    alone = [row for row, others in hazards.items() if len(others) == 1]
    assert beside and alone
    assert all(row.waiting >= load_board(board).read_latency for row in beside)
    assert all(row.waiting == 0 for row in alone)
