"""The area that functions of reduced precision save: ``python -m tests.hls.mathlib.area`` prints the table of
docs/arithmetic.md.

Estimates of the compiler, counted in the Verilog of a kernel that computes the function of a stream of floats, less one
that copies the stream, for the board ecp5_onchip.
"""

from dataclasses import astuple

from hls.driver import compile
from hls.report.collect import collect

NAMES = ("exp", "exp2", "exp10", "log", "log2", "log10", "sin", "cos", "tan", "recip", "sqrt", "rsqrt", "divide")
PLAIN = {"recip": "1.0f / x[i]", "divide": "x[i] / x[i + 1]"}


def kernel(name: str, value: str) -> str:
    return (
        f"__kernel void {name}(__global const float *restrict x, __global float *restrict o, int n) {{\n"
        f"  for (int i = 0; i < n; i++) o[i] = {value};\n}}\n"
    )


def main() -> None:
    text = kernel("copy", "x[i]")
    for name in NAMES:
        second = ", x[i + 1]" if name == "divide" else ""
        text += kernel(f"full_{name}", PLAIN.get(name, f"{name}(x[i])")) + kernel(
            f"few_{name}", f"native_{name}(x[i]{second})"
        )
    report = collect(compile(text, "ecp5_onchip"), "area.cl")
    found = {one.name: one for one in report.kernels}
    base = found["copy"]
    print(
        "| function | plain: cycles | LUT4s | registers | 18x18 | native: cycles | LUT4s | registers | 18x18 |\n"
        + "| --- " * 9
        + "|"
    )
    for name in NAMES:
        cells = []
        for kind in ("full", "few"):
            one = found[f"{kind}_{name}"]
            logic, registers, _, dsps = (
                a - b for a, b in zip(astuple(one.resources), astuple(base.resources), strict=True)
            )
            cells += [one.loops[0].latency - base.loops[0].latency, f"{logic:,}", f"{registers:,}", dsps]
        print("|", " | ".join(map(str, [name, *cells])), "|")


if __name__ == "__main__":
    main()
