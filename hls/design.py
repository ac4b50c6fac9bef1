"""A design: values for what the source leaves open, as a search finds them.

A design names loops and kernels by their places, as messages do, so that it needs no change of the text. It is kept as
a file of JSON (``best.json`` of ``sluice tune``), which ``sluice compile --design`` takes, and can be written into the
text as attributes (:mod:`hls.design_patch`).
"""

import json
from dataclasses import dataclass
from pathlib import Path

from .records import plain, record_of

__all__ = ["KINDS", "SCHEMA", "Design", "DesignError", "Setting", "read_design", "write_design"]

SCHEMA = 1
#: what a setting can be of, and what it stands at; `hls.design_patch` has how each is written
KINDS = {
    "unroll": "loop",
    "ivdep": "loop",
    "loop_coalesce": "loop",
    "loads_ahead": "loop",
    "num_simd_work_items": "kernel",
    "num_compute_units": "kernel",
    "reqd_work_group_size": "kernel",
    "feed_forward": "kernel",
    "restrict": "parameter",
    "numbanks": "array",
}


class DesignError(Exception):
    """A design that cannot be read or does not belong to the program; the text says what to do."""


@dataclass(frozen=True, order=True)
class Setting:
    """``kind`` (a key of ``KINDS``) is ``value`` at a loop, kernel, parameter or array. ``file`` is empty for the main
    file; line and column are those of the loop's keyword, or of the name. Unrolling -1 is entirely; ``ivdep``,
    ``loads_ahead`` and ``restrict`` have the value 1; ``feed_forward`` N is one memory and one compute part for N = 1,
    else N copies; a size of work-groups is a text as "16,4,1"."""

    file: str
    line: int
    column: int
    kind: str
    value: int | str


@dataclass(frozen=True)
class Design:
    """``settings`` by place, ``defines`` of macros, and options of the compiler; None leaves an option as it is given.
    ``source_hash`` is that of the program's files, without defines."""

    schema: int
    source_hash: str
    settings: tuple[Setting, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    cache_bytes: int | None = None
    const_cache_bytes: int | None = None
    fp_relaxed: bool | None = None


def write_design(design: Design, path: Path) -> None:
    """Write the file. Raises OSError."""
    path.write_text(json.dumps(plain(design), indent=1) + "\n", encoding="utf-8")


def read_design(path: Path) -> Design:
    """Read a file of :func:`write_design`. Raises DesignError for anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        design = record_of(Design, found)
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not a design: {error}"
        raise DesignError(f"{path}: {reason}; `sluice tune` writes such files") from None
    if design.schema != SCHEMA:
        raise DesignError(f"{path}: schema {design.schema}, but this version reads {SCHEMA}; tune again")
    unknown = sorted({one.kind for one in design.settings} - set(KINDS))
    if unknown:
        raise DesignError(f"{path}: unknown setting {', '.join(unknown)}; known are {', '.join(KINDS)}")
    return design
