"""``python -P -m sluice.synth OUT``: what ``sluice synth`` starts, with the same options."""

import argparse
import contextlib
import json
import os
import sys
import uuid
from collections.abc import Mapping
from pathlib import Path

from hls.diag import Code, Diagnostic, render
from hls.export.description import Description, DescriptionError, read_description
from hls.model.area import Resources, capacity
from hls.records import plain
from hls.report import html as report_html
from hls.report import json as report_json
from hls.report.facts.synthesis import Synthesis
from hls.target.board import BoardError, load_board

from ..errors import BuildError, ToolMissing
from .device import open_part
from .run import Asked, synthesize
from .text import render as render_text
from .tools import SynthesisError

__all__ = ["main"]

TEXT, DATA = "synthesis.txt", "synthesis.json"


class _Refused(Exception):
    """An end with a message. ``hint`` says what to do."""

    def __init__(self, message: str, hint: str, code: Code = Code.SYNTHESIS) -> None:
        super().__init__(message)
        self.hint, self.code = hint, code


def main() -> int:
    """Returns 0 if the clock is reached, or no tool places the device; 1 if not, or if there are no figures, with a
    message on stderr."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--board")
    parser.add_argument("--freq", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        found = _synthesis(arguments.folder, arguments.board, arguments.freq, arguments.seed)
        data = json.dumps(plain(found), indent=1) + "\n"
        _write(arguments.folder, {DATA: data, TEXT: render_text(found), **_reports(arguments.folder, found)})
        print(data if arguments.json else render_text(found), end="")
        _check_clock(found, arguments.folder)
    except _Refused as error:
        code = error.code
        print(render(Diagnostic(str(error), hint=error.hint, code=code), {}), file=sys.stderr)
        return 1
    return 0


def _synthesis(folder: Path, board: str | None, mhz: float | None, seed: int) -> Synthesis:
    try:
        described = read_description(folder)
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        asked = _asked(described, report["device"], board, mhz, seed)
        return synthesize(described, folder, report, asked, _tell)
    except DescriptionError as error:
        raise _Refused(str(error), error.hint) from error
    except (OSError, ValueError, KeyError) as error:
        reason = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else f"it is damaged ({error})"
        raise _Refused(f"cannot read the design in {folder}: {reason}", "compile it again") from error
    except ToolMissing as error:
        raise _Refused(str(error), "`pip install sluice-hls[synth]` brings all tools of the open flows") from error
    except BuildError as error:
        raise _Refused(str(error), "set SLUICE_CACHE to a folder that can be written") from error
    except SynthesisError as error:
        if error.log:
            print(error.log, file=sys.stderr)
        raise _Refused(f"{folder}: {error}", error.hint) from error


def _reports(folder: Path, found: Synthesis) -> dict[str, str]:
    """report.json, and report.html if there is one, with what was found."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8")) | {"synthesis": plain(found)}
    pages = {"report.html": report_html.render_plain(report)} if (folder / "report.html").exists() else {}
    return {"report.json": report_json.render_plain(report), **pages}


def _asked(
    described: Description, device: Mapping[str, int] | None, board: str | None, mhz: float | None, seed: int
) -> Asked:
    """The device and clock: of ``board``, else of the one that the design was compiled for, whose ``device`` has these
    resources."""
    has = Resources(**device) if device else None
    name, part, clock = described.target.board, described.target.part, described.clock_mhz
    if board is not None:
        try:
            given = load_board(board)
        except BoardError as error:
            raise _Refused(str(error), "`sluice boards` lists the boards", Code.BOARD_FILE) from error
        name, part, clock = given.name, given.device.part, given.clock.kernel_mhz
        has = capacity(given.device)
    chip = open_part(part)
    if chip is None:
        raise _Refused(
            f"no open flow here places {part}, the device of board {name}",
            "choose a board that docs/synthesis.md lists for --board; for this one, "
            "`sluice export --for quartus` or `--for vivado` writes a project for the vendor's tools",
        )
    return Asked(name, part, chip, mhz or clock, seed, has)


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _write(folder: Path, texts: dict[str, str]) -> None:
    """Write each file as a whole."""
    for name, text in texts.items():
        new = folder / f".new-{uuid.uuid4().hex[:8]}"
        try:
            new.write_text(text, encoding="utf-8")
            os.replace(new, folder / name)
        except OSError as error:
            raise _Refused(
                f"cannot write {folder / name}: {error.strerror}", "choose a folder that can be written"
            ) from (error)
        finally:
            with contextlib.suppress(OSError):
                new.unlink()


def _check_clock(found: Synthesis, folder: Path) -> None:
    placed = found.placed
    if placed and not placed.met:
        raise _Refused(
            f"{folder}: {placed.reached_mhz:g} MHz reached on {found.part}, {placed.asked_mhz:g} MHz asked",
            placed.advice[0],
            Code.TIMING,
        )


if __name__ == "__main__":
    sys.exit(main())
