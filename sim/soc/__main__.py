"""``python -P -m sluice.build OUT``: what ``sluice build`` starts once the design is compiled."""

import argparse
import sys
from pathlib import Path

from hls.diag import Code, Diagnostic, render
from hls.export.description import DescriptionError, read_description
from hls.export.write import ExportError
from hls.model.area import capacity
from hls.target.board import Board, BoardError, load_board

from ..errors import BuildError, ToolMissing
from ..synthesis.tools import SynthesisError
from .make import Made, make_system
from .steps import BITSTREAM

__all__ = ["main"]

#: the folder in that of the design
FOLDER = "soc"


def main() -> int:
    """Returns 0 if there is a bitstream, else 1; the message is on stderr."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--board", required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    folder: Path = arguments.folder
    try:
        board = load_board(arguments.board)
        made = make_system(read_description(folder), folder, board, folder / FOLDER, arguments.seed, _tell)
    except BoardError as error:
        return _refuse(str(error), "`sluice boards` lists the boards", Code.BOARD_FILE)
    except (DescriptionError, ExportError) as error:
        return _refuse(str(error), error.hint)
    except ToolMissing as error:
        return _refuse(str(error), "`pip install sluice-hls[build]` brings LiteX and the tools of the open flow")
    except BuildError as error:
        return _refuse(str(error), "set SLUICE_CACHE to a folder that can be written")
    except SynthesisError as error:
        if error.log:
            print(error.log, file=sys.stderr)
        return _refuse(f"{folder}: {error}", error.hint)
    print("\n".join(_said(made, board, folder / FOLDER)))
    return 0


def _refuse(message: str, hint: str, code: Code = Code.BITSTREAM) -> int:
    print(render(Diagnostic(message, hint=hint, code=code), {}), file=sys.stderr)
    return 1


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _said(made: Made, board: Board, folder: Path) -> list[str]:
    """The result in words: clock, resources, and how the bitstream is loaded."""
    assert board.soc is not None
    slower = f", slower than the {made.tried[0][0]:g} MHz that it was compiled for" if made.tried else ""
    has, used = capacity(board.device), made.used
    rows = (
        ("logic cells", used.logic, has.logic),
        ("registers", used.registers, has.registers),
        ("block RAMs", used.rams, has.rams),
        ("DSP blocks", used.dsps, has.dsps),
    )
    figures = ", ".join(f"{takes:,} {what} ({takes / there:.0%})" for what, takes, there in rows)
    return [
        f"{folder / BITSTREAM}: {board.device.part} at {made.mhz:g} MHz{slower} ({made.reached_mhz:g} MHz reached)",
        f"takes {figures}, with memory controller and serial line",
        f"load it: {board.soc.load} {folder / BITSTREAM}",
    ]


if __name__ == "__main__":
    sys.exit(main())
