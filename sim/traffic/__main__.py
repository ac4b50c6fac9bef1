"""``python -m sim.traffic``: published bandwidths next to those of the memory model, and the same streams at other
clocks.

Exits with 1 if a published rate is missed by more than 10 %, or a floor is not reached.
"""

import sys
from collections.abc import Iterator

import click

from sim.errors import BuildError, ToolMissing

from .bounds import bounds, holder
from .measure import measure
from .published import CASES, Case

CLOCKS = (100.0, 200.0, 300.0)
HEAD = (
    f"{'board':10} {'streams':13} {'placement':12} {'MHz':>6} {'published':>9} {'simulated':>9} {'ratio':>6}   "
    f"{'bound':>5} {'holds':11} {'reached':>7}"
)


def _row(case: Case, words: int, mhz: float | None = None) -> tuple[str, bool]:
    """A line of the table, and whether the rate is as expected; at another clock than the published one nothing is
    expected."""
    clock = mhz or case.board.clock.kernel_mhz
    simulated = measure(case.board, case.streams, words, mhz).rate
    limits = bounds(case.board, case.streams, mhz)
    name = holder(limits)
    good = mhz is not None or case.holds(simulated)
    published = "" if mhz else f"{'> ' if case.floor else ''}{case.published:.1f}"
    ratio = "" if mhz else f"{simulated / case.published:.3f}"
    text = (
        f"{case.board.name:10} {case.name:13} {case.placement:12} {clock:6.1f} {published:>9} {simulated:9.2f} "
        f"{ratio:>6}   "
        f"{limits[name]:5.1f} {name:11} {simulated / limits[name]:7.3f}"
    )
    return text + ("" if good else "   <- not as published"), good


def _rows(words: int) -> Iterator[tuple[str, bool]]:
    for case in CASES:
        yield _row(case, words)
    for mhz in CLOCKS:
        yield "", True
        for case in CASES:
            yield _row(case, words, mhz)


@click.command(help=__doc__.partition("\n")[0])
@click.option(
    "--words", default=50_000, show_default=True, type=click.IntRange(1000), help="Words that each stream moves."
)
def main(words: int) -> None:
    """Measure all published cases, ``words`` words a stream, and print a line for each."""
    print(f"GB/s; a kernel moves a word of 64 bytes of each stream in a cycle; {words:,} words a stream\n{HEAD}")
    right = True
    try:
        for text, good in _rows(words):
            print(text, flush=True)
            right &= good
    except (BuildError, ToolMissing) as error:
        sys.exit(f"error: {error}")
    sys.exit(not right)


if __name__ == "__main__":
    main()
