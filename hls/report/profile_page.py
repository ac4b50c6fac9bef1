"""A profile as one HTML file that needs no network: the frame and the views of report.html, and views of a run.

The data are those of profile.json, and the report of each program, so that an II or a schedule is in the same page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..model.area import Resources
from ..narrow import instance
from ..profile import model
from ..profile.columns import packed
from ..profile.summary import copy_groups, is_summed
from ..profile.totals import total_of
from ..records import Plain, plain
from . import html
from . import json as report_json
from .model import Report
from .packing import pack

__all__ = ["MOST_DETAILED", "MOST_NUMBERS", "SCRIPTS", "STYLES", "areas_of", "page_data", "render"]

STYLES = (*html.STYLES, "profile/profile.css")
SCRIPTS = (
    *html.FRAME,
    "profile/data.js",
    "profile/items.js",
    "profile/scope.js",
    "profile/details.js",
    "profile/chart.js",
    "profile/verdict.js",
    "profile/cycles.js",
    "profile/lines.js",
    "profile/lanes.js",
    "profile/execution.js",
    "profile/memory.js",
    "profile/channels.js",
    "profile/loops.js",
    "profile/roofline.js",
    *html.VIEWS,
    *html.START,
)
#: numbers in samples, and launches with all that was measured of them, that the page takes; profile.json has them all
MOST_NUMBERS, MOST_DETAILED = 1_500_000, 400
#: samples that are no whole numbers are rounded to thousandths
SCALES = {"level": 1000}
#: digits behind the point of figures; times are in ns
DIGITS = 6


def render(profile: model.Profile, reports: Mapping[int, Report], launch: int | None = None) -> str:
    """The page; ``reports`` are those of the programs of the profile, by their number, ``launch`` the number of the
    launch that it shows first, None for all together.

    Raises KeyError if a program that launched a kernel has no report.
    """
    used = dict.fromkeys(one.program for one in _by_cycles(profile.launches))
    plains = {number: instance(report_json.plain(reports[number]), dict) for number in used}
    return html.assembled(
        title=f"Profile of {' '.join(profile.command)}",
        heading=f"Profile of {profile.command[0].rpartition('/')[2] if profile.command else 'a program'}",
        subtitle=f"{profile.board}, kernel clock {profile.clock_mhz:g} MHz",
        text_beside="profile.txt",
        styles=STYLES,
        scripts=SCRIPTS,
        data={
            "profile": pack(page_data(profile) | {"launch": launch}),
            **{f"report-{number}": pack(one) for number, one in plains.items()},
            "colours": html.coloured(*plains.values()),
        },
    )


def areas_of(report: Report) -> tuple[model.Area, ...]:
    """The areas of a program's kernels, those of copies under the name of the first one, then that of the design."""
    resources = [(one.name, one.resources) for one in report.kernels]
    return tuple(
        model.Area(name, one.logic, one.registers, one.rams, one.dsps)
        for name, one in [*resources, ("", instance(report.resources, Resources))]
    )


def page_data(profile: model.Profile) -> dict[str, Plain]:
    """The profile as the page has it: each kernel with the total of its launches; samples as columns in ``columns``,
    coded by :func:`hls.profile.columns.packed`; of launches after the first ones only what identifies them."""
    detailed = _detailed(profile)
    sampled, columns = _sampled(profile, detailed)
    without = replace(profile, kernels=(), launches=(), programs=())
    return {
        **instance(plain(without, DIGITS), dict),
        "programs": [{"number": one.number, "kernels": list(one.kernels)} for one in profile.programs],
        "kernels": [_kernel(one, profile.launches, one is group[0]) for group in copy_groups(profile) for one in group],
        "launches": [_launch(one, one.number in detailed, sampled.get(one.number, [])) for one in profile.launches],
        "columns": packed(columns),
        "not_detailed": len(profile.launches) - len(detailed),
        "not_sampled": sum(bool(one.samples) and one.number not in sampled for one in profile.launches),
    }


def _by_cycles(launches: Sequence[model.Launch]) -> list[model.Launch]:
    return sorted(launches, key=lambda one: (-one.cycles, one.number))


def _detailed(profile: model.Profile) -> set[int]:
    """The numbers of the launches that are shown in full: the longest of each kernel, and the first ones; of copies of
    a kernel only those of the slowest copy."""
    groups = copy_groups(profile)
    program = {one.number: one.program for one in profile.launches}
    slowest = {(program[group[0].worst], group[0].name) for group in groups}
    first = [one.number for one in profile.launches if (one.program, one.kernel) in slowest]
    return set([*dict.fromkeys([*(group[0].worst for group in groups), *first])][:MOST_DETAILED])


def _kernel(kernel: model.Kernel, launches: Sequence[model.Launch], slowest: bool) -> dict[str, Plain]:
    """A kernel with the total of its launches; of copies that are not the ``slowest`` one, accounts and channels are
    enough."""
    worst = next(one for one in launches if one.number == kernel.worst)
    mine = [one for one in launches if (one.program, one.kernel) == (worst.program, worst.kernel)]
    total = total_of([one for one in mine if is_summed(one)])
    if not slowest:
        total = replace(total, loops=(), accesses=(), local=(), held=(), blame=(), banks=())
        kernel = replace(kernel, verdict=replace(kernel.verdict, sentence="", remedies=(), figures=()))
    record = instance(plain(replace(kernel, accounts=()), DIGITS), dict)
    return record | {"program": worst.program, "total": plain(total, DIGITS)}


def _launch(launch: model.Launch, detailed: bool, samples: Plain) -> dict[str, Plain]:
    if not detailed:
        launch = replace(launch, loops=(), accesses=(), local=(), channels=(), units=(), held=(), blame=(), banks=())
    return instance(plain(replace(launch, samples=()), DIGITS), dict) | {"samples": samples, "detailed": detailed}


def _sampled(profile: model.Profile, detailed: set[int]) -> tuple[dict[int, list[Plain]], list[list[int]]]:
    """For each launch whose samples are in the page, by its number, the samples without their numbers; and all columns.
    The longest launch of each kernel comes first, then the others, until there are MOST_NUMBERS."""
    longest = {one.worst for one in profile.kernels}
    order = sorted(_by_cycles(profile.launches), key=lambda one: one.number not in longest)
    found: dict[int, list[Plain]] = {}
    columns: list[list[int]] = []
    room = MOST_NUMBERS
    for launch in order:
        numbers = sum(len(column.values) for samples in launch.samples for column in samples.columns)
        if not numbers or numbers > room or launch.number not in detailed:
            continue
        room -= numbers
        found[launch.number] = [_samples(one, len(columns), columns) for one in launch.samples]
    return found, columns


def _samples(samples: model.Samples, first_column: int, columns: list[list[int]]) -> Plain:
    columns += map(_whole, samples.columns)
    return {
        "unit": samples.unit,
        "interval": samples.interval,
        "last": samples.last,
        "first_column": first_column,
        "columns": list(_heads(samples.columns)),
    }


def _heads(columns: Sequence[model.Column]) -> Iterator[Plain]:
    for one in columns:
        yield {"kind": one.kind, "id": one.id, "scale": SCALES.get(one.kind, 1), "length": len(one.values)}


def _whole(column: model.Column) -> list[int]:
    scale = SCALES.get(column.kind, 1)
    return [round(value * scale) for value in column.values]
