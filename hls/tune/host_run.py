"""A run of a host program by ``sluice run``, in a process of its own."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .points import Problem
from .study import StudyError

__all__ = ["HostFailed", "run_host"]

#: lines of the output of a program that failed which the message shows
LAST_LINES = 12


class HostFailed(StudyError):
    """A host program that ended with an error; ``refused`` is what the compiler refused in it, and is why it ended as
    far as that is known."""

    def __init__(self, text: str, refused: Sequence[Problem]) -> None:
        super().__init__(text)
        self.refused = tuple(refused)


def run_host(host: Path, arguments: Sequence[str], board: str, *options: str) -> None:
    """Run a host program with further ``options``. Raises HostFailed with the end of its output if it fails."""
    command = [sys.executable, "-P", "-m", "sluice", "run", "--board", board, "--no-stats", *options]
    with tempfile.TemporaryDirectory(prefix="sluice-run-") as aside:
        refusals = Path(aside) / "refusals"
        done = subprocess.run(
            [*command, str(host), *arguments],
            env=dict(os.environ, SLUICE_REFUSALS_FILE=str(refusals)),
            capture_output=True,
            text=True,
            check=False,
        )
        lines = refusals.read_text(encoding="utf-8").splitlines() if refusals.exists() else []
    if done.returncode:
        found = [json.loads(line) for line in lines]
        caught = any(one.get("ended") is False for one in found)  # a program that is not in Python does not tell
        last = "\n".join((done.stdout + done.stderr).strip().splitlines()[-LAST_LINES:])
        raise HostFailed(
            f"{host} ended with exit code {done.returncode}:\n{last}",
            [] if caught else [Problem(one["code"] or "", one["message"]) for one in found if "message" in one],
        )
