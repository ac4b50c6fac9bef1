"""The command ``sluice run``."""

import os
import sys
from contextlib import nullcontext
from pathlib import Path

import click

from .cli_files import HOST, read_board
from .cli_messages import Messages
from .cli_numbers import Numbers
from .cli_options import BOARD, check_trace, check_trace_window, design_option, on_command_line, results_folder
from .cli_project import ProjectCommand
from .signals import supervise
from .target.links import ETHERNET, LINK_FORMS, SERIAL, is_link

__all__ = ["run_command"]


#: what a host program may run on, beside boards of hardware
KINDS = ("board", "emulator", "model")


def _check_device(_context: click.Context, _parameter: click.Parameter, device: str | None) -> str | None:
    """A kind of device, or the link to a board; a usage error for another word."""
    if device is None or device in KINDS or is_link(device):
        return device
    raise click.BadParameter(f"{device!r} is not one of {', '.join(KINDS)}; nor {LINK_FORMS}")


@click.command(
    "run",
    cls=ProjectCommand,
    short_help="Run a host program on the simulated board.",
    context_settings={"ignore_unknown_options": True},
)
@BOARD
@click.option(
    "--trace",
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=check_trace,
    help="Write an FST waveform, and saved views of it for GTKWave and Surfer.",
)
@click.option(
    "--trace-window",
    metavar="START:CYCLES",
    callback=check_trace_window,
    help="Record only so many cycles, from START after the first launch on.  [default: $SLUICE_TRACE_WINDOW, else all]",
)
@click.option(
    "--trace-signals",
    type=click.Choice(["accounts", "handshakes", "all"]),
    default=None,
    help="What the waveform holds: what each kernel and access does, also every handshake, or every signal.  "
    "[default: $SLUICE_TRACE_SIGNALS, else handshakes]",
)
@click.option(
    "--device",
    metavar=f"[{'|'.join(KINDS)}|{SERIAL}PORT|{ETHERNET}HOST]",
    callback=_check_device,
    default=None,
    help="Run on the simulated board, or without RTL: on the emulator fast, with every access checked and no cycles, "
    "or on the model, with predicted cycles; or on a board at a serial port or in the network, with the bitstream of "
    "`sluice build`.  "
    "[default: $SLUICE_DEVICE, else board]",
)
@click.option(
    "--channel-depths",
    type=click.Choice(["hardware", "strict", "default", "ignore-depth"]),
    default=None,
    help="On the emulator: channels as deep as hardware, or as the vendor's emulator has them.  "
    "[default: $SLUICE_CHANNEL_DEPTHS, else hardware]",
)
@click.option(
    "--printf/--no-printf",
    default=None,
    help="On the board: build hardware for printf, whose text appears when kernels end.  "
    "[default: $SLUICE_PRINTF, else build it]",
)
@click.option("--stats/--no-stats", default=True, help="Print measured figures of every launch, on stderr.")
@click.option(
    "--stats-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=check_trace,
    help="Write the measured figures of all launches there, as JSON.",
)
@click.option("--stall-seed", type=Numbers(0, 2**32 - 1), default=0, help="Insert random stalls (0: none).")
@click.option(
    "--workload",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Run on the emulator, and write there what each launch did, for the performance model.",
)
@click.option(
    "--predict",
    is_flag=True,
    help="Also predict each launch on the model, and print that beside what is measured, with the account to blame "
    "where they differ by more than 10 %.",
)
@design_option
@click.argument("host", type=HOST)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run_command(
    board: str,
    device: str | None,
    trace: Path | None,
    trace_window: str | None,
    trace_signals: str | None,
    channel_depths: str | None,
    printf: bool | None,
    stats: bool,
    stats_file: Path | None,
    stall_seed: int,
    workload: Path | None,
    predict: bool,
    design: Path | None,
    host: Path,
    arguments: tuple[str, ...],
) -> None:
    """Run a host program on the simulated board: pyopencl-style, or any other with the OpenCL driver.

    HOST may also be a .aocx, with the host behind it: then board and device are those that it was compiled for.
    ARGUMENTS are the program's own: everything behind -- and every option that is not one of those below.
    """
    if device in ("emulator", "model") and (trace or stall_seed):
        raise click.UsageError(f"--trace and --stall-seed are about hardware; leave them out with --device {device}")
    if workload and (device in ("board", "model") or trace or stall_seed):
        raise click.UsageError("--workload runs on the emulator; leave out --device, --trace and --stall-seed")
    if predict and (workload or (device or os.environ.get("SLUICE_DEVICE", "board")) != "board"):
        raise click.UsageError("--predict is beside what the board measures; leave out --device and --workload")
    if (trace_signals or trace_window) and not trace:
        raise click.UsageError(f"--trace-{'signals' if trace_signals else 'window'} goes with --trace FILE")
    messages = Messages("text")
    with messages.guard():
        read_board(board)
    env = dict(os.environ, SLUICE_STATS="1" if stats else "0", SLUICE_BOARD=board)
    if host.suffix == ".aocx" and not on_command_line("board"):
        del env["SLUICE_BOARD"]  # the file names it
    if channel_depths:
        if (device or os.environ.get("SLUICE_DEVICE", "board")) != "emulator":
            raise click.UsageError("--channel-depths is about the emulator; add --device emulator")
        env["SLUICE_CHANNEL_DEPTHS"] = channel_depths
    if printf is not None:
        env["SLUICE_PRINTF"] = str(int(printf))
    if device:
        env["SLUICE_DEVICE"] = device
    if trace:
        env["SLUICE_TRACE"] = str(trace.resolve())
    if trace_window:
        env["SLUICE_TRACE_WINDOW"] = trace_window
    if trace_signals:
        env["SLUICE_TRACE_SIGNALS"] = trace_signals
    if stats_file:
        env["SLUICE_STATS_FILE"] = str(stats_file.resolve())
    if stall_seed:
        env["SLUICE_STALL_SEED"] = str(stall_seed)
    if workload:
        env |= {"SLUICE_WORKLOAD": str(workload.resolve()), "SLUICE_DEVICE": "emulator"}
    if predict:
        env["SLUICE_PREDICT_RUN"] = "1"
    if design:
        env["SLUICE_DESIGN"] = str(design.resolve())
    # the host API belongs to the simulation package, which this package must not import
    command = [sys.executable, "-P", "-m", "sluice.host", str(host), *arguments]
    with results_folder(workload, "--workload") if workload else nullcontext():
        code = supervise(command, env)
    sys.exit(code)
