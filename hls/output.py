"""Writing results so that nothing half-written is left behind."""

import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

from .report import json as report_json
from .report import text as report_text
from .report.collect import collect
from .report.model import Report

__all__ = ["OutputError", "check_output", "write_results"]

OURS = ("rtl", "report.txt", "report.json", "interface.json")


class OutputError(OSError):
    """The output folder cannot be written."""


def check_output(output: Path) -> None:
    """Raises :class:`OutputError` where :func:`write_results` would, as far as can be told without writing anything."""
    existing = next(path for path in (output, *output.parents) if path.exists())
    try:
        if not existing.is_dir():
            raise NotADirectoryError(f"{existing} is not a folder")
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise _refused(output, error) from error


def write_results(result, output: Path, source: str) -> tuple[Report, list[str]]:
    """Write Verilog, reports and the interface into ``output``; returns the report and the names written.

    Everything is made in a folder beside, which then takes the old results' place; other files in ``output`` stay.
    Raises :class:`OutputError`, after which everything is as it was.
    """
    report = collect(result, source)
    texts = {f"rtl/{name}": text for name, text in result.verilog.items()}
    texts |= {"report.txt": report_text.render(report), "report.json": report_json.render(report)}
    texts["interface.json"] = json.dumps(asdict(result.interface), indent=2)
    made = [path for path in (output, *output.parents) if not path.exists()]
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output, prefix=".new-") as new, \
                tempfile.TemporaryDirectory(dir=output, prefix=".old-") as old:
            _write(texts, Path(new))
            _exchange(Path(new), output, Path(old))
    except OSError as error:
        for path in made:
            shutil.rmtree(path, ignore_errors=True)
        raise _refused(output, error) from error
    return report, sorted(texts)


def _refused(output: Path, error: OSError) -> OutputError:
    return OutputError(f"cannot write to {output}: {error.strerror or error}")


def _write(texts: dict[str, str], folder: Path):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def _exchange(new: Path, target: Path, old: Path):
    """Put what is in ``new`` into ``target``, and what was there into ``old``; all of it or nothing."""
    done = []
    try:
        for name in OURS:
            if (target / name).exists():
                (target / name).rename(old / name)
            done.append(name)
            (new / name).rename(target / name)
    except OSError:
        for name in reversed(done):
            if (target / name).exists():
                (target / name).rename(new / name)
            if (old / name).exists():
                (old / name).rename(target / name)
        raise
