"""Kernels that are equal but for the indices of their channels, such as most copies of an autorun kernel: the report
describes one of them for all."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..analysis.channels.endpoints import channel_ends, is_call
from ..ir import Function, Op, Region, Value
from ..planning.compilation import CompiledKernel

__all__ = ["CopyGroup", "group_copies", "ranges"]


@dataclass(frozen=True)
class CopyGroup:
    """Planned kernels (:class:`hls.driver.CompiledKernel`) that are equal but for channel indices."""

    kernels: tuple[CompiledKernel, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the kernels, in their order."""
        return tuple(kernel.function.name for kernel in self.kernels)

    @property
    def differs(self) -> tuple[str, ...]:
        """For each channel array of which they use different channels: who uses which, as in ``reads right[0..7]``."""
        used: dict[tuple[str, bool], list[tuple[int, ...]]] = {}
        for kernel in self.kernels:
            mine: dict[tuple[str, bool], list[int]] = {}
            for end in channel_ends(kernel.function):
                mine.setdefault((end.channel, end.writes), []).append(end.index)
            for key, indices in mine.items():
                used.setdefault(key, []).append(tuple(indices))
        return tuple(
            f"{'writes' if writes else 'reads'} {channel}[{ranges(index for each in indices for index in each)}]"
            for (channel, writes), indices in sorted(used.items())
            if len(set(indices)) > 1
        )


def group_copies(kernels: Iterable[Any]) -> tuple[CopyGroup, ...]:
    """The kernels of a program, in order, those that are equal together."""
    found: dict[tuple[Any, ...], list[CompiledKernel]] = {}
    for kernel in kernels:
        found.setdefault(_outline(kernel.function), []).append(kernel)
    return tuple(CopyGroup(tuple(same)) for same in found.values())


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as in ``0..6, 8, 10``."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}..{last}" for first, last in found)


def _outline(function: Function) -> tuple[Any, ...]:
    """A key that is equal for functions that are equal but for their names and the indices of their channels."""
    numbers: dict[Value, int] = {}
    for value in function.args:
        numbers[value] = len(numbers)
    attrs = repr(sorted(function.attrs.items(), key=lambda item: str(item[0])))
    memories = repr(sorted(function.memories.items()))
    return function.span, attrs, memories, tuple(_lines(function.body, numbers))


def _lines(region: Region, numbers: dict[Value, int]) -> Iterator[tuple[Any, ...]]:
    for value in region.args:
        numbers[value] = len(numbers)
    yield tuple(str(value.type) for value in region.args)
    for op in region.ops:
        if op.opcode == "const":  # written where it is used
            continue
        operands = tuple(_operand(op, place, value, numbers) for place, value in enumerate(op.operands))
        for value in op.results:
            numbers[value] = len(numbers)
        yield op.opcode, operands, repr(op.attrs), tuple(str(value.type) for value in op.results), op.span
        for inner in op.regions:
            yield from _lines(inner, numbers)
    yield ()


def _operand(op: Op, place: int, value: Value, numbers: dict[Value, int]) -> object:
    if value.op is None or value.op.opcode != "const":
        return numbers[value]
    return "index" if place == 0 and is_call(op) else f"{value.type} {value.op.attrs!r}"
