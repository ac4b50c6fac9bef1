"""A whole system around a design: ``soc.py``, a program for LiteX."""

from collections.abc import Iterator

from ..target.board import FLOWS, Board
from ..target.memory import DramTiming
from ..target.soc import PHYS, transfers
from .description import Description
from .soc_map import SOC_MAP
from .write import ExportError, render_template

__all__ = ["check_board", "soc_text"]


def soc_text(described: Description, board: Board) -> str:
    """The text of ``soc.py``, which lies beside the export for LiteX. Raises ExportError for a design, or a board, of
    which no system can be made."""
    check_board(board)
    for message, hint in _obstacles(described, board):
        raise ExportError(message, hint)
    memory = board.memory
    assert board.soc is not None and isinstance(memory.timing, DramTiming)
    rate, ddr3 = transfers(memory), memory.kind == "ddr"
    given = {
        "phy": PHYS[memory.kind, rate],
        "ddr3": ddr3,
        # transfers in a cycle, of SDR SDRAM; of DDR3 commands
        "rate": 2 if ddr3 else rate,
        "double": not ddr3 and (rate > 1 or described.double_clock),
        "timing": memory.timing,
    }
    return render_template("soc.py", described, given | {"board": board, "soc": board.soc, "map": SOC_MAP})


def check_board(board: Board) -> None:
    """Raises ExportError for a board of which no system can be made."""
    if board.soc is not None:
        return
    told = {"quartus": "quartus", "vivado": "vivado"}.get(board.flow)
    if told:
        raise ExportError(
            f"a bitstream for board {board.name} is made by {FLOWS[board.flow]}",
            f"`sluice compile` it, and `sluice export --for {told}` writes a project for those tools; "
            f"or choose a board whose file has a table [soc], as ulx3s",
        )
    raise ExportError(
        f"no system can be built for board {board.name}: its file has no table [soc]",
        "choose a board that has one, as ulx3s; or describe the pins of this board as docs/boards.md says",
    )


def _obstacles(described: Description, board: Board) -> Iterator[tuple[str, str]]:
    """What in a design stands in the way of a system, and what to do."""
    if described.control != "axi-lite":
        yield (
            "a system starts its kernels by registers, and this design has wires",
            "compile it without --control wires",
        )
    if described.double_clock and board.memory.kind == "ddr":
        yield (
            f"the design has a second clock, and a system for board {board.name} has none beside that of DDR3",
            "compile it without --double-clock",
        )
    if described.streams:
        names = ", ".join(stream.name for stream in described.streams)
        yield (
            f"a system for board {board.name} has nothing to connect to streams of the design: {names}",
            "compile it without --printf, and without I/O channels",
        )
    if described.target.part != board.device.part:
        other = f"board {described.target.board} ({described.target.part})"
        yield (
            f"the design was compiled for {other}, not for {board.name} ({board.device.part})",
            f"compile it for this board: --board {board.name}",
        )
