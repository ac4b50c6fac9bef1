"""Random functions full of gotos, into branches, loops and switches, too, against the C++ compiler."""

import random
import subprocess

import numpy as np
import pytest
from pocl import pocl_context, run_both

from hls.frontend import parse_source
from hls.ir.launch import IndexSpace
from hls.ir.verifier import verify_module
from sim.emulator import Emulator

FUNCTIONS, VALUES, JUMPS = 6, 8, 40


class Function:
    """The text of a function of two ints that ends after at most ``JUMPS`` gotos and iterations. It sets a bit of
    ``*taken`` for each of its ``gotos`` that is executed."""

    def __init__(self, name: str, seed: int) -> None:
        self.rng, self.labels, self.gotos = random.Random(seed), [f"l{k}" for k in range(6)], 0
        self.unplaced = [*self.labels]
        body = [self.block(0) for _ in range(3)] + [f"{label}: s ^= {k + 1};" for k, label in enumerate(self.unplaced)]
        self.text = (
            f"int {name}(int s, int n, uint *taken) {{ int fuel = {JUMPS}; *taken = 0; {' '.join(body)} return s; }}\n"
        )

    def jump(self) -> str:
        self.gotos += 1
        mark = f"*taken |= 1u << {(self.gotos - 1) % 32};"
        return f"{{ if (fuel-- <= 0) return s; {mark} goto {self.rng.choice(self.labels)}; }}"

    def block(self, depth: int, first: str = "") -> str:
        return "{ " + first + " ".join(self.statement(depth) for _ in range(self.rng.randint(2, 3))) + " }"

    def statement(self, depth: int) -> str:
        rng = self.rng
        kind, test = rng.randrange(10), f"s >> {rng.randrange(6)} & 1"
        if kind < 3 and self.unplaced:
            return f"{self.unplaced.pop(rng.randrange(len(self.unplaced)))}: s += {rng.randrange(9)};"
        if kind < 5 or depth > 2:
            return f"s = s * 5 + n + {rng.randrange(99)} & 0xffff;"
        if kind == 5:
            return f"if ({test}) {self.jump()}"
        if kind == 6:
            return f"if ({test}) {self.block(depth + 1)} else {self.block(depth + 1)}"
        if kind < 9:
            return self.switch(depth)
        head = rng.choice((f"while ({test})", f"for (; {test}; s++)", "do", ""))
        tail = f" while ({test});" if head == "do" else ""
        return f"{head} {self.block(depth + 1, 'if (fuel-- <= 0) return s; ')}{tail}"

    def switch(self, depth: int) -> str:
        labels = self.rng.sample(["case 0:", "case 1 ... 2:", "case 3: case 5:", "case 6:", "default:"], 3)
        ends = ("break;", "", "", self.jump())
        parts = [f"{label} {self.inside(depth)} {self.rng.choice(ends)}" for label in labels]
        return f"switch (s >> {self.rng.randrange(6)} & 7) {{ {' '.join(parts)} }}"

    def inside(self, depth: int) -> str:
        """The statements of a case: without braces, so that the block is that of the switch."""
        return "; " + " ".join(self.statement(depth + 1) for _ in range(self.rng.randint(1, 2)))


def by_compiler(folder, functions: str, loop: str) -> list[int]:
    """The numbers that the C++ compiler's program stores."""
    stored = f"static int a[{FUNCTIONS * VALUES}]; static uint taken[{FUNCTIONS * VALUES}]"
    shown = 'for (int x : a) printf("%d ", x); for (uint x : taken) printf("%u ", x);'
    text = f"#include <cstdio>\ntypedef unsigned uint;\n{functions}int main() {{ {stored}; {loop} {shown} }}"
    (folder / "gotos.cpp").write_text(text)
    subprocess.run(["g++", "-w", folder / "gotos.cpp", "-o", folder / "gotos"], check=True)
    done = subprocess.run([folder / "gotos"], check=True, capture_output=True, text=True)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize("seed", range(4))
def test_gotos(tmp_path, seed):
    made = [Function(f"f{k}", FUNCTIONS * seed + k) for k in range(FUNCTIONS)]
    functions = "".join(each.text for each in made)
    calls = "".join(
        f"a[{VALUES * k} + n] = f{k}(3 * n, n, &t); taken[{VALUES * k} + n] = t; " for k in range(FUNCTIONS)
    )
    loop = f"for (int n = 0; n < {VALUES}; n++) {{ uint t; {calls}}}"
    expected = by_compiler(tmp_path, functions, loop)
    bits = np.array(expected[FUNCTIONS * VALUES :], np.uint32).reshape(FUNCTIONS, VALUES)
    executed = sum(int(np.bitwise_or.reduce(each)).bit_count() for each in bits)
    assert executed >= 12  # of the gotos, whatever the functions are: what is never executed tests nothing

    module = parse_source(f"{functions}__kernel void k(__global int *a, __global uint *taken) {{ {loop} }}").module
    verify_module(module)
    found = {"a": np.zeros(FUNCTIONS * VALUES, np.int32), "taken": np.zeros(FUNCTIONS * VALUES, np.uint32)}
    Emulator(module, hasty=True).run("k", found, {}, IndexSpace.of((1,)))
    assert [*found["a"].tolist(), *found["taken"].tolist()] == expected


SWITCHES = """__kernel void k(__global const int *a, __global int *o, int n) {
  for (int i = 0; i < n; i++) {
    int v = a[i], s = 0, fuel = 5;
    if (v > 90) goto three;
    switch (v & 3) {
    case 0: s += 1; goto shared;
    case 1: s += 10; if (fuel-- > 2) goto one; break;
    case 2:
    shared: s += 100; if (v & 4) continue; if (v & 8) { deep: s += 1000; }
    one: s += 7;
    default:
      switch (v & 12) { case 8: three: s += 3; break; case 4 ... 5: s ^= 1; goto after; }
      while (s & 1) { s >>= 1; if (v & 16 && fuel-- > 0) goto deep; }
    }
  after:
    o[i] = s;
  }
}
"""


def test_into_a_switch():
    """Into another case of the switch, from outside of it, out of an inner one, back into a branch of a case: as PoCL,
    also after all passes."""
    given = {"a": np.arange(-20, 120, dtype=np.int32), "o": np.full(140, -1, np.int32), "n": np.int32(140)}
    run_both(pocl_context(), SWITCHES, "k", given)


AROUND = """__kernel void k(__global const int *a, __global int *o, int n) {
  for (int i = 0; i < n; i++) {
    int v = a[i] & 3, s = 0, fuel = 3;
    if (a[i] > 20) goto in;
    switch (v) {
      for (;;) { case 0: s++; if (s > 5) break; in: s += 2; continue; }
      case 1: s += 50; break;
      case 2: do { s += 9; shared: s += 3; if (fuel-- > 0) goto in; } while (s < 20);
    }
    if (fuel-- > 0 && v) goto shared;
    o[i] = s;
  }
}
"""


def test_into_a_switch_with_cases_inside_a_loop():
    """Also where the switch has selected none of its cases before, or was not reached: as PoCL."""
    given = {"a": np.arange(30, dtype=np.int32), "o": np.full(30, -1, np.int32), "n": np.int32(30)}
    run_both(pocl_context(), AROUND, "k", given)


CHECKED = """#define CHECK(condition, value) ({ if (!(condition)) { o[i] = value; return; } })
__kernel void k(__global const int *a, __global int *o, int n) {
  int i = get_global_id(0);
  CHECK(a[i] != 3, -3);
  for (int j = 0; j < n; j++) {
    ({ if (a[j] == 7) break; if (a[j] & 1) continue; if (a[j] == 40 + i) goto end; });
    ({ int t = j; back: o[i] += t; if (t-- > 2) goto back; ({ o[i] ^= 1; }); });
    o[i] += ({ int q = a[j]; ({ q + 1; }); });
  }
end:
  o[i] *= 3;
}
"""


def test_out_of_a_statement_expression():
    """Returns, breaks and gotos in a ``({ ... });`` whose value nobody uses, as macros have them: as PoCL."""
    a = np.array([2, 4, 3, 5, 9, 8, 40, 12, 1, 2, 7, 12], np.int32)
    run_both(pocl_context(), CHECKED, "k", {"a": a, "o": np.full(12, -1, np.int32), "n": np.int32(12)}, (12,))
