"""Sentences about what limits a loop."""

from collections import Counter

from .facts.loops import Bottleneck, Part, Share
from .phrasing import at

__all__ = ["say_cause", "say_recurrence"]


def say_cause(bottleneck: Bottleneck) -> str:
    """What limits the loop, as in ``loop-carried dependence on sum (line 11)``."""
    causes = {
        "data": "loop-carried dependence on {subject}{at}{earlier}",
        "memory": "loop-carried memory dependence from the {giver}{other} to the {subject}{at}{earlier}, which "
        "{touches} the same address",
        "channel": "the order of the calls of a channel: the {subject}{at} waits for the {giver}{other} of an earlier "
        "iteration",
        "condition": "late exit condition{at}",
        "resource": "{subject}",
        "turns": "{subject}{at} of an iteration, which may go to the same address and execute one after the other",
        "request": "requested in the source{at}",
        "concurrency": "the source limits the concurrency to {subject}{at}",
        "ahead": "the source limits the speculative iterations to {subject}{at}",
        "invocations": "an invocation starts {cycles} cycles after the last iteration of the previous invocation: "
        "{subject}{at} depends on the {giver}{other} there, which may touch the same address",
    }
    distance = bottleneck.distance
    return causes[bottleneck.kind].format(
        subject=bottleneck.subject,
        at=at(bottleneck.span),
        other=at(bottleneck.other),
        giver=bottleneck.giver or "access",
        cycles=bottleneck.cycles,
        touches="touches" if bottleneck.proved else "may touch",
        earlier="" if distance == 1 else f", distance {distance}",
    )


def say_recurrence(bottleneck: Bottleneck) -> str:
    """What the cycles of a recurrence are for, as in ``5.8 cycles of floating-point add + 1.2 cycles to write and read
    sum``; "" if that is not known."""
    groups: dict[tuple[Part, str], list[Share]] = {}
    for one in bottleneck.shares:
        groups.setdefault((one.part, "" if one.part is Part.OPERATION else one.operation), []).append(one)
    said = []
    for (part, _), shares in sorted(groups.items(), key=lambda item: -sum(one.share for one in item[1])):
        cycles = round(bottleneck.cycles * sum(one.share for one in shares), 1)
        if cycles:
            said.append(f"{cycles:g} cycle{'s' * (cycles != 1)} {_purpose(part, shares)}")
    return " + ".join(said) if bottleneck.cycles else ""


def _purpose(part: Part, shares: list[Share]) -> str:
    if part is Part.REGISTER:
        return f"to write and read {shares[0].subject or 'the register'}"
    if part is not Part.OPERATION:
        return f"of {shares[0].operation}"
    # "integer add for x" and "integer add for y" are two integer adds
    named = (one.opcode not in ("", "fence") for one in shares)
    kinds = Counter(
        one.operation.partition(" for ")[0] if known else one.operation
        for one, known in zip(shares, named, strict=True)
    )
    words = [f"{number} x {kind}" if number > 1 else kind for kind, number in kinds.items()]
    return f"of {words[0]}" if len(words) == 1 else f"of logic ({', '.join(words)})"
