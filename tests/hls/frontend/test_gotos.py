"""Random functions full of gotos, into branches and loops, too, against the C++ compiler."""

import random
import subprocess

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.ir.verifier import verify_module

FUNCTIONS, VALUES = 12, 8


def function(name: str, seed: int) -> str:
    """A function of two ints, s and n, that ends after at most 40 jumps and iterations."""
    rng, labels = random.Random(seed), [f"l{k}" for k in range(5)]
    unplaced, jump = [*labels], "if (fuel-- <= 0) return s; "

    def statement(depth: int) -> str:
        kind, test = rng.randrange(8), f"s >> {rng.randrange(6)} & 1"
        if kind < 3 and unplaced:
            return f"{unplaced.pop(rng.randrange(len(unplaced)))}: s += {rng.randrange(9)};"
        if kind < 5 or depth > 3:
            return f"s = s * 5 + n + {rng.randrange(99)} & 0xffff;"
        if kind == 5:
            return f"if ({test}) {{ {jump}goto {rng.choice(labels)}; }}"
        if kind == 6:
            return f"if ({test}) {block(depth + 1)} else {block(depth + 1)}"
        head = rng.choice((f"while ({test})", f"for (; {test}; s++)", "do", ""))
        tail = f" while ({test});" if head == "do" else ""
        return f"{head} {block(depth + 1, jump)}{tail}"

    def block(depth: int, first: str = "") -> str:
        return "{ " + first + " ".join(statement(depth) for _ in range(rng.randint(2, 4))) + " }"

    body = [block(0) for _ in range(4)] + [f"{label}: s ^= {k + 1};" for k, label in enumerate(unplaced)]
    return f"int {name}(int s, int n) {{ int fuel = 40; {' '.join(body)} return s; }}\n"


@pytest.mark.parametrize("seed", range(4))
def test_gotos(tmp_path, seed):
    functions = "".join(function(f"f{k}", FUNCTIONS * seed + k) for k in range(FUNCTIONS))
    calls = "".join(f"a[{VALUES * k} + n] = f{k}(3 * n, n); " for k in range(FUNCTIONS))
    loop = f"for (int n = 0; n < {VALUES}; n++) {{ {calls}}}"
    printed = f'int main() {{ static int a[{FUNCTIONS * VALUES}]; {loop} for (int x : a) printf("%d ", x); }}'
    (tmp_path / "gotos.cpp").write_text(f"#include <cstdio>\n{functions}{printed}")
    subprocess.run(["g++", "-w", tmp_path / "gotos.cpp", "-o", tmp_path / "gotos"], check=True)
    expected = subprocess.run([tmp_path / "gotos"], check=True, capture_output=True, text=True).stdout
    module = parse_source(f"{functions}__kernel void k(__global int *a) {{ {loop} }}").module
    verify_module(module)
    a = np.zeros(FUNCTIONS * VALUES, np.int32)
    run_kernel(module, "k", {"a": a})
    assert a.tolist() == [int(word) for word in expected.split()]
