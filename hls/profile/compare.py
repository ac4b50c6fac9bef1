"""Two profiles side by side: by kernel, then by what its cycles were attributed to; lines may have moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


#: by so much, as a share, issues of the same work may differ
SAME_WORK = 0.01
ISSUED = "issued"


@dataclass(frozen=True)
class Change:
    """A kernel in two profiles: mean cycles of a launch, and by cause; None for one that is in one of them only. With
    ``divided``, the numbers of launches, these are cycles of all launches: the same work was done in more or fewer of
    them."""

    kernel: str
    before: float | None
    after: float | None
    causes: tuple[tuple[str, float, float], ...]  #: (cause, cycles before, after), greatest change first
    divided: tuple[int, int] | None = None

    @property
    def ratio(self) -> float | None:
        """How much longer a launch, or all of them, takes, as a fraction; None if the kernel is in one profile only."""
        return None if not self.before or self.after is None else self.after / self.before - 1


def compare(old: PlainProfile, new: PlainProfile) -> tuple[Change, ...]:
    """The kernels of two profiles in plain form (as read from profile.json), in the order of the new one."""
    before, after = (_sums(profile["kernels"]) for profile in (old, new))
    names = [*after, *(name for name in before if name not in after)]
    return tuple(_change(name, before.get(name), after.get(name)) for name in names)


@dataclass
class _Sums:
    """The launches of a kernel, and their cycles by cause."""

    launches: int = 0
    causes: dict[str, float] = field(default_factory=dict)

    def by(self, divisor: int) -> dict[str, float]:
        return {cause: cycles / divisor for cause, cycles in self.causes.items()}


def _sums(kernels: Sequence[_Kernel]) -> dict[str, _Sums]:
    """By kernel, the cycles by cause; kernels of several programs that have one name are summed."""
    found: dict[str, _Sums] = {}
    for kernel in kernels:
        sums = found.setdefault(kernel["name"], _Sums())
        sums.launches += kernel["launches"]
        for account in kernel["accounts"]:
            sums.causes[account["cause"]] = sums.causes.get(account["cause"], 0) + account["cycles"]
    return found


def _change(name: str, before: _Sums | None, after: _Sums | None) -> Change:
    divided = _divided(before, after)
    old, new = ({} if one is None else one.by(1 if divided else one.launches) for one in (before, after))
    rows = [(cause, old.get(cause, 0.0), new.get(cause, 0.0)) for cause in [*old, *(new.keys() - old.keys())]]
    rows.sort(key=lambda row: (-abs(row[2] - row[1]), row[0]))
    old_total, new_total = (
        None if whole is None else sum(one.values()) for whole, one in ((before, old), (after, new))
    )
    return Change(name, old_total, new_total, tuple(rows), divided)


def _divided(before: _Sums | None, after: _Sums | None) -> tuple[int, int] | None:
    """The numbers of launches, if the same work was divided among more or fewer of them: as many issues, other
    launches."""
    if before is None or after is None:
        return None
    issues = [one.causes.get(ISSUED, 0.0) for one in (before, after)]
    launches = before.launches, after.launches
    same, alike = (max(pair) <= (1 + SAME_WORK) * min(pair) for pair in (issues, launches))
    return launches if same and min(issues) and not alike else None


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
    divided = f" in {change.divided[0]:,} -> {change.divided[1]:,} launches" if change.divided else ""
    cycles = f"{change.before:,.0f} -> {change.after:,.0f} cycles{divided}"
    return f"{change.kernel}: {cycles} ({100 * change.ratio:+.1f} %){most}"


def _changed(change: Change) -> list[tuple[str, float, float]]:
    return [row for row in change.causes if abs(row[2] - row[1]) >= 0.5]
