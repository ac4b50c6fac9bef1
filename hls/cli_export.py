"""``sluice export``: files for other tools, from the description that a compilation wrote."""

from pathlib import Path

import click

from .cli_messages import Messages
from .cli_options import output_folder
from .cli_project import ProjectCommand
from .diag import Code, CompileError, Diagnostic
from .export.description import Description, DescriptionError, read_description
from .export.formats import FORMATS
from .export.write import ExportError, export_texts, write_export

__all__ = ["export_command"]


@click.command("export", cls=ProjectCommand)
@click.argument("folder", metavar="OUT", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--for",
    "formats",
    multiple=True,
    type=click.Choice(list(FORMATS)),
    help="What to write: "
    + "; ".join(f"{name}: {one.title}" for name, one in FORMATS.items())
    + ". Repeatable.  [default: all that the design has]",
)
@output_folder("Where to make a folder for each.  [default: OUT/export]")
@click.option("--diagnostics", "form", type=click.Choice(["text", "json"]), default="text", help="Form of messages.")
def export_command(folder: Path, formats: tuple[str, ...], output: Path | None, form: str) -> None:
    """Write what other tools need to build a compiled design in.

    OUT is an output folder of `sluice compile`, in a project by default that of its program. Each export is a
    folder that needs nothing outside of it.
    """
    messages = Messages(form)
    target = output or folder / "export"
    with messages.guard():
        try:
            described = read_description(folder)
            wanted = tuple(dict.fromkeys(formats)) or _possible(described)
            for name in wanted:  # an export that cannot be made leaves the others unwritten, too
                export_texts(described, name)
            written = {name: write_export(described, folder, name, target / name) for name in wanted}
        except (DescriptionError, ExportError) as error:
            raise CompileError(Diagnostic(str(error), hint=error.hint, code=Code.EXPORT)) from error
    messages.show()
    if form == "text":
        for name, files in written.items():
            shown = [file for file in files if not file.startswith("rtl/")]
            rtl = len(files) - len(shown)
            more = [f"{rtl} files in rtl/"] if rtl else []
            click.echo(f"{target / name}: {', '.join([*shown, *more])}")


def _possible(described: Description) -> tuple[str, ...]:
    """Every export, without those of registers for a design that has none."""
    has_registers = any(kernel.registers for kernel in described.kernels)
    return tuple(name for name, one in FORMATS.items() if has_registers or not one.registers)
