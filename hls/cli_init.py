"""`sluice init`: a new project that passes at once."""

import shlex
from importlib.resources import files
from pathlib import Path

import click

from .cli_messages import Messages
from .diag import Code, CompileError, Diagnostic, Span

__all__ = ["init_command"]

#: the files of a project, and their templates
_FILES = {
    "kernel.cl": "kernel.cl.j2",
    "host.py": "host.py.j2",
    "sluice.toml": "sluice.toml.j2",
    "README.md": "README.md.j2",
    ".github/workflows/sluice.yml": "sluice.yml.j2",
}


@click.command("init", short_help="Make a project: kernel, host, sluice.toml and CI workflow.")
@click.argument("folder", metavar="[NAME]", default=".", type=click.Path(file_okay=False, path_type=Path))
def init_command(folder: Path) -> None:
    """Make a project in the folder NAME, or in the working directory: a kernel, a host program that checks it,
    sluice.toml, a README and a CI workflow.

    Files that are there are kept: if one of them has the name of a new one, nothing is written.
    """
    with Messages("text").guard():
        there = [name for name in _FILES if (folder / name).exists()]
        if there:
            raise CompileError(
                Diagnostic(
                    f"{folder / there[0]} is there already; nothing was written",
                    Span(str(folder / there[0]), 1),
                    "name another folder: sluice init NAME",
                    code=Code.CANNOT_WRITE,
                )
            )
        _write(folder, folder.resolve().name)
    for name in _FILES:
        click.echo(folder / name)
    enter = "" if folder == Path(".") else f"cd {shlex.quote(str(folder))} && "
    click.echo(f"next: {enter}sluice check && sluice run --device emulator")


def _write(folder: Path, name: str) -> None:
    from jinja2 import Environment, StrictUndefined

    made = Environment(keep_trailing_newline=True, undefined=StrictUndefined, autoescape=False)
    for file, template in _FILES.items():
        text = made.from_string(files("hls").joinpath("project", "new", template).read_text("utf-8")).render(name=name)
        try:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise CompileError(
                Diagnostic(
                    f"cannot write {folder / file}: {error.strerror}",
                    hint="name another folder: sluice init NAME",
                    code=Code.CANNOT_WRITE,
                )
            ) from None
