"""How often an access leaves the words that follow each other, from its strides in the loops of the source.

At level 0, the innermost loop, an execution lies the level's stride behind the one before. At level k the loops inside
have gone through their trips in between: the step is the stride of level k less the span that they covered,
span_k = span_(k-1) + s_k (t_k - 1). A step of 0 to one word stays in the word or goes to the next one.
"""

from .workload import AccessRuns, Place, Workload

__all__ = ["jumps"]


def jumps(runs: AccessRuns, workload: Workload) -> float:
    """Executions over a launch that go neither to the word of the execution before nor to the next word: the first one,
    those behind a jump, and all of which no stride is known, as iterations between two of them made none."""
    span, in_order = 0.0, 0.0
    for stride in runs.strides:
        counted = stride.bytes
        in_order += sum(
            one.count for one in counted.ranges if 0 <= one.low - span and one.high - span <= workload.word_bytes
        )
        span += counted.mean * max(0.0, _trips(stride.loop, workload) - 1)
    return max(1.0, runs.count - in_order) if runs.count else 0.0


def _trips(loop: Place | None, workload: Workload) -> float:
    """Mean iterations of an invocation of a loop that is entered; of the work-items where there is no loop."""
    if loop is None:
        return float(workload.work_items)
    for one in workload.loops:
        if one.place == loop:
            return one.iterations / max(1, one.invocations - sum(r.count for r in one.trips.ranges if r.high == 0))
    return 1.0
