"""Builds and runs measure.cpp and measure_double.cpp: the errors of the mathematical functions.

``python -m tests.hls.mathlib.measure STEP SEED [NAME...]`` prints the table of docs/arithmetic.md; with a step of 1
every float is tried, which takes about a minute for each function. ``python -m tests.hls.mathlib.measure double COUNT
SEED [NAME...]`` prints that of double, for so many arguments.
"""

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hls import mathlib

#: largest error allowed by the OpenCL 1.2 specification (section 7.4, full profile), in ULP; 0 is exact, 0.5 correctly
#: rounded
BOUNDS = {
    "exp": 3,
    "exp2": 3,
    "exp10": 3,
    "expm1": 3,
    "log": 3,
    "log2": 3,
    "log10": 3,
    "log1p": 2,
    "sin": 4,
    "cos": 4,
    "tan": 5,
    "sinpi": 4,
    "cospi": 4,
    "tanpi": 6,
    "asin": 4,
    "acos": 4,
    "atan": 5,
    "atan2": 6,
    "asinpi": 5,
    "acospi": 5,
    "atanpi": 5,
    "atan2pi": 6,
    "sinh": 4,
    "cosh": 4,
    "tanh": 5,
    "asinh": 4,
    "acosh": 4,
    "atanh": 5,
    "pow": 16,
    "powr": 16,
    "pown": 16,
    "rootn": 16,
    "cbrt": 2,
    "rsqrt": 2,
    "hypot": 4,
    "erf": 16,
    "erfc": 16,
    "tgamma": 16,
    "lgamma": 8,  # ours: OpenCL leaves it open. Below 0, where there are zeros, in ULP of 1 at least; above 0 it is 2
    "fmod": 0,
    "remainder": 0,
    "nextafter": 0,
    "ldexp": 0.5,
    "logb": 0,
    "ilogb": 0,
}

#: the same for the smaller functions of float, as half_ ones; native_ ones are the same functions
NATIVE_BOUNDS = dict.fromkeys(
    (
        "native_exp",
        "native_exp2",
        "native_exp10",
        "native_log",
        "native_log2",
        "native_log10",
        "native_sin",
        "native_cos",
        "native_tan",
        "native_recip",
        "native_divide",
        "native_sqrt",
        "native_rsqrt",
    ),
    8192,
)

#: the same for double
DOUBLE_BOUNDS = BOUNDS


@dataclass(frozen=True)
class Measured:
    """The largest error seen, the bits of the arguments of it (or of the first wrong result), and how many were
    tried."""

    name: str
    error: float
    x: int
    y: int
    wrong: int  #: infinities, NaNs and zeros that should be something else, or the other way round
    tried: int


class Library:
    """The library as a program, of ``floating``: "float" or "double"."""

    def __init__(self, folder: Path, floating: str = "float"):
        self.program = folder / "measure"
        # others call what is in those
        first = ("exp.cl", "log.cl", "trig.cl", "double_exp.cl", "double_log.cl", "double_trig.cl", "double_turns.cl")
        files = sorted(
            {signature.file for signature in mathlib.FUNCTIONS.values() if signature.floating == floating},
            key=lambda name: (name not in first, name),
        )
        (folder / "library.inc").write_text("".join(f'#include "{name}"\n' for name in files))
        here, sources = Path(__file__).parent, Path(mathlib.__file__).parent
        main = here / ("measure_double.cpp" if floating == "double" else "measure.cpp")
        subprocess.run(
            [
                "g++",
                "-O2",
                "-std=gnu++20",
                "-ffp-contract=off",
                "-fwrapv",
                f"-I{folder}",
                f"-I{here}",
                f"-I{sources}",
                main,
                "-o",
                self.program,
            ],
            check=True,
            capture_output=True,
            text=True,
        )

    def worst(self, step: int, seed: int, *names: str) -> list[Measured]:
        text = self._run("worst", str(step), str(seed), *names)
        rows = [line.split() for line in text.splitlines()]
        return [
            Measured(name, float(error), int(x, 16), int(y, 16), int(wrong), int(tried))
            for name, error, x, y, wrong, tried in rows
        ]

    def evaluate(self, name: str, arguments: list[tuple[int, int]]) -> list[tuple[int, float]]:
        """(bits of the result, reference) for bits of arguments; functions of one argument ignore the second."""
        return [(bits, float(exact)) for bits, exact in self.evaluate_exactly(name, arguments)]

    def evaluate_exactly(self, name: str, arguments: list[tuple[int, int]]) -> list[tuple[int, str]]:
        """The same with the reference as it is printed."""
        text = self._run("eval", name, given="".join(f"{a:x} {b:x}\n" for a, b in arguments))
        return [(int(bits, 16), exact) for bits, exact in map(str.split, text.splitlines())]

    def _run(self, *arguments: str, given: str = "") -> str:
        return subprocess.run(
            [self.program, *arguments], input=given, check=True, capture_output=True, text=True
        ).stdout


@cache
def shared_library(floating: str = "float") -> Library:
    """One build for all tests of a process."""
    folder = tempfile.TemporaryDirectory(prefix="sluice-mathlib-")
    library = Library(Path(folder.name), floating)
    library.folder = folder  # removed with the library
    return library


def main():
    floating, given = ("double", sys.argv[2:]) if sys.argv[1] == "double" else ("float", sys.argv[1:])
    bounds = DOUBLE_BOUNDS if floating == "double" else BOUNDS | NATIVE_BOUNDS
    step, seed, *names = given
    print("| function | largest error (ULP) | allowed | tried |\n| --- | --- | --- | --- |")
    for one in shared_library(floating).worst(int(step), int(seed), *names):
        error = "exact" if one.error == 0 else f"{one.error:.2f}"
        wrong = f" and {one.wrong} wrong" if one.wrong else ""
        print(f"| {one.name} | {error}{wrong} | {bounds[one.name] or 'exact'} | {one.tried} |", flush=True)


if __name__ == "__main__":
    main()
