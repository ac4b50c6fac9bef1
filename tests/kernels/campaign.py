"""Runs random networks of kernels: many in one system, each under several seeds of random stalls; some of them
deadlock.

    python -m tests.kernels.campaign --systems 20 --start 1000

Prints one line for each system with the number of runs that ended and the verdict of the deadlock analysis, and every
fault.
"""

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hls.analysis.channels.deadlock import Verdict
from hls.ir.concurrent import Channel
from hls.ir.interpreter import ExecutionError
from sim.errors import SimulationError
from tests.kernels.groups import ChannelSystem
from tests.kernels.networks import ITERATIONS, Network, network, tangled
from tests.kernels.system import Difference, Launch
from tests.kernels.test_memory import narrow_words

__all__ = ["Fault", "Outcome", "run_system"]

SEEDS = (0, 1, 2)
STOPPED = "the kernels wait for each other"


@dataclass(frozen=True)
class Fault:
    """What a network did that it should not have done; ``seed`` is that of the network, ``stalls`` of the stalls."""

    network: Network
    seed: int
    stalls: int
    error: str


@dataclass
class Outcome:
    """Of one system: runs by what the analysis had said and how they ended, and the faults."""

    counts: Counter = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)


def run_system(start: int, networks: int, seeds=SEEDS) -> Outcome:
    """Build networks of the seeds ``start`` and on into one system, every other one tangled, and run each with every
    seed of stalls."""
    made = [
        (tangled if number % 2 else network)(f"n{number}", random.Random(number), *(() if number % 2 else (True,)))
        for number in range(start, start + networks)
    ]
    system, outcome = ChannelSystem("\n".join(one.text for one in made), narrow_words()), Outcome()
    try:
        for number, one in enumerate(made, start):
            said = _said(system, one)
            expected = _expected(system, one)
            for stalls in seeds:
                ended, error = _run(system, one, expected, stalls)
                outcome.counts[f"{said}, {'ended' if ended else 'stopped'}"] += 1
                if error or (error := wrong(said, ended, expected is not None)):
                    outcome.faults.append(Fault(one, number, stalls, error))
    finally:
        system.close()
    return outcome


def wrong(said: str, ended: bool, ends: bool) -> str:
    """What is wrong with how a run ended ("" for nothing). ``ends``: the network does, if its channels hold any number
    of values."""
    if ended and said == "certain":
        return "it ended, which the analysis said it never does"
    if ended and not ends:
        return "it ended, which no depth of its channels lets it do"
    if not ended and said in ("proved", "undecided"):
        return f"it stopped, and the analysis said no more than '{said}'"
    return ""


def _said(system: ChannelSystem, one: Network) -> str:
    """The worst that the analysis says about kernels of the network."""
    kinds = {found.kind for found in _verdicts(system, one)}
    return next((kind for kind in ("certain", "possible", "undecided") if kind in kinds), "proved")


def _verdicts(system: ChannelSystem, one: Network) -> Iterator[Verdict]:
    return (found for found in system.result.networks if set(found.kernels) & set(one.kernels))


def _launches(one: Network) -> dict[str, Launch]:
    return {
        kernel: Launch({"a": np.zeros(8, np.int32), "out": np.zeros(1, np.int32)}, {"n": ITERATIONS})
        for kernel in one.kernels
    }


def _expected(system: ChannelSystem, one: Network):
    """What all kernels leave if they end; None if they do not, however many values channels hold. A network without
    calls that only look gives the same in every run that ends (Kahn), so that depths do not matter."""
    channels = {
        name: [Channel(name) for _ in range(memory.length or 1)]
        for name, memory in system.result.module.channels.items()
    }
    try:
        return system.expected_together(_launches(one), channels)
    except ExecutionError as error:
        if STOPPED not in str(error):
            raise
        return None


def _run(system: ChannelSystem, one: Network, expected, stalls: int) -> tuple[bool, str]:
    """Whether the network's run came to its end, and what was wrong with its results."""
    system.loaded.session.reset(stalls)
    names = list(one.kernels)
    launches = _launches(one)
    launches = {name: launches[name] for name in names[stalls % len(names) :] + names[: stalls % len(names)]}
    try:
        system.run_together(launches, expected, stalls)
    except SimulationError as error:
        if STOPPED not in str(error):
            return False, str(error)
        return False, ""
    except Difference as error:
        return True, str(error)
    return True, ""


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=10)
    parser.add_argument("--start", type=int, default=1000, help="number of the first system")
    parser.add_argument("--networks", type=int, default=8, help="in each system")
    options = parser.parse_args(arguments)
    total, faults = Counter(), 0
    for number in range(options.start, options.start + options.systems):
        outcome = run_system(number * options.networks, options.networks)
        total += outcome.counts
        faults += len(outcome.faults)
        print(f"system {number}: {_listed(outcome.counts)}; {len(outcome.faults)} faults", flush=True)
        for fault in outcome.faults:
            print(f"network {fault.seed}, stalls {fault.stalls}: {fault.error}\n{fault.network.text}", flush=True)
    print(f"in all: {_listed(total)}; {faults} faults")
    return int(faults > 0)


def _listed(counts: Counter) -> str:
    return ", ".join(f"{count} x {what}" for what, count in sorted(counts.items()))


if __name__ == "__main__":
    sys.exit(main())
