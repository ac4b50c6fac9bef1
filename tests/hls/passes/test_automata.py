"""Automata: an iteration a cycle, and the same states as in the source, whatever the loop tests on the way."""

import random

import numpy as np
import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify
from hls.options import Options
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from hls.target.board import load_board
from tests.repetitions import sampled

NUMBERS = """
enum state { START, WHOLE, PART, EXPONENT, SIGN, DIGITS, BAD };
__kernel void f(__global const char *restrict s, __global int *restrict out, int n)
{
    enum state st = START;
    int numbers = 0, bad = 0;
    for (int i = 0; i < n; i++) {
        char c = s[i];
        bool digit = c >= '0' && c <= '9';
        if (c == ' ') {
            if (st == WHOLE || st == PART || st == DIGITS)
                numbers++;
            else if (st != START)
                bad++;
            st = START;
            continue;
        }
        switch (st) {
        case START: st = digit || c == '-' ? WHOLE : BAD; break;
        case WHOLE: if (c == '.') { st = PART; break; }
        case PART: st = digit ? st : (c == 'e' ? EXPONENT : BAD); break;
        case EXPONENT: if (c == '-' || c == '+') { st = SIGN; break; }
        case SIGN:
        case DIGITS: st = digit ? DIGITS : BAD; break;
        default: st = BAD;
        }
    }
    out[0] = numbers;
    out[1] = bad;
    out[2] = st;
}
"""


def run(kernel, text: np.ndarray, scalars) -> np.ndarray:
    out = np.zeros(64, np.int32)
    run_kernel(kernel, "f", {"s": text, "out": out}, scalars)
    return out


def test_an_iteration_a_cycle():
    module = parse_source(NUMBERS).module
    (kernel,), _ = plan_module(module, load_board("de5net"), Options())
    (loop,) = kernel.plan.loops.values()
    assert loop.ii == 1
    text = np.frombuffer(b"12 3.4e-5 -7 x1 9.e 1e+ 4e2 55. 3 ", np.int8).copy()
    for n in range(len(text) + 1):
        assert (run(module, text, {"n": n}) == run(kernel.function, text, {"n": n, "overlap": 0})).all()


def transition(rng: random.Random, states: int) -> str:
    """A choice of the next state among constants, the state itself, and small sums."""
    pick = lambda: rng.choice(
        [
            str(rng.randrange(states)),
            "st",
            f"(st + {rng.randint(1, 3)}) % {states}",
            f"(s[i] & {rng.randint(1, 3)}) % {states}",
        ]
    )
    text = pick()
    for _ in range(rng.randint(3, 7)):
        condition = rng.choice(
            [
                f"s[i] > {rng.randint(-40, 90)}",
                f"st == {rng.randrange(states)}",
                f"st < {rng.randrange(states)}",
                "(s[i] & 1)",
            ]
        )
        text = f"{condition} ? ({text}) : {pick()}"
    return text


@pytest.mark.parametrize("seed", sampled(range(24)))
def test_random_automata(seed):
    rng = random.Random(seed)
    states = rng.randint(2, 8)
    source = (
        "__kernel void f(__global const char *restrict s, __global int *restrict out, int n) {\n"
        f"uint st = {rng.randrange(states)}; int seen = 0;\nfor (int i = 0; i < n; i++) {{\n"
        f"st = {transition(rng, states)};\nif (st == {rng.randrange(states)}) seen++;\nout[i] = "
        f"{rng.choice(['st', 'seen', 's[i]'])};\n}}\n"
        "out[62] = st; out[63] = seen; }\n"
    )
    module = parse_source(source).module
    (function,) = optimize(module, PipelineOptions(check=True)).functions.values()
    verify(function)
    text = np.random.default_rng(seed).integers(-50, 120, 40).astype(np.int8)
    for n in (0, 1, 2, 40):
        assert (run(module, text, {"n": n}) == run(function, text, {"n": n, "overlap": 0})).all(), source
