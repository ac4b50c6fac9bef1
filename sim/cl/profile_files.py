"""Writes the record of a finished host program: the folder of ``sluice profile``, the file of ``--stats-file``."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hls.narrow import instance
from hls.profile import model
from hls.records import plain

from .program_builds import SOURCE_NAME
from .timeline import TIMELINE

__all__ = ["write_files"]


def write_files(command: Sequence[str]) -> None:
    """Write what $SLUICE_PROFILE and $SLUICE_STATS_FILE ask for; a file that cannot be written is a message."""
    try:
        if path := os.environ.get("SLUICE_STATS_FILE"):
            Path(path).write_text(json.dumps(TIMELINE.statistics, indent=1) + "\n")
        if TIMELINE.folder:
            _write_profile(Path(TIMELINE.folder), tuple(command))
    except OSError as error:
        print(f"error: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        raise SystemExit(1) from None


def _chosen(profile: model.Profile) -> int | None:
    """The launch that is to be shown, if one was asked for; exits if the profile has none of that number."""
    if not (text := os.environ.get("SLUICE_PROFILE_LAUNCH")):
        return None
    known = [one.number for one in profile.launches if not one.capture]
    if int(text) not in known:
        told = ", ".join(map(str, known[:10])) + (", ..." if len(known) > 10 else "")
        print(f"error: --launch {text}: the profile has launches {told}", file=sys.stderr)
        raise SystemExit(1)
    return int(text)


def _with_page(profile: model.Profile, command: tuple[str, ...], launch: int | None) -> tuple[model.Profile, str]:
    """The profile with the areas of its programs' reports, and its page, which has these reports."""
    # importing these takes a second, which a program that writes no profile does not have to wait
    from hls.driver import Result
    from hls.report.collect import collect
    from hls.report.profile_page import areas_of, render

    used = {one.program for one in profile.launches}
    words = " ".join(("sluice profile", *command))
    reports = {
        number: collect(instance(TIMELINE.compiled(number), Result), _source_file(profile, number), words)
        for number in used
    }
    page = render(profile, reports, launch)
    programs = (
        replace(one, areas=areas_of(reports[one.number])) if one.number in reports else one for one in profile.programs
    )
    return replace(profile, programs=tuple(programs)), page


def _source_file(profile: model.Profile, number: int) -> str:
    """The file that a program's text was compiled as."""
    (text,) = (one.source for one in profile.programs if one.number == number)
    sources = TIMELINE.compiled(number).module.sources
    return next((name for name, compiled in sources.items() if compiled == text), SOURCE_NAME)


def _write_profile(folder: Path, command: tuple[str, ...]) -> None:
    from hls.profile.profile_text import render_brief, render_profile
    from hls.profile.trace_events import write_trace

    TIMELINE.end()
    profile = TIMELINE.profile(command)
    if profile is None or not profile.launches:
        what = f"no kernel {TIMELINE.kernel}" if TIMELINE.kernel else "no kernel"
        print(f"error: the program launched {what} on the board: there is nothing to profile", file=sys.stderr)
        raise SystemExit(1)
    launch = _chosen(profile)
    folder.mkdir(parents=True, exist_ok=True)
    profile, page = _with_page(profile, command, launch)
    (folder / "profile.json").write_text(json.dumps(plain(profile, 6)) + "\n")
    shown = [one.number for one in profile.launches if launch is not None and launch in (one.number, one.of)]
    (folder / "profile.txt").write_text(render_profile(profile, shown))
    (folder / "profile.html").write_text(page, encoding="utf-8")
    with (folder / "trace.json").open("w") as out:
        left = write_trace(profile, out, int(os.environ.get("SLUICE_MIN_STALL") or 16))
    if left:
        print(
            f"sluice: {folder / 'trace.json'}: {left:,} events were left out: the shortest slices, and counters",
            file=sys.stderr,
        )
    if TIMELINE.unsampled:
        told = f"the samples of {TIMELINE.unsampled:,} launches were left out: all together would be too many numbers"
        print(f"sluice: {folder / 'profile.json'}: {told}", file=sys.stderr)
    print(render_brief(profile), end="", file=sys.stderr)
    print(f"\nsluice: {folder / 'profile.txt'} has more; {folder / 'profile.html'} has all of it", file=sys.stderr)
