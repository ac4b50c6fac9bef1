"""``sluice profile`` runs a host program, and says where every cycle of its kernels went; it compares two profiles.
``sluice stalls`` says what a waveform shows."""

import json
import os
import sys
import webbrowser
from pathlib import Path

import click
from click.core import ParameterSource

from .cli_files import HOST
from .cli_numbers import Numbers
from .cli_options import BOARD, make_folder, results_folder
from .cli_project import ProjectCommand
from .profile.compare import PlainProfile, compare, compare_text
from .profile.compare_figures import compare_areas, compare_figures
from .profile.compare_page import comparison_page
from .profile.model import SCHEMA
from .profile.stalls import WaveformError, read_stalls
from .profile.stalls_text import rows_of, stalls_text
from .signals import supervise

__all__ = ["profile", "stalls"]

WORSE = 3  #: exit code of a comparison that got worse


@click.command(
    cls=ProjectCommand,
    short_help="Run a host program and explain every cycle of it.",
    context_settings={"ignore_unknown_options": True},
)
@BOARD
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("profile"),
    help="Folder for profile.html, .json, .txt and trace.json (default: profile), or compare.html (default: none).",
)
@click.option("--stall-seed", type=Numbers(0, 2**32 - 1), default=0, help="Insert random stalls (0: none).")
@click.option(
    "--min-stall",
    type=Numbers(1),
    metavar="CYCLES",
    default=16,
    help="Leave shorter stalls out of trace.json.  [default: 16]",
)
@click.option(
    "--kernel", metavar="NAME", default=None, help="Record launches of this kernel only, and autorun kernels meanwhile."
)
@click.option(
    "--launch",
    type=Numbers(0),
    metavar="N",
    default=None,
    help="Show launch N in profile.txt and when profile.html opens.",
)
@click.option(
    "--every",
    type=Numbers(1),
    metavar="N",
    default=1,
    help="Record every N-th launch of each kernel only.  [default: 1]",
)
@click.option("--open", "opened", is_flag=True, help="Open profile.html in the browser afterwards.")
@click.option(
    "--compare",
    "compared",
    is_flag=True,
    help="Compare two profile.json files instead: sluice profile --compare OLD NEW.",
)
@click.option(
    "--fail-above",
    metavar="PERCENT",
    default=None,
    callback=lambda _context, _parameter, text: _percent(text),
    help="With --compare: exit code 3 if a kernel takes longer by more than this.",
)
@click.argument("host", type=HOST)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def profile(
    board: str,
    output: Path,
    stall_seed: int,
    min_stall: int,
    kernel: str | None,
    launch: int | None,
    every: int,
    opened: bool,
    compared: bool,
    fail_above: float | None,
    host: Path,
    arguments: tuple[str, ...],
) -> None:
    """Run a pyopencl-style host program on the simulated board, and write where its cycles went.

    ARGUMENTS are the program's own. With --compare, HOST and the only argument are the files of two profiles.
    """
    if compared:
        given = click.get_current_context().get_parameter_source("output") is not ParameterSource.DEFAULT
        sys.exit(_compare(host, arguments, fail_above, output if given else None))
    if fail_above is not None:
        raise click.UsageError("--fail-above goes with --compare")
    env = os.environ | {
        "SLUICE_STATS": "0",
        "SLUICE_BOARD": board,
        "SLUICE_DEVICE": "board",
        "SLUICE_PROFILE": str(output.resolve()),
        "SLUICE_MIN_STALL": str(min_stall),
        "SLUICE_PROFILE_KERNEL": kernel or "",
        "SLUICE_PROFILE_LAUNCH": "" if launch is None else str(launch),
        "SLUICE_PROFILE_EVERY": str(every),
    }
    if stall_seed:
        env["SLUICE_STALL_SEED"] = str(stall_seed)
    # the host API belongs to the simulation package, which this package must not import
    command = [sys.executable, "-P", "-m", "sluice.host", str(host), *arguments]
    with results_folder(output, "-o"):
        code = supervise(command, env)
    page = output / "profile.html"
    if opened and code == 0 and not webbrowser.open(page.resolve().as_uri()):
        click.echo(f"sluice: there is no browser to open {page} with", err=True)
    sys.exit(code)


@click.command(short_help="Show the stalls in a waveform of `sluice run --trace`.")
@click.argument("waveform", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--kernel", metavar="NAME", default=None, help="Of this kernel only.")
@click.option("--line", type=Numbers(1), metavar="N", default=None, help="Of this source line only.")
@click.option("--top", type=Numbers(1), metavar="N", default=20, help="Rows of each table.  [default: 20]")
@click.option("--from", "first", type=Numbers(0), metavar="CYCLE", default=0, help="From this cycle on.")
@click.option("--to", "end", type=Numbers(0), metavar="CYCLE", default=None, help="Before this cycle.")
@click.option("--json", "as_json", is_flag=True, help="All rows as JSON.")
def stalls(
    waveform: Path, kernel: str | None, line: int | None, top: int, first: int, end: int | None, as_json: bool
) -> None:
    """Show what the cycles in WAVEFORM (FST) were spent waiting for, and which requests were held up meanwhile."""
    try:
        meaning, units = read_stalls(waveform, kernel, first, end)
    except WaveformError as error:
        raise click.BadParameter(str(error)) from None
    rows = rows_of(meaning, units, line)
    click.echo(json.dumps(rows, indent=1) + "\n" if as_json else stalls_text(meaning, rows, top), nl=False)


def _percent(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise click.BadParameter(f"{text!r} is not a number of percent such as 2%")
    return value


def _compare(old: Path, arguments: tuple[str, ...], fail_above: float | None, folder: Path | None) -> int:
    """Print the comparison of two profiles, and write it into ``folder`` as a page; returns the exit code."""
    if len(arguments) != 1:
        raise click.UsageError("--compare takes two files: sluice profile --compare OLD.json NEW.json")
    new = Path(arguments[0])
    profiles = [_read(path) for path in (old, new)]
    changes, areas = compare(*profiles), compare_areas(*profiles)
    if folder is not None:
        make_folder(folder, "-o")
        figures = compare_figures(*profiles)
        both = {kernel: (*figures.get(kernel, ()), *areas.get(kernel, ())) for kernel in figures.keys() | areas.keys()}
        page = comparison_page(changes, both, (str(old), str(new)))
        (folder / "compare.html").write_text(page, encoding="utf-8")
    click.echo(compare_text(changes, areas), nl=False)
    worse = [one for one in changes if one.ratio is not None and 100 * one.ratio > (fail_above or 0)]
    return WORSE if fail_above is not None and worse else 0


def _read(path: Path) -> PlainProfile:
    """A profile in plain form. Raises click.BadParameter for a file that holds none."""
    try:
        found: PlainProfile = json.loads(path.read_text())
    except OSError as error:
        raise click.BadParameter(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise click.BadParameter(f"{path} is no JSON ({error}): give the profile.json of a `sluice profile`") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        text = f"{path} is no profile.json of this version (schema {SCHEMA}): make it again with `sluice profile`"
        raise click.BadParameter(text)
    try:
        compare(found, found)
        compare_figures(found, found)
        compare_areas(found, found)
    except (KeyError, TypeError, AttributeError, ZeroDivisionError):
        raise click.BadParameter(f"{path} is damaged: make it again with `sluice profile`") from None
    return found
