"""Random programs of loops with late exits, decided by memory or by values computed from it. Every buffer has exactly
the size that the program needs, so any speculative read past the end of a loop is out of bounds.

    python -m tests.programs.late_exits --systems 5 --kernels 25 --start 0 --board ecp5_onchip

Prints a line for each system, and each program that differs from the interpreter, or fails.
"""

import argparse
import random
import sys

import numpy as np

from hls.target.board import load_board
from sim.errors import SimulationError
from tests.kernels.system import Difference, KernelSystem, Launch

__all__ = ["failures_of", "late_launches", "late_program"]

SEEDS = (0, 1, 2)
#: greater than every other element of the inputs, and the last of each
END = 1000
PARAMETERS = (
    "__global const int *restrict a, __global const int *restrict b, __global const uint *restrict p, "
    "__global int *w, __global int *restrict o, __global int *restrict r, int n"
)
RESULTS = 8


class _Parts:
    """Statements with such loops. Each adds to ``x``, and moves ``s``, an index of all buffers."""

    def __init__(self, rng: random.Random):
        self.rng, self.count = rng, 0

    def new(self) -> str:
        self.count += 1
        return f"i{self.count}"

    def sum(self) -> str:
        """Stops at a sum; the last element takes it there."""
        i, other = self.new(), self.rng.choice(["a[{i}]", "b[{i}]", "a[{i}] * b[{i}]"])
        more = other.format(i=i)
        store = self.rng.choice([f"o[{i}] = {more};", f"w[{i}] += {more};", f"x ^= {more};", ""])
        return (
            f"{{ int {i} = {self.start()}, t = 0; do {{ {store} t += {more}; {i}++; }} "
            f"while (t < {END} && {i} < n); x += t + {i}; }}"
        )

    def sentinel(self) -> str:
        """Searches; what it looks for is at the end at the latest."""
        i, key = self.new(), self.rng.choice([str(END), str(self.rng.randrange(20)), "(x & 15)"])
        stop = f"a[{i}] == {key}" if key == str(END) else f"a[{i}] == {key} || a[{i}] == {END}"
        body = self.rng.choice([f"x += a[{i}];", f"o[{i}] = x;", f"if (a[{i}] & 1) x++;", "x ^= t; t = t * 5 + 1;"])
        form = self.rng.choice(
            [
                f"while (!({stop})) {{ {body} {i}++; }}",
                f"for (;; {i}++) {{ if ({stop}) break; {body} }}",
                f"for (; !({stop}); {i}++) {{ if (a[{i}] == 3) continue; {body} }}",
                f"do {{ if ({stop}) break; {body} }} while (++{i});",
            ]
        )
        return f"{{ int {i} = {self.start()}, t = x; {form} x += {i} + t; }}"

    def down(self) -> str:
        """Goes below the first element ahead of its end."""
        i, than = self.new(), self.rng.choice(["x & 15", "s", "5"])
        return (
            f"{{ int {i} = n - 1 - s; while ({i} >= 0 && w[{i}] > ({than})) {{ w[{i}] -= {self.rng.randint(1, 4)}; {i}--; }} "
            f"x += {i}; }}"
        )

    def insertion(self) -> str:
        i, j = self.new(), self.new()
        return (
            f"for (int {i} = 1; {i} < n; {i}++) {{ int v = w[{i}], {j} = {i} - 1; "
            f"while ({j} >= 0 && w[{j}] {self.rng.choice(['>', '<'])} v) {{ w[{j} + 1] = w[{j}]; {j}--; }} w[{j} + 1] = v; }}"
        )

    def chase(self) -> str:
        """A list whose last element names itself."""
        i = self.new()
        body = self.rng.choice(["x++;", f"x += a[{i}];", f"o[{i}] = x++;", f"x = x * 3 + w[{i}];"])
        return f"{{ uint {i} = s; while (p[{i}] != {i}) {{ {body} {i} = p[{i}]; }} x ^= {i}; }}"

    def bisect(self) -> str:
        low, high = self.new(), self.new()
        return (
            f"{{ int {low} = 0, {high} = n; while ({low} < {high}) {{ int m = ({low} + {high}) / 2; "
            f"if (b[m] < (x & 31)) {low} = m + 1; else {high} = m; }} x += {low}; }}"
        )

    def partition(self) -> str:
        """Two pointers meet."""
        i, j = self.new(), self.new()
        return (
            f"{{ int {i} = 0, {j} = n - 1, v = w[s]; while (1) {{ while ({i} < n && w[{i}] < v) {i}++; "
            f"while ({j} >= 0 && w[{j}] > v) {j}--; if ({i} >= {j}) break; "
            f"int t = w[{i}]; w[{i}] = w[{j}]; w[{j}] = t; {i}++; {j}--; }} x += {i}; }}"
        )

    def merge(self) -> str:
        i, j = self.new(), self.new()
        return (
            f"{{ int {i} = 0, {j} = 0; while (a[{i}] != {END} || b[{j}] != {END}) {{ "
            f"if (a[{i}] <= b[{j}]) x = x * 3 + a[{i}++]; else x = x * 5 + b[{j}++]; }} r[{self.rng.randrange(RESULTS)}] = x; }}"
        )

    def counted(self) -> str:
        """As many trips as an element says."""
        i, j = self.new(), self.new()
        return (
            f"for (int {i} = s; a[{i}] < {END}; {i}++) {{ int e = a[{i}] & 7; "
            f"for (int {j} = {self.rng.choice(['0', '1', 'e / 2'])}; {j} < e; {j}++) x += b[{j} % n] ^ {i}; }}"
        )

    def nested(self) -> str:
        """A search in each iteration of another loop that ends late, and one may end both."""
        i, j = self.new(), self.new()
        leave = self.rng.choice(["break;", "{ x += 7; break; }", f"{{ o[{i}] = {j}; break; }}"])
        outer = self.rng.choice([f"a[{i}] != {END}", f"b[{i}] < {END} && x < 100000", f"{i} < n && a[{i}] < 18"])
        return (
            f"for (int {i} = {self.start()}; {outer}; {i}++) {{ int {j} = {i}; "
            f"while (1) {{ if (a[{j}] >= {self.rng.choice(['9', '15', str(END)])} || a[{j}] == {END}) {leave} {j}++; }} "
            f"x += {j} - {i}; }}"
        )

    def indirect(self) -> str:
        """The element that ends it is behind another one."""
        i = self.new()
        return (
            f"{{ int {i} = {self.start()}; while ({i} < n && a[p[{i}]] != {END}) {{ "
            f"{self.rng.choice(['x += p[' + i + '];', 'o[' + i + '] = x++;'])} {i}++; }} x ^= {i}; }}"
        )

    def numbers(self) -> str:
        """No memory: Euclid, or the steps of a sequence."""
        u, v = self.new(), self.new()
        if self.rng.random() < 0.5:
            return f"{{ uint {u} = x | 1, {v} = a[s] + 1; while ({v}) {{ uint t = {u} % {v}; {u} = {v}; {v} = t; }} x += {u}; }}"
        return (
            f"{{ uint {u} = (x & 63) + 1, {v} = 0; while ({u} != 1 && {v} < 60) {{ "
            f"{u} = {u} & 1 ? 3 * {u} + 1 : {u} / 2; {v}++; }} x += {v}; }}"
        )

    def private(self) -> str:
        """A table of the program's own, which is searched to its end."""
        i = self.new()
        return (
            f"{{ int t[8]; for (int k = 0; k < 8; k++) t[k] = a[k] & 7; t[7] = 9; int {i} = 0; "
            f"while (t[{i}] != 9) {{ x += t[{i}]; t[{i}] = x; {i}++; }} x ^= {i}; }}"
        )

    def start(self) -> str:
        return self.rng.choice(["0", "s", "s"])

    def any(self, depth: int = 1) -> str:
        kind = self.rng.random()
        if depth and kind < 0.2:
            k = self.new()
            limit = self.rng.choice(["2", "3", "(n & 3)"])
            return f"for (int {k} = 0; {k} < {limit}; {k}++) {{ {self.any(0)} s = (s + {k}) % (n - 1); {self.any(0)} }}"
        if depth and kind < 0.3:
            return f"if (x & {self.rng.choice([1, 2, 4])}) {{ {self.any(0)} }} else {{ {self.any(0)} }}"
        forms = [
            self.sum,
            self.sum,
            self.sentinel,
            self.sentinel,
            self.sentinel,
            self.down,
            self.insertion,
            self.chase,
            self.bisect,
            self.partition,
            self.merge,
            self.counted,
            self.nested,
            self.nested,
            self.indirect,
            self.numbers,
            self.private,
        ]
        return self.rng.choice(forms)()


def late_program(seed: int) -> str:
    """The kernel ``late{seed}``."""
    rng = random.Random(f"late {seed}")
    parts = _Parts(rng)
    body = [parts.any() for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.2:
        body.insert(1, f"if (x == {rng.randrange(9)}) return;")
    lines = "\n  ".join(body)
    return f"__kernel void late{seed}({PARAMETERS}) {{\n  int x = 0, s = n / 3;\n  {lines}\n  r[0] = x; r[1] = s;\n}}\n"


def late_launches(seed: int) -> list[Launch]:
    """Inputs of two sizes."""
    return [_launch(np.random.default_rng([seed, n]), n) for n in (24, 9)]


def _launch(rng: np.random.Generator, n: int) -> Launch:
    a = rng.integers(0, 20, n).astype(np.int32)
    b = np.sort(rng.integers(0, 40, n)).astype(np.int32)
    a[-1] = b[-1] = END
    order = rng.permutation(np.arange(1, n))
    follow = np.zeros(n, np.uint32)
    for at, then in zip([0, *order], [*order, order[-1]]):
        follow[at] = then
    w = rng.integers(-30, 30, n).astype(np.int32)
    return Launch(
        {"a": a, "b": b, "p": follow, "w": w, "o": np.zeros(n, np.int32), "r": np.zeros(RESULTS, np.int32)},
        {"n": n},
        misalign=int(rng.integers(0, 5)),
    )


def failures_of(first: int, count: int, board: str) -> tuple[int, list[str]]:
    """Runs made, and what went wrong, with the programs ``first`` and up in one system."""
    numbers = range(first, first + count)
    system = KernelSystem("".join(map(late_program, numbers)), load_board(board))
    runs, found = 0, []
    try:
        for number in numbers:
            try:
                runs += len(system.check(f"late{number}", late_launches(number), SEEDS))
            except (Difference, SimulationError) as error:
                found.append(f"program {number}: {error}\n{late_program(number)}")
    finally:
        system.close()
    return runs, found


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a program failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=1)
    parser.add_argument("--kernels", type=int, default=25)
    parser.add_argument("--start", type=int, default=0, help="number of the first system")
    parser.add_argument("--board", default="ecp5_onchip")
    options, wrong = parser.parse_args(arguments), 0
    for system in range(options.start, options.start + options.systems):
        runs, found = failures_of(system * options.kernels, options.kernels, options.board)
        wrong += len(found)
        print(
            f"system {system}: {options.kernels} programs, {runs} runs, {len(found)} failed",
            *found,
            sep="\n",
            flush=True,
        )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
