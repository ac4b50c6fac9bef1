"""Runs an example's host program with one of the two OpenCL implementations in place of its import line."""

import types
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
IMPORT_LINE = "import sim.cl as cl\n"

#: Options that make each example small enough for a test, yet keep what is special about it.
SMALL = {
    "collatz": ["--n=9"],
    "conv2d": ["--width=13", "--height=7"],
    "divergent": ["--rows=12", "--skewed_rows=40"],
    "dot": ["--n=70"],
    "fft": ["--transforms=2"],
    "filter": ["--width=13", "--height=7"],
    "fir": ["--n=100"],
    "histogram": ["--count=150"],
    "graphs": ["--points=30", "--nodes=40", "--chains=120", "--steps=3", "--places=3000"],
    "groups": ["--values=700", "--n=13"],
    "mandelbrot": ["--width=9", "--height=5", "--limit=20"],
    "matmul": ["--n=7"],
    "memory": ["--words=60", "--n=130", "--table=4096"],
    "options": ["--n=30"],
    "packets": ["--packets=12"],
    "saxpy": ["--n=333"],
    "simd": ["--n=200"],
    "smoother": ["--n=200"],
    "sorter": ["--rows=40"],
    "stencils": ["--chip=20", "--columns=300", "--image=20"],
    "systolic": ["--side=2", "--n=16"],
    "threshold": ["--width=31", "--height=9"],
    "triangular": ["--n=17"],
    "units": ["--n=200", "--rounds=9"],
    "vecadd": ["--n=333"],
    "wavefronts": ["--sequence=32", "--matrix=32"],
}

#: Examples of what no other implementation has: channels between kernels, buffers placed in banks.
OURS = {"fft", "filter", "histogram", "memory", "packets", "smoother", "sorter", "systolic"}


def load(name: str, import_line: str = IMPORT_LINE) -> types.ModuleType:
    """The host program as a module, its import line replaced by ``import_line``."""
    path = EXAMPLES / name / "host.py"
    text = path.read_text()
    if text.count(IMPORT_LINE) != 1:
        raise ValueError(f"{path} must hold the line {IMPORT_LINE.strip()!r} exactly once")
    module = types.ModuleType(f"example_{name}")
    module.__file__ = str(path)
    exec(  # noqa: S102 (our own example, one line changed)
        compile(text.replace(IMPORT_LINE, import_line), path, "exec"), module.__dict__
    )
    return module


def launches_of(found: list) -> list:
    """The launches of what a host program gives, those of its jobs in their place."""
    return [launch for one in found for launch in getattr(one, "launches", [one])]
