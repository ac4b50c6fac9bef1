"""``sluice lint``: what other readers of Verilog say of a compiled design."""

import os
import sys
from pathlib import Path

import click

from .cli_project import ProjectCommand
from .signals import supervise

__all__ = ["lint_command"]


@click.command("lint", cls=ProjectCommand)
@click.argument("folder", metavar="OUT", type=click.Path(exists=True, file_okay=False, path_type=Path))
def lint_command(folder: Path) -> None:
    """Let Verilator, slang and Icarus read a compiled design.

    OUT is an output folder of `sluice compile`, in a project by default that of its program. A reader that is
    not installed is named. The exit code is 1 if one has a warning or an error.
    """
    # the tools are found by the simulation package, which this package must not import
    sys.exit(supervise([sys.executable, "-P", "-m", "sluice.lint", str(folder)], os.environ))
