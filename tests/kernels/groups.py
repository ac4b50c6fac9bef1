"""Kernels that run concurrently on one simulated system, compared with the interpreter."""

from collections.abc import Mapping, Sequence

import numpy as np

from hls.ir import interpreter
from hls.ir.launch import OVERLAP, IndexSpace
from tests.kernels.system import MARGIN, Difference, KernelSystem, Launch, _bits, _limited, _pattern, difference

__all__ = ["ChannelSystem"]


class ChannelSystem(KernelSystem):
    """A system whose kernels work together: they are launched at once, in every order of starting.

    An array that several launches name is one buffer.
    """

    def expected_together(self, launches: Mapping[str, Launch], channels=None) -> dict[str, dict[str, np.ndarray]]:
        """The buffers of every kernel after the interpreter ran them together; ``channels`` keeps what is left in
        channels."""
        copies = {id(array): array.copy() for launch in launches.values() for array in launch.buffers.values()}
        buffers = {
            kernel: {name: copies[id(array)] for name, array in launch.buffers.items()}
            for kernel, launch in launches.items()
        }
        runs = [
            interpreter.Launch(
                kernel,
                {n: b.view(np.uint8) for n, b in buffers[kernel].items()},
                launch.scalars,
                launch.global_size,
                launch.local_size,
                launch.offset,
            )
            for kernel, launch in launches.items()
        ]
        interpreter.run_launches(self.result.module, runs, 10_000_000, channels)
        return buffers

    def check_together(
        self,
        launches: Mapping[str, Launch],
        seeds: Sequence[int] = (0,),
        skip: frozenset = frozenset(),
        fresh: bool = True,
        channels=None,
    ) -> list[dict[str, dict]]:
        """Run the kernels at the same time for each seed, begun in another order each time; the statistics by kernel of
        each run.

        ``skip`` are buffers that depend on when things happen. Without ``fresh`` nothing is reset before.
        """
        expected, found = self.expected_together(launches, channels), []
        for k, seed in enumerate(seeds):
            if fresh:
                self.loaded.session.reset(seed)
            names = list(launches)[k % len(launches) :] + list(launches)[: k % len(launches)]
            found.append(self.run_together({name: launches[name] for name in names}, expected, seed, skip))
        return found

    def start_together(self, launches: Mapping[str, Launch]) -> dict[str, dict[str, int]]:
        """Put the buffers into memory and start the kernels; where each buffer lies, by kernel and name."""
        places, address, known = {}, 4096, {}
        for kernel, launch in launches.items():
            places[kernel], address = self._put(launch, address, known)
        for kernel, launch in launches.items():
            self._start(kernel, launch, places[kernel])
        return places

    def run_together(
        self, launches: Mapping[str, Launch], expected, seed: int, skip: frozenset = frozenset()
    ) -> dict[str, dict]:
        """One run of the kernels as they are, without a reset; their statistics. ``expected`` as of
        :meth:`expected_together`, or None where results do not matter. Raises as :meth:`check` does."""
        statistics = {}
        with _limited():
            places = self.start_together(launches)
            for _ in launches:
                kernel, run = self.loaded.advance()
                statistics[kernel] = self.result.decode(kernel, run.counters)
                if run.status:
                    raise Difference(f"{kernel}, seed {seed}: status {run.status:#x}, {run.fault}")
        for kernel, launch in launches.items() if expected is not None else ():
            self._compare(f"{kernel}, seed {seed}", launch, expected[kernel], places[kernel], skip)
        return statistics

    def _start(self, kernel: str, launch: Launch, places):
        interface = self.kernels[kernel]
        scalars = {a.name: _bits(interface, a, launch.scalars) for a in interface.arguments if a.kind == "scalar"}
        space = IndexSpace.of(launch.global_size, launch.local_size, launch.offset)
        sizes = {name: int(launch.overlap) if name == OVERLAP else space.argument(name) for name in interface.launch}
        self.loaded.start(interface, places | scalars, sizes)

    def _put(self, launch: Launch, address: int, known: dict[int, int]) -> tuple[dict[str, int], int]:
        """Write the buffers into memory behind ``address``, but for those that have ``known`` places; their places, and
        the end."""
        places = {}
        for name, array in launch.buffers.items():
            word = self.board.memory.word_bytes
            if id(array) in known:
                places[name] = known[id(array)]
                continue
            places[name] = known[id(array)] = -(-(address + MARGIN) // word) * word
            address = places[name] + array.nbytes + MARGIN
            around = self.memory.contents[places[name] - MARGIN : address]
            around[:] = _pattern(around.size)
            around[MARGIN : MARGIN + array.nbytes] = array.view(np.uint8)
        self.memory.publish([(0, address + 4096)])
        return places, address

    def _compare(self, where, launch, expected, places, skip):
        for name, array in expected.items():
            if name in skip:
                continue
            found = self.memory.contents[places[name] : places[name] + array.nbytes].copy().view(array.dtype)
            text = difference(found, array, launch.buffers[name])
            if text:
                raise Difference(f"{where}: {name}{text}")
