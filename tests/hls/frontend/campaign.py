"""Mutated programs, through the whole compiler, as many as time allows:

    python -m tests.hls.frontend.campaign --mutants 10000 --start 0

Each must end in hardware or in messages, within its time and memory. Prints every one that does not, with its seed, and
at the end how many reached which stage. Seeds that are not divisible by four mutate a large program and end after the
frontend; of the others, small ones, those that are still valid go through all passes and planning, every fourth of
these to Verilog.
"""

import argparse
import random
import resource
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from contextlib import contextmanager

from hls.diag import CompileError, render
from hls.driver import compile_module, plan_module
from hls.frontend import parse_source
from hls.ir.verifier import verify_module
from hls.options import Options
from hls.target.board import Board, load_board

from .mutants import BAD, GOOD, SMALL, mutated, varied

__all__ = ["TimeOut", "examine", "main", "mutant", "within"]

_BYTES = 4 << 30


class TimeOut(Exception):
    """A case took longer than it may."""


@contextmanager
def within(seconds: int):
    """Raises TimeOut in the block when it has had so much processor time."""

    def stop(*_):
        raise TimeOut(f"more than {seconds} s of processor time")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def mutant(seed: int) -> str:
    """The program of a seed."""
    rng = random.Random(seed)
    return varied(rng, SMALL) if seed % 4 == 0 else mutated(rng, rng.choice([GOOD, BAD]))


def examine(text: str, board: Board, whole: bool, verilog: bool) -> str:
    """How far a program comes; anything that is raised here is a fault of the compiler."""
    module = None
    try:
        module = parse_source(text, "mutant.cl").module
        verify_module(module)
        if not whole:
            return "accepted by the frontend"
        plan_module(module, board, Options())
        if verilog:
            compile_module(module, board, Options())
        return "became Verilog" if verilog else "planned"
    except CompileError as error:
        if module is not None:
            error.sources = module.sources
        assert error.diagnostics, "an error without a message"
        assert all(render(d, error.sources) for d in error.diagnostics)
        return "refused by the frontend" if module is None else "refused behind the frontend"


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a mutant brought the compiler down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0, help="the first seed")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for each")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # of parts that a refusal leaves unused
    resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
    board, ends, faults, began, slowest = load_board("de5net"), Counter(), 0, time.monotonic(), (0.0, 0)
    for seed in range(options.start, options.start + options.mutants):
        if time.monotonic() - began > options.seconds:
            break
        text, before = mutant(seed), time.process_time()
        try:
            with within(options.limit):
                ends[examine(text, board, seed % 4 == 0, seed % 16 == 0)] += 1
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
            faults += 1
            print(f"--- seed {seed}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            print("".join(traceback.format_exception(error)[-4:]), flush=True)
        slowest = max(slowest, (time.process_time() - before, seed))
    print(
        f"{sum(ends.values()) + faults} mutants, {faults} faults, {dict(ends)}; the slowest, seed {slowest[1]}, took "
        f"{slowest[0]:.1f} s; {time.monotonic() - began:.0f} s in all"
    )
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
