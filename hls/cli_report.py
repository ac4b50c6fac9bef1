"""The command ``sluice report``."""

import subprocess
import sys
from pathlib import Path

import click

__all__ = ["report_command"]

TEXT = "report.txt"


@click.command("report", short_help="Print the report of a compiled design: a folder, or a .aocx.")
@click.argument("compiled", type=click.Path(exists=True, path_type=Path))
def report_command(compiled: Path) -> None:
    """Print report.txt of what `sluice compile` wrote into the folder COMPILED, or `aoc` into that .aocx."""
    if compiled.is_dir():
        try:
            click.echo((compiled / TEXT).read_text(encoding="utf-8"), nl=False)
        except (OSError, UnicodeError) as error:
            raise click.ClickException(
                f"{compiled / TEXT} cannot be read: {getattr(error, 'strerror', None) or error}; name the folder that "
                "`sluice compile -o` wrote"
            ) from None
        return
    # compiled programs belong to the simulation package, which this package must not import
    command = [sys.executable, "-P", "-m", "sluice.aocl", "report", str(compiled)]
    sys.exit(subprocess.run(command, check=False).returncode)
