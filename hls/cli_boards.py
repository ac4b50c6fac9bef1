"""``sluice boards``: the boards that can be named, and what they have."""

import json
from collections.abc import Iterator

import click

from .cli_files import read_board
from .cli_messages import Messages
from .target.board import FLOWS, Board, Memory, known_boards

__all__ = ["boards_command"]

_UNITS = (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


@click.command("boards")
@click.argument("names", metavar="[BOARD]...", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print a list of records instead of a table.")
def boards_command(names: tuple[str, ...], as_json: bool) -> None:
    """List the boards that can be named.

    BOARD, a name or a file, chooses some: a file is checked as `sluice compile` does.
    """
    messages = Messages("text")
    with messages.guard():
        rows = [_row(name, read_board(name)) for name in names or known_boards()]
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    shown = [tuple(rows[0]), *(tuple(row.values()) for row in rows)]
    widths = [max(len(line[column]) for line in shown) for column in range(len(shown[0]))]
    for line in shown:
        click.echo("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def _row(name: str, board: Board) -> dict[str, str]:
    """What the table says of a board; ``name`` is what --board takes."""
    return {
        "name": name,
        "device": f"{board.device.part} ({board.device.family})",
        "memory": "; ".join(_memories(board)),
        "clock": f"{board.clock.kernel_mhz:g} MHz",
        "flow": FLOWS[board.flow] if board.flow else "not stated",
        "delays": f"{board.device.delays}, {'fitted' if board.delay_model().fitted else 'published'}",
    }


def _memories(board: Board) -> Iterator[str]:
    for memory in board.memories:
        rate = memory.peak_bytes_per_ns(board.clock.period_ns)
        banks = f"{len(memory.banks)} x " if len(memory.banks) > 1 else ""
        where = "on the chip" if memory.kind == "onchip" else memory.name
        yield f"{banks}{_size(memory)} {where}, {rate:.1f} GB/s"


def _size(memory: Memory) -> str:
    """The size of a bank."""
    size = memory.banks[0].bytes
    unit, factor = next(((unit, factor) for unit, factor in _UNITS if size >= factor), ("bytes", 1))
    return f"{size / factor:g} {unit}"
