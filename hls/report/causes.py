"""Sentences about what limits a loop."""

from .facts.loops import Bottleneck
from .phrasing import at

__all__ = ["say_cause"]


def say_cause(bottleneck: Bottleneck) -> str:
    """What limits the loop, as in ``loop-carried dependence on sum (line 11)``."""
    causes = {
        "data": "loop-carried dependence on {subject}{at}{earlier}",
        "memory": "loop-carried memory dependence from the access{other} to {subject}{at}{earlier}, which {touches} "
        "the same address",
        "condition": "late exit condition{at}",
        "resource": "accesses share a port: {subject}{at}",
        "turns": "{subject}{at} of an iteration, which may go to the same address and execute one after the other",
        "request": "requested in the source{at}",
        "concurrency": "the source limits the concurrency to {subject}{at}",
        "ahead": "the source limits the speculative iterations to {subject}{at}",
        "invocations": "an invocation starts {cycles} cycles after the last iteration of the previous invocation: "
        "{subject}{at} depends on the access{other} there, which may touch the same address",
    }
    distance = bottleneck.distance
    return causes[bottleneck.kind].format(
        subject=bottleneck.subject,
        at=at(bottleneck.span),
        other=at(bottleneck.other),
        cycles=bottleneck.cycles,
        touches="touches" if bottleneck.proved else "may touch",
        earlier="" if distance == 1 else f", distance {distance}",
    )
