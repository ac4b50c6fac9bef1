"""Memories inside a kernel as text: one paragraph each."""

from collections import Counter
from collections.abc import Callable, Iterable

from ..sentence import enumerated
from .model import Memory
from .phrasing import at

__all__ = ["memory_lines"]

_SPACES = {"local": "Local memory", "private": "Private memory", "constant": "Table"}


def memory_lines(memories: Iterable[Memory], wrap: Callable[[str, str], list[str]]) -> list[str]:
    """A paragraph for each memory. ``wrap`` breaks a line after a margin."""
    return [
        line
        for memory in memories
        for number, text in enumerate(_paragraph(memory))
        for line in wrap(text, "    " if number else "  ")
    ]


def _paragraph(memory: Memory) -> list[str]:
    copied = f", the copy of {memory.copy_of}" if memory.copy_of else ""
    lines = [f"{_SPACES[memory.space]} {memory.name}{copied}{at(memory.span)}: {memory.rating}.", _figures(memory)]
    if memory.merged:
        how = {"depth": "by depth", "width": "by width"}[memory.merged_by]
        lines.append(f"Merged {how} from {enumerated(memory.merged)}, which share its ports.")
    if memory.banks > 1:
        lines.append(f"{memory.banks} banks: {memory.banked}.")
    if memory.copies > 1:
        lines.append(
            f"Replicated {memory.copies} times: {_count(memory.reads + memory.atomics, 'load')} can read at once."
        )
    if memory.pumping == "double-pumped":
        times = (
            "twice a cycle and written twice, by one port before the other"
            if memory.write_ports > 1
            else "three times a cycle and written once"
            if memory.writes or memory.atomics
            else "four times a cycle"
        )
        lines.append(
            f"Double-pumped: its RAMs run at twice the clock (port sync2x_clk); each is read up to {times}; a load "
            "takes two cycles more than from a single-pumped memory."
        )
    if memory.groups > 1 and memory.owners != "groups":
        who = "work-item" if memory.owners == "work-items" else "iteration of the loop that declares it"
        lines.append(
            f"{memory.groups} private copies, one for each {who} in flight: "
            f"{_growth(memory, 'private_copies(1) makes one')}"
        )
    elif memory.groups > 1:
        fewer = "fewer barriers or larger groups (max_work_group_size) need fewer copies"
        lines.append(f"{memory.groups} private copies, one for each work-group in flight: {_growth(memory, fewer)}")
    for (at_lines, reason), ports in Counter((_at_lines(one.lines), one.reason) for one in memory.sharing).items():
        lines.append(f"Accesses at {at_lines} share {'a port' if ports == 1 else f'{ports} ports'}: {reason}.")
    for one in memory.turns:
        others = _one_port(memory) if one.kind == "store" else "the allowed copies"
        lines.append(
            f"Conflict: {'stores' if one.kind == 'store' else 'loads'} at {_at_lines(one.lines)} share {others}: "
            f"{one.cycles} cycles an iteration."
        )
    if memory.attributes:
        lines.append(f"Requested in the source: {', '.join(memory.attributes)}.")
    if memory.advice:
        lines.append(f"{memory.advice[0].upper()}{memory.advice[1:]}.")
    return lines


def _one_port(memory: Memory) -> str:
    return (
        "the write port of a bank"
        if memory.write_ports == 1
        else f"one of the {memory.write_ports} write ports of a bank"
    )


def _figures(memory: Memory) -> str:
    accesses = [_count(memory.reads, "read"), _count(memory.writes, "write")]
    if memory.atomics:
        accesses.append(_count(memory.atomics, "atomic operation"))
    where = _count(memory.blocks, "block RAM") if memory.blocks else "LUT RAM"
    free = "stall-free" if memory.stall_free else "some accesses share ports"
    return (
        f"Requested {_count(memory.requested, 'byte')}, implemented {_count(memory.implemented, 'byte')} in {where}, "
        f"{memory.pumping}, {free}, "
        f"{' and '.join(accesses) if len(accesses) == 2 else ', '.join(accesses)}."
    )


def _growth(memory: Memory, fewer: str) -> str:
    if memory.blocks <= memory.of_one_group:
        return "one copy would need as many block RAMs."
    times = (
        f"{memory.blocks / memory.of_one_group:.3g} times the block RAMs of one copy"
        if memory.of_one_group
        else "one copy would be in LUT RAM"
    )
    return f"{times}. {fewer[0].upper()}{fewer[1:]}."


def _at_lines(lines: tuple[int, ...]) -> str:
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines))}"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'s' * (number != 1)}"
