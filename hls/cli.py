"""The command line: its commands, and ``sluice compile``.

Exit codes: 0 for success; 1 if a kernel or board file cannot be used, results cannot be written, or a program fails; 2
if the command line itself is wrong, which includes files and boards that do not exist; 128 + n if signal n ended the
command. Every message is one :class:`hls.diag.Diagnostic`, shown as text on stderr, or with ``--diagnostics=json`` as
an array on stdout. An internal error of the compiler is one message, too; with SLUICE_DEBUG=1 in the environment it is
a traceback.
"""

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .cli_files import SOURCE, read_board, read_source
from .cli_inspection import inspection_options, make_inspection, show_times
from .cli_lazy import LazyCommand, LazyGroup
from .cli_messages import Messages
from .cli_numbers import Numbers, Reals
from .cli_options import (
    BOARD,
    COMMAND,
    COPY_BYTES,
    DEFINES,
    FEED_FORWARD,
    FP_RELAXED,
    FPC,
    INCLUDE_DIRS,
    LIBRARIES,
    LIBRARY_FILES,
    LIMITS,
    CompileCommand,
    check_address_bits,
    check_prefix,
    design_option,
    output_folder,
    workloads_option,
)
from .dependency_file import dependency_rule
from .design import read_design
from .diag import Code, CompileError, Diagnostic
from .narrow import present
from .options import AXI_ADDRESS_BITS, CONTROLS, COUNTERS, MOST_CACHE_BYTES, RESETS, STREAM_NAMES, Options
from .recursion import deep_recursion
from .signals import deferred, exit_on_signals
from .target.board import Board
from .time_limit import time_limit
from .version import version_text

if TYPE_CHECKING:
    from .cli_workloads import Given
    from .passes.inspection import Inspection
    from .report.model import Report

__all__ = ["main"]


#: commands with a module of their own; those of models, profiles and searches import the compiler, which takes most of
#: a second
_LAZY = {
    "advise": LazyCommand("hls.cli_tune", "advise_command", "Advise changes to a program, one step at a time."),
    "board": LazyCommand("hls.cli_board", "board_group", "Make a board file."),
    "boards": LazyCommand("hls.cli_boards", "boards_command", "List the boards that can be named."),
    "build": LazyCommand(
        "hls.cli_build", "build_command", "Make a bitstream: compile, add memory and host link, place and route."
    ),
    "check": LazyCommand("hls.cli_check", "check_command", "Check a program and plan its loops, without Verilog."),
    "diff": LazyCommand("hls.cli_diff", "diff_command", "Compare II, area and warnings of two designs."),
    "estimate": LazyCommand("hls.cli_model", "estimate_command", "Predict the cycles of launches, without hardware."),
    "explain": LazyCommand("hls.cli_explain", "explain_command", "Explain the number of a message."),
    "export": LazyCommand(
        "hls.cli_export", "export_command", "Write what other tools need to build a compiled design in."
    ),
    "report": LazyCommand(
        "hls.cli_report", "report_command", "Print the report of a compiled design: a folder, or a .aocx."
    ),
    "icd": LazyCommand("hls.cli_icd", "icd_command", "Build the OpenCL driver, and print how hosts find it."),
    "init": LazyCommand("hls.cli_init", "init_command", "Make a project: kernel, host, sluice.toml and CI workflow."),
    "library": LazyCommand("hls.cli_library", "library_command", "List, check and pack libraries of RTL functions."),
    "lint": LazyCommand("hls.cli_lint", "lint_command", "Let Verilator, slang and Icarus read a compiled design."),
    "lsp": LazyCommand("hls.cli_lsp", "lsp_command", "Serve an editor: messages, II and memories while typing."),
    "opt": LazyCommand("hls.cli_opt", "opt_command", "Run single passes on IR text."),
    "predict": LazyCommand(
        "hls.cli_model", "predict_command", "Predict the cycles of a host program's launches, without hardware."
    ),
    "profile": LazyCommand("hls.cli_profile", "profile", "Run a host program and explain every cycle of it."),
    "run": LazyCommand("hls.cli_run", "run_command", "Run a host program on the simulated board."),
    "stalls": LazyCommand("hls.cli_profile", "stalls", "Show the stalls in a waveform of `sluice run --trace`."),
    "synth": LazyCommand("hls.cli_synth", "synth_command", "Synthesize, place and route a compiled design."),
    "tune": LazyCommand("hls.cli_tune", "tune_command", "Search for the best design of a program."),
    "watch": LazyCommand("hls.cli_watch", "watch_command", "Compile after each change and print what it changed."),
}


@click.group(cls=LazyGroup, lazy=_LAZY, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version_text(), message="%(prog)s %(version)s")
def main() -> None:
    """OpenCL C to pipelined hardware, and a simulated board to run it on."""


@main.command(cls=CompileCommand, for_each=True, alone=("output", "dependencies", "design"))
@click.argument("source", type=SOURCE)
@BOARD
@DEFINES
@INCLUDE_DIRS
@click.option(
    "--include-root",
    "include_roots",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Let #include read nothing outside this folder; repeatable.  [default: everywhere]",
)
@LIBRARIES
@FP_RELAXED
@FPC
@click.option(
    "-cl-denorms-are-zero",
    "--cl-denorms-are-zero",
    "denorms_are_zero",
    is_flag=True,
    help="Take subnormal floats and doubles for zeros in arithmetic, which makes its units smaller.",
)
@click.option(
    "-cl-single-precision-constant",
    "--cl-single-precision-constant",
    "single_precision",
    is_flag=True,
    help="Take unsuffixed floating constants for floats, also in a file that has doubles.",
)
@click.option(
    "-private-cache-bytes",
    "--private-cache-bytes",
    "cache_bytes",
    type=Numbers(0, MOST_CACHE_BYTES),
    metavar="N",
    default=None,
    help="Size of the cache of each load that needs one; 0 for none.  [default: what each needs]",
)
@click.option(
    "-const-cache-bytes",
    "--const-cache-bytes",
    "const_cache_bytes",
    type=Numbers(0, MOST_CACHE_BYTES),
    metavar="N",
    default=16384,
    help="Size of the cache that all loads of __constant buffers share; 0 for none.  [default: 16384]",
)
@COPY_BYTES
@click.option(
    "-no-interleaving",
    "--no-interleaving",
    "no_interleaving",
    metavar="MEMORY",
    multiple=True,
    help="Place the banks of MEMORY (its name, or default) one after the other instead of interleaving them.",
)
@click.option(
    "-axi-masters",
    "--axi-masters",
    "axi_masters",
    type=Numbers(0, 64),
    metavar="N",
    default=0,
    help="Reach all banks of a memory through N AXI4 managers; 0 for one for each bank.  [default: 0]",
)
@click.option(
    "--axi-address-bits",
    type=Numbers(min(AXI_ADDRESS_BITS), max(AXI_ADDRESS_BITS)),
    metavar="|".join(map(str, AXI_ADDRESS_BITS)),
    callback=check_address_bits,
    default=AXI_ADDRESS_BITS[0],
    help="Width of the addresses of the AXI4 managers.  [default: 64]",
)
@output_folder("Output folder.  [default: name of the source]")
@click.option(
    "--html/--no-html", "page", default=True, help="Write report.html, the report as a page.  [default: --html]"
)
@click.option(
    "--dep-files",
    "dependencies",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the files that were read into FILE, as a rule for make.",
)
@click.option("--testbench", is_flag=True, help="Also write a cocotb testbench into the output folder's tb/.")
@click.option(
    "--control",
    type=click.Choice(CONTROLS),
    default="axi-lite",
    help="How kernels are started: AXI4-Lite registers or plain wires (boards with memory on the chip only).",
)
@FEED_FORWARD
@click.option(
    "--reset-active",
    type=click.Choice(RESETS),
    default="high",
    help="Level of the reset: high, port rst, or low, port rst_n.  [default: high]",
)
@click.option(
    "--stream-names",
    type=click.Choice(STREAM_NAMES),
    default="plain",
    help="Ports of streams: valid, ready, data, or axi for tvalid, tready, tdata.  [default: plain]",
)
@click.option(
    "--prefix",
    metavar="NAME",
    default="",
    callback=check_prefix,
    help="Put NAME_ in front of the name of every module and file.  [default: none]",
)
@click.option(
    "--counters",
    "-profile",
    "counters",
    type=click.Choice(COUNTERS[1:]),
    default=None,
    help="Build hardware counters: accounts (what each cycle went to), accesses (loops, accesses, channels), or both "
    "where no value is given.  [default: none]",
)
@click.option(
    "--printf",
    is_flag=True,
    help="Build what kernels print as streams out of the design; without it printf prints nothing on the board.",
)
@workloads_option(
    "Show predicted cycles beside each loop, of launches that `sluice run --workload` wrote: a file, or a folder "
    "of them; repeatable."
)
@click.option("--random-stalls", is_flag=True, help="Build stall sources that a seed switches on, for tests.")
@click.option(
    "--strict-fit", is_flag=True, help="A design that does not fit the device is an error instead of a warning."
)
@LIMITS
@click.option(
    "--time-limit",
    "seconds",
    type=Reals(0),
    metavar="SECONDS",
    default=0,
    help="End with an error after so long.  [default: never]",
)
@click.option(
    "--report",
    "form_of_report",
    type=click.Choice(["brief", "full"]),
    default="brief",
    help="What to print: verdict and bottlenecks, or all of report.txt.  [default: brief]",
)
@click.option("--diagnostics", "form", type=click.Choice(["text", "json"]), default="text", help="Form of messages.")
@design_option
@inspection_options
def compile(
    source: Path, board: str, workloads: tuple[Path, ...], form_of_report: str, form: str, **given: Any
) -> None:
    """Compile an OpenCL C file into Verilog and reports."""
    messages = Messages(form)
    options = _options(source, given)
    output = given.pop("output") or Path(source.stem)
    wanted = _Wanted(source, output, **{one.name: given.pop(one.name) for one in fields(_Wanted) if one.name in given})
    with messages.guard(), deep_recursion():  # the report recurses into deep nests as the compiler does
        text = read_source(source, options.include_roots)
        messages.sources[str(source)] = text
        facts = read_board(board)
        with deferred():
            from .cli_workloads import read_workloads
        launches = read_workloads(workloads)
        if wanted.testbench:
            _check_testbench(facts)
        inspection = make_inspection(facts, **given)
        compiled = _compile(text, facts, options, wanted, messages, inspection, launches)
        show_times(inspection)
        if compiled is not None:
            report, files = compiled
            files += _written_beside(wanted, messages)
    messages.show()
    if compiled is not None and form == "text":
        _show(report, form_of_report, output, files)


@dataclass(frozen=True)
class _Wanted:
    """What ``sluice compile`` reads and writes, besides the compiler's options; ``seconds`` is 0 for no limit."""

    source: Path
    output: Path
    page: bool
    dependencies: Path | None
    testbench: bool
    strict_fit: bool
    seconds: float
    design: Path | None


def _options(source: Path, given: dict[str, Any]) -> Options:
    """The compiler's options among the arguments of the command, from which they are removed."""
    chosen = {one.name: given.pop(one.name) for one in fields(Options) if one.name in given and one.name != "design"}
    chosen["include_dirs"] = (source.resolve().parent, *chosen["include_dirs"])
    options = Options(**{**chosen, "counters": chosen["counters"] or ""})
    return options.with_design(read_design(given["design"])) if given["design"] else options


def _compile(
    text: str,
    board: Board,
    options: Options,
    wanted: _Wanted,
    messages: Messages,
    inspection: "Inspection | None",
    given: "list[Given]",
) -> "tuple[Report, list[str]] | None":
    """Compile within a time, and write the results; returns the report and the names of the files, or None if
    ``inspection`` stops the compilation earlier."""
    with deferred():  # a library whose import is interrupted reports that it is broken
        from . import driver  # takes 0.7 s, which `sluice --help` and wrong arguments should not wait for
        from .cli_workloads import predictions_of
        from .output import OutputError, check_output, write_results
        from .passes.manager import Stopped
        from .report.collect import collect

    source = wanted.source
    try:
        check_output(wanted.output)
        with time_limit(wanted.seconds):
            result = driver.compile(text, board, options, file=str(source), inspection=inspection)
            predictions, stale = predictions_of(result, given, source)
            command = click.get_current_context().meta.get(COMMAND, "")
            report = collect(result, str(source), command, predictions)
        messages.sources |= result.module.sources
        messages.add(*result.warnings, *stale)
        report = _fitted(report, messages, wanted.strict_fit)
        files = write_results(result, wanted.output, report, wanted.page)
    except Stopped as stopped:
        shown = present(inspection)
        click.echo("\n".join(shown.text(function) for function in stopped.functions), nl=False)
        return None
    except OutputError as error:
        raise CompileError(
            Diagnostic(str(error), hint="choose another folder with -o", code=Code.CANNOT_WRITE)
        ) from error
    return report, files


def _written_beside(wanted: _Wanted, messages: Messages) -> list[str]:
    """Write the testbench and the rule of the files that were read, if they are asked for; the names of the
    testbench's files."""
    files = _testbench(wanted.output) if wanted.testbench else []
    if wanted.dependencies:
        libraries = click.get_current_context().meta[LIBRARY_FILES]
        designs = (wanted.design,) if wanted.design else ()
        _write_dependencies(wanted.dependencies, wanted.output, (*messages.sources, *libraries, *designs))
    return files


def _show(report: "Report", form: str, output: Path, files: list[str]) -> None:
    from .report import text as report_text

    shown = report_text.render(report, brief=form == "brief").splitlines()
    for line in (*shown[1:], *_summary(output, files)):
        click.echo(line)


def _write_dependencies(file: Path, output: Path, read: Iterable[str | Path]) -> None:
    try:
        file.write_text(dependency_rule(output / "interface.json", read), encoding="utf-8")
    except OSError as error:
        problem = Diagnostic(
            f"cannot write to {file}: {error.strerror or error}",
            hint="choose another file with --dep-files",
            code=Code.CANNOT_WRITE,
        )
        raise CompileError(problem) from error


def _fitted(report, messages: Messages, strict: bool):
    """The report with a warning for each resource of which the design takes more than the device has. With ``strict``,
    raises CompileError instead."""
    from .report.fit import misfits

    found = misfits(report)
    if strict and found:
        raise CompileError(*(replace(one, severity="error") for one in found))
    messages.add(*found)
    return replace(report, messages=(*report.messages, *found))


def _summary(output: Path, files: list[str]) -> list[str]:
    verilog = sum(name.endswith(".v") for name in files)
    others = ", ".join(name for name in files if not name.startswith("rtl/"))
    return [f"{output}: {verilog} Verilog files in rtl/, {others}"]


def _check_testbench(board: Board) -> None:
    """An error for a board that the testbench cannot drive."""
    if board.memory.kind == "onchip":
        raise CompileError(
            Diagnostic(
                f"--testbench drives AXI ports, which board {board.name} does not have",
                hint="choose another board, or leave --testbench out",
                code=Code.NO_TESTBENCH,
            )
        )


def _testbench(output: Path) -> list[str]:
    """Write the testbench in another process: it belongs to the simulation package, which this package must not import.

    Returns the names of its files.
    """
    command = [sys.executable, "-P", "-m", "sluice.testbench", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        message = done.stderr.strip().removeprefix("error: ") or f"the testbench writer ended with {done.returncode}"
        raise CompileError(
            Diagnostic(message, hint="leave --testbench out to have the Verilog alone", code=Code.NO_TESTBENCH)
        )
    return done.stdout.split()


if __name__ == "__main__":
    exit_on_signals()
    main(prog_name="sluice")
