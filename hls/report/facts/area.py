"""Facts about area: what each part of the design takes of the device, by the design's structure and by source line."""

from dataclasses import dataclass
from enum import StrEnum

from ...diag import Span
from ...model.area import NOTHING, Resources

__all__ = ["AreaNode", "LineArea", "Operator", "Role"]


class Role(StrEnum):
    """What a part of the design is for."""

    SYSTEM = "system"  #: the whole design
    KERNEL = "kernel"
    LOOP = "loop"  #: a loop with everything in it, or the part of a kernel outside of its loops
    BOARD = "board interface"
    DISPATCH = "kernel dispatch"
    INTERCONNECT = "global interconnect"
    CONSTANT_CACHE = "constant cache"
    SHARED_CACHE = "shared caches"
    CHANNELS = "channels"
    COUNTERS = "hardware counters"
    STATE = "state"  #: values and control of a pipeline: queues, slots, registers between stages
    FEEDBACK = "feedback"  #: values carried from iteration to iteration
    ACCESS = "access units"
    LOCAL_MEMORY = "local memory"
    ARITHMETIC = "arithmetic"
    INVARIANT = "launch-invariant values"
    OTHER = "other"


@dataclass(frozen=True)
class AreaNode:
    """A part of the design. ``resources`` are those of all ``count`` copies, and the exact sum of the children's where
    there are any."""

    name: str
    role: Role
    resources: Resources
    span: Span | None = None
    children: tuple["AreaNode", ...] = ()
    count: int = 1
    id: str = ""  #: id of the loop or access that it is; "" for anything else


@dataclass(frozen=True)
class LineArea:
    """What one source line takes, as far as it has one ``role``. ``kernel`` is "" for the line's part of what the
    kernels share: interconnects, memory ports and caches are split equally among the units that they
    serve, channels belong to their declarations, control windows are split among the kernels. ``span`` is None for what
    belongs to no line. The sum over all entries is the whole design, exactly."""

    kernel: str
    role: Role
    span: Span | None = None
    resources: Resources = NOTHING


@dataclass(frozen=True)
class Operator:
    """The arithmetic parts of the operations at one place of the source that do the same. ``resources`` are those of
    all ``count`` parts, in all copies of the kernel."""

    words: str  #: what it computes, e.g. "integer remainder for at"
    opcode: str  #: the IR's name of the operation
    span: Span | None
    loop: str  #: id of the innermost loop around it; "" outside of all loops
    resources: Resources
    count: int = 1
