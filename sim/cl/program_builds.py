"""How a program comes from its source: the compiler or emulator that builds it, and the binary that it is made from."""

import shlex
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hls.diag import CompileError
from hls.options import Options
from hls.target.board import Board

from . import compiler, emulated
from .aocx import Aocx, is_archive
from .binary import Binary
from .build_log import build_log
from .constants import program_build_info, status_code
from .errors import LogicError
from .options import depth_model, parse_options, with_design
from .platform import KINDS, Context, Device
from .program_variables import variable_bytes
from .refusals import fault_text, refusal_text
from .unpredicted import prediction_wanted

if TYPE_CHECKING:
    from .predicted import RunPredictor

__all__ = ["SOURCE_NAME", "BuildFailure", "build_fact", "build_source", "only_binary", "source_name"]

#: the name of a program's text that is in no file
SOURCE_NAME = "<program source>"
#: how files of ours and of the vendors begin that are no source, although some hosts pass them as one
COMPILED = ("PK\x03\x04", "\x7fELF")


class BuildFailure(Exception):
    """A build that failed; its text is the build's log."""


def build_source(
    source: str, device: Device, kind: str, words: Sequence[str]
) -> "tuple[compiler.Compiled | emulated.Emulated, RunPredictor | None, str]":
    """The program with the options ``words``, for the device's board or another ``kind`` of device, what predicts its
    launches on the simulated board (None if nobody asks for that), and the build's log.

    Raises LogicError for a wrong kind or option, and BuildFailure with the compiler's messages (with -Werror, its
    warnings); caused by the error of the compiler if that is the compiler's own.
    """
    if source.startswith(COMPILED):
        raise BuildFailure(
            f"{SOURCE_NAME}: error: this is a compiled program, and no OpenCL C: pass an .aocx to "
            "clCreateProgramWithBinary, and its source, a .cl, to clCreateProgramWithSource"
        )
    board, chosen = device.board, with_design(parse_options(words, _main_folder()))
    if kind not in KINDS:
        raise LogicError(
            "clBuildProgram", status_code.INVALID_DEVICE, f"device must be one of {', '.join(KINDS)}, not {kind!r}"
        )
    compilers: dict[str, Callable[..., compiler.Compiled | emulated.Emulated]] = {
        "board": compiler.compile_for_hardware if device.link else compiler.compile_source,
        "emulator": partial(emulated.emulate_source, depth_model=depth_model(words)),
        "model": _model_source,
    }
    name = source_name(source)
    try:
        with compiler.ONE_AT_A_TIME:
            result = compilers[kind](source, board, chosen, name)
            log = build_log(result.warnings, result.module.sources, words)
            predictor = None
            if kind == "board" and not device.link and prediction_wanted():
                from .predicted import RunPredictor

                predictor = RunPredictor(source, board, chosen, name)
    except CompileError as error:
        raise BuildFailure(refusal_text(error, error.sources)) from None
    except Exception as error:
        raise BuildFailure(fault_text(error)) from error
    return result, predictor, log


def only_binary(context: Context, devices: object, binaries: Sequence[bytes]) -> Binary:
    """The binary of the one device that a context has."""
    if not isinstance(devices, (list, tuple)) or list(devices) != context.devices or len(binaries) != 1:
        raise LogicError(
            "clCreateProgramWithBinary",
            status_code.INVALID_VALUE,
            "a program is made from the devices of its context, and one binary for each: "
            "cl.Program(context, context.devices, [binary])",
        )
    device, data = context.device, binaries[0]
    return (
        Aocx.of(data).for_device(device.board.name, device.kind, device.board.clock.kernel_mhz)
        if is_archive(data)
        else Binary.of(data)
    )


def _model_source(source: str, board: Board, options: Options, file: str) -> emulated.Emulated:
    """The program on the model, which takes most of a second to load."""
    from .modelled import model_source

    return model_source(source, board, options, file)


def source_name(source: str) -> str:
    """What messages and reports call a program's text: the name of the file beside the host program, or in the current
    folder, that has exactly this text, as a host reads one; else SOURCE_NAME."""
    for folder in dict.fromkeys((_main_folder(), Path.cwd())):
        for path in sorted(folder.glob("*.cl")):
            try:
                if path.stat().st_size >= len(source) and path.read_text(encoding="utf-8") == source:
                    return path.name
            except (OSError, UnicodeDecodeError):  # as a link to nowhere: it is not what the host has read
                continue
    return SOURCE_NAME


def _main_folder() -> Path:
    """The folder of the host program, which ``#include`` searches."""
    main = getattr(sys.modules["__main__"], "__file__", None)
    return Path(main).resolve().parent if main else Path.cwd()


def build_fact(
    result: compiler.Compiled | emulated.Emulated | None, log: str, words: Sequence[str], parameter: int
) -> str | int:
    """What a program says of its build, by OpenCL's number: of the ``result`` (None: not built), its ``log`` and the
    options ``words``. Raises LogicError for an unknown number."""
    if parameter == program_build_info.LOG:
        return log
    if parameter == program_build_info.STATUS:
        return 0 if result else -1
    if parameter == program_build_info.OPTIONS:
        return shlex.join(words) if result else ""
    if parameter == program_build_info.GLOBAL_VARIABLE_TOTAL_SIZE:
        return variable_bytes(result.interface.kernels) if result else 0
    raise LogicError("Program.get_build_info", status_code.INVALID_VALUE, f"unknown parameter {parameter:#x}")
