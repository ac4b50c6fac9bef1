"""What a user can ask of the compiler."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from .limits import DEFAULT_LIMITS, Limits

__all__ = ["CONTROLS", "MOST_CACHE_BYTES", "Options"]

#: of a cache behind loads
MOST_CACHE_BYTES = 1 << 24
CONTROLS = ("axi-lite", "wires")


@dataclass(frozen=True)
class Options:
    """Options of one compilation; the command line and ``Program.build`` both make one of these.

    Attributes
    ----------
    defines : macros, name to text
    include_dirs : folders searched by ``#include``
    limits : budgets, beyond which a program is refused
    include_roots : folders outside which ``#include`` reads nothing; none for everywhere
    fp_relaxed, fpc : allow other orders of floating-point additions; round once at the end of a tree
    denorms_are_zero : sums, products, quotients and roots of float and double take subnormal numbers for zeros, and
        give zeros for them
    counters : build the hardware counters (default: with AXI ports yes, with plain RAM ports no)
    random_stalls : build the stall sources that tests switch on with a seed
    ram_faults : where global memory is on the chip, build an input at each load's RAM port that says that no memory
        lies at the address, for simulation: a load that a loop issued ahead of its end, and drops, is no error
    elastic_depth : levels of up to this many stages are stall-enabled; 0 builds stall-free levels only
    control : how a kernel is started and given its arguments: "axi-lite" registers, or plain "wires" (boards with
        memory on the chip only), which take next to no area
    cache_bytes : size of every cache behind a load of which the program says nothing; 0 for none, None for what each
        needs
    const_cache_bytes : size of the cache that all loads of ``__constant`` buffers share; 0 for none
    prefix : in front of the name of every module and file of Verilog that is written, with an underscore; empty for
        none
    no_interleaving : names of memories ("default" is one) of which one bank comes behind the other, so that the host
        places buffers; others are interleaved as the board says
    """

    defines: dict[str, str] = field(default_factory=dict)
    include_dirs: tuple[Path, ...] = ()
    fp_relaxed: bool = False
    fpc: bool = False
    counters: bool | None = None
    random_stalls: bool = False
    ram_faults: bool = False
    elastic_depth: int = 0
    control: str = "axi-lite"
    cache_bytes: int | None = None
    const_cache_bytes: int = 16384
    no_interleaving: tuple[str, ...] | str = ()
    denorms_are_zero: bool = False
    prefix: str = ""
    include_roots: tuple[Path, ...] = ()
    limits: Limits = DEFAULT_LIMITS

    def __post_init__(self):
        if isinstance(self.no_interleaving, str):  # one of them
            object.__setattr__(self, "no_interleaving", (self.no_interleaving,))
        for name in ("cache_bytes", "const_cache_bytes"):
            if not 0 <= (getattr(self, name) or 0) <= MOST_CACHE_BYTES:
                raise ValueError(f"{name} must be 0 to {MOST_CACHE_BYTES}, not {getattr(self, name)!r}")
        if self.prefix and not re.fullmatch(r"[A-Za-z_]\w*", self.prefix, re.ASCII):
            raise ValueError(f"prefix must be a name as in Verilog, not {self.prefix!r}")
        if self.control not in CONTROLS:
            raise ValueError(f"control must be one of {', '.join(CONTROLS)}, not {self.control!r}")
