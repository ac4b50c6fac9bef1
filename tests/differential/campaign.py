"""Random programs against PoCL, as many as time allows:

    python -m tests.differential.campaign --programs 20000 --start 1000

Prints each program that differs, with its seed, made as small as was possible, and what both made of it.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hls.diag import CompileError
from hls.ir import Module
from hls.ir.verifier import VerifyError
from hls.passes.run_stages import optimize
from sim.emulator import EmulationError
from sim.errors import BuildError
from tests.pocl import context as pocl_context

from .devices import emulate, inputs, module_of, run_pocl, source_of
from .generate import Program, random_program
from .tree import Node, smaller

__all__ = ["Finding", "check", "compare", "same_fault", "shrink"]

INPUT_SEED = 1
#: What faults of the compiler itself show as.
INTERNAL = (VerifyError, ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError, ValueError)


@dataclass(frozen=True)
class Finding:
    """A program that PoCL accepts and ends with other bytes here, or not at all; ``kind`` says which."""

    program: Program
    kind: str
    detail: str

    def __str__(self):
        return f"{self.program.name}: {self.kind}: {self.detail}\n{self.program}"


def optimized(source: str) -> Module:
    """The module after all passes. Raises CompileError."""
    return optimize(module_of(source))


def compare(context, programs: list[Program], prepare: Callable[[str], Module] = module_of) -> Finding | None:
    """The first program of a batch that differs, or at which PoCL or ``prepare``, which makes IR of a source, fails."""
    import pyopencl as cl

    source, given = source_of(programs), inputs(INPUT_SEED)
    try:
        expected = run_pocl(context, source, len(programs), given)
    except cl.Error as error:
        return Finding(programs[0], "refused by PoCL", str(error)[-600:])
    try:
        got = emulate(prepare(source), len(programs), given)
    except (CompileError, EmulationError, BuildError) as error:
        return Finding(programs[0], type(error).__name__, str(error)[:600])
    except INTERNAL as error:
        return Finding(programs[0], f"internal error {type(error).__name__}", str(error)[:600])
    for k, program in enumerate(programs):
        if expected.of(k) != got.of(k):
            return Finding(program, "different bytes", _first_difference(expected, got, k))
    return None


def _first_difference(expected, got, k: int) -> str:
    for name in ("integers", "floats", "moved_floats", "moved_doubles"):
        pairs = zip(getattr(expected, name)[k].flat, getattr(got, name)[k].flat)
        for place, (a, b) in enumerate(pairs):
            if a.tobytes() != b.tobytes() and not (np.isnan(a) and np.isnan(b)):
                show = repr if name == "floats" else hex
                return f"word {place} of the {name} is {show(b)}, PoCL says {show(a)}"
    raise AssertionError("the results do not differ")


def check(context, programs: list[Program], prepare: Callable[[str], Module] = module_of) -> list[Finding]:
    """All programs that differ; the batch is halved until each is alone."""
    finding = compare(context, programs, prepare)
    if finding is None:
        return []
    if len(programs) == 1:
        return [finding]
    half = len(programs) // 2
    return check(context, programs[:half], prepare) + check(context, programs[half:], prepare)


def shrink(program: Program, fails: Callable[[Program], bool], tries: int) -> Program:
    """The smallest program found within ``tries`` calls of ``fails`` that still fails."""
    found = True
    while found and tries > 0:
        found = False
        for tree in smaller(program.tree):
            tries -= 1
            candidate = replace(program, tree=tree)
            if _worthwhile(tree, program.tree) and fails(candidate):
                program, found = candidate, True
                break
            if tries <= 0:
                break
    return program


def _worthwhile(tree: Node, before: Node) -> bool:
    return len(str(tree)) < len(str(before))


def same_fault(context, finding: Finding, prepare: Callable[[str], Module] = module_of) -> Callable[[Program], bool]:
    """Whether a program shows the same kind of fault; a candidate that PoCL refuses shows none."""

    def fails(program: Program) -> bool:
        found = compare(context, [program], prepare)
        return (
            found is not None
            and found.kind == finding.kind
            and (
                finding.kind == "different bytes"
                or found.detail.split(":")[-1][:30] == finding.detail.split(":")[-1][:30]
            )
        )

    return fails


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a program differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0, help="seed of the first program")
    parser.add_argument("--batch", type=int, default=50, help="programs compiled together")
    parser.add_argument(
        "--optimized", action="store_true", help="run the IR after all passes (batches of 1 are fastest)"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--shrink", type=int, default=300, help="tries to make a finding smaller")
    options = parser.parse_args(arguments)
    prepare = optimized if options.optimized else module_of
    context, count, began, done = pocl_context(), 0, time.monotonic(), 0
    for first in range(options.start, options.start + options.programs, options.batch):
        if time.monotonic() - began > options.seconds:
            break
        programs = [random_program(seed, f"p{seed}") for seed in range(first, first + options.batch)]
        done += len(programs)
        for finding in check(context, programs, prepare):
            count += 1
            small = shrink(finding.program, same_fault(context, finding, prepare), options.shrink)
            print(compare(context, [small], prepare), flush=True)
    print(f"{done} programs, {count} differ, {time.monotonic() - began:.0f} s")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
