"""What synthesis, place and route made of a design: the records of ``synthesis.json``, which are part of a report, too.

The compiler leaves them out; ``sluice synth`` puts them in.
"""

from dataclasses import dataclass

from ...records import computed

__all__ = ["SCHEMA", "Compared", "Figure", "Mapped", "Place", "Placed", "Row", "Step", "Synthesis"]

#: version of the fields; keys are added within a version, and never change their meaning
SCHEMA = 3


@dataclass(frozen=True)
class Place:
    """Where a cell belongs: ``kernel`` ("" for what kernels share), the innermost ``loop`` ("" outside of all), the
    ``role`` of the part as in the report's area, the ``part`` itself (the name of its instance or signal), and its
    source ``line`` (None if it belongs to none)."""

    kernel: str = ""
    loop: str = ""
    role: str = ""
    part: str = ""
    line: int | None = None


@dataclass(frozen=True)
class Figure:
    """A resource: what was ``mapped``, and what was ``estimated``."""

    mapped: int
    estimated: int

    @computed
    def error(self) -> float | None:
        """How much more was estimated than mapped, in percent of what was mapped; None if that is nothing."""
        return round(100 * (self.estimated - self.mapped) / self.mapped, 1) if self.mapped else None


@dataclass(frozen=True)
class Mapped:
    """What was mapped: ``luts`` of logic, cells of carry chains and LUT RAMs, which together take ``places`` of LUTs,
    registers, block RAMs and DSP blocks. ``logic`` is places or registers, whichever are more, as in estimates."""

    logic: int
    places: int
    luts: int
    carries: int
    lut_rams: int
    registers: int
    rams: int
    dsps: int


@dataclass(frozen=True)
class Compared:
    """Resources of the design or of a kernel ("" for what kernels share), beside the estimates."""

    kernel: str
    mapped: Mapped
    logic: Figure
    registers: Figure
    rams: Figure
    dsps: Figure


@dataclass(frozen=True)
class Row:
    """Mapped resources of a ``part`` of a kernel (its role in the report's area), or of a source line (None for no
    line, and for a part). There are no estimates beside them: synthesis shares logic between parts and lines, and its
    names lead to one of them."""

    kernel: str
    part: str
    line: int | None
    mapped: Mapped


@dataclass(frozen=True)
class Step:
    """A stretch of the critical path in one place, in ns: ``logic_ns`` in cells, ``routing_ns`` in the wires to and
    between them; ``levels`` of logic, a carry chain counting as one. ``words`` say where it is."""

    place: Place
    logic_ns: float
    routing_ns: float
    levels: int
    words: str


@dataclass(frozen=True)
class Placed:
    """After place and route with ``seed``: the kernel clock that was ``asked_mhz`` and ``reached_mhz``, and the longest
    path. ``advice`` says what would shorten it."""

    seed: int
    asked_mhz: float
    reached_mhz: float
    path_ns: float
    routing: float  #: share of the path that is routing, 0 to 1
    path: tuple[Step, ...]
    advice: tuple[str, ...]

    @computed
    def met(self) -> bool:
        """Whether the clock is reached."""
        return self.reached_mhz >= self.asked_mhz


@dataclass(frozen=True)
class Synthesis:
    """A design on a device. ``digest`` is that of the design in interface.json. In each of ``kernels``, ``parts`` and
    ``lines`` what is mapped sums to that of the ``design``, except for ``logic``: where LUTs are more in one row and
    registers in another, the sum of the larger ones is more than the larger sum. ``placed`` is None for a device
    that no open tool places."""

    digest: str
    board: str
    part: str
    tools: tuple[str, ...]
    design: Compared
    kernels: tuple[Compared, ...]
    parts: tuple[Row, ...]
    lines: tuple[Row, ...]
    placed: Placed | None
    schema: int = SCHEMA
