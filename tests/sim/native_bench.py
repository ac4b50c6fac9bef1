"""Compiles the memory model with its bench once per test session."""

import subprocess
from pathlib import Path

from hls.target.board import Board
from sim.session import settings_text
from sim.toolchain import find_tools

ROOT = Path(__file__).parents[2]
SOURCES = ["sim/dram/channel.cpp", "sim/runtime/settings.cpp", "tests/sim/native/bench.cpp"]


class Bench:
    """The compiled bench; ``run`` returns what it prints."""

    def __init__(self, folder: Path):
        self.folder, self.program = folder, folder / "bench"
        sources = [str(ROOT / source) for source in SOURCES]
        subprocess.run(
            [find_tools().cxx, "-std=c++17", "-O2", "-Wall", "-Wextra", "-Werror", *sources, "-o", str(self.program)],
            check=True,
        )

    def run(self, board: Board, *arguments) -> str:
        settings = self.folder / "settings"
        settings.write_text(settings_text(board))
        command = [str(self.program), str(settings), *map(str, arguments)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout
