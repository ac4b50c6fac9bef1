"""Runs random programs: a dozen kernels in one system, each with several inputs and seeds of random stalls.

    python -m tests.programs.campaign --systems 20 --start 1000 [--groups] [--places | --together]

Prints one line for each system, and for each kernel that fails its seed, the fault and the smallest kernel found that
still fails.
"""

import argparse
import sys
from dataclasses import dataclass, replace
from itertools import permutations

from hls.options import FEED_FORWARDS
from hls.target.board import Bank, Board, Memory, PortTiming, load_board
from sim.errors import SimulationError
from tests.kernels.groups import ChannelSystem
from tests.kernels.system import Difference

from .generate import Kernel, launches, random_kernel
from .groups import GroupKernel, group_launches, random_group_kernel
from .shapes import random_shapes
from .shrink import shrink

__all__ = ["FAULTS", "Failure", "Setup", "run_system", "setup_of"]

SEEDS = (0, 1, 2)
#: What a wrong machine shows as.
FAULTS = (Difference, SimulationError)


@dataclass(frozen=True)
class Setup:
    """The machine a system's kernels run on."""

    board: Board
    elastic_depth: int
    counters: str
    feed_forward: str = "never"

    def __str__(self):
        memory = self.board.memory
        return (
            f"{self.board.name}, {len(memory.banks)} banks of {memory.word_bytes}-byte words, "
            f"planned for {memory.read_latency} cycles, elastic up to "
            f"{self.elastic_depth}{', with counters' if self.counters else ''}"
            f"{', split' if self.feed_forward != 'never' else ''}"
        )

    def build(self, source: str) -> ChannelSystem:
        """The kernels of a source on this machine."""
        return ChannelSystem(
            source, self.board, self.elastic_depth, counters=self.counters, feed_forward=self.feed_forward
        )


@dataclass(frozen=True)
class Failure:
    """A kernel whose run was not what the interpreter says; None with the number of the system where it takes several
    at a time."""

    kernel: Kernel | None
    seed: int
    error: str


def setup_of(seed: int, board_name: str | None = None) -> Setup:
    """Boards, memory words and kinds of levels in turn; one in four with hardware counters, which take a third of the
    time. With ``board_name`` always that board, and only the kinds of levels in turn."""
    if board_name is not None:
        return Setup(load_board(board_name), (0, 1000, 4)[seed % 3], "")
    board = load_board(("de5net", "a10pac", "de5net")[seed % 3])
    memory = replace(board.memory, read_latency=(100, 20)[seed % 2])
    if seed % 3 == 2:  # one bank whose word is as wide as the widest access
        timing = replace(memory.timing, bus_bits=8)
        memory = replace(memory, word_bytes=8, banks=memory.banks[:1], timing=timing)
    return Setup(replace(board, memory=memory), (0, 1000, 4)[seed // 3 % 3], "" if seed % 4 else "all")


def with_memories(setup: Setup) -> Setup:
    """The machine with two memories beside the default one: narrow banks in short pieces, and a bank of 32-byte
    words."""
    fast = Memory("sram", 64, 8, 24, (Bank(1 << 20),) * 4, PortTiming(3.6, 60.0), "FAST", 1 << 33)
    wide = Memory("sram", 1024, 32, 40, (Bank(1 << 22),), PortTiming(8.0, 100.0), "WIDE", (1 << 33) + (1 << 22))
    return replace(setup, board=replace(setup.board, others=(fast, wide)))


def run_system(
    seed: int,
    kernels: int,
    groups: bool = False,
    places: bool = False,
    together: bool = False,
    feed_forward: str = "never",
    board: str | None = None,
    shapes: bool = False,
) -> tuple[int, int, list[Failure]]:
    """Run the kernels of seeds ``seed * kernels`` and up in one system: (runs made, kernels
    that are split into parts, failures). With ``groups`` they are
    those whose work-items work in groups, with ``shapes`` those of shapes that passes look for, with ``places`` their
    buffers lie in several memories. ``together`` runs all kernels at the same time, and one after the other only where
    something differs then.

    Raises what the compiler raises: a random kernel is one it must be able to build.
    """
    members = _members(seed, kernels, groups, places, shapes)
    setup = with_memories(setup_of(seed, board)) if places else setup_of(seed, board)
    setup = replace(setup, feed_forward=feed_forward)
    system = setup.build("\n".join(m.text for m in members))
    split = sum(bool(one.layout.parts) for one in system.kernels.values())
    numbered = [(member, seed * kernels + k) for k, member in enumerate(members)]
    try:
        if together:
            try:
                return _run_together(system, numbered), split, []
            except FAULTS as error:
                runs, failures = _run_alone(system, numbered)
                return runs, split, failures or [Failure(None, seed, f"only beside others: {error}")]
        runs, failures = _run_alone(system, numbered)
        return runs, split, failures
    finally:
        system.close()


def _run_alone(system: ChannelSystem, numbered) -> tuple[int, list[Failure]]:
    """One kernel after the other."""
    runs, failures = 0, []
    for member, number in numbered:
        try:
            runs += len(system.check(member.name, _launches(member, number), SEEDS))
        except FAULTS as error:
            failures.append(Failure(member, number, str(error)))
    return runs, failures


def _run_together(system: ChannelSystem, numbered) -> int:
    """The first launches of all kernels at the same time, then the second ones; the number of runs. Raises what is in
    ``FAULTS``."""
    rounds = list(zip(*(_launches(member, number) for member, number in numbered), strict=True))
    for launched in rounds:
        system.check_together(
            {member.name: launch for (member, _), launch in zip(numbered, launched, strict=True)}, SEEDS
        )
    return len(rounds) * len(SEEDS) * len(numbered)


def _members(seed: int, kernels: int, groups: bool, places: bool, shapes: bool) -> list[Kernel]:
    make = random_group_kernel if groups else random_shapes if shapes else random_kernel
    orders = sorted(permutations(("default", "FAST", "WIDE")))
    numbers = range(seed * kernels, (seed + 1) * kernels)
    return [
        replace(make(number, f"k{k}"), places=orders[number % len(orders)] if places else ())
        for k, number in enumerate(numbers)
    ]


def cannot_be_built(setup: Setup):
    """A test of whether the compiler falls over a kernel alone."""

    def test(kernel: Kernel) -> bool:
        try:
            setup.build(kernel.text).close()
        except Exception:  # noqa: BLE001 - whatever it raises is a fault: all these kernels are right
            return True
        return False

    return test


def _launches(kernel: Kernel, seed: int):
    return group_launches(kernel, seed) if isinstance(kernel, GroupKernel) else launches(kernel, seed)


def still_fails(setup: Setup, seed: int):
    """A test of whether a kernel alone still fails on the machine."""

    def test(kernel: Kernel) -> bool:
        system = setup.build(kernel.text)
        try:
            system.check(kernel.name, _launches(kernel, seed), SEEDS)
        except FAULTS:
            return True
        finally:
            system.close()
        return False

    return test


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a kernel failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--start", type=int, default=1000, help="seed of the first system")
    parser.add_argument("--kernels", type=int, default=12, help="in each system")
    parser.add_argument("--shrink", type=int, default=30, help="builds to spend on making a failure smaller")
    parser.add_argument("--places", action="store_true", help="buffers lie in several memories of the board")
    parser.add_argument(
        "--groups", action="store_true", help="kernels with barriers, local memory, atomics, lanes and compute units"
    )
    parser.add_argument(
        "--together",
        action="store_true",
        help="all kernels of a system run at the same time, which takes less time; not with --places",
    )
    parser.add_argument("--shapes", action="store_true", help="kernels of shapes that passes look for")
    parser.add_argument("--board", help="run on this board only, such as ecp5_onchip, whose memory is never late")
    parser.add_argument("--feed-forward", choices=FEED_FORWARDS, default="never", help="split kernels")
    options = parser.parse_args(arguments)
    if options.together and options.places:
        parser.error("--together puts all buffers into the default memory: leave --places out")
    failed = 0
    for seed in range(options.start, options.start + options.systems):
        setup = setup_of(seed, options.board)
        setup = with_memories(setup) if options.places else setup
        setup = replace(setup, feed_forward=options.feed_forward)
        kinds = options.groups, options.places, options.together, options.feed_forward, options.board, options.shapes
        try:
            runs, split, failures = run_system(seed, options.kernels, *kinds)
        except Exception as error:  # noqa: BLE001 - what the compiler raises; the systems behind it still are worth a run
            failed += 1
            print(f"system {seed} cannot be built: {error!r}", flush=True)
            fails = cannot_be_built(setup)
            for k, member in enumerate(_members(seed, options.kernels, *kinds[:2], options.shapes)):
                if fails(member):
                    print(
                        f"kernel seed {seed * options.kernels + k}:\n{shrink(member, fails, options.shrink).text}",
                        flush=True,
                    )
            continue
        print(
            f"system {seed}: {options.kernels} kernels, {split} of them split, {runs} runs, {len(failures)} failures ({setup})",
            flush=True,
        )
        for failure in failures:
            failed += 1
            print(f"{'kernel' if failure.kernel else 'system'} seed {failure.seed}: {failure.error}", flush=True)
            if failure.kernel is None:
                continue
            smallest = shrink(failure.kernel, still_fails(setup, failure.seed), options.shrink)
            print(smallest.text, flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
