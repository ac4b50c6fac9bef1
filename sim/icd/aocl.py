"""The vendor's command ``aocl`` over ours: what Makefiles and users ask it for."""

import shlex
import sys
from pathlib import Path

from hls.signals import until_nobody_reads
from hls.target.board import BoardError
from hls.version import version
from sim import cl
from sim.cl.aocx import Aocx
from sim.errors import BuildError

from .kit import vendor_kit

__all__ = ["main"]

USAGE = """usage: aocl COMMAND
  version, help      the version; this text
  list-devices       the boards (diagnose, too)
  compile-config     flags to compile a host with; link-config (ldflags, ldlibs): to link it with
  makefile           a fragment for a Makefile
  env FILE.aocx      board and options that a file was compiled with
  report FILE.aocx   its report
  install, uninstall, program, flash, initialize: without effect, as a simulated board is always there"""
WITHOUT_EFFECT = ("install", "uninstall", "program", "flash", "initialize")
LINK = "-lOpenCL"
MAKEFILE = """# flags of hosts, by aocl
AOCL_COMPILE_CONFIG := $(shell aocl compile-config)
AOCL_LINK_CONFIG := $(shell aocl link-config)
host: host.o
\t$(CXX) -o $@ $^ $(AOCL_LINK_CONFIG)
%.o: %.cpp
\t$(CXX) -c -o $@ $< $(AOCL_COMPILE_CONFIG)"""


def main(words: list[str]) -> int:
    """The command; returns its exit code: 1 for what cannot be read, 2 for a wrong command line."""
    with until_nobody_reads():
        return _run(words)


def _run(words: list[str]) -> int:
    command, rest = (words[0] if words else "help"), words[1:]
    fixed = {
        "link-config": LINK,
        "linkflags": LINK,
        "ldflags": "",
        "ldlibs": LINK,
        "makefile": MAKEFILE,
        "example-makefile": MAKEFILE,
        "help": USAGE,
    }
    try:
        if command in fixed:
            print(fixed[command])
        elif command == "compile-config":
            print(f"-I{shlex.quote(str(vendor_kit() / 'host/include'))}")
        elif command == "version":
            print(f"aocl {version()} (sluice)")
        elif command in ("list-devices", "diagnose"):
            _list_devices(command)
        elif command in WITHOUT_EFFECT:
            print(f"aocl {command}: nothing to do: a simulated board is always there")
        elif command in ("env", "report") and len(rest) == 1:
            _show(command, Path(rest[0]))
        elif command in ("env", "report"):
            print(f"aocl: error: {command} needs one file: aocl {command} FILE.aocx", file=sys.stderr)
            return 2
        else:
            print(f"aocl: error: unknown command {' '.join(words)}\n{USAGE}", file=sys.stderr)
            return 2
    except BrokenPipeError:
        raise
    except (cl.Error, BoardError, BuildError, OSError) as error:
        print(f"aocl: error: {error}", file=sys.stderr)
        return 1
    return 0


def _list_devices(command: str) -> None:
    for number, device in enumerate(cl.get_platforms()[0].get_devices()):
        print(f"acl{number}  {device.name}")
    if command == "diagnose":
        print("DIAGNOSTIC_PASSED")


def _show(command: str, file: Path) -> None:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise OSError(f"cannot read {file}: {error.strerror}") from error
    found = Aocx.of(data)
    if command == "env":
        print(f"board: {found.board}\nmarch: {found.march}\noptions: {' '.join(found.binary.options)}")
        return
    report = found.files.get("report.txt")
    print("no report: it was compiled with -march=emulator" if report is None else report.decode().rstrip("\n"))
