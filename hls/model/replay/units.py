"""The load and store units of a kernel as numbers (``UnitPlan`` in ``sim/model/engine/plan.h``)."""

from ...narrow import instance, present
from ...planning.memory import Access, LsuKind
from .refused import NotReplayed

__all__ = ["unit_numbers"]

#: units by kind; the others are refused
MODELLED = {
    LsuKind.LOAD,
    LsuKind.CACHED_LOAD,
    LsuKind.PREFETCHING_LOAD,
    LsuKind.STREAMING_LOAD,
    LsuKind.STORE,
    LsuKind.ACKNOWLEDGED_STORE,
    LsuKind.PIPELINED_STORE,
}
#: what rtl_lib/lsu/store.py has where the plan says nothing
OUTSTANDING, PATIENCE = 16, 32
ALIGN = 1024


def unit_numbers(access: Access) -> list[int]:
    """The fields of a unit. Raises NotReplayed."""
    if access.unit not in MODELLED or access.lanes:
        raise NotReplayed(f"a {access.lsu} {access.direction}", access.span)
    options = present(access.hardware).options

    def option(name: str, usual: int) -> int:
        return instance(options.get(name, usual), int)

    pending = option("pending", 0)
    return [
        int(access.direction == "store"),
        access.word_bytes,
        option("depth", 1),
        pending,
        option("words", 0),
        int(access.reads_ahead),
        int(access.unit is LsuKind.PIPELINED_STORE),
        option("outstanding", OUTSTANDING),
        option("patience", PATIENCE),
        option("burst_align", ALIGN),
    ]
