"""Loops that end at the dimension which their counter indexes compute the same wherever subscripts are in range."""

import random
from collections.abc import Iterator

import numpy as np
import pytest
from merging import outcome, passes_through

from hls.analysis.dependence.dependence import DependenceTester
from hls.ir import walk
from tests.kernels.system import Launch
from tests.repetitions import sampled

ROWS, COLUMNS = 12, 9
ARGS = f"__global int (*restrict a)[{COLUMNS}], __global int (*restrict b)[{COLUMNS}], int n, int m"


class Nest:
    """A random nest of two or three loops over two matrices: its text, and which subscripts it has for given limits."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.text = f"__kernel void k({ARGS}) {{\n{self._loop(1, [])}}}\n"

    def _loop(self, depth: int, around: list[str]) -> str:
        rng, counter, pad = self.rng, "ijk"[depth - 1], "    " * depth
        limit = rng.choice(["n", "m", "n - 1", *around, *(f"{each} + 1" for each in around)])
        first = rng.choice(["0", "1", *around])
        head = rng.choice(
            [
                f"{counter} = {first}; {counter} < {limit}; {counter}++",
                f"{counter} = {first}; {counter} <= {limit}; {counter}++",
                f"{counter} = {first}; {counter} < {limit}; {counter} += 2",
                f"{counter} = {limit}; {counter} >= {first}; {counter}--",
                f"{counter} = {limit} - 1; {counter} > {first}; {counter}--",
            ]
        )
        inside = [*around, counter]
        parts = [self._store(depth, inside) for _ in range(rng.randint(0, 1))]
        if depth == 1 or depth == 2 and rng.random() < 0.4:
            parts += [self._loop(depth + 1, inside) for _ in range(rng.choice([1, 1, 2]))]
        parts += [self._store(depth, inside) for _ in range(rng.randint(not parts, 1))]
        return f"{pad}for (int {head}) {{\n{''.join(parts)}{pad}}}\n"

    def _store(self, depth: int, inside: list[str]) -> str:
        rng, pad = self.rng, "    " * (depth + 1)

        def at(memory: str) -> str:
            row, column = (rng.choice(inside) for _ in range(2))
            return f"{memory}[{row}{rng.choice(['', '', ' + 1'])}][{column}{rng.choice(['', '', ' - 1', ' + 1'])}]"

        condition = rng.choice(["", "", "", f"if ({inside[-1]} != 3) "])
        return (
            f"{pad}{condition}{at(rng.choice('ab'))} {rng.choice(['=', '+='])} {at(rng.choice('ab'))} + {inside[-1]};\n"
        )

    def in_range(self, n: int, m: int) -> bool:
        """Whether no subscript leaves its dimension; the text is run as Python."""
        matrices = {name: _Checked() for name in "ab"}
        lines = [*_as_python(self.text)]
        try:
            exec("\n".join(lines), {"n": n, "m": m, **matrices})  # noqa: S102
        except IndexError:
            return False
        return True


class _Checked:
    """A matrix without elements that refuses subscripts which are out of range."""

    def __init__(self, length: int = ROWS):
        self.length = length

    def __getitem__(self, index: int):
        if not 0 <= index < self.length:
            raise IndexError(index)
        return _Checked(COLUMNS) if self.length == ROWS else 0

    def __setitem__(self, index: int, value: int):
        self[index]


def _as_python(text: str) -> Iterator[str]:
    for line in text.splitlines()[1:]:
        pad, code = line[: len(line) - len(line.lstrip())][4:], line.strip()
        if code == "}":
            continue
        if code.startswith("for"):
            counter, first, test, step = _head(code)
            yield f"{pad}{counter} = ({first}) - ({step})"
            yield f"{pad}while True:"
            yield f"{pad}    {counter} += {step}"
            yield f"{pad}    if not ({test}): break"
        else:
            yield pad + code.rstrip(";").replace("if (", "if ").replace(") ", ": ", code.startswith("if"))


def _head(code: str) -> tuple[str, str, str, int]:
    start, test, step = code[len("for (int ") : -len(") {")].split("; ")
    counter, first = start.split(" = ")
    return counter, first, test, 2 if step.endswith("+= 2") else -1 if step.endswith("--") else 1


def limits_of(nest: Nest) -> list[tuple[int, int]]:
    """The greatest limits at which all subscripts are in range, and smaller ones."""
    fitting = [(n, m) for n in range(COLUMNS + 3, -1, -1) for m in range(COLUMNS + 3, -1, -1) if nest.in_range(n, m)]
    return [*fitting[:3], *sorted(fitting, key=lambda pair: -pair[1])[:2], *fitting[-1:]]


def check(seed: int) -> bool:
    """Compare a random nest before and after the pass, and after all passes; returns whether the pass changed it."""
    nest = Nest(seed)
    module, before, after, last = passes_through(nest.text, "infer-loop-bounds")
    rng = np.random.default_rng(seed)
    for n, m in limits_of(nest):
        launch = Launch(
            {name: rng.integers(-9, 99, ROWS * COLUMNS).astype(np.int32) for name in "ab"}, {"n": n, "m": m}
        )
        expected = outcome(module, launch)
        for stage in (after, last):
            assert outcome(stage, launch) == expected, (nest.text, n, m)
    return before is not after and sum(1 for _ in walk(before.body)) != sum(1 for _ in walk(after.body))


@pytest.mark.parametrize("seed", sampled(range(24)))
def test_random_nests(seed):
    check(seed)


def test_most_random_nests_change():
    assert sum(check(seed) for seed in range(100, 116)) >= 6


def meets_itself(body: str) -> bool:
    """Whether the store of a kernel may write a byte again in a later iteration, as far as the analysis can tell."""
    _, _, _, last = passes_through(f"__kernel void k({ARGS}) {{ {body} }}", "infer-loop-bounds")
    (store,) = [op for op in walk(last.body) if op.opcode == "store"]
    return bool(DependenceTester(last, 64).pair(store, store))


ROW = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)"


@pytest.mark.parametrize(
    "body, apart",
    [
        (f"{ROW} a[i][j] = i;", True),
        (f"{ROW} a[i][j + 1] = i;", True),
        ("for (int i = 0; i < n; i++) for (int j = m - 1; j >= 0; j--) a[i][j] = i;", True),
        ("for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) a[i][j] = i;", True),
        (f"{ROW} if (j != n) a[i][j] = i;", False),  # no iteration must have the subscript
        (f"{ROW} {{ __global int *p = &a[i][0]; p[j] = i; }}", False),  # a pointer goes where it likes
        (f"{ROW} a[i][i + j] = i;", False),
    ],
)
def test_rows_do_not_overlap(body, apart):
    assert meets_itself(body) != apart


GOES_ON = "for (int j = 0; go;) { a[i & 3][j] = 1; j++; go = j < i; }"


@pytest.mark.parametrize(
    "body, n, m",
    [
        # a loop that is not entered leaves its counter where it started, beyond the row
        ("int j; for (j = m; j > n; j--) a[0][j] = a[n & 1][j]; b[0][0] = j;", 30, 20),
        ("for (int i = 0; i < 2; i++) { int j; for (j = m; j > n; j--) a[i][j] = 1; b[i][0] = j; }", 30, 20),
        # a row that a constant chooses may be left, whatever rows other accesses choose
        ("for (int j = 0; j < n; j++) a[0][j] = 1; for (int j = 0; j < m; j++) b[j & 7][j] = 1;", 30, 8),
        # whether the inner loop is entered is not what lets it continue
        (f"for (int i = 0; i < n; i++) {{ b[0][0] = i; bool go = m; {GOES_ON} }}", 20, 0),
        (f"for (int i = n; i > 0; i--) {{ b[i & 7][0] = i; bool go = m; {GOES_ON} }}", 20, 0),
    ],
)
def test_loops_that_are_not_entered(body, n, m):
    module, before, after, _ = passes_through(f"__kernel void k({ARGS}) {{ {body} }}", "infer-loop-bounds")
    launch = Launch({name: np.arange(ROWS * COLUMNS, dtype=np.int32) for name in "ab"}, {"n": n, "m": m})
    assert outcome(after, launch) == outcome(before, launch) == outcome(module, launch)
