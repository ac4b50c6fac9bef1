"""What a user can ask of the compiler."""

from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Options"]


@dataclass(frozen=True)
class Options:
    """Options of one compilation; the command line and ``Program.build`` both make one of these.

    Attributes
    ----------
    defines : macros, name to text
    include_dirs : folders searched by ``#include``
    fp_relaxed, fpc : allow other orders of floating-point additions; round once at the end of a tree
    counters : build the hardware counters (default: with AXI ports yes, with plain RAM ports no)
    random_stalls : build the stall sources that tests switch on with a seed
    elastic_depth : levels of up to this many stages are stall-enabled; 0 builds stall-free levels only
    """

    defines: dict[str, str] = field(default_factory=dict)
    include_dirs: tuple[Path, ...] = ()
    fp_relaxed: bool = False
    fpc: bool = False
    counters: bool | None = None
    random_stalls: bool = False
    elastic_depth: int = 0
