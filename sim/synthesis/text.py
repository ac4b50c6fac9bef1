"""The result of synthesis as text: ``synthesis.txt``."""

from collections.abc import Iterable, Iterator, Sequence

from .advice import say_place
from .result import Figure, Row, Synthesis

__all__ = ["render"]

_HEAD = ("", "LUTs", "carries", "LUT RAMs", "logic", "est.", "registers", "est.", "RAMs", "est.", "DSPs", "est.")


def render(found: Synthesis) -> str:
    """All figures, and the critical path."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Synthesis) -> Iterator[str]:
    clock = found.placed
    verdict = "met" if clock.met else "NOT MET"
    yield f"{found.board}: {found.part}, by {', '.join(found.tools)}, seed {clock.seed}"
    yield f"clock: {clock.reached_mhz:g} MHz reached, {clock.asked_mhz:g} MHz asked: {verdict}"
    yield ""
    yield "Mapped resources, and the compiler's estimates (est.: how much was estimated, and the error in percent)"
    yield from _table([("design", found.design), *((row.kernel or "shared", row) for row in found.kernels)])
    yield ""
    yield "By part"
    yield from _table((f"{row.kernel or 'shared'}: {row.part}", row) for row in found.parts)
    yield ""
    yield "By source line"
    yield from _table(
        (f"{row.kernel or 'shared'}{f' line {row.line}' if row.line else ''}", row) for row in found.lines
    )
    yield ""
    yield (
        f"Critical path: {clock.path_ns:.2f} ns, {clock.routing:.0%} of it routing "
        "(ns in cells, ns in wires, levels of logic)"
    )
    for step in clock.path:
        yield f"  {step.logic_ns:6.2f} {step.routing_ns:6.2f} {step.levels:3}  {say_place(step.place)}"
    for line in clock.advice:
        yield f"  help: {line}"


def _table(rows: Iterable[tuple[str, Row]]) -> Iterator[str]:
    shown = [_HEAD, *(_cells(name, row) for name, row in rows)]
    widths = [max(len(line[column]) for line in shown) for column in range(len(_HEAD))]
    for line in shown:
        yield "  " + "  ".join(
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )


def _cells(name: str, row: Row) -> Sequence[str]:
    kinds = (row.logic, row.registers, row.rams, row.dsps)
    figures = [text for one in kinds for text in (f"{one.mapped:,}", _estimated(one))]
    return (name, f"{row.luts:,}", f"{row.carries:,}", f"{row.lut_rams:,}", *figures)


def _estimated(one: Figure) -> str:
    return f"{one.estimated:,}" + (f" {one.error:+.0f}%" if one.error is not None else "")
