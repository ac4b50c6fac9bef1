"""Random nests whose inner loop runs as long as a test of its state holds: that of a search, of links, of a row. The
test may be a `break` in the body, at its begin or behind other operations.

    python -m tests.programs.tested_nests --programs 500 --start 0 [--planned | --hardware BOARD]

Every nest is made one loop by the test of its inner loop, where that is possible, and run in the interpreter, before and
behind that pass and behind all passes; with ``--planned`` also as planned for each board. With ``--hardware`` all
programs are one system in simulated hardware, under random stalls, in which each nest is one loop whether it gains or
not. A difference is printed.
"""

import argparse
import random
import sys
from unittest.mock import patch

import numpy as np

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir import Attr, Module
from hls.ir.interpreter import run_kernel
from hls.options import Options
from hls.planning import joinable_nests, tested_nests
from hls.target.board import load_board
from tests.hls.passes.merging import passes_through
from tests.kernels.system import MAX_CYCLES, KernelSystem, Launch

from .campaign import FAULTS

__all__ = ["differences", "in_hardware", "merged_nests", "random_nest"]

ARGS = "__global int *restrict a, __global int *restrict b, __global const int *restrict c, int n"
BOARDS = ("ecp5_onchip", "de5net")
SIZES = (0, 1, 2, 23)


def random_nest(seed: int) -> str:
    """A kernel with one or two nests. Each inner loop ends: its test holds for positive ``q`` only, which falls, or it
    counts up to a bound."""
    r = random.Random(seed)
    arrays = "int p[8]; for (int i = 0; i < 8; i++) p[i] = c[i] & 7;" if r.random() < 0.5 else ""
    nests = " ".join(_nest(r, bool(arrays), k) for k in range(r.choice((1, 1, 2))))
    return f"__kernel void k({ARGS}) {{ {arrays} int s = n, q = 5; {nests} a[63] = s + q; }}"


def _nest(r: random.Random, array: bool, number: int) -> str:
    i = f"i{number}"
    before = " ".join(r.choice(BEFORE) for _ in range(r.randrange(3)))
    after = " ".join(r.choice(AFTER) for _ in range(r.randrange(1, 4)))
    body = " ".join(r.choice(BODY + (IN_ARRAY if array else ())) for _ in range(r.randrange(3)))
    test = " && ".join(["q > 0", *(r.choice(TESTS) for _ in range(r.randrange(3)))])
    step = r.choice(STEPS + (("q = p[q & 7] % q;",) if array else ()))
    inner = r.choice(
        (
            f"while ({test}) {{ {body} {step} }}",
            f"while ({test}) {{ {step} {body} }}",
            f"while ({test}) {{ int old = q; {step} {body} s ^= old; }}",
            f"for (int j = {r.choice(FIRSTS)}; j < {r.choice(ENDS)}; j++) {{ {body} s += j * q; }}",
            f"do {{ {body} {step} }} while ({test});",
            f"while (q > 0) {{ if (!({test})) break; {body} {step} }}",
            f"while ({test}) {{ if ({r.choice(TESTS)}) break; {step} {body} }}",
            f"for (;;) {{ if ({test}) {{ {body} {step} }} else break; }}",
            f"while (q > 0) {{ int u = c[q & 63]; if (u > t) break; {body} s += u; {step} }}",
            f"while (q > 0) {{ s += 3; if (!({test})) break; {body} {step} }}",
            f"while (q > 0) {{ if (!({test})) {{ s ^= 5; break; }} {step} {body} }}",
        )
    )
    text = f"for (int I = 0; I < n; I++) {{ int t = {r.choice(VALUES)}; {before} {inner} {after} }}"
    return text.replace("I", i)


VALUES = ("c[I & 63]", "b[I & 63]", "I * 3", "q + I", "c[c[I & 63] & 63]")
BEFORE = ("q += c[q & 63] & 7;", "if (t & 1) q = t & 31;", "b[t & 63] = q;", "s += t;", "q &= 63;", "t ^= q;")
AFTER = (
    "if (c[q & 63] == c[I & 63]) q++;",
    "a[I & 63] = q ^ s;",
    "b[q & 63] += t;",
    "q = (q + I) & 31;",
    "if (q >= 9) { s++; q = c[q & 63] & 7; }",
    "s = t > s ? t : s;",
)
BODY = ("b[(q + s) & 63] = t;", "s += c[(q + I) & 63];", "if (s & 1) s ^= b[q & 63];", "a[q & 63] = I;", "s++;")
IN_ARRAY = ("p[q & 7] = s & 7;", "s += p[I & 7];")
TESTS = ("c[q & 63] != c[I & 63]", "(c[q & 63] & 3)", "b[q & 63] < t", "(s & 7)", "t > q", "c[(q + t) & 63] > 0")
STEPS = ("q = (c[q & 63] & 63) % q;", "q--;", "q >>= 1;", "q = q > 4 ? q - 3 : q / 2;")
FIRSTS = ("0", "I", "q & 3", "c[I & 63] & 7")
ENDS = ("q & 7", "(c[I & 63] & 7) + 2", "I & 3", "5")


def merged_nests(text: str) -> int:
    """How many nests of the kernel can be one loop."""
    found: list = []
    passes_through(text, "coalesce-loops", mark=_ask, record=found.append)
    return sum(getattr(one, "how", "") == "coalesced" for one in found)


def _ask(loop) -> None:
    loop.attrs[Attr.FLATTEN_BY_TEST] = True


def differences(text: str, seed: int, boards=()) -> list[str]:
    """The stages behind which the kernel leaves other bytes than as written: of a compilation with all nests to be one
    loop, and as planned for ``boards``."""
    module, _, after, last = passes_through(text, "coalesce-loops", mark=_ask)
    stages = {"coalesce-loops": after, "all passes": last}
    for name in boards:
        source = parse_source(text, "k.cl", {}, []).module
        (planned,), _ = plan_module(source, load_board(name), Options())
        stages[name] = planned.function
    right = _results(module, seed)
    alone = {name: Module({function.name: function}) for name, function in stages.items()}
    return [name for name, one in alone.items() if _results(one, seed) != right]


def _results(module: Module, seed: int) -> list:
    rng, found = np.random.default_rng(seed), []
    for n in SIZES:
        buffers = {name: bytearray(rng.integers(0, 64, 64).astype(np.int32).tobytes()) for name in "abc"}
        run_kernel(module, "k", buffers, {"n": n}, (1,), max_iterations=MAX_CYCLES)
        found.append(buffers)
    return found


def in_hardware(board: str, seeds: range) -> list[int]:
    """The seeds of programs that leave other bytes in simulated hardware, one of a system for this board."""
    texts = {seed: random_nest(seed).replace("void k(", f"void k{seed}(") for seed in seeds}
    with (
        patch.object(joinable_nests, "shortens", lambda *_: True),
        patch.object(tested_nests, "_waits_for_stores", lambda *_: False),
    ):
        system = KernelSystem("\n".join(texts.values()), board)
    print(f"{sum(len(kernel.merged) for kernel in system.result.kernels)} nests as one loop", flush=True)
    bad = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        runs = [Launch({name: rng.integers(0, 64, 64).astype(np.int32) for name in "abc"}, {"n": n}) for n in SIZES]
        try:
            system.check(f"k{seed}", runs, (0, 1, 2))
        except FAULTS as error:
            print(f"program {seed}: {error}\n{texts[seed]}", flush=True)
            bad.append(seed)
    system.close()
    return bad


def main() -> int:
    """The command line; returns 1 when a program differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--start", type=int, default=0, help="seed of the first program")
    parser.add_argument("--planned", action="store_true", help="plan each for every board, too")
    parser.add_argument("--hardware", metavar="BOARD", help="run them in simulated hardware, in one system")
    options = parser.parse_args()
    if options.hardware:
        return 1 if in_hardware(options.hardware, range(options.start, options.start + options.programs)) else 0
    bad = nests = 0
    for seed in range(options.start, options.start + options.programs):
        text = random_nest(seed)
        nests += merged_nests(text)
        if found := differences(text, seed, BOARDS if options.planned else ()):
            bad += 1
            print(f"program {seed} differs behind {', '.join(found)}:\n{text}", flush=True)
    print(f"{options.programs} programs, {nests} nests as one loop, {bad} with a difference")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
