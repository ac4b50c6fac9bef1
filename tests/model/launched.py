"""Programs planned for a board, with the workloads of their launches: what estimates are made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hls.driver import network_channels, plan_module
from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from hls.model.estimate import Planned
from hls.model.workload import Workload
from hls.options import Options
from hls.passes.link.place_buffers import as_used
from hls.passes.lowering.inline import Inline
from hls.passes.run_stages import link_program
from hls.recursion import deep_recursion
from hls.target.board import load_board
from sim.cl.workloads import Observation, Source, memories_of
from sim.emulator import Emulator

__all__ = ["Given", "Program"]

MAIN = "kernels.cl"


@dataclass(frozen=True)
class Given:
    """A launch of ``kernel``: its buffers and scalars by name, and its index space."""

    kernel: str
    buffers: Mapping[str, np.ndarray] = field(default_factory=dict)
    scalars: Mapping[str, object] = field(default_factory=dict)
    sizes: Sequence[int] = (1,)
    group: Sequence[int] | None = None


class Program:
    """OpenCL C text for the board of that name."""

    def __init__(self, text: str, board: str = "de5net") -> None:
        self.board = load_board(board)
        with deep_recursion():
            self.module = link_program(parse_source(text, MAIN, {}, []).module)
            used = as_used(self.module, self.board)
            kernels, _ = plan_module(self.module, used, Options())
            self._emulator = Emulator(Inline().run(self.module), hasty=True, observe=memories_of(self.board))
        self.channels = network_channels(self.module, kernels, used, Options())
        self.kernels = {
            one.function.name: Planned(one.function, one.memory, one.plan, one.unrolled, one.merged, MAIN)
            for one in kernels
        }

    def workloads(self, *launches: Given) -> dict[str, Workload]:
        """The workloads of launches that run together, by kernel."""
        started = []
        for one in launches:
            space = IndexSpace.of(one.sizes, one.group)
            buffers = {n: np.ascontiguousarray(v).view(np.uint8).reshape(-1).copy() for n, v in one.buffers.items()}
            observation = Observation(one.kernel, buffers, one.scalars, space)
            started.append((observation, self._emulator.start(one.kernel, buffers, one.scalars, space)))
        self._emulator.advance(last=True)
        source = Source(MAIN, "")
        return {o.kernel: o.workload(self._emulator, launch, self.board, source) for o, launch in started}
