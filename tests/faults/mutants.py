"""Valid kernels with bytes and tokens changed, through the compiler, in one process:

    python -m tests.faults.mutants --count 20000 --seed 1

Each must end in hardware or in messages with a location, within its time. Any other is written to ``--save``: the
original program, and the smallest one found that fails in the same way. The program being compiled is in ``current.cl``
there, in case the process itself ends.
"""

import argparse
import random
import re
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hls.diag import Code, CompileError, render
from hls.driver import compile_module, plan_module
from hls.frontend import parse_source
from hls.frontend.included import decoded
from hls.options import Options
from hls.target.board import Board, load_board
from tests.hls.frontend.campaign import TimeOut, within
from tests.hls.frontend.mutants import GOOD, SMALL, mutated, varied

__all__ = ["bytes_changed", "examine", "failure", "main", "mutant", "shrunk"]

_MEMORY = 4 << 30
_TOKEN = re.compile(r"\s+|\w+|[^\w\s]")


def bytes_changed(rng: random.Random, text: str) -> str:
    """The text with up to four of its bytes, or ranges of them, changed, whatever they make of it."""
    data = bytearray(text.encode())
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        k, length = rng.randrange(len(data)), rng.randint(1, 16)
        match rng.randrange(6):
            case 0:
                data[k] ^= 1 << rng.randrange(8)
            case 1:
                data[k] = rng.randrange(256)
            case 2:
                data[k:k] = rng.randbytes(length)
            case 3:
                del data[k : k + length]
            case 4:
                j = rng.randrange(len(data))
                data[j:j] = data[k : k + 4 * length]
            case 5:
                data[k : k + length] = bytes([data[k]]) * length
    return decoded(bytes(data))


def mutant(seed: int, number: int) -> tuple[str, bool]:
    """The program of a number, and whether it is a small one, which may go the whole way."""
    rng = random.Random(f"{seed} {number}")
    small = rng.random() < 0.4
    texts = SMALL if small else GOOD
    match rng.randrange(3):
        case 0:
            return bytes_changed(rng, rng.choice(texts)), small
        case 1:
            return mutated(rng, texts), small
        case _:
            return varied(rng, texts), small


def examine(text: str, board: Board, whole: bool, verilog: bool = False) -> str:
    """How far a program comes: with ``whole`` through all passes and planning, with ``verilog`` to the end."""
    module = None
    try:
        module = parse_source(text, "mutant.cl").module
        if not whole:
            return "accepted by the frontend"
        if verilog:
            compile_module(module, board, Options())
            return "became Verilog"
        plan_module(module, board, Options())
        return "planned"
    except CompileError as error:
        error.sources = error.sources or (module.sources if module else {"mutant.cl": text})
        _check(error)
        return "refused by the frontend" if module is None else "refused behind the frontend"


def _check(error: CompileError) -> None:
    """A message has a place that is there, and can be shown."""
    assert error.diagnostics, "an error without a message"
    for one in error.diagnostics:
        assert isinstance(one.code, Code), f"no number: {one.message}"
        assert "internal" not in one.message, one.message
        assert one.span is not None and one.span.line > 0 and one.message, f"no place: {one.message}"
        render(one, error.sources).encode()


def failure(run: Callable[[], object], seconds: int) -> BaseException | None:
    """What ``run`` raises, or TimeOut."""
    try:
        with within(seconds):
            run()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        return error
    return None


def _kind(error: BaseException | None) -> tuple | None:
    """What makes two failures the same: their type and, but for time that is used up, where they were raised."""
    if error is None or isinstance(error, (TimeOut, RecursionError)):
        return error and (type(error),)
    last = traceback.extract_tb(error.__traceback__)[-1]
    return type(error), last.filename, last.lineno


def shrunk(text: str, fails: Callable[[str], BaseException | None], seconds: float) -> str:
    """The text without what the failure does not need: ever smaller pieces are left out, for about so long."""
    kind, until = _kind(fails(text)), time.monotonic() + seconds
    tokens = _TOKEN.findall(text)
    size = len(tokens) // 2
    while size and time.monotonic() < until:
        k = 0
        while k < len(tokens) and time.monotonic() < until:
            shorter = tokens[:k] + tokens[k + size :]
            if _kind(fails("".join(shorter))) == kind:
                tokens = shorter
            else:
                k += size
        size //= 2
    return "".join(tokens)


class Campaign:
    """Counts how far mutants come, and writes what fails to a folder."""

    def __init__(self, save: Path, limit: int, shrink: float, verilog_each: int = 16):
        self.save, self.limit, self.shrink, self.verilog_each = save, limit, shrink, verilog_each
        self.board, self.ends, self.slowest = load_board("de5net"), Counter(), (0.0, 0)
        self.faults: list[str] = []
        save.mkdir(parents=True, exist_ok=True)

    def attempt(self, seed: int, number: int) -> None:
        """One mutant."""
        text, small = mutant(seed, number)
        (self.save / "current.cl").write_bytes(text.encode("utf-8", "surrogateescape"))
        verilog, before = number % self.verilog_each == 0, time.process_time()

        def run(text: str = text) -> None:
            end = examine(text, self.board, small, verilog)
            self.ends[end] += 1

        error = failure(run, self.limit)
        self.slowest = max(self.slowest, (time.process_time() - before, number))
        if error is None:
            return
        path = self.save / f"{seed}_{number}.cl"
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        self.faults.append(f"{path}: {type(error).__name__}: {str(error)[:300]}")
        print(f"--- {self.faults[-1]}\n{''.join(traceback.format_exception(error)[-3:])}", flush=True)
        if self.shrink and not isinstance(error, TimeOut):
            counted = Counter(self.ends)
            small_text = shrunk(text, lambda shorter: failure(lambda: run(shorter), self.limit), self.shrink)
            self.ends = counted
            path.with_suffix(".small.cl").write_bytes(small_text.encode("utf-8", "surrogateescape"))

    def summary(self) -> str:
        """One line."""
        count = sum(self.ends.values()) + len(self.faults)
        return (
            f"{count} mutants, {len(self.faults)} faults, {dict(self.ends)}; "
            f"the slowest, number {self.slowest[1]}, took {self.slowest[0]:.1f} s"
        )


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 when a mutant brought the compiler down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, help="the first number")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for each")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--shrink", type=float, default=60, help="seconds to make each fault smaller; 0 for not")
    parser.add_argument("--save", type=Path, default=Path(tempfile.gettempdir(), "sluice-mutants"))
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # of parts that a refusal leaves unused
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    campaign, began = Campaign(options.save, options.limit, options.shrink), time.monotonic()
    for number in range(options.start, options.start + options.count):
        if time.monotonic() - began > options.seconds:
            break
        campaign.attempt(options.seed, number)
        if number % 100 == 99:
            print(campaign.summary(), flush=True)
    print(f"{campaign.summary()}; {time.monotonic() - began:.0f} s in all")
    return int(bool(campaign.faults))


if __name__ == "__main__":
    sys.exit(main())
