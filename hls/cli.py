"""The command line: ``sluice compile`` and ``sluice run``.

Exit codes: 0; 1 with diagnostics where a kernel cannot be built or a program fails; 2 for wrong usage.
"""

import os
import subprocess
import sys
from pathlib import Path

import click

from . import driver
from .diag import CompileError, Diagnostic, Span, render, to_json
from .options import CONTROLS, Options
from .output import OutputError, write_results
from .target.board import BoardError

__all__ = ["main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main():
    """OpenCL C to pipelined hardware, and a simulated board to run it on."""


def _define(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise click.BadParameter(f"{text!r} is not NAME or NAME=VALUE", param_hint="-D")
    return name, value or "1"


@main.command()
@click.argument("source", type=click.Path(path_type=Path))
@click.option("--board", default=None, help="Board name or file.  [default: $SLUICE_BOARD, else de5net]")
@click.option("-D", "defines", multiple=True, metavar="N[=V]", help="Define a macro.")
@click.option("-I", "include_dirs", multiple=True, type=click.Path(path_type=Path), help="Search a folder for includes.")
@click.option("-fp-relaxed", "fp_relaxed", is_flag=True, help="Allow other orders of floating-point additions.")
@click.option("-fpc", "fpc", is_flag=True, help="Round once at the end of a tree of additions.")
@click.option("-o", "output", type=click.Path(path_type=Path), default=None, help="Output folder.  [default: name of the source]")
@click.option("--testbench", is_flag=True, help="Also write a cocotb testbench into the output folder's tb/.")
@click.option("--control", type=click.Choice(CONTROLS), default="axi-lite",
              help="How kernels are started: AXI4-Lite registers or plain wires (boards with memory on the chip only).")
@click.option("--counters/--no-counters", default=None, help="Hardware counters.  [default: where global memory is DRAM]")
@click.option("--random-stalls", is_flag=True, help="Build stall sources that a seed switches on, for tests.")
@click.option("--diagnostics", type=click.Choice(["text", "json"]), default="text", help="Form of messages.")
def compile(source, board, defines, include_dirs, fp_relaxed, fpc, output, testbench, control, counters,
            random_stalls, diagnostics):
    """Compile an OpenCL C file into Verilog and reports."""
    text = _read(source, diagnostics)
    options = Options(
        dict(_define(d) for d in defines), (source.resolve().parent, *include_dirs), fp_relaxed, fpc,
        counters=counters, random_stalls=random_stalls, control=control,
    )
    board = board or os.environ.get("SLUICE_BOARD", "de5net")
    output = output or Path(source.stem)
    try:
        result = driver.compile(text, board, options, file=str(source))
        files = write_results(result, output, str(source))
    except CompileError as error:
        _fail(error.diagnostics, {str(source): text}, diagnostics)
    except BoardError as error:
        _fail([Diagnostic(str(error), hint="see docs/boards.md for the keys of a board file")], {}, diagnostics)
    except OutputError as error:
        _fail([Diagnostic(str(error), hint="choose another folder with -o")], {}, diagnostics)
    _show(result.warnings, {str(source): text}, diagnostics)
    if testbench:
        _testbench(output)
    if diagnostics == "text":
        click.echo(f"{output}: {', '.join(files)}")


def _read(source: Path, form: str) -> str:
    try:
        return source.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file in UTF-8"
        _fail([Diagnostic(f"cannot read {source}: {reason}", Span(str(source), 1), "name an OpenCL C file")], {}, form)


def _show(diagnostics, sources, form):
    if form == "json":
        click.echo(to_json(diagnostics))
    else:
        for diagnostic in diagnostics:
            click.echo(render(diagnostic, sources), err=True)


def _fail(diagnostics, sources, form):
    _show(diagnostics, sources, form)
    sys.exit(1)


def _testbench(output: Path):
    """The testbench belongs to the simulation package, which this one does not know: another process writes it."""
    done = subprocess.run([sys.executable, "-m", "sim.testbench", str(output)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


@main.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--board", default=None, help="Board name or file.")
@click.option("--trace", type=click.Path(path_type=Path), default=None, help="Write an FST waveform of the handshakes.")
@click.option("--stats/--no-stats", default=True, help="Print measured figures of every launch.")
@click.option("--stall-seed", type=click.IntRange(0, 2**32 - 1), default=0, help="Insert random stalls (0: none).")
@click.argument("host", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(board, trace, stats, stall_seed, host, arguments):
    """Run a pyopencl-style host program on the simulated board."""
    if not host.is_file():
        _fail([Diagnostic(f"cannot read {host}: no such file", hint="name a Python host program")], {}, "text")
    env = dict(os.environ, SLUICE_STATS="1" if stats else "0")
    if board:
        env["SLUICE_BOARD"] = board
    if trace:
        env["SLUICE_TRACE"] = str(trace.resolve())
    if stall_seed:
        env["SLUICE_STALL_SEED"] = str(stall_seed)
    sys.exit(subprocess.run([sys.executable, str(host), *arguments], env=env, check=False).returncode)


if __name__ == "__main__":
    main()
