"""Writes results so that a failure leaves nothing half-written."""

import shutil
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from .output_files import output_files
from .report.model import Report
from .signals import temporary_folder

if TYPE_CHECKING:
    from .driver import Result

__all__ = ["OutputError", "check_output", "write_results"]

#: files and folders that the compiler writes, and those of `sluice synth`, which are about the design before; some
#: designs have no constraints
OURS = (
    *("rtl", "report.txt", "report.json", "report.html", "interface.json", "constraints.sdc"),
    *("synthesis.txt", "synthesis.json"),
)


class OutputError(OSError):
    """The output folder cannot be written to."""


def check_output(output: Path) -> None:
    """Raises :class:`OutputError` if :func:`write_results` would, as far as can be determined without writing."""
    existing = next(path for path in (output, *output.parents) if path.exists())
    try:
        if not existing.is_dir():
            raise NotADirectoryError(f"{existing} is not a folder")
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise _refused(output, error) from error


def write_results(result: "Result", output: Path, report: Report, page: bool = True) -> list[str]:
    """Write Verilog, the report and the interface into ``output``; returns the names written. ``page``: whether there
    is a report.html, too.

    Everything is written to a temporary folder next to it, whose contents then replace the old results; other files in
    ``output`` stay. Raises :class:`OutputError`, after which everything is as before.
    """
    texts = output_files(result, report, page)
    made = [path for path in (output, *output.parents) if not path.exists()]
    try:
        output.mkdir(parents=True, exist_ok=True)
        with (
            temporary_folder(output / f".new-{uuid.uuid4().hex[:8]}") as new,
            temporary_folder(output / f".old-{uuid.uuid4().hex[:8]}") as old,
        ):
            _write(texts, new)
            _exchange(new, output, old)
    except BaseException as error:
        for path in made:
            shutil.rmtree(path, ignore_errors=True)
        if isinstance(error, OSError):
            raise _refused(output, error) from error
        raise
    return sorted(texts)


def _refused(output: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write to {output}: {error.strerror or error}")


def _write(texts: dict[str, str], folder: Path) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _exchange(new: Path, target: Path, old: Path) -> None:
    """Move the contents of ``new`` into ``target``, and the previous ones into ``old``; all of it or nothing."""
    before = {name for name in OURS if (target / name).exists()}
    try:
        for name in OURS:
            if name in before:
                (target / name).rename(old / name)
            if (new / name).exists():
                (new / name).rename(target / name)
    except BaseException:  # denied, or ended by a signal
        for name in OURS:
            moved = (old / name).exists()
            if (moved or name not in before) and (target / name).exists():
                (target / name).rename(new / name)
            if moved:
                (old / name).rename(target / name)
        raise
