"""The load and store units of a kernel as numbers (``UnitPlan`` in ``sim/model/engine/plan.h``)."""

from inspect import signature
from zlib import crc32

from rtl_lib.lsu.constant import cache_fill, cache_places
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.wide_load import WideLoadUnit
from rtl_lib.lsu.wide_store import WideStoreUnit

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
    LsuKind.NEXT_WORD_LOAD,
    LsuKind.STEPPING_LOAD,
    LsuKind.PIPELINED_LOAD,
    LsuKind.CONSTANT_LOAD,
    LsuKind.SHARED_LOAD,
    LsuKind.STORE,
    LsuKind.ACKNOWLEDGED_STORE,
    LsuKind.PIPELINED_STORE,
    LsuKind.ATOMIC,
}
#: the parts that have the options of wide accesses which these do not name
INNER = {WideLoadUnit: LoadUnit, WideStoreUnit: StoreUnit}


def unit_numbers(access: Access, constant_bytes: int, latency: int) -> list[int]:
    """The fields of a unit, before memory that answers after ``latency`` cycles; loads of constant memory share a cache
    of ``constant_bytes``. Raises NotReplayed."""
    if access.unit not in MODELLED or (access.lanes and access.reads_ahead):
        raise NotReplayed(f"a {access.lsu} {access.direction}", access.span)
    hardware = present(access.hardware if access.shared is None else access.shared.unit)
    usual = {**_defaults(INNER.get(hardware.part, hardware.part)), **_defaults(hardware.part)}

    def option(name: str) -> int:
        return instance(hardware.options.get(name, usual.get(name, 0)), int)

    constant = access.unit is LsuKind.CONSTANT_LOAD
    places = cache_places(constant_bytes, access.word_bytes)
    return [
        int(access.direction == "store"),
        access.lanes,
        option("descending"),
        option("counted"),
        int(constant),
        access.word_bytes,
        option("depth"),
        option("pending"),
        places if constant else option("words"),
        int(access.reads_ahead),
        int(access.unit is LsuKind.NEXT_WORD_LOAD),
        int(access.unit in (LsuKind.PIPELINED_STORE, LsuKind.PIPELINED_LOAD)),
        option("outstanding"),
        option("patience"),
        option("burst_align"),
        cache_fill(places, latency) if constant else option("ahead"),
        *_atomic(hardware.options.get("function")),
        int(option("registered")),
        0 if access.shared is None else 1 + crc32(access.shared.name.encode()),
    ]


def _atomic(function: object) -> list[int]:
    """1 for an atomic operation, 2 for one that changes nothing, 0 for others."""
    return [0 if function is None else 2 if function == "read" else 1]


def _defaults(part: type) -> dict[str, object]:
    """What a part has for each option that the plan does not give."""
    parameters = signature(part).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}
