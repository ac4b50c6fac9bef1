"""The kinds of load-store units, and an access with the unit that serves it.

:class:`LsuKind` is the one table of them: the name of a kind in reports, its part in ``rtl_lib``, and the rule for its
depths. A new kind is a row here and a part there; ``hls.planning.memory.units`` chooses the accesses that get it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from rtl_lib.lsu.atomic import AtomicUnit
from rtl_lib.lsu.cached_load import CachedLoadUnit
from rtl_lib.lsu.constant import ConstantLoadUnit
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.next_word_load import NextWordLoadUnit
from rtl_lib.lsu.pipelined import PipelinedLoadUnit, PipelinedStoreUnit
from rtl_lib.lsu.shared_cache import SharedCache, SharedLoadUnit
from rtl_lib.lsu.stepping_load import SteppingLoadUnit
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.wide_load import WideLoadUnit
from rtl_lib.lsu.wide_store import WideStoreUnit
from rtl_lib.mem.pumped_ports import PumpedLoadPort
from rtl_lib.mem.ram_ports import ForwardingLoadPort, RamLoadPort, RamStorePort

from ...diag import Span
from ...ir import ArrayType, Attr, Op, moved_type
from ...narrow import instance, present
from ...target.board import Memory

__all__ = ["BURST_ALIGN", "PATIENCE", "STEPPING_LATENCY", "Access", "LsuKind", "SharedPlan", "UnitPlan", "shared_cache"]

#: bytes within which the units' bursts lie unless the memory says otherwise
BURST_ALIGN = 1024
#: cycles that a store unit waits, while the kernel runs, for another store to its word or burst, such as one after an
#: inner loop
PATIENCE = 256
#: stages of a level from the address to the data of a load whose unit is part of the level
STEPPING_LATENCY = SteppingLoadUnit.timing.latency

#: options of a part by name
Options = dict[str, object]


def _accesses_under_way(memory: Memory) -> int:
    """Accesses in flight that sustain one per cycle over the memory's latency."""
    return 2 * memory.read_latency + 32


def _words_under_way(memory: Memory) -> int:
    """Words in flight that sustain one per cycle over the memory's latency, in whole bursts."""
    return max(32, 2 << (memory.read_latency - 1).bit_length())


def _within_bank(memory: Memory) -> Options:
    """Options that keep a unit's bursts within the pieces of a memory that lie in one bank."""
    return {"burst_align": memory.interleave_bytes} if memory.interleave_bytes < BURST_ALIGN else {}


def _geometry(access: "Access") -> Options:
    """Sizes of the accesses and of the memory words."""
    if not access.lanes:
        return {"word_bytes": access.word_bytes, "access_bytes": access.bytes}
    lane_bytes = instance(moved_type(access.op), ArrayType).element.bytes
    return {"word_bytes": access.word_bytes, "lanes": access.lanes, "lane_bytes": lane_bytes, "masked": access.masked}


def _load(access: "Access", memory: Memory) -> Options:
    depth, pending = _accesses_under_way(memory), _words_under_way(memory)
    options = _geometry(access) | {"depth": depth, "pending": pending} | _within_bank(memory)
    # then the words in flight are those of the accesses; no fewer may be under way than a queue of accesses limits
    return options | ({"own_words": True} if access.own_words and pending <= depth else {})


def _cached_load(access: "Access", memory: Memory) -> Options:
    # entries of words in flight cache nothing
    return _load(access, memory) | {"words": max(access.cache_words, 2 * _words_under_way(memory))}


def _load_ahead(access: "Access", memory: Memory) -> Options:
    return _load(access, memory) | {"reads_ahead": True}


def _stepping_load(access: "Access", memory: Memory) -> Options:
    # half of the words ahead last for a quarter longer than memory takes to answer
    moved = max(access.bytes, access.op.attrs[Attr.STEPPING])
    half = -(-5 * memory.read_latency * moved // (4 * access.word_bytes))
    return _geometry(access) | _within_bank(memory) | {"ahead": max(4, 2 << (half - 1).bit_length())}


def _constant_load(access: "Access", memory: Memory) -> Options:
    return {"access_bytes": access.bytes, "depth": _accesses_under_way(memory)}


def _shared_load(access: "Access", memory: Memory) -> Options:
    return {"access_bytes": access.bytes, "depth": _accesses_under_way(memory)}


def _store(access: "Access", memory: Memory) -> Options:
    compared = bool(access.op.attrs.get(Attr.HAZARDS))
    options = _geometry(access) | _within_bank(memory)
    if not compared:  # where loads are compared with stores, each store should reach memory soon
        options["patience"] = PATIENCE
    if access.scattered:  # as many bursts in flight as other units have words
        options["outstanding"] = _words_under_way(memory)
    if access.gathers > 1:
        options["words"] = access.gathers
    return options | ({"descending": access.descending} if access.lanes else {"counted": compared})


def _small(access: "Access", memory: Memory) -> Options:
    return _geometry(access)


def _atomic(access: "Access", memory: Memory) -> Options:
    return {"function": access.op.attrs[Attr.FN], "access_bytes": access.bytes}


class LsuKind(Enum):
    """Each row: name in reports; direction; the part, and the one for accesses of several lanes; the rule for the
    options of both; name in reports for several lanes, if different."""

    LOAD = "burst-coalesced", "load", LoadUnit, WideLoadUnit, _load, "burst-coalesced non-aligned"
    CACHED_LOAD = (
        "burst-coalesced cached",
        "load",
        CachedLoadUnit,
        WideLoadUnit,
        _cached_load,
        "burst-coalesced cached non-aligned",
    )
    #: requests the words of a run before their accesses: the run of a loop, or of a row of work-items
    PREFETCHING_LOAD = "prefetching", "load", LoadUnit, WideLoadUnit, _load_ahead
    STREAMING_LOAD = "streaming", "load", LoadUnit, WideLoadUnit, _load_ahead
    #: requests the word behind the one in use, which may be dropped
    NEXT_WORD_LOAD = "next-word prefetching", "load", NextWordLoadUnit, None, _load
    #: inside the pipeline of a loop, which stands still while its word is not here; requests words ahead
    STEPPING_LOAD = "stepping prefetching", "load", SteppingLoadUnit, None, _stepping_load
    PIPELINED_LOAD = "pipelined", "load", PipelinedLoadUnit, None, _small
    CONSTANT_LOAD = "constant-pipelined", "load", ConstantLoadUnit, None, _constant_load
    #: a port to a cache that the same load of other copies of the kernel uses as well
    SHARED_LOAD = "burst-coalesced shared cached", "load", SharedLoadUnit, None, _shared_load
    STORE = "burst-coalesced", "store", StoreUnit, WideStoreUnit, _store, "burst-coalesced non-aligned"
    #: something in the kernel waits until its stores are in memory
    ACKNOWLEDGED_STORE = (
        "burst-coalesced write-ack",
        "store",
        StoreUnit,
        WideStoreUnit,
        _store,
        "burst-coalesced write-ack non-aligned",
    )
    PIPELINED_STORE = "pipelined", "store", PipelinedStoreUnit, None, _small
    ATOMIC = "atomic-pipelined", "atomic", AtomicUnit, None, _atomic
    #: not units but ports: accesses to on-chip memory, outside and inside of the kernel, which never wait
    RAM_PORT = "RAM port", ""
    BLOCK_RAM = "block RAM", ""

    def __init__(
        self,
        words: str,
        direction: str,
        part: type | None = None,
        wide_part: type | None = None,
        options: Callable[["Access", Memory], Options] | None = None,
        wide_words: str = "",
    ) -> None:
        self.words, self.direction = words, direction
        self.part, self.wide_part, self.options = part, wide_part, options
        self.wide_words = wide_words or words

    @property
    def keeps_words(self) -> bool:
        """Whether loads may be answered by words that others have read: hits, which are counted."""
        return self in (LsuKind.CACHED_LOAD, LsuKind.CONSTANT_LOAD, LsuKind.SHARED_LOAD)

    @property
    def holds_pipeline(self) -> bool:
        """Whether the unit answers in a fixed number of steps of the pipeline that it is part of, and holds it while it
        cannot."""
        return self is LsuKind.STEPPING_LOAD

    @property
    def answers_from_ram(self) -> bool:
        """Whether a load's answer is cut from the output register of a block RAM
        (:class:`~rtl_lib.lsu.word_assembler.WordBuffer`), without a register behind."""
        return self.part in (LoadUnit, CachedLoadUnit, NextWordLoadUnit)

    @property
    def gathers_stores(self) -> bool:
        """Whether stores wait for others to their word or burst, and must be told when none will come."""
        return self in (LsuKind.STORE, LsuKind.ACKNOWLEDGED_STORE)


@dataclass(frozen=True)
class UnitPlan:
    """The part that serves an access, and all its options except the address width, which the system determines."""

    part: type
    options: Mapping[str, object] = field(hash=False)


@dataclass(frozen=True)
class SharedPlan:
    """A cache that several loads of the parts of a kernel use: its ``name``, unique in the program (kernel, buffer and
    a number, with dots between them), its part, and all options of that except the address width."""

    name: str
    unit: UnitPlan


def shared_cache(access: "Access", name: str, loads: int, memory: Memory) -> SharedPlan:
    """The cache of so many ``loads`` like this one. It has room for twice the words of the cache that each would have
    alone: more words are allocated while an access waits if others allocate them, too."""
    alone = _cached_load(access, memory)
    return SharedPlan(name, UnitPlan(SharedCache, alone | {"loads": loads, "words": 2 * instance(alone["words"], int)}))


@dataclass(frozen=True)
class Access:
    """One load or store operation and the unit that serves it.

    ``unit`` is the kind of load-store unit; ``reason`` says why it was chosen. ``bytes`` is the size of one access,
    ``word_bytes`` that of a word of the memory behind the unit, and ``location`` the name of the board's memory (None:
    the default one, or a memory of the kernel). ``latency`` is the fixed number of cycles of an access that is never
    refused (in steps of its pipeline, if its unit may hold that), None if it is unknown. The load unit keeps
    ``cache_words`` words of memory, or, where that is 0, the one in use. A ``forwarding`` load sees stores until the
    cycle before its data is valid.

    An access with a mask has ``lanes`` (else 0), of which ``bytes`` counts those that are used; with ``masked`` not all
    of them are used each time. ``reads_ahead``: the words of its run are requested before their accesses.
    ``own_words``: each access is a word that the one before it has not read. ``descending``: its addresses decrease.
    ``scattered``: most accesses are bursts of their own. ``gathers``: the words that stores join at a time. ``pumped``:
    its blocks run at twice the clock and its data is valid for one cycle, so it must not stall on its way.
    """

    op: Op
    memory: str
    direction: str  #: "load", "store" or "atomic"
    bytes: int
    word_bytes: int
    unit: LsuKind
    reason: str
    span: Span | None
    latency: int | None = None
    cache_words: int = 0
    lanes: int = 0
    masked: bool = False
    reads_ahead: bool = False
    own_words: bool = False
    descending: bool = False
    scattered: bool = False
    to_a_word: int = 1
    gathers: int = 1
    forwarding: bool = False
    pumped: bool = False
    location: str | None = None
    shared: SharedPlan | None = None  #: the cache behind the unit, if several loads use it
    hardware: UnitPlan | None = None  #: set once all of the above is decided

    @property
    def lsu(self) -> str:
        """The name of the unit in reports."""
        return self.unit.wide_words if self.lanes else self.unit.words

    def with_unit(self, memory: Memory, long_lookup: bool = False) -> "Access":
        """The access, which may wait, with the unit that serves it; ``memory`` is the board's memory that it reaches.
        With ``long_lookup``, a cached load's lookup takes a cycle more (:func:`hls.analysis.timing.lookup_is_long`)."""
        part = self.unit.wide_part if self.lanes else self.unit.part
        options = present(self.unit.options)(self, memory)
        if long_lookup and self.unit is LsuKind.CACHED_LOAD:
            options |= {"registered": True}
        return replace(self, hardware=UnitPlan(present(part), options))

    def with_port(self, write_ports: int) -> "Access":
        """The access, which never waits, with its port to a memory that is written through ``write_ports``. The port of
        an atomic operation is that of its read."""
        options = _geometry(self)
        if self.direction == "store":
            return replace(self, hardware=UnitPlan(RamStorePort, options))
        if self.pumped:
            seen = {"writes": write_ports} if self.direction == "load" else {}
            options |= {"forwarding": self.forwarding or self.direction == "atomic", **seen}
        part = _load_port(self.forwarding or self.direction == "atomic", self.pumped)
        return replace(self, hardware=UnitPlan(part, options))


def _load_port(forwarding: bool, pumped: bool) -> type[PumpedLoadPort] | type[ForwardingLoadPort] | type[RamLoadPort]:
    """The part through which on-chip memory is read."""
    return PumpedLoadPort if pumped else ForwardingLoadPort if forwarding else RamLoadPort
