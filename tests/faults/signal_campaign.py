"""``python -m tests.faults.signal_campaign COUNT [SEED]``: signals at random moments of random commands; anything left
behind is a fault.

All commands share one cache, from which entries that a build needs are removed now and then.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hls.signals import exit_on_signals
from tests.faults.commands import COMPILE, LARGE_HOST, RUN, SPIN_HOST, Command, heeds_signals

#: Commands, how long each may go on before the signal, and what is taken out of the cache before.
CASES = (
    (COMPILE, 8, None),
    (("compile", "spin.cl", "-o", "out"), 4, None),
    (("compile", "spin.cl", "-o", "out"), 6, "parts"),
    ((*RUN, *LARGE_HOST), 10, None),
    ((*RUN, *SPIN_HOST), 6, None),
    ((*RUN, *SPIN_HOST), 20, "design"),
    ((*RUN, "--device", "emulator", *SPIN_HOST), 3, None),
    ((*RUN, "--device", "emulator", *SPIN_HOST), 4, "emulator"),
)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Of a command that was ended before it began to look after signals, as Python does it
EARLY = 0.03
#: what Python says, and then exits with code 1, where SIGINT comes before it has read any module of a program
OF_PYTHON = ("Failed to import the site module", "Could not import runpy module")


def attempt(folder: Path, cache: Path, rng: random.Random) -> tuple[str, list[str]]:
    """One command and one signal: what was done, and all that is wrong after it."""
    arguments, longest, gone = rng.choice(CASES)
    number, send = rng.choice(SIGNALS), rng.choice([os.kill, os.kill, os.killpg])
    if gone:
        shutil.rmtree(cache / gone, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    command = Command(folder, cache)
    command.start(arguments)
    early, wait = rng.random() < EARLY, rng.random() * longest
    if early:
        time.sleep(rng.random() * 0.1)
    else:
        while not heeds_signals(command.process.pid) and command.process.poll() is None:
            time.sleep(0.005)
        time.sleep(wait)
    done = f"{' '.join(arguments)}: {number.name} {send.__name__} after {'no time' if early else f'{wait:.2f} s'}"
    try:
        code = command.end(number, send) if command.process.poll() is None else None
        return f"{done}: {code}", [
            *_wrong_code(code, number, early, command.said),
            *command.left(),
            *_said(command, early),
        ]
    except subprocess.TimeoutExpired:
        return done, [
            f"it does not end, after {command.seconds_used():.1f} s of processor time",
            *command.others().values(),
        ]
    finally:
        command.kill()


def _wrong_code(code: int | None, number: int, early: bool, said: str) -> list[str]:
    right = [None, 0, 128 + number]
    if early:
        right += [-number, *([1] if any(text in said for text in OF_PYTHON) else [])]
    return [] if code in right else [f"code {code}"]


def _said(command: Command, early: bool) -> list[str]:
    return [command.said] if not early and ("Traceback" in command.said or "rror" in command.said) else []


def main(count: int, seed: int) -> int:
    """Returns 1 when something was wrong. A signal to the campaign itself ends the command under way, too."""
    exit_on_signals()
    rng, faults, codes = random.Random(seed), 0, Counter()
    with tempfile.TemporaryDirectory(prefix="signals-") as name:
        folder, cache = Path(name, "work"), Path(name, "cache")
        for k in range(count):
            done, wrong = attempt(folder, cache, rng)
            codes[done.rpartition(" ")[2]] += 1
            if wrong:
                faults += 1
                print(f"{k}: {done}\n  " + "\n  ".join(wrong), flush=True)
            elif k % 25 == 24:
                print(f"{k + 1} signals, {faults} faults, exit codes {dict(codes)}", flush=True)
    print(f"{count} signals, {faults} faults, exit codes {dict(codes)}")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
