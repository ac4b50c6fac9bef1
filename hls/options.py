"""The options of the compiler."""

import re
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from .design import Design
from .limits import DEFAULT_LIMITS, Limits
from .rtl_library import RtlFunction

__all__ = [
    "AS_WRITTEN",
    "AXI_ADDRESS_BITS",
    "CONTROLS",
    "COUNTERS",
    "FEED_FORWARDS",
    "MOST_CACHE_BYTES",
    "RESETS",
    "STREAM_NAMES",
    "BuildOptions",
    "Options",
]

#: most bytes of a cache of load units
MOST_CACHE_BYTES = 1 << 24
CONTROLS = ("axi-lite", "wires")
#: widths that addresses of the AXI4 managers can have, the usual one first
AXI_ADDRESS_BITS = (64, 32)
#: the level at which the reset port acts: ``rst``, or ``rst_n``
RESETS = ("high", "low")
#: the signals of a stream: valid, ready, data, or those of AXI4-Stream: tvalid, tready, tdata
STREAM_NAMES = ("plain", "axi")
#: which hardware counters can be built; "" for none
COUNTERS = ("", "accounts", "accesses", "all")
#: which kernels are split into a memory part and a compute part, besides those with the attribute feed_forward
FEED_FORWARDS = ("never", "always", "auto")


@dataclass(frozen=True)
class BuildOptions:
    """What a host program says when it builds a program, as far as plans depend on it; the fields are those of
    :class:`Options`."""

    defines: tuple[tuple[str, str], ...] = ()
    include_dirs: tuple[str, ...] = ()
    fp_relaxed: bool = False
    fpc: bool = False
    denorms_are_zero: bool = False
    single_precision: bool = False
    cache_bytes: int | None = None
    const_cache_bytes: int = 16384
    copy_bytes: int | None = None
    no_interleaving: tuple[str, ...] = ()
    axi_masters: int = 0
    group_items: int = 0
    local_bytes: int = 0
    feed_forward: str = "never"

    @classmethod
    def of(cls, options: "Options") -> "BuildOptions":
        """Those of a compilation."""
        same = {one.name: getattr(options, one.name) for one in fields(cls)[2:]}
        folders = tuple(str(folder.absolute()) for folder in options.include_dirs)
        return cls(tuple(sorted(options.defines.items())), folders, **same)

    def applied(self, options: "Options") -> "Options":
        """The options of a command with those of the build: where the command differs from the default, it wins."""
        usual = Options()
        asked = {one.name for one in fields(self)[2:] if getattr(options, one.name) != getattr(usual, one.name)}
        own = {one.name: getattr(self, one.name) for one in fields(self)[2:] if one.name not in asked}
        folders = (*options.include_dirs, *map(Path, self.include_dirs))
        defines = {**dict(self.defines), **options.defines}
        return replace(options, defines=defines, include_dirs=tuple(dict.fromkeys(folders)), **own)


#: a build without options
AS_WRITTEN = BuildOptions()


@dataclass(frozen=True)
class Options:
    """Options of one compilation; the command line and ``Program.build`` both make one of these.

    Attributes
    ----------
    defines : macros, name to text
    include_dirs : folders searched by ``#include``
    limits : budgets, beyond which a program is rejected
    include_roots : the only folders from which ``#include`` reads; empty: anywhere
    fp_relaxed, fpc : allow reassociation of floating-point additions; round once at the end of a tree
    denorms_are_zero : sums, products, quotients and roots of float and double treat subnormal operands as zeros, and
        flush subnormal results to zero
    single_precision : unsuffixed floating constants are floats, also in a program with doubles, and without a warning
    counters : the hardware counters to build: "" for none, "accounts" (what each cycle of a kernel went to), "accesses"
        (loops, accesses and channels), or "all"; None for "all" with AXI ports, none with plain RAM ports
    probe : lead the signals that counters count out of the design, for a simulator that counts them itself
    random_stalls : build the stall sources that tests switch on with a seed
    ram_faults : with on-chip global memory, build an input at each load's RAM port that says that no memory lies at the
        address, for simulation: a speculative load that is squashed is no error
    elastic_depth : levels of up to this many stages are stall-enabled; 0 builds stall-free levels only
    control : how a kernel is started and receives its arguments: "axi-lite" registers, or plain "wires" (only boards
        with on-chip memory), which take almost no area
    cache_bytes : size of every load cache that the program does not specify; 0 for none, None for what each needs
    const_cache_bytes : size of the cache that all loads of ``__constant`` buffers share; 0 for none
    reset_active, stream_names : the polarity of the reset port, and how the ports of streams are named; one of
        ``RESETS`` and ``STREAM_NAMES``
    prefix : prepended, with an underscore, to the name of every Verilog module and file; empty for none
    axi_masters : AXI4 managers for each memory, a divisor of the number of its banks; 0 for one for each bank
    axi_address_bits : width of the addresses of AXI4 managers, one of ``AXI_ADDRESS_BITS``
    no_interleaving : names of memories ("default" is one) whose banks follow one another, so that the host places
        buffers; others are interleaved as the board specifies
    group_items, local_bytes : size of the largest work-group, and of a local memory argument, where a kernel does not
        say; 0 for the usual ones
    printf : build hardware that sends what kernels print to streams of the design; without it printf prints nothing
    libraries : the RTL functions that the program may call, each computed by a Verilog module of the user
    copy_bytes : buffers of at most so many bytes, by the sizes of a launch, that kernels wait for in external memory
        are copied to the chip while they run, where the schedule shows a gain; 0 for none, None for as many as suit the
        board's block RAMs
    feed_forward : which kernels without the attribute of that name are split into a memory part and a compute part:
        "never" any, "always" all that can be, "auto" those for which the schedules predict a gain; "auto" also copies
        kernels whose copies are predicted to be faster
    design : values for loops and kernels by their places, as ``sluice tune`` finds them (see :meth:`with_design`)
    """

    defines: dict[str, str] = field(default_factory=dict)
    include_dirs: tuple[Path, ...] = ()
    fp_relaxed: bool = False
    fpc: bool = False
    counters: str | None = ""
    probe: bool = False
    random_stalls: bool = False
    ram_faults: bool = False
    elastic_depth: int = 0
    control: str = "axi-lite"
    cache_bytes: int | None = None
    const_cache_bytes: int = 16384
    no_interleaving: tuple[str, ...] | str = ()
    axi_masters: int = 0
    axi_address_bits: int = AXI_ADDRESS_BITS[0]
    denorms_are_zero: bool = False
    reset_active: str = "high"
    stream_names: str = "plain"
    prefix: str = ""
    include_roots: tuple[Path, ...] = ()
    limits: Limits = DEFAULT_LIMITS
    design: Design | None = None
    libraries: tuple[RtlFunction, ...] = ()
    group_items: int = 0
    local_bytes: int = 0
    feed_forward: str = "never"
    printf: bool = False
    copy_bytes: int | None = None
    single_precision: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The OpenCL C files that define the RTL functions, each once."""
        return tuple(dict.fromkeys(str(one.model) for one in self.libraries))

    def with_design(self, design: Design) -> "Options":
        """The options of a compilation with the design, whose defines and options win."""
        relaxed = self.fp_relaxed if design.fp_relaxed is None else design.fp_relaxed
        private = self.cache_bytes if design.cache_bytes is None else design.cache_bytes
        constant = self.const_cache_bytes if design.const_cache_bytes is None else design.const_cache_bytes
        return replace(
            self,
            design=design,
            defines={**self.defines, **dict(design.defines)},
            fp_relaxed=relaxed,
            cache_bytes=private,
            const_cache_bytes=constant,
        )

    def __post_init__(self) -> None:
        if isinstance(self.no_interleaving, str):  # a single name
            object.__setattr__(self, "no_interleaving", (self.no_interleaving,))
        if self.axi_masters < 0:
            raise ValueError(f"axi_masters must be 0 or more, not {self.axi_masters!r}")
        for name in ("cache_bytes", "const_cache_bytes", "copy_bytes"):
            if not 0 <= (getattr(self, name) or 0) <= MOST_CACHE_BYTES:
                raise ValueError(f"{name} must be 0 to {MOST_CACHE_BYTES}, not {getattr(self, name)!r}")
        if self.counters is not None and self.counters not in COUNTERS:
            raise ValueError(f"counters must be one of {', '.join(map(repr, COUNTERS))}, not {self.counters!r}")
        if self.prefix and not re.fullmatch(r"[A-Za-z_]\w*", self.prefix, re.ASCII):
            raise ValueError(f"prefix must be a name as in Verilog, not {self.prefix!r}")
        for name, known in (
            ("axi_address_bits", AXI_ADDRESS_BITS),
            ("control", CONTROLS),
            ("feed_forward", FEED_FORWARDS),
            ("reset_active", RESETS),
            ("stream_names", STREAM_NAMES),
        ):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(str, known))}, not {getattr(self, name)!r}")
