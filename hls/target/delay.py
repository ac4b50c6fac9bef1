"""Delay tables: the delay of each class of operation on a device family and speed grade, as data.

A delay counts from the output of the preceding cell (or of a register) to the output of the operation's own cells: one
hop of routing to every level of cells, and the cells themselves::

    hops * hop + base + per_bit * width + ceil(luts + luts_per_doubling * log2(width)) * (hop + lut)

The path from a register into the first hop (``clk_to_q``) and into the register at the end (``setup``) is the overhead
that every clock period pays once.

Load-store units are the same at every clock. A fitted table has the clock that each kind reaches alone, behind a queue
of its requests, by the name in reports: a design reaches about the least of those of its units and its loops.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from types import MappingProxyType
from typing import Any

from .table import Table, read_toml

__all__ = ["OP_CLASSES", "Cost", "DelayModel", "known_delays", "load_delays"]

#: Every class a table must define. ``const_shl`` and the like are shifts by a constant: wires. ``ram_out`` and
#: ``fifo_out`` are the delays of a block RAM's or a FIFO's output beyond that of a register.
OP_CLASSES = frozenset(
    [
        "add",
        "sub",
        "neg",
        "and",
        "or",
        "xor",
        "not",
        "shl",
        "lshr",
        "ashr",
        "const_shl",
        "const_lshr",
        "const_ashr",
        "eq",
        "ult",
        "slt",
        "select",
        "mux",
        "lut",
        "trunc",
        "zext",
        "sext",
        "bitcast",
        "extract",
        "insert",
        "ram_out",
        "fifo_out",
    ]
)

#: of the accesses that units serve
DIRECTIONS = ("load", "store", "atomic")


@dataclass(frozen=True)
class Cost:
    """The figures of one class of operations (see the formula in the module docstring)."""

    hops: int
    base: float
    per_bit: float
    luts: float
    luts_per_doubling: float


@dataclass(frozen=True)
class DelayModel:
    """Delays (ns) on one device family and speed grade at one clock period."""

    name: str
    family: str
    grade: str  #: the speed grade as the vendor writes it, "" if the table is of none in particular
    fitted: bool  #: to what place and route reaches; else the figures are published ones and assumptions
    period_ns: float
    clk_to_q: float
    setup: float
    hop: float
    lut: float
    level: float  #: one level of logic inside a placed part: an average LUT input and a short hop
    dsp_bits: int  #: the widest operand of a hard multiplier
    adder_words: int  #: words that one carry chain adds: 2 or 3
    costs: Mapping[str, Cost]
    units: Mapping[tuple[str, str], float] = field(default_factory=dict)  #: MHz by direction and kind of unit

    @property
    def overhead_ns(self) -> float:
        """The register overhead of every clock period, in ns."""
        return self.clk_to_q + self.setup

    def delay(self, opclass: str, width: int) -> float:
        """Delay (ns) through ``opclass`` at ``width`` bits.

        Raises KeyError for a class that is not in :data:`OP_CLASSES`, ValueError for a width below 1.
        """
        if width < 1:
            raise ValueError(f"width must be at least 1, not {width}")
        cost = self.costs[opclass]
        rows = math.ceil(cost.luts + cost.luts_per_doubling * math.log2(width) - 1e-9)
        return cost.hops * self.hop + cost.base + cost.per_bit * width + rows * (self.hop + self.lut)


def known_delays() -> tuple[str, ...]:
    """Names of the delay tables, in alphabetical order."""
    return tuple(sorted(item.name.removesuffix(".toml") for item in _folder().iterdir()))


def load_delays(name: str, period_ns: float) -> DelayModel:
    """The delay table ``name`` at a clock period; an invalid table is a BoardError naming the key."""
    if period_ns <= 0:
        raise ValueError(f"period_ns must be positive, not {period_ns}")
    return read_delays(read_toml(_folder().joinpath(f"{name}.toml")), name, period_ns)


def read_delays(root: Table, name: str, period_ns: float) -> DelayModel:
    """Check a parsed table and freeze it."""
    registers = {key: root.number(key, 0, 100) for key in ("clk_to_q", "setup", "hop", "lut", "level")}
    model = DelayModel(
        name,
        family=root.text("family"),
        grade=root.text("grade") if "grade" in root else "",
        fitted=root.boolean("fitted"),
        period_ns=period_ns,
        **registers,
        dsp_bits=root.integer("dsp_bits", 1, 64),
        adder_words=root.integer("adder_words", 2, 3),
        costs=_read_costs(root),
        units=_read_units(root),
    )
    root.close()
    return model


def _folder() -> Any:
    return resources.files(__package__).joinpath("delays")


def _read_units(root: Table) -> Mapping[tuple[str, str], float]:
    units: dict[tuple[str, str], float] = {}
    for entry in root.tables("unit") if "unit" in root else ():
        key = entry.text("direction"), entry.text("kind")
        if key[0] not in DIRECTIONS:
            raise entry.error("direction", f"{key[0]!r} is none of {', '.join(DIRECTIONS)}")
        if key in units:
            raise entry.error("kind", f"{key[1]!r} is given twice for a {key[0]}")
        units[key] = entry.number("mhz", 1, 10_000)
        entry.close()
    return MappingProxyType(units)


def _read_costs(root: Table) -> Mapping[str, Cost]:
    costs = {}
    for entry in root.tables("delay"):
        cost = Cost(
            hops=entry.integer("hops", 0, default=0),
            base=entry.number("base", 0, default=0),
            per_bit=entry.number("per_bit", 0, default=0),
            luts=entry.number("luts", 0, default=0),
            luts_per_doubling=entry.number("luts_per_doubling", 0, default=0),
        )
        for op in entry.texts("ops"):
            if op not in OP_CLASSES:
                raise entry.error("ops", f"{op!r} is no class of operations")
            if op in costs:
                raise entry.error("ops", f"{op!r} is given twice")
            costs[op] = cost
        entry.close()
    if missing := OP_CLASSES - costs.keys():
        raise root.error("delay", f"gives no delay for {', '.join(sorted(missing))}")
    return MappingProxyType(costs)
