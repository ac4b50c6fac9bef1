"""The vendor's command ``aoc`` over ours: compiles a kernel file into a ``.aocx``."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from hls.dependency_file import dependency_rule, escaped
from hls.signals import until_nobody_reads
from hls.target.board import Board, BoardError, board_and_clock, known_boards, known_instead, load_board
from hls.version import version
from sim import cl
from sim.cl.aocx import Aocx
from sim.cl.binary import Binary
from sim.cl.options import DEPTH_OPTION, RELAXED
from sim.emulator.channel_depths import DEPTH_MODELS

from .aoc_parts import compiled_before, joined

__all__ = ["Request", "main", "parse"]

USAGE = """usage: aoc [options] FILE.cl ... [-o FILE.aocx]
       aoc [options] FILE.aoco ... [-o FILE.aocx]
  -board=NAME       the board (its name, or a .toml file)     [default: $SLUICE_BOARD, else de5net]; another vendor's
                    name, as Makefiles have it, stands for $SLUICE_BOARD if that is set
  -march=emulator   for the emulator alone: no Verilog
  -c, -rtl          write FILE.aoco or FILE.aocr, with Verilog and reports: here all of the work is in that step
  -report           print the report
  -profile[=...]    build hardware counters
  -dep-files=FILE   write the files that were read, as a rule for make
  -l FILE           build calls of the functions of a library with its Verilog modules
  -clock=N[MHz]     the clock to schedule for, also in Hz, kHz or GHz
  -printf           build what kernels print into the Verilog; the simulated board prints without it, too
  -emulator-channel-depth-model=default, strict or ignore-depth
                    how deep channels are with -march=emulator         [default: as in hardware]
  -fp-relaxed, -fpc, -D NAME=VALUE, -I DIR, -no-interleaving=MEMORY, -const-cache-bytes=N, -private-cache-bytes=N,
  -copy-bytes=N, -axi-masters=N, -axi-address-bits=32 or 64, -cl-denorms-are-zero, -cl-single-precision-constant,
  -cl-fast-relaxed-math
  -list-boards      list the boards
  -version, -help   the version; this text
  -v                say what is done"""
#: options that only tune the vendor's own tools: they change nothing here
IGNORED = (
    "-high-effort",
    "-hyper-optimized-handshaking",
    "-fast-compile",
    "-incremental",
    "-W",
    "-Werror",
    "-g",
    "-g0",
    "-seed",
    "-parallel",
    "-ffp-",
)
#: options that programs are built with, as they stand; those of a number
BUILD_OPTIONS = {"-fp-relaxed", "-fpc", "-cl-denorms-are-zero", "-cl-single-precision-constant"}
BUILD_NUMBERS = ("-const-cache-bytes", "-private-cache-bytes", "-copy-bytes", "-axi-masters", "-axi-address-bits")
DEPTHS = f"-{DEPTH_OPTION}"
HERTZ = {"": 1.0, "hz": 1e-6, "khz": 1e-3, "mhz": 1.0, "ghz": 1e3}  #: MHz of a unit
DEFAULT_BOARD = "de5net"
SUFFIXES = (".aocx", ".aoco", ".aocr")
#: what `sluice compile` writes, beside which there may be files of the user
RESULTS = ("rtl/*", "interface.json", "report.*")


class UsageError(Exception):
    """A wrong command line; the text says what to do."""


@dataclass
class Request:
    """What the command line asks for."""

    sources: list[Path] = field(default_factory=list)  #: of several the program consists; or compiled before
    output: Path | None = None
    board: str = ""
    clock: float | None = None  #: MHz
    march: str = ""  #: emulator, or hardware; of a file that was compiled before, what that is for
    suffix: str = ".aocx"
    report: bool = False
    counters: bool = False
    printf: bool = False
    depths: str = ""  #: the model of channels in the emulator
    list_boards: bool = False
    shown: str = ""  #: a text that is asked for in place of a compilation
    verbose: bool = False
    dependencies: Path | None = None
    options: list[str] = field(default_factory=list)  #: of the program, as clBuildProgram takes them
    ignored: list[str] = field(default_factory=list)

    @property
    def target(self) -> Path:
        """The file to write."""
        output = self.output or Path(self.sources[0].stem if self.sources else "kernel")
        return output if output.suffix in SUFFIXES else output.with_name(output.name + self.suffix)


def parse(words: list[str]) -> Request:
    """The request of a command line. Raises UsageError."""
    found, left = Request(), iter(words)

    def value(word: str, name: str) -> str:
        """The value of an option written as ``-name=value``, ``-namevalue`` or in the next word."""
        text = word[len(name) :].removeprefix("=") or next(left, "")
        if not text:
            raise UsageError(f"{name} needs a value")
        return text

    for word in left:
        word = word[1:] if word.startswith("--") else word
        if word in ("-c", "-rtl"):
            found.suffix = {"-c": ".aoco", "-rtl": ".aocr"}[word]
        elif word == "-report":
            found.report = True
        elif word == "-list-boards":
            found.list_boards = True
        elif word in ("-help", "-h"):
            found.shown = USAGE
        elif word == "-version":
            found.shown = f"aoc {version()} (sluice)"
        elif word == "-v":
            found.verbose = True
        elif word == "-profile" or word.startswith("-profile="):
            found.counters = True
        elif word.startswith("-board"):
            found.board = value(word, "-board")
        elif word.startswith("-dep-files"):
            found.dependencies = Path(value(word, "-dep-files"))
        elif word == "-l":
            found.options.append(f"-library={Path(value(word, '-l')).resolve()}")
        elif word.startswith("-march"):
            found.march = value(word, "-march")
        elif word in RELAXED:
            found.options.append("-fp-relaxed")
        elif word in BUILD_OPTIONS or word.startswith("-no-interleaving="):
            found.options.append(word)
        elif (number := word.partition("=")[0]) in BUILD_NUMBERS:
            found.options.append(f"{number}={_number(number, value(word, number))}")
        elif word.startswith("-clock"):
            found.clock = _megahertz(value(word, "-clock"))
        elif word.startswith(DEPTHS.removesuffix("=")):
            found.depths = value(word, DEPTHS.removesuffix("="))
        elif word == "-printf":
            found.printf = True
        elif word[:2] in ("-D", "-I"):
            text = value(word, word[:2])
            found.options.append(word[:2] + (str(Path(text).resolve()) if word[1] == "I" else text))
        elif word == "-o":
            found.output = Path(value(word, "-o"))
        elif word.startswith(IGNORED):
            found.ignored.append(word)
        elif word.startswith("-"):
            raise UsageError(f"unknown option {word}")
        else:
            found.sources.append(Path(word))
    if found.march not in ("", "hardware", "emulator"):
        raise UsageError(f"-march is emulator, or left out, not {found.march}")
    if found.depths not in ("", *DEPTH_MODELS):
        raise UsageError(f"{DEPTHS.removesuffix('=')} is {', '.join(DEPTH_MODELS)}, not {found.depths}")
    if found.depths and found.march == "emulator":
        found.options.append(DEPTHS + found.depths)
    elif found.depths:
        found.ignored.append(f"{DEPTHS}{found.depths} (it is for -march=emulator)")
    return found


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 12:
        raise UsageError(f"{name} is a number of 0 or more, not {text}")
    return int(text)


def _megahertz(text: str) -> float:
    """A clock such as 300, 300MHz or 0.3GHz, in MHz."""
    found = re.fullmatch(r"(\d{1,12}(?:\.\d{1,12})?) *([a-z]*)", text.lower())
    if found is None or found[2] not in HERTZ:
        raise UsageError(f"-clock is a number in MHz, or with Hz, kHz, MHz or GHz, not {text}")
    return float(found[1]) * HERTZ[found[2]]


def main(words: list[str]) -> int:
    """The command; returns its exit code: 1 for a program that cannot be compiled, 2 for a wrong command line."""
    try:
        with until_nobody_reads():
            return _answer(parse(words))
    except UsageError as error:
        print(f"aoc: error: {error}\n{USAGE}", file=sys.stderr)
        return 2
    except (BoardError, OSError, cl.LogicError) as error:
        print(f"aoc: error: {error}", file=sys.stderr)
        return 1


def _answer(request: Request) -> int:
    if request.shown:
        print(request.shown)
        return 0
    if request.list_boards:
        print("\n".join(f"{name}: {load_board(name).description}" for name in known_boards()))
        return 0
    if not request.sources:
        raise UsageError("no file is given")
    for file in request.sources:
        if not file.is_file():
            raise UsageError(f"{file}: there is no such file")
    if request.ignored:
        print(f"aoc: without effect here: {', '.join(request.ignored)}", file=sys.stderr)
    request.board = _board_here(request.board)
    return _make(request)


def _board_here(name: str) -> str:
    """The board for a name that may be one of the vendor's: Makefiles that cannot be changed have those.

    Raises BoardError where $SLUICE_BOARD names no other.
    """
    plain = board_and_clock(name)[0]
    if not plain or plain in known_boards() or plain.endswith(".toml") or "/" in plain:
        return name
    instead = os.environ.get("SLUICE_BOARD")
    if not instead:
        raise BoardError(
            name, "", f"unknown board{known_instead(name)}; or set SLUICE_BOARD to the one that stands for it"
        )
    print(f"aoc: warning: {name} is no board here: compiled for {instead} ($SLUICE_BOARD)", file=sys.stderr)
    return instead


def _make(request: Request) -> int:
    """Compile one source; or join several, or what was compiled before, unless that is already what is asked for."""
    before = [compiled_before(file) for file in request.sources]
    known = next((one for one in before if one is not None), None)
    if known is not None:
        request.board, request.march = request.board or known.board, request.march or known.march
        asks = request.clock is not None or request.counters or request.printf or request.depths
        if len(before) == 1 and not asks and (request.board, request.march) == (known.board, known.march):
            return _finish(request, known)
        request.clock = known.clock_mhz if request.clock is None else request.clock
    request.march = request.march or "hardware"
    if known is None and len(before) == 1:
        return _compile(request, request.sources[0])
    found = joined(request.sources, before, request.options, request.target)
    if found is None:
        return 1
    request.options = list(dict.fromkeys((*(o for o in request.options if o[:2] not in ("-D", "-I")), *found[1])))
    return _compile(request, found[0])


def _finish(request: Request, known: Aocx) -> int:
    """Write what was compiled before under its new name."""
    request.target.write_bytes(known.to_bytes())
    if request.report and "report.txt" in known.files:
        print(known.files["report.txt"].decode().rstrip("\n"))
    if request.verbose:
        print(f"aoc: {request.target}: as compiled before, board {known.board}")
    return 0


def _compile(request: Request, source: Path) -> int:
    name = request.board or os.environ.get("SLUICE_BOARD") or DEFAULT_BOARD
    board = load_board(name if request.clock is None else f"{board_and_clock(name)[0]}@{request.clock:g}")
    options = (*request.options, f"-I{source.resolve().parent}")
    folder = request.target.with_suffix("")
    if request.march == "emulator":
        read = _read(source, board, options)
        if not read:
            return 1
        if request.dependencies:
            request.dependencies.write_text(dependency_rule(request.target, [source, *read[1:]]), encoding="utf-8")
        files: dict[str, bytes] = {}
    else:
        code = _hardware(request, source, folder)
        if code:
            return code
        files = _results(folder)
    text = source.read_text(errors="replace")
    clock = board.clock.kernel_mhz if request.march == "hardware" else None
    data = Aocx(Binary(text, options), board.name, request.march, files, clock).to_bytes()
    request.target.write_bytes(data)
    if request.verbose:
        print(f"aoc: {request.target}: {len(data):,} bytes, {len(files)} files, board {board.name}")
    return 0


def _results(folder: Path) -> dict[str, bytes]:
    found = sorted(file for pattern in RESULTS for file in folder.glob(pattern) if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in found}


def _read(source: Path, board: Board, options: tuple[str, ...]) -> list[str]:
    """The files that the program consists of, the main one first; none, and messages on stderr, if the emulator does
    not take it."""
    program = cl.Program(cl.Context([cl.Device(board, "emulator")]), source.read_text(errors="replace"))
    try:
        program.build(options)
    except cl.Error as error:
        print(error.what.strip().replace("<program source>", str(source)), file=sys.stderr)
        return []
    return list(program._native.module.sources)


def _hardware(request: Request, source: Path, folder: Path) -> int:
    """Compile into a folder beside the file, as the vendor's does; returns the exit code."""
    command = [sys.executable, "-P", "-m", "sluice", "compile", str(source), "-o", str(folder)]
    command += ["--board", request.board] if request.board else []
    command += ["--clock", f"{request.clock:g}"] if request.clock is not None else []
    command += ["--printf"] if request.printf else []
    for option in request.options:
        name, _, text = option.partition("=")
        short = option[:2] in ("-D", "-I")
        command += [option[:2], option[2:]] if short else ["-l", text] if name == "-library" else [option]
    command += ["--counters=all"] if request.counters else []
    command += ["--report", "full"] if request.report else []
    if request.verbose:
        print("aoc:", *command[4:], flush=True)
    command += ["--dep-files", str(request.dependencies)] if request.dependencies else []
    shown = None if request.report or request.verbose else subprocess.DEVNULL
    code = subprocess.run(command, check=False, stdout=shown).returncode
    if request.dependencies and not code:  # of the file that the Makefile asks for
        rule = request.dependencies.read_text(encoding="utf-8")
        text = rule.replace(escaped(folder / "interface.json"), escaped(request.target), 1)
        request.dependencies.write_text(text, encoding="utf-8")
    return code
