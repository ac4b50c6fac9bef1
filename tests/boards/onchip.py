"""Compiles and runs kernels on a simulated board without the host API: options and ports are the test's own."""

from pathlib import Path

import numpy as np

from hls.driver import Result, compile
from hls.options import Options
from sim.cl.board import SimulatedBoard
from sim.loaded import LoadedSystem, Run

KERNELS = Path(__file__).parent / "kernels"
#: What a kernel file may define, so that all can be put into one program.
MACROS = ("N", "TAPS")


def together(names=None) -> str:
    """The source of the kernels of that name (default: all), as one program."""
    files = [KERNELS / f"{name}.cl" for name in names] if names else sorted(KERNELS.glob("*.cl"))
    return "".join(path.read_text() + "".join(f"#undef {macro}\n" for macro in MACROS) for path in files)


def build(source: str, board="ecp5_onchip", **options) -> Result:
    return compile(source, board, Options(**options))


class Machine:
    """A compiled program on its board; ``run`` takes numpy arrays and scalars by name and changes the arrays in
    place."""

    def __init__(self, result: Result, seed: int = 0):
        self.result, self.board = result, SimulatedBoard(result.board)
        self.system = LoadedSystem(result.verilog, result.interface, result.board, self.board.memory, seed)

    def run(self, name: str, arrays: dict[str, np.ndarray], scalars: dict[str, int], launch: dict[str, int]) -> Run:
        kernel = next(k for k in self.result.interface.kernels if k.name == name)
        places = {key: self.board.allocate(array.nbytes) for key, array in arrays.items()}
        for key, array in arrays.items():
            self.board.view(places[key])[:] = array.reshape(-1).view(np.uint8)
        run = self.system.run(kernel, {key: at.address for key, at in places.items()} | scalars, launch)
        for key, array in arrays.items():
            array.reshape(-1).view(np.uint8)[:] = self.board.view(places[key])
            self.board.free(places[key])
        return run

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.system.close()
