"""``sluice library``: what libraries of RTL functions hold, and whether their modules compute their models."""

import os
import sys
from pathlib import Path

import click

from .cli_messages import Messages
from .cli_numbers import Numbers
from .cli_options import output_file
from .signals import supervise

__all__ = ["library_command"]

_FILE = click.argument("file", metavar="LIBRARY", type=click.Path(exists=True, dir_okay=False, path_type=Path))


@click.group("library", short_help="List, check and pack libraries of RTL functions.")
def library_command() -> None:
    """Libraries of RTL functions: Verilog modules that programs call.

    LIBRARY is the file that describes one, in TOML or XML, or a packed library.
    """


@library_command.command("list")
@_FILE
def list_command(file: Path) -> None:
    """List the functions of a library, with module, latency and files."""
    from .rtl_library import load_library

    messages = Messages("text")
    with messages.guard():
        for one in load_library(file):
            files = ", ".join(each.name for each in one.files)
            cycles = f"{one.latency} cycle{'' if one.latency == 1 else 's'}{', waits' if one.stallable else ''}"
            click.echo(f"{one.name}: module {one.module}, {cycles}, {len(one.inputs)} operands, {files}")


@library_command.command("check")
@_FILE
@click.option(
    "--operands",
    type=Numbers(1, 1_000_000),
    default=1000,
    metavar="N",
    help="How many random sets of operands to try.  [default: 1000]",
)
@click.option("--seed", type=Numbers(0, 2**32 - 1), default=1, metavar="N", help="Of the operands. [default: 1]")
def check_command(file: Path, operands: int, seed: int) -> None:
    """Simulate every module of a library, and compare it with its model on random operands.

    The exit code is 1 if one differs. A wrong latency is found, and the right one is named.
    """
    # simulators belong to the simulation package, which this package must not import
    command = [sys.executable, "-P", "-m", "sluice.rtl_check", str(file), str(operands), str(seed)]
    sys.exit(supervise(command, os.environ))


@library_command.command("pack")
@_FILE
@output_file("The packed library.  [default: LIBRARY.slib]")
def pack_command(file: Path, output: Path | None) -> None:
    """Pack a library into one file, which -l takes as it takes the description.

    It holds the description, the Verilog files, the models, and what they include.
    """
    from .rtl_pack import packed_texts
    from .rtl_package import pack

    messages = Messages("text")
    with messages.guard():
        target = output or file.with_suffix(".slib")
        texts = packed_texts(file)
        try:
            pack(target, texts)
        except OSError as error:
            raise click.ClickException(f"cannot write {target}: {error.strerror}") from error
        click.echo(f"{target}: {len(texts)} files")
