"""Writes exports into folders, each as a whole."""

import json
import shutil
import uuid
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import escape

import jinja2

from ..ir.launch import BYTES_OF, OVERLAP
from ..signals import temporary_folder
from .c_values import c_argument, c_launch_value
from .description import Description, half_period_ns
from .formats import FORMATS
from .view import View, register_name

__all__ = ["MARK", "ExportError", "export_texts", "render_template", "write_export"]


class ExportError(Exception):
    """An export that cannot be made or written; ``hint`` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def export_texts(described: Description, name: str) -> dict[str, str]:
    """The texts of export ``name``, without the Verilog, by file name. Raises ExportError if the design cannot be
    exported so."""
    wanted = FORMATS[name]
    if wanted.registers and not any(kernel.registers for kernel in described.kernels):
        raise ExportError(
            f"an export for {name} describes control registers, and this design has none",
            "compile it without --control wires, or choose another --for",
        )
    return {
        file.replace("TOP", described.top): render_template(template, described)
        for template, file in wanted.files.items()
    }


def render_template(name: str, described: Description, more: Mapping[str, object] = MappingProxyType({})) -> str:
    """The text that template ``name`` makes of a design, and of what it is given beside it."""
    return _environment().get_template(f"{name}.j2").render({**_given(View.of(described)), **more})


@cache
def _environment() -> jinja2.Environment:
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # each language is escaped by the filters below
    )
    found.filters |= {
        "hex": lambda value: f"0x{value:X}",
        "xml": lambda text: escape(str(text)),
        "text": lambda text: json.dumps(str(text)),  # a string of Python and C
        "tcl": _tcl,
        "rdl": lambda text: '"' + str(text).replace("\\", "\\\\").replace('"', '\\"') + '"',
        "rdl_name": lambda name: f"\\{name}" if name in _RDL_WORDS else name,
        "comment": lambda text: str(text).replace("*/", "* /").replace("\n", " "),
        "register_name": register_name,
        "c_argument": c_argument,
        "c_launch_value": c_launch_value,
    }
    return found


#: names of fields here that are words of SystemRDL
_RDL_WORDS = ("number", "enable")


def _tcl(text: object) -> str:
    """A text as one word of Tcl, in which nothing is substituted."""
    special = '\\{}[]$"'
    return '"' + "".join(f"\\{c}" if c in special else c for c in str(text)) + '"'


def _given(view: View) -> Mapping[str, object]:
    described = view.described
    made = f"Made by sluice {described.version} for board {described.target.board}"
    return {
        "design": view,
        "d": described,
        "top": described.top,
        "made": made,
        "BYTES_OF": BYTES_OF,
        "OVERLAP": OVERLAP,
        "half": half_period_ns(described.clock_mhz),
    }


def write_export(
    described: Description, folder: Path, name: str, output: Path, complete: Callable[[Path], None] = lambda _: None
) -> list[str]:
    """Write export ``name`` of the design in ``folder`` as folder ``output``, in place of what was there; ``complete``
    adds files to the new folder before it is moved there. Returns the names of the files written. Raises ExportError,
    and what ``complete`` does, after which everything is as before."""
    texts = export_texts(described, name)
    made = [path for path in output.parents if not path.exists()]
    try:
        if output.exists() and not (output.is_dir() and (output / MARK).is_file()) and _holds_something(output):
            raise ExportError(f"{output} holds other files than an export", "choose another folder with -o")
        if others := _others(output):
            raise ExportError(
                f"{output} holds files that no export wrote: {', '.join(others[:3])}{' ...' if others[3:] else ''}",
                "move them away, as the folder is replaced, or choose another one with -o",
            )
        output.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(output.parent / f".new-{uuid.uuid4().hex[:8]}") as new:
            _fill(new, texts, described, folder / "rtl" if FORMATS[name].rtl else None)
            complete(new)
            (new / MARK).write_text("\n".join((described.digest, *_files(new))) + "\n", encoding="utf-8")
            _replace(new, output)
    except BaseException as error:
        for path in made:
            shutil.rmtree(path, ignore_errors=True)
        if isinstance(error, OSError):
            reason = f"{error.strerror or error} ({error.filename})"
            raise ExportError(f"cannot export to {output}: {reason}", _HINT) from error
        raise
    return [name for name in _files(output) if name != MARK]


_HINT = "choose another folder with -o, or compile again if a file of rtl/ is missing"
#: a file in each folder that an export made, so that nothing else is ever replaced; it holds the design's digest, and
#: the name of each other file
MARK = ".sluice-export"


def _holds_something(path: Path) -> bool:
    return not path.is_dir() or any(path.iterdir())


def _others(output: Path) -> list[str]:
    """The files in the folder of an earlier export that it did not write."""
    mark = output / MARK
    known = {MARK, *mark.read_text(encoding="utf-8").splitlines()[1:]} if mark.is_file() else set()
    return [name for name in _files(output) if name not in known]


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _fill(new: Path, texts: Mapping[str, str], described: Description, rtl: Path | None) -> None:
    for name, text in texts.items():
        (new / name).write_text(text, encoding="utf-8")
    if rtl is not None:
        (new / "rtl").mkdir()
        for name in (*described.files, described.waivers):
            shutil.copyfile(rtl / name, new / "rtl" / name)


def _replace(new: Path, output: Path) -> None:
    """Move folder ``new`` to ``output``; what is there is removed if that succeeds, and put back if not."""
    with temporary_folder(output.parent / f".old-{uuid.uuid4().hex[:8]}") as old:
        had = output.exists()
        if had:
            output.rename(old / "export")
        try:
            new.rename(output)
        except BaseException:
            if had:
                (old / "export").rename(output)
            raise
