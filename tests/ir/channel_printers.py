"""Prints the results of channel analyses as text."""

from collections.abc import Iterator

from hls.analysis.channels.call_skeleton import CallSkeleton, CallStep, LoopStep
from hls.analysis.channels.deadlock import described, find_deadlocks
from hls.analysis.channels.endpoints import channel_ends
from hls.analysis.channels.kpn_run import Budget, KpnRun, Link
from hls.ir import Module
from hls.ir.concurrent import channel_room
from tests.ir.names import Names

__all__ = ["PRINTERS"]


def _ends(module: Module) -> Iterator[str]:
    for function in module.kernels:
        for end, calls in channel_ends(function).items():
            side = "writes" if end.writes else "reads"
            yield f"{function.name} {side} {end.text(module.channels[end.channel].length)} at {len(calls)} places"


def _links(module: Module) -> list[Link]:
    """As many links as there are channels with calls, each of the depth that the program asks for."""
    ends: dict[tuple[str, int], dict[bool, str]] = {}
    for function in module.kernels:
        for end in channel_ends(function):
            ends.setdefault((end.channel, end.index), {})[end.writes] = function.name
    return [
        Link(place, place[0], channel_room(module.channels[place[0]]), sides.get(True), sides.get(False))
        for place, sides in ends.items()
    ]


def _skeletons(module: Module) -> list[CallSkeleton]:
    return [CallSkeleton(function) for function in module.kernels]


def _steps(steps, names: Names, indent: str = "  ") -> Iterator[str]:
    for step in steps:
        if isinstance(step, CallStep):
            what = "write to" if step.writes else "read from"
            waits = "" if step.blocking else " if it can"
            yield f"{indent}{what} {step.place[0]}[{step.place[1]}]{waits}{_under(step, names)}"
        else:
            yield f"{indent}{_count(step, names)}{_under(step, names)}:"
            yield from _steps(step.steps, names, indent + "  ")


def _count(step: LoopStep, names: Names) -> str:
    if step.endless:
        return "for ever"
    if step.count is not None:
        return f"{step.count} times"
    return f"while {names(step.again)}" if step.again is not None else "as often as only the run knows"


def _under(step: CallStep | LoopStep, names: Names) -> str:
    if step.condition is None:
        return ""
    return f" where {names(step.condition)}" + ("" if step.knowable else ", which only the run knows")


def _skeleton(module: Module) -> Iterator[str]:
    for function, script in zip(module.kernels, _skeletons(module)):
        yield f"{script.name}{', by itself' if script.autorun else ''}:"
        yield from _steps(script.steps, Names(function))


def _run(module: Module) -> Iterator[str]:
    links = _links(module)
    rooms = {link.place: link.room for link in links}
    for skip in (False, True):
        found = KpnRun(_skeletons(module), links, rooms, skip).run(Budget(10_000))
        yield f"assuming that loops of unknown length {'are skipped' if skip else 'never end'}:"
        yield f"  ended: {', '.join(sorted(found.ended)) or 'none'}"
        yield from (f"  {name} waits: {described(wait)}" for name, wait in sorted(found.waits.items()))
        yield f"  cycle: {' -> '.join(wait.kernel for wait in found.circle) or 'none'}"
        yield from (f"  {place[0]} held {most} at most" for place, most in found.most.items())
        yield f"  {'complete' if found.complete else 'cut off'}, {len(found.assumed)} assumptions"


def _deadlock(module: Module) -> Iterator[str]:
    for verdict in find_deadlocks(_skeletons(module), _links(module)):
        yield f"{', '.join(verdict.kernels)}: {verdict.kind}: {verdict.reason}"
        yield from (f"  {wait.kernel} waits: {described(wait)}" for wait in verdict.circle)
        yield from (f"  a depth of {one.depth} of {one.channel} would help" for one in verdict.depths)


PRINTERS = {
    "endpoints": lambda module: list(_ends(module)),
    "call_skeleton": lambda module: list(_skeleton(module)),
    "kpn_run": lambda module: list(_run(module)),
    "deadlock": lambda module: list(_deadlock(module)),
}
