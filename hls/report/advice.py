"""One sentence about what to try first where a loop is slower than it could be.

In the order of what helps most: remove the dependence, relax it, simplify it, move it to memory on the chip, and shift
it through registers.
"""

from .model import Bottleneck, Serial

__all__ = ["advise"]

#: what each recurrence has besides operations
_BETWEEN = ("register", "loop", "pipeline")
_SLOW = ("floating-point add", "floating-point subtract")


def advise(bottleneck: Bottleneck | None, serial: tuple[Serial, ...], ii: int, sole: bool = False) -> str:
    """Advice about what limits a loop, or else about the first region that its iterations pass one at a time; "" where
    there is nothing to be said. ``sole``: there is one loop inside, so that both can be one."""
    advice = (
        _ADVICE[bottleneck.kind](bottleneck, ii) if bottleneck is not None else _across(serial[0]) if serial else ""
    )
    cause = bottleneck or (serial[0].cause if serial else None)
    passes = (
        cause is not None
        and cause.kind == "data"
        and bool(serial or any(part.operation.startswith("inner loop") for part in cause.shares))
    )
    return f"{advice}; or make both loops one: #pragma loop_coalesce" if advice and sole and passes else advice


def _across(region: Serial) -> str:
    cause, names = region.cause, " and ".join(f"loop {label}".rstrip() for label, _ in region.loops)
    if cause.kind == "data":
        return (
            f"Remove it: let {names} work on a variable that begins anew in each iteration of this loop, and join "
            "that to "
            f"{cause.subject} behind it"
        )
    return _ADVICE[cause.kind](cause, 0)


def _memory(cause: Bottleneck, ii: int) -> str:
    name = cause.subject.rpartition(" ")[2]
    if cause.distance > 1:
        return f"Relax it: with more than {cause.distance} iterations between the two accesses fewer have to wait"
    return (
        f"Remove it: if no iteration touches an element of {name} that another one has stored, say so with "
        f"#pragma ivdep array({name}); else {_otherwise(cause, name)}"
    )


def _otherwise(cause: Bottleneck, name: str) -> str:
    if not cause.onchip:
        return f"work on a private array and copy {name} in before and out behind"
    most = max(cause.shares, key=lambda part: part.share, default=None)
    first = (
        f", the {most.operation.partition(' for ')[0]} first"
        if most and not most.operation.startswith((*_BETWEEN, "load", "store", "inner"))
        else ""
    )
    return (
        f"do less between loading an element and storing it{first}, or keep those that the next iteration reads "
        "in variables"
    )


def _data(cause: Bottleneck, ii: int) -> str:
    most = max(cause.shares, key=lambda part: part.share, default=None)
    if most and most.operation.startswith("pipeline"):  # of a loop inside, which is what can be done something about
        most = next((part for part in cause.shares if part.operation.startswith("inner loop")), most)
    words = most.operation if most else ""
    if words.startswith("inner loop"):
        return (
            f"Remove it: let the {words.partition(' (')[0]} work on a variable that begins anew in each iteration, "
            "and join "
            f"that to {cause.subject} behind it"
        )
    if words.startswith("load") and not _waits_for_memory(words):
        return (
            "Simplify it: load ahead, before it is known which element will be wanted, and choose among what was loaded"
        )
    if words.startswith("load"):
        return f"Move the memory that {cause.subject} is looked up in to a private array, which answers in a few cycles"
    if words.startswith(_SLOW) and _nothing_but(cause, _SLOW):
        return (
            f"Relax it: shift {ii + 1} copies of {cause.subject} through a private array, one step an iteration, and "
            "add them "
            "up in the end; -fp-relaxed does that by itself in a loop that a launch enters once"
        )
    if words.startswith("floating-point multiply") and _nothing_but(cause, ("floating-point multiply",)):
        return f"Relax it: use {ii} copies of {cause.subject} in turn, and combine them behind the loop"
    return f"Simplify it: do less between reading {cause.subject} and setting it" + (
        f", the {words.partition(' for ')[0]} first" if most and not words.startswith(_BETWEEN) else ""
    )


def _nothing_but(cause: Bottleneck, operations: tuple[str, ...]) -> bool:
    """Whether the recurrence is a sum, or a product: of such operations, and what stands between iterations. Parts of
    others cannot be computed beside each other."""
    return all(part.operation.startswith((*operations, *_BETWEEN)) for part in cause.shares)


def _condition(cause: Bottleneck, ii: int) -> str:
    load = next((part.operation for part in cause.shares if _waits_for_memory(part.operation)), None)
    if load is not None:
        return (
            "Move what decides whether to go on to a private array, which answers in a few cycles: the "
            f"{load.partition(' (')[0]} "
            "is waited for before the next iteration begins"
        )
    call = next((part.operation for part in cause.shares if part.operation.startswith("read of channel")), None)
    if call is not None:
        return (
            f"Simplify it: the {call} decides whether to go on, and none is made ahead of that; send how many values "
            "there will be "
            "before them, and let the condition compare a counter with it"
        )
    return "Simplify it: compute the bound before the loop, and let the condition compare a counter with it"


def _waits_for_memory(operation: str) -> bool:
    return operation.startswith("load") and "round trip to memory" in operation


def _resource(cause: Bottleneck, ii: int) -> str:
    return (
        "Remove it: fewer stores in an iteration, or an array for each of them in place of "
        f"{cause.subject.partition(' (')[0]}"
    )


def _turns(cause: Bottleneck, ii: int) -> str:
    return (
        "Remove it: fewer stores in an iteration, or places that the compiler can tell apart, as sums of counters "
        "with different "
        "constants are"
    )


def _wish(cause: Bottleneck, ii: int) -> str:
    return "Remove the pragma, if there is no other reason for it"


_ADVICE = {
    "data": _data,
    "memory": _memory,
    "condition": _condition,
    "resource": _resource,
    "turns": _turns,
    "request": _wish,
    "concurrency": _wish,
    "ahead": _wish,
}
