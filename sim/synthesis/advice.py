"""What would shorten a critical path."""

from collections.abc import Iterator

from hls.report.facts.synthesis import Place

from .timing import Timing

__all__ = ["advice_for", "say_place"]

#: roles of parts whose registers do not depend on the clock that a kernel is scheduled for
UNITS = ("access units", "global interconnect")
#: share of routing from which on the placement is at fault rather than the logic
MOSTLY_ROUTING = 0.65


def say_place(place: Place) -> str:
    """A place in words: part, line, loop and kernel."""
    where = [f"line {place.line}"] if place.line else []
    where += [f"loop {place.loop}"] if place.loop else []
    where += [f"kernel {place.kernel}"] if place.kernel else []
    words = f"{place.part} ({place.role})" if place.role and place.role != place.part else place.part
    return f"{words}, {', '.join(where)}" if where else words or "surroundings"


def advice_for(timing: Timing, scheduled_mhz: float, asked_mhz: float) -> Iterator[str]:
    """What to change so that ``asked_mhz`` is reached by a design that was scheduled for ``scheduled_mhz``; nothing if
    it is."""
    if timing.mhz >= asked_mhz or not timing.steps:
        return
    worst = max(timing.steps, key=lambda step: step.ns)
    if timing.routing > MOSTLY_ROUTING:
        yield (
            f"{timing.routing:.0%} of the path is wires: try other placements with --seed 2, 3 ..., "
            "or make the design smaller"
        )
    if timing.starts_in_ram:
        yield "the path starts at the slow output of a block RAM: a register behind it costs a cycle of latency"
    if worst.place.role == "feedback":
        yield "the path is a value that one iteration passes to the next: a larger II (#pragma ii) gives it more cycles"
    if worst.place.role in ("board interface", "kernel dispatch"):
        yield "the path is in the control registers: fewer kernels and arguments in a design shorten it"
    if worst.place.role in UNITS:
        yield (
            "the path is in a unit of global memory, which is the same at every kernel clock: take a device of a "
            "faster speed grade; if it is a load whose unit has a cache (report.txt), copy what it reads into an array "
            "first"
        )
    elif worst.place.kernel:
        higher = scheduled_mhz * asked_mhz / timing.mhz
        yield (
            f"compile for a higher clock, --clock {higher:.0f}, and keep --freq {asked_mhz:g} here: "
            "the compiler then puts more registers into the operations"
        )
    yield f"run the design at {timing.mhz:.0f} MHz: a slower clock is always correct"
