"""Whether a design fits the board's device: what does not, the largest parts of it, and what helps."""

from ..diag import Code, Diagnostic
from .model import Channel, Report

__all__ = ["misfits"]

#: how many parts are named
MOST_PARTS = 3
#: what helps, by resource
HELP = {
    "logic": "unroll less, use fewer compute units or lanes, or fewer accesses to global memory",
    "registers": "unroll less, keep large arrays in memory, or use fewer compute units or lanes",
    "rams": "make channels and arrays smaller, use fewer copies of them, or lower -private-cache-bytes and "
    "-const-cache-bytes",
    "dsps": "unroll loops with multiplications less, or use narrower numbers",
}


def misfits(report: Report) -> tuple[Diagnostic, ...]:
    """A warning for each resource of which the design takes more than the device has; the estimate is that of the
    report."""
    if report.device is None:
        return ()
    names = {"logic": report.logic_cell, "registers": "registers", "rams": "block RAMs", "dsps": "DSP blocks"}
    return tuple(
        _warning(report, field, name)
        for field, name in names.items()
        if getattr(report.resources, field) > getattr(report.device, field)
    )


def _warning(report: Report, field: str, name: str) -> Diagnostic:
    used, there = getattr(report.resources, field), getattr(report.device, field)
    parts = [(getattr(kernel.resources, field), f"kernel {kernel.name}", kernel.span) for kernel in report.kernels]
    parts.append((getattr(report.shared, field), "channels, interconnect, ports and control", None))
    if field == "rams":
        parts += [
            (one.blocks, f"'{one.name}' of kernel {kernel.name}", one.span)
            for kernel in report.kernels
            for one in kernel.memories
        ]
    largest = sorted((part for part in parts if part[0]), key=lambda part: -part[0])[:MOST_PARTS]
    notes = tuple(Diagnostic(f"{what} needs {count:,}", span, severity="note") for count, what, span in largest)
    if field == "rams":
        notes += tuple(
            _of_channel(one)
            for one in sorted(report.channels, key=_bits)[: -1 - MOST_PARTS : -1]
            if "block RAM" in one.storage
        )
    return Diagnostic(
        f"the design needs {used:,} {name}, but the device of board {report.board} has {there:,}",
        largest[0][2] if largest else None,
        f"{HELP[field]}; or choose a larger board with --board",
        "warning",
        notes,
        code=Code.DOES_NOT_FIT,
    )


def _bits(channel: Channel) -> int:
    return channel.count * channel.depth * channel.bits


def _of_channel(channel: Channel) -> Diagnostic:
    return Diagnostic(f"channel '{channel.name}' holds {_bits(channel):,} bits", channel.span, severity="note")
