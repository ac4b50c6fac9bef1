"""``sluice synth``: what yosys and nextpnr make of a compiled design."""

import os
import sys
from pathlib import Path

import click

from .cli_numbers import Reals
from .cli_options import PLACEMENT_SEED
from .cli_project import ProjectCommand
from .signals import supervise

__all__ = ["synth_command"]


@click.command("synth", cls=ProjectCommand)
@click.argument("folder", metavar="OUT", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--board", metavar="BOARD", help="Take device and clock of this board.  [default: the design's own]")
@click.option(
    "--freq", type=Reals(1, 2000), metavar="MHZ", help="Place and route for this kernel clock.  [default: the board's]"
)
@PLACEMENT_SEED
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def synth_command(folder: Path, board: str | None, freq: float | None, seed: int, as_json: bool) -> None:
    """Synthesize, place and route a compiled design.

    OUT is an output folder of `sluice compile`, in a project by default that of its program. Mapped
    resources beside the estimates, by kernel, part and source line, the clock that is reached and the critical path are
    printed, and written to OUT/synthesis.txt and OUT/synthesis.json. The exit code is 1 if the clock is not reached.
    """
    # the tools are found by the simulation package, which this package must not import
    options = ["--seed", str(seed), *(["--json"] if as_json else [])]
    options += [f"--board={board}"] if board is not None else []
    options += [f"--freq={freq!r}"] if freq is not None else []
    sys.exit(supervise([sys.executable, "-P", "-m", "sluice.synth", *options, "--", str(folder)], os.environ))
