"""All arithmetic parts by kind, and the choice of a latency for a clock period.

A scheduler calls :func:`choose` and reads cycles and nanoseconds; it does not depend on the structure of a part.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rtl_lib.fp.add import FloatAdd
from rtl_lib.fp.compare import FloatCompare
from rtl_lib.fp.convert import FloatToInt, IntToFloat
from rtl_lib.fp.divide import FloatDiv
from rtl_lib.fp.fma import FloatFma
from rtl_lib.fp.integral import FloatIntegral
from rtl_lib.fp.multiply import FloatMul
from rtl_lib.fp.resize import FloatResize
from rtl_lib.fp.sqrt import FloatSqrt
from rtl_lib.fp.sum import FloatSum

from .divide import IntDivRem
from .multiply import IntMul
from .pipelined import PipelinedPart, balanced_cuts, least_registers, segments

__all__ = ["PARTS", "Choice", "PeriodTooShort", "choose", "latency_for"]

PARTS: MappingProxyType[str, type[PipelinedPart]] = MappingProxyType(
    {
        part.kind: part
        for part in (
            FloatAdd,
            FloatMul,
            FloatFma,
            FloatSum,
            FloatDiv,
            FloatSqrt,
            FloatCompare,
            FloatIntegral,
            FloatResize,
            IntToFloat,
            FloatToInt,
            IntMul,
            IntDivRem,
        )
    }
)


class PeriodTooShort(ValueError):
    """A single step of the part takes longer than the clock period allows."""


@dataclass(frozen=True)
class Choice:
    """A latency, and the time left for logic chained to the part in the same cycles."""

    latency: int  #: cycles
    delay_ns: float  #: from the operands to the first register, or to the result if there is no register
    out_delay_ns: float  #: from the last register to the result; 0 if there is no register
    deepest_ns: float  #: of the slowest path between registers


def choose(
    part: type[PipelinedPart], params: Any, period_ns: float, ns_per_level: float, overhead_ns: float = 0.5
) -> Choice:
    """The least latency at which every combinational segment of ``part`` fits the clock, as a :class:`Choice`.

    Parameters
    ----------
    part : one of the classes in :data:`PARTS`
    params : instance of ``part.Params``
    period_ns : clock period
    ns_per_level : delay of a lookup table with its routing in the target device
    overhead_ns : register output delay, setup time and clock skew together

    Raises :exc:`PeriodTooShort` if no number of registers is enough.
    """
    fixed = part.fixed_latency(params)
    if fixed is not None:  # its logic is not known: half a period before the first register, and behind the last one
        room = period_ns - overhead_ns
        return Choice(fixed, room / 2, room / 2, room) if fixed else Choice(0, room, 0.0, room)
    steps = part.steps(params)
    levels = tuple(step.levels for step in steps)
    limit = (period_ns - overhead_ns) / ns_per_level
    latency = least_registers(levels, limit)
    if latency is None:
        worst = max(steps, key=lambda step: step.levels)
        raise PeriodTooShort(
            f"{part.kind}: step {worst.name} alone takes {worst.levels * ns_per_level + overhead_ns:.2f} ns, "
            f"the clock period is {period_ns:.2f} ns"
        )
    depths = segments(levels, balanced_cuts(levels, latency))
    return Choice(
        latency=latency,
        delay_ns=depths[0] * ns_per_level,
        out_delay_ns=depths[-1] * ns_per_level if latency else 0.0,
        deepest_ns=max(depths) * ns_per_level,
    )


def latency_for(
    part: type[PipelinedPart], params: Any, period_ns: float, ns_per_level: float, overhead_ns: float = 0.5
) -> int:
    """The latency that :func:`choose` selects, in cycles."""
    return choose(part, params, period_ns, ns_per_level, overhead_ns).latency
