"""``sluice library``: what libraries of RTL functions hold, and whether their modules compute their models."""

import os
import sys
from pathlib import Path

import click

from .cli_messages import Messages
from .signals import supervise

__all__ = ["library_command"]

_FILE = click.argument("file", metavar="LIBRARY", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.group("library", short_help="List and check libraries of RTL functions.")
def library_command() -> None:
    """Libraries of RTL functions: Verilog modules that programs call. LIBRARY is the TOML file that describes one."""


@library_command.command("list")
@_FILE
def list_command(file: Path) -> None:
    """List the functions of a library, with module, latency and files."""
    from .rtl_library import load_library

    messages = Messages("text")
    with messages.guard():
        for one in load_library(file):
            files = ", ".join(each.name for each in one.files)
            cycles = f"{one.latency} cycle{'' if one.latency == 1 else 's'}"
            click.echo(f"{one.name}: module {one.module}, {cycles}, {len(one.inputs)} operands, {files}")


@library_command.command("check")
@_FILE
@click.option(
    "--operands",
    type=click.IntRange(1, 1_000_000),
    default=1000,
    metavar="N",
    help="How many random sets of operands to try.  [default: 1000]",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=1, metavar="N", help="Of the operands. [default: 1]")
def check_command(file: Path, operands: int, seed: int) -> None:
    """Simulate every module of a library, and compare it with its model on random operands.

    The exit code is 1 if one differs. A wrong latency is found, and the right one is named.
    """
    # simulators belong to the simulation package, which this package must not import
    command = [sys.executable, "-P", "-m", "sluice.rtl_check", str(file), str(operands), str(seed)]
    sys.exit(supervise(command, os.environ))
