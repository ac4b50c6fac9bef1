"""Random irregular kernels as memory parts, copies and copies of both, after all passes and planning, against the whole
ones, in the interpreter.

    python -m tests.programs.parts --programs 60 --start 1000 [--promised]

Prints each kernel and form that differs, and how many kernels had how many parts in each form.
"""

import argparse
import sys
from collections import Counter

from hls.diag import CompileError
from hls.driver import plan_text
from hls.frontend import parse_source
from hls.ir import Module
from hls.options import Options

from .campaign import setup_of
from .decoupled import ROOMS, run
from .generate import Kernel, launches
from .irregular import irregular_kernel

__all__ = ["FORMS", "parts_of"]

#: arguments of the attribute; None: as auto decides
FORMS = ("memory(1), compute(1)", "memory(0), compute(3)", "memory(2), compute(2)", None)
FOR_ONE_BOARD = 12


def parts_of(kernel: Kernel, seed: int, form: str | None, promised: bool = False) -> int | None:
    """How many parts a kernel has in a form; None where that is refused. Raises AssertionError if they leave other bytes
    than the kernel of the frontend, or values in a channel, in some launch."""
    asked = ", ".join([form] * bool(form) + ["independent"] * promised)
    text = (
        kernel.text.replace("__kernel", f"__kernel __attribute__((feed_forward({asked})))", 1) if asked else kernel.text
    )
    setup = setup_of(seed // FOR_ONE_BOARD)
    options = Options(elastic_depth=setup.elastic_depth, feed_forward="never" if form else "auto")
    before = parse_source(kernel.text, "k.cl", {}, []).module
    try:
        planned = plan_text(text, setup.board, options, "k.cl").kernels
    except CompileError:
        return None
    inner = {channel.name: channel for one in planned for channel in one.inner}
    after = Module({one.function.name: one.function for one in planned}, before.sources, before.channels | inner)
    for launch in launches(kernel, seed):
        expected = run(before, kernel, launch)
        for room in ROOMS if inner else (None,):
            assert run(after, kernel, launch, room) == expected, f"seed {seed}, {form}, {room}: other bytes"
    return len(planned)


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a kernel differed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=60)
    parser.add_argument("--start", type=int, default=1000, help="seed of the first program")
    parser.add_argument("--promised", action="store_true", help="kernels and forms that need a promise")
    options = parser.parse_args(arguments)
    found, failed = Counter[tuple[str | None, int | None]](), 0
    for seed in range(options.start, options.start + options.programs):
        kernel = irregular_kernel(seed, promised=options.promised)
        for form in FORMS:
            try:
                found[form, parts_of(kernel, seed, form, options.promised)] += 1
            except AssertionError as error:
                failed += 1
                print(f"{error}\n{kernel.text}", flush=True)
    for (form, parts), count in found.items():
        print(f"{form or 'auto'}: {count} {'refused' if parts is None else f'of {parts} kernels'}")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
