"""``sluice board new``: a board file from the answers to some questions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from .cli_files import read_board
from .cli_messages import Messages
from .cli_numbers import Numbers, Reals
from .diag import Code, CompileError, Diagnostic
from .target.board import Board, Clock, known_boards
from .target.board_text import board_text
from .target.delay import known_delays
from .target.memory import Bank, PortTiming

__all__ = ["board_group"]


@click.group("board")
def board_group() -> None:
    """Make a board file."""


@dataclass(frozen=True)
class _Question:
    """``key`` is the path of the key in the file that the answer is for."""

    option: str
    words: str
    kind: Any
    key: str = ""


_QUESTIONS = (
    _Question("description", "What is it?", str),
    _Question("part", "The order number of the device", str),
    _Question("speed_grade", "Its speed grade, as the vendor writes it (- for none)", str),
    _Question("delays", "The table of delays", click.Choice(known_delays())),
    _Question("clock", "The kernel clock in MHz", float, "clock.kernel_mhz"),
    _Question("banks", "Banks of global memory", int),
    _Question("bank_bytes", "Bytes of a bank", int, "memory.bank.bytes"),
    _Question("word_bytes", "Bytes of a word of a bank's port", int, "memory.word_bytes"),
)


@board_group.command("new", short_help="Start a board file from questions.")
@click.argument("name", metavar="NAME")
@click.option(
    "--like", type=click.Choice(known_boards()), help="The most similar board, whose other figures are taken."
)
@click.option("--description", metavar="TEXT", help="What it is.")
@click.option("--part", metavar="PART", help="The order number of the device.")
@click.option("--speed-grade", metavar="GRADE", help="Its speed grade, as the vendor writes it; - for none.")
@click.option("--delays", type=click.Choice(known_delays()), help="The table of delays.")
@click.option("--clock", type=Reals(), metavar="MHZ", help="The kernel clock.")
@click.option("--banks", type=Numbers(), metavar="N", help="Banks of global memory.")
@click.option("--bank-bytes", type=Numbers(), metavar="N", help="Bytes of a bank.")
@click.option("--word-bytes", type=Numbers(), metavar="N", help="Bytes of a word of a bank's port.")
@click.option("--defaults", is_flag=True, help="Ask nothing: take what is not given from the most similar board.")
def new_command(name: str, like: str | None, defaults: bool, **given: Any) -> None:
    """Start the file NAME.toml in the working directory.

    What no option gives is asked, with the answer for the most similar board. All other figures are those of that
    board, and say so: replace them by your board's, each with its source.
    """
    file = Path(f"{name}.toml")
    with Messages("text").guard():
        if not name.replace("-", "_").isidentifier():
            raise _refused(f"a board cannot be called {name!r}", "use letters, digits, _ and -", Code.BOARD_FILE)
        if file.exists():
            raise _refused(f"{file} is there already; nothing was written", "choose another name", Code.CANNOT_WRITE)
        usual = like or ("ulx3s" if defaults else _ask("The most similar board", click.Choice(known_boards()), "ulx3s"))
        base = read_board(usual)
        answers = _answers(base, given, defaults)
        _write(file, _text(name, base, answers, usual), name)
    click.echo(f"{file}: replace the figures that are of {usual}, and say where yours come from")
    click.echo(f"next: sluice boards ./{file} && sluice compile kernel.cl --board ./{file}")


def _answers(base: Board, given: Mapping[str, Any], defaults: bool) -> dict[str, Any]:
    usual = _usual(base)
    found = {}
    for one in _QUESTIONS:
        answer = given[one.option]
        if answer is None:
            answer = usual[one.option] if defaults else _ask(one.words, one.kind, usual[one.option])
        found[one.option] = answer
    return found


def _ask(words: str, kind: Any, usual: Any) -> Any:
    return click.prompt(words, default=usual, type=kind)


def _usual(base: Board) -> dict[str, Any]:
    """The answers for a board."""
    return {
        "description": base.description,
        "part": base.device.part,
        "speed_grade": base.device.speed_grade or "-",
        "delays": base.device.delays,
        "clock": base.clock.kernel_mhz,
        "banks": len(base.memory.banks),
        "bank_bytes": base.memory.banks[0].bytes,
        "word_bytes": base.memory.word_bytes,
    }


def _text(name: str, base: Board, answers: Mapping[str, Any], usual: str) -> str:
    """The file for these answers."""
    device = replace(
        base.device, part=answers["part"], speed_grade=answers["speed_grade"].strip("-"), delays=answers["delays"]
    )
    made_of = {"banks": (Bank(answers["bank_bytes"]),) * answers["banks"], "word_bytes": answers["word_bytes"]}
    timing = base.memory.timing
    if base.memory.kind == "axi" and isinstance(timing, PortTiming):  # the same rate in words of another size
        word_ns = timing.word_ns * answers["word_bytes"] / base.memory.word_bytes
        made_of["timing"] = replace(timing, word_ns=word_ns)
    memory = replace(base.memory, **made_of)
    made = replace(
        base,
        name=name,
        description=answers["description"],
        clock=Clock(answers["clock"]),
        device=device,
        memory=memory,
        others=(),
        streams=(),
        soc=None,  # pins are each board's own
    )
    changed = {one.key for one in _QUESTIONS if one.key and answers[one.option] != _usual(base)[one.option]}

    def source(key: str) -> str:
        if key.rpartition(".")[2] in ("name", "description", "flow", "kind", "part", "speed_grade"):
            return ""
        return "where is this from?" if key in changed else f"of {usual}: check it"

    return board_text(made, source)


def _write(file: Path, text: str, name: str) -> None:
    """Write the file if it is one of a board; CompileError, and no file, if it is not."""
    try:
        file.write_text(text, encoding="utf-8")
        read_board(f"./{file}")
    except OSError as error:
        raise _refused(f"cannot write {file}: {error.strerror}", "choose another folder", Code.CANNOT_WRITE) from error
    except CompileError:
        file.unlink()
        raise


def _refused(message: str, hint: str, code: Code) -> CompileError:
    return CompileError(Diagnostic(message, hint=hint, code=code))
