"""The queue of an operation's requests behind a level: fields that are known some stages before the others wait in a
memory beside it instead of in registers of the stages between."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from amaranth import Cat, Module
from amaranth import Value as HardwareValue
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream

from rtl_lib.mem.early_fields import EarlyFields
from rtl_lib.mem.fifo import StreamFifo

__all__ = ["Early", "RequestQueue", "early_fields"]

#: Cells that a memory for early fields takes in addition to those of a wider queue, for each bit of a place: registers
#: and logic of two pointers.
_CELLS_PER_BIT = 4


@dataclass(frozen=True)
class Early:
    """The numbers of the ``fields`` that are put into the memory in ``stage``."""

    stage: int
    fields: tuple[int, ...]


def early_fields(fields: Sequence[tuple[int, int]], push: int, depth: int) -> Early | None:
    """Which fields are worth a memory, by the bits of each and the stage in which it is known: those whose common
    stage saves most registers, compared with stage ``push`` in which the request enters a queue of ``depth``; None if
    no stage saves more than the memory takes."""
    if StreamFifo.timing_of(sum(bits for bits, _ in fields), depth) != StreamFifo.timing_of(1, 1):
        return None  # in a block RAM
    found: tuple[int, Early] | None = None
    for stage in sorted({known for _, known in fields}):
        here = tuple(k for k, (bits, known) in enumerate(fields) if bits and known <= stage)
        saved = (push - stage) * sum(fields[k][0] for k in here)
        if found is None or saved > found[0]:
            found = saved, Early(stage, here)
    pointers = (depth - 1).bit_length()
    return found[1] if found is not None and found[0] > _CELLS_PER_BIT * (pointers + 1) else None


class RequestQueue:
    """Joins a queue of the late fields, and the memory of the early ones, to one stream of requests.

    ``fifo`` is the queue, to be driven at its ``i.valid``; ``late`` are its fields by number, ``early`` the memory.
    """

    def __init__(self, m: Module, name: str, fields: Sequence[int], early: Early, depth: int, counted: bool) -> None:
        late = [k for k in range(len(fields)) if k not in early.fields]
        self.fifo = StreamFifo(data.StructLayout({f"f{k}": fields[k] for k in late}), depth, counted, credited=True)
        self.early = EarlyFields(width=sum(fields[k] for k in early.fields), depth=depth)
        m.submodules[f"{name}_request"], m.submodules[f"{name}_early"] = self.fifo, self.early
        m.d.comb += self.early.take.eq(self.fifo.o.valid & self.fifo.o.ready)
        self.late = {k: self.fifo.i.payload[f"f{k}"] for k in late}
        self._out = {k: self.fifo.o.payload[f"f{k}"] for k in late}
        low = 0
        for k in early.fields:
            self._out[k] = self.early.oldest[low : low + fields[k]]
            low += fields[k]

    def requests(self, m: Module, shape: ShapeLike, fields: Callable[[Any], Any]) -> stream.Interface:
        """The stream of whole requests; ``fields`` returns those of a payload of that ``shape``."""
        found = stream.Signature(shape).create()
        m.d.comb += [found.valid.eq(self.fifo.o.valid), self.fifo.o.ready.eq(found.ready)]
        m.d.comb += [field.eq(self._out[k]) for k, (field, _) in enumerate(fields(found.payload))]
        return found

    def put(self, m: Module, on: HardwareValue, values: Sequence[HardwareValue]) -> None:
        """Put the early fields of a request into the memory where ``on``."""
        m.d.comb += [self.early.put.eq(on), self.early.value.eq(Cat(*values))]
