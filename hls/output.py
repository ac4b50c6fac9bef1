"""Writing results so that nothing half-written is left behind."""

import json
import shutil
import tempfile
from dataclasses import asdict
from pathlib import Path

from .report import json as report_json
from .report import text as report_text
from .report.collect import collect

__all__ = ["OutputError", "write_results"]

OURS = ("rtl", "report.txt", "report.json", "interface.json")


class OutputError(OSError):
    """The output folder cannot be written."""


def write_results(result, output: Path, source: str) -> list[str]:
    """Write Verilog, reports and the interface into ``output``; returns the names written.

    Everything is made in a folder beside and moved there when complete; other files in ``output`` stay.
    """
    report = collect(result, source)
    texts = {f"rtl/{name}": text for name, text in result.verilog.items()}
    texts |= {"report.txt": report_text.render(report), "report.json": report_json.render(report)}
    texts["interface.json"] = json.dumps(asdict(result.interface), indent=2)
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}-") as temporary:
            _write(texts, Path(temporary))
            _move(Path(temporary), output)
    except OSError as error:
        raise OutputError(f"cannot write to {output}: {error.strerror or error}") from error
    return sorted(texts)


def _write(texts: dict[str, str], folder: Path):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def _move(source: Path, target: Path):
    for name in OURS:
        old = target / name
        if old.is_dir():
            shutil.rmtree(old)
        (source / name).replace(old)
