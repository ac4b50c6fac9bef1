"""The result of synthesis as text: ``synthesis.txt``."""

from collections.abc import Iterable, Iterator, Sequence

from hls.report.facts.synthesis import Compared, Figure, Mapped, Placed, Row, Synthesis

__all__ = ["render"]

_HEAD = ("LUTs", "carries", "LUT RAMs", "logic", "est.", "registers", "est.", "RAMs", "est.", "DSPs", "est.")
_MAPPED = ("LUTs", "carries", "LUT RAMs", "registers", "RAMs", "DSPs")


def render(found: Synthesis) -> str:
    """All figures, and the critical path."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Synthesis) -> Iterator[str]:
    clock = found.placed
    yield f"{found.board}: {found.part}, by {', '.join(found.tools)}{f', seed {clock.seed}' if clock else ''}"
    if clock:
        verdict = "met" if clock.met else "NOT MET"
        yield f"clock: {clock.reached_mhz:g} MHz reached, {clock.asked_mhz:g} MHz asked: {verdict}"
    else:
        yield "clock: not known, as no open tool here places this device"
    yield ""
    yield "Mapped resources, and the compiler's estimates (est.: how much was estimated, and the error in percent)"
    yield from _table(
        _HEAD, [("design", _compared(found.design)), *((_name(row), _compared(row)) for row in found.kernels)]
    )
    yield ""
    yield "By part (logic that synthesis shares between parts counts where its name leads)"
    yield from _table(_MAPPED, ((f"{_name(row)}: {row.part}", _mapped(row.mapped)) for row in found.parts))
    yield ""
    yield "By source line"
    yield from _table(
        _MAPPED,
        ((f"{_name(row)}{f' line {row.line}' if row.line else ''}", _mapped(row.mapped)) for row in found.lines),
    )
    if clock:
        yield ""
        yield from _path(clock)


def _path(clock: Placed) -> Iterator[str]:
    yield (
        f"Critical path: {clock.path_ns:.2f} ns, {clock.routing:.0%} of it routing "
        "(ns in cells, ns in wires, levels of logic)"
    )
    for step in clock.path:
        yield f"  {step.logic_ns:6.2f} {step.routing_ns:6.2f} {step.levels:3}  {step.words}"
    for line in clock.advice:
        yield f"  help: {line}"


def _name(row: Compared | Row) -> str:
    return row.kernel or "shared"


def _table(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    shown = [("", *head), *((name, *cells) for name, cells in rows)]
    widths = [max(len(line[column]) for line in shown) for column in range(len(head) + 1)]
    for line in shown:
        yield "  " + "  ".join(
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )


def _compared(row: Compared) -> Sequence[str]:
    kinds = (row.logic, row.registers, row.rams, row.dsps)
    figures = [text for one in kinds for text in (f"{one.mapped:,}", _estimated(one))]
    one = row.mapped
    return (f"{one.luts:,}", f"{one.carries:,}", f"{one.lut_rams:,}", *figures)


def _mapped(one: Mapped) -> Sequence[str]:
    return tuple(f"{count:,}" for count in (one.luts, one.carries, one.lut_rams, one.registers, one.rams, one.dsps))


def _estimated(one: Figure) -> str:
    return f"{one.estimated:,}" + (f" {one.error:+.0f}%" if one.error is not None else "")
