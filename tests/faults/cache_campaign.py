"""``python -m tests.faults.cache_campaign COUNT [SEED]``: damages caches of real builds; each damage must be repaired.

Libraries of the emulator take a fraction of a second to compile, so that most are those; each hundredth is a simulator.
"""

import contextlib
import ctypes
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

from hls.signals import temporary_folder
from sim.build import build
from sim.emulator.build import build_library
from sim.errors import BuildError
from tests.faults.damage import DAMAGE, change_bytes
from tests.sim.handmade import design
from tests.sim.test_session import Board

TEXT = 'extern "C" int seven() { return 7; }\n'
SIMULATORS = 100


def library_works(product: Path, folder: Path, number: int) -> bool:
    """Whether it does what it was made for; a copy, as a library is loaded once."""
    return ctypes.CDLL(shutil.copyfile(product, folder / f"{number}.so")).seven() == 7


def simulator_works() -> bool:
    board = Board()
    with contextlib.closing(board.session):
        board.session.reset()
        board.run(amount=5)
        return bool((board.data[1:] - board.data[:-1] == 1).all() and board.data[0] == 5)


def attempt(rng: random.Random, folder: Path, number: int) -> str:
    """One damage, and the next use; what is wrong after it."""
    simulator = number % SIMULATORS == SIMULATORS - 1
    make = (
        (lambda: build(design("increment"), "sluice_system").executable) if simulator else lambda: build_library(TEXT)
    )
    whole = make()
    kind, entry = rng.choice([*DAMAGE, *["bytes"] * len(DAMAGE)]), whole.parent
    content = whole.read_bytes()
    if kind == "bytes":
        change_bytes(entry, whole.name, rng)
    else:
        DAMAGE[kind](entry, whole.name)
    try:
        again = make()
    except (BuildError, OSError) as error:
        return f"{kind}: {error}"
    if not (simulator_works() if simulator else library_works(again, folder, number)):
        return f"{kind}: it does not work"
    if not simulator and again.read_bytes() != content:
        return f"{kind}: other bytes"
    left = sorted(path.name for path in entry.parent.iterdir())
    return "" if left == [entry.name, f"{entry.name}.lock"] else f"{kind}: {left}"


def main(count: int, seed: int) -> int:
    rng, faults = random.Random(seed), 0
    with temporary_folder(Path(tempfile.gettempdir(), f"sluice-damage-{os.getpid()}")) as folder:
        os.environ["SLUICE_CACHE"] = str(folder / "cache")
        for number in range(count):
            wrong = attempt(rng, folder, number)
            if wrong:
                faults += 1
                print(f"{number}: {wrong}", flush=True)
    print(f"{count} damages, {count // SIMULATORS} of them to simulators: {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
