"""Launches on the simulated board that are predicted as well: before a launch begins, its inputs run on the model."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from hls.diag import CompileError
from hls.ir.launch import IndexSpace
from hls.model.compared import compare, compared_text
from hls.model.prediction import Prediction
from hls.model.replay import NotReplayed
from hls.narrow import instance
from hls.options import Options
from hls.records import plain
from hls.target.board import Board
from sim.emulator import EmulationError
from sim.errors import BuildError, ToolMissing

from .arguments import Value
from .emulated import given
from .launch import overlap
from .modelled import ReplayModel, model_source
from .unpredicted import Unpredicted

__all__ = ["RunPredictor"]


class RunPredictor:
    """Predicts the launches of one program on the simulated board, from copies of what they are given."""

    def __init__(self, source: str, board: Board, options: Options, file: str) -> None:
        built = model_source(source, board, options, file)
        self._model, self._emulator = instance(built.model, ReplayModel), built.emulator
        self._kernels = {one.name: one for one in built.interface.kernels}

    def beside(self, kernel: str, predicted: Prediction | Unpredicted, measured: dict[str, Any]) -> dict[str, Any]:
        """What the statistics of a launch say of its prediction; it is printed on stderr, too."""
        if isinstance(predicted, Unpredicted):
            print(f"{kernel}: not predicted: {predicted}", file=sys.stderr, flush=True)
            return {"cycles": None, "why": str(predicted)}
        found = compare(predicted, measured, self._model.outer_loops(kernel))
        print(compared_text(found), file=sys.stderr, flush=True)
        return {
            "cycles": found.predicted,
            "error": found.error,
            "loops": plain(found.loops),
            "blame": {"cause": found.cause, "line": found.line, "cycles": found.blamed} if found.cause else None,
            "why": found.why,
        }

    def predict(self, kernel: str, values: Sequence[Value], space: IndexSpace, cycle: int) -> Prediction:
        """The prediction of a launch that is about to begin, in that cycle of the board. The board's memory is not
        changed. Raises Unpredicted."""
        if overlap(values):
            raise Unpredicted("arguments share bytes of a buffer, which copies do not")
        try:
            self._model.check(kernel, values)
            buffers, scalars = given(self._kernels[kernel], values)
            copies = {name: one.copy() if isinstance(one, np.ndarray) else one for name, one in buffers.items()}
            started = self._emulator.start(kernel, copies, scalars, space)
            self._emulator.advance()
            if not started.done:
                self._emulator.reset()
                raise Unpredicted("it waits for another kernel")
            return self._model.predict(started, values, cycle)
        except CompileError as error:
            raise Unpredicted(error.diagnostics[0].message) from None
        except EmulationError as error:
            self._emulator.reset()
            raise Unpredicted(f"on the emulator: {error.diagnostic.message}") from None
        except NotReplayed as error:
            raise Unpredicted(f"kernel {kernel} has {error.what}, which the model's replay does not cover") from None
        except (BuildError, ToolMissing) as error:
            raise Unpredicted(f"the model cannot be built: {error}") from None
