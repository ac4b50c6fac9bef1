"""Advice as text."""

from collections.abc import Mapping, Sequence

from ..target.board import Board
from .advise import LEAST_EFFECT, LEAST_GAIN, SAVES_TOO_LITTLE, Advice, Alternative
from .knobs import Knob
from .points import Limit, Point, Sketch, shown

__all__ = ["advice_text", "no_knobs"]

MOST_OTHERS = 3


def advice_text(advice: Advice, board: Board, knobs: Mapping[str, Knob]) -> str:
    """The steps, each with its place and figures before and after, and why the others were not taken."""
    cell = board.device.cell.plural
    lines = [f"as written: {_figures(advice.base, cell)}"]
    for number, step in enumerate(advice.steps, 1):
        place = knobs[step.knob].place
        where = f" ({place.file}:{place.line})" if place is not None else ""
        lines.append(f"{number}. {step.knob} = {shown(step.knob, step.value)}{where}: {_figures(step.after, cell)}")
        if step.before.cycles and step.after.cycles:
            lines[-1] += f", {step.before.cycles / step.after.cycles:.2f} times as fast"
        lines += [f"     not {_other(one)}" for one in step.others[:MOST_OTHERS]]
    lines.append(f"end: {advice.end}")
    lines += [f"     {_other(one)}" for one in advice.others[:MOST_OTHERS]]
    if told := [_limit(one) for one in advice.limits if one.share >= LEAST_GAIN]:
        lines.append(f"what the cycles are spent with{' after all steps' * bool(advice.steps)}: {'; '.join(told)}")
    lines += [_not_allowed(one) for one in advice.not_allowed]
    for one in advice.sketches:
        lines += _sketch(one, cell)
    first, last = advice.base.cycles, advice.last.cycles
    if advice.steps and first and last:
        lines.append(f"all steps: {first:,.0f} -> {last:,.0f} cycles, {first / last:.2f} times as fast as written")
    return "\n".join(lines)


def _figures(point: Point, cell: str) -> str:
    area = f", {point.area.logic:,} {cell} ({point.area.share:.0%} of the device)" if point.area else ""
    return f"{point.cycles or 0:,.0f} cycles predicted{area}"


def _sketch(one: Sketch, cell: str) -> list[str]:
    where = f"{one.kernel}, line {one.line}" if one.line is not None else one.kernel
    head = f"by hand, {one.what} ({where}): {one.cycles:,.0f} cycles predicted at best, {one.save:.0%} less"
    if one.area.logic or one.area.rams:
        head += f", for about {one.area.logic:,} {cell} and {one.area.rams:,} block RAMs more"
    return [head, *(f"     {line}" for line in one.text.splitlines())]


def _limit(one: Limit) -> str:
    where = f" ({one.kernel}, line {one.line})" if one.line is not None else f" ({one.kernel})"
    return f"{one.share:.0%} {one.cause}{where}"


def _not_allowed(one: Alternative) -> str:
    return (
        f"not allowed: {one.knob} is predicted to save {one.save:.0%} of the cycles, by another order of float "
        f"additions (last bits of results may change); allow it by `sluice advise {one.knob}`"
    )


def _other(one: Alternative) -> str:
    why = one.why or (
        "saves less" if one.save >= LEAST_GAIN else "saves nothing" if one.save <= 0.0005 else "saves too little"
    )
    return f"{one.knob} = {shown(one.knob, one.value)}: {why} ({max(one.save, 0):.1%} of the cycles)"


def no_knobs(left: Sequence[Alternative]) -> list[str]:
    """Lines that tell which candidates for knobs are none: those that save too little in one, the others with the
    reason."""
    useless = [one.knob for one in left if one.why == SAVES_TOO_LITTLE]
    lines = [f"{one.knob}: not possible: {one.why}" for one in left if one.why != SAVES_TOO_LITTLE]
    if not useless:
        return lines
    return [f"no knobs, as they save less than {LEAST_EFFECT:.1%} of the cycles: {', '.join(useless)}", *lines]
