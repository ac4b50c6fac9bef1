"""Two profiles side by side: by kernel, then by what its cycles were attributed to; lines may have moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from .compare_figures import UNITS, FigureChange

__all__ = ["Change", "PlainProfile", "compare", "compare_text", "first_line"]


class _Account(TypedDict):
    """What is read of an account of profile.json."""

    cause: str
    cycles: int


class _Kernel(TypedDict):
    """What is read of a kernel of profile.json."""

    name: str
    launches: int
    accounts: Sequence[_Account]


class PlainProfile(TypedDict):
    """What is read of profile.json."""

    schema: int
    kernels: Sequence[_Kernel]


@dataclass(frozen=True)
class Change:
    """A kernel in two profiles: mean cycles of a launch, and by cause; None for one that is in one of them only."""

    kernel: str
    before: float | None
    after: float | None
    causes: tuple[tuple[str, float, float], ...]  #: (cause, mean cycles before, after), greatest change first

    @property
    def ratio(self) -> float | None:
        """How much longer a launch takes, as a fraction; None if the kernel is in one profile only."""
        return None if not self.before or self.after is None else self.after / self.before - 1


def compare(old: PlainProfile, new: PlainProfile) -> tuple[Change, ...]:
    """The kernels of two profiles in plain form (as read from profile.json), in the order of the new one."""
    before, after = (_means(profile["kernels"]) for profile in (old, new))
    names = [*after, *(name for name in before if name not in after)]
    return tuple(_change(name, before.get(name), after.get(name)) for name in names)


def _means(kernels: Sequence[_Kernel]) -> dict[str, dict[str, float]]:
    """By kernel, the mean cycles of a launch by cause; kernels of several programs that have one name are summed."""
    sums: dict[str, dict[str, float]] = {}
    counts: dict[str, int] = {}
    for kernel in kernels:
        causes = sums.setdefault(kernel["name"], {})
        counts[kernel["name"]] = counts.get(kernel["name"], 0) + kernel["launches"]
        for account in kernel["accounts"]:
            causes[account["cause"]] = causes.get(account["cause"], 0) + account["cycles"]
    return {name: {cause: n / counts[name] for cause, n in causes.items()} for name, causes in sums.items()}


def _change(name: str, before: dict[str, float] | None, after: dict[str, float] | None) -> Change:
    causes = {cause: (before or {}).get(cause, 0.0) for cause in [*(before or {}), *(after or {})]}
    rows = [(cause, old, (after or {}).get(cause, 0.0)) for cause, old in causes.items()]
    rows.sort(key=lambda row: (-abs(row[2] - row[1]), row[0]))
    old_total, new_total = (None if one is None else sum(one.values()) for one in (before, after))
    return Change(name, old_total, new_total, tuple(rows))


def compare_text(
    changes: Sequence[Change], areas: Mapping[str, Sequence[FigureChange]] | None = None, most: int = 4
) -> str:
    """A sentence for each kernel, then its causes that changed most, and what changed of its area; in the end what
    changed of the area of the whole design. ``areas`` are the result of
    :func:`~hls.profile.compare_figures.compare_areas`."""
    lines = []
    for one in changes:
        lines.append(first_line(one))
        if one.ratio is not None:
            lines += [f"    {cause}: {old:,.0f} -> {new:,.0f}" for cause, old, new in _changed(one)[:most]]
        if changed := (areas or {}).get(one.kernel):
            lines.append(f"    area: {_area(changed)}")
    if changed := (areas or {}).get(""):
        lines.append(f"area of the whole design: {_area(changed)}")
    return "".join(f"{line}\n" for line in lines)


def _area(changed: Sequence[FigureChange]) -> str:
    return ", ".join(f"{UNITS[one.figure]} {_amounts(one.before or 0, one.after or 0)}" for one in changed)


def _amounts(before: float, after: float) -> str:
    return f"{before:,.0f} -> {after:,.0f}" + (f" ({100 * (after / before - 1):+.1f} %)" if before else "")


def first_line(change: Change) -> str:
    """The sentence for a kernel: its cycles in both profiles, and the cause that changed most."""
    if change.ratio is None:
        return f"{change.kernel}: only in the {'new' if change.before is None else 'old'} profile"
    changed = _changed(change)
    most = f": {changed[0][0]} {changed[0][2] - changed[0][1]:+,.0f}" if changed else ""
    return f"{change.kernel}: {change.before:,.0f} -> {change.after:,.0f} cycles ({100 * change.ratio:+.1f} %){most}"


def _changed(change: Change) -> list[tuple[str, float, float]]:
    return [row for row in change.causes if abs(row[2] - row[1]) >= 0.5]
