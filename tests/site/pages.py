"""Pages whose code is run: files, commands and the output that the reader will see.

A block with a title is a file of the reader's folder::

    ```c title="dot.cl"

and a block of the language ``console`` holds commands, each after ``$``, with what it prints. In that output ``...``
stands for any text within a line, and a line of nothing else for any lines. The option ``board`` marks commands that
build a simulator, which takes a minute.

``python -m tests.site.pages [--board] FILE...`` writes what the commands print now into the pages.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["DOCS", "PAGES", "Block", "Failure", "blocks", "differs", "run_page"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: the pages all of whose blocks are run
PAGES = [DOCS / "tutorial.md", *sorted((DOCS / "howto").glob("*.md"))]

_BLOCK = re.compile(r"^```(?P<language>\w+)(?P<options>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_TITLE = re.compile(r'title="([^"]+)"')
#: told only where the cache does not hold the simulator yet
_PROGRESS = re.compile(r"sluice: (building|verilating|compiling|compiled) ")
#: what differs from run to run and from machine to machine
_VARYING = (
    (re.compile(r"\b[\d.]+ s\b"), "... s"),
    (re.compile(r"\b[\d,.]+ (iterations|cycles) a second"), r"... \1 a second"),
)


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, the file it shows or "", whether it needs a simulator, its text, and where the text begins."""

    language: str
    title: str
    board: bool
    body: str
    start: int


class Failure(AssertionError):
    """A command of a page prints something else, or fails."""


def blocks(page: Path) -> Iterator[Block]:
    """The code blocks of a page, in order."""
    for found in _BLOCK.finditer(page.read_text()):
        title = _TITLE.search(found["options"])
        yield Block(
            found["language"],
            title[1] if title else "",
            "board" in found["options"].split(),
            found["body"],
            found.start("body"),
        )


def commands(body: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block, with the output shown below it."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def differs(shown: str, printed: str) -> bool:
    """Whether ``printed`` is not what a page shows."""
    lines = [
        "(?:.*\n)*?" if line.strip() == "..." else ".*?".join(map(re.escape, line.split("..."))) + "\n"
        for line in shown.splitlines()
    ]
    return re.fullmatch("".join(lines), printed) is None


def run_command(command: str, folder: Path) -> str:
    """What a command prints, with the colours off; Failure if it fails where the page does not say ``|| true``."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("SLUICE_") or name == "SLUICE_CACHE"
    }
    binaries = folder / ".bin"
    binaries.mkdir(exist_ok=True)
    for name, target in {"sluice": [sys.executable, "-P", "-m", "sluice"], "python": [sys.executable]}.items():
        (binaries / name).write_text(f'#!/bin/sh\nexec {shlex.join(target)} "$@"\n')
        (binaries / name).chmod(0o755)
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        env=environment | {"PATH": f"{binaries}:{os.environ['PATH']}", "COLUMNS": "120", "NO_COLOR": "1"},
    )
    if done.returncode:
        raise Failure(f"$ {command}\nends with {done.returncode}:\n{done.stdout}")
    told = done.stdout.replace(f"{folder}/", "")
    return "".join(f"{line.rstrip()}\n" for line in told.splitlines() if not _PROGRESS.match(line))


def run_page(page: Path, folder: Path, *, board: bool, refresh: bool = False) -> int:
    """Run the blocks of ``page`` in ``folder``, those that build a simulator only with ``board``; return the number of
    commands. With ``refresh`` the page is given what they print; else Failure says what differs."""
    text, count = page.read_text(), 0
    for block in blocks(page):
        if block.title:
            (folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.title).write_text(block.body)
        elif block.language == "console" and (board or not block.board):
            told = ""
            for command, shown in commands(block.body):
                printed, count = run_command(command, folder), count + 1
                if differs(shown, printed):
                    if not refresh:
                        raise Failure(f"{page.name}: $ {command}\nprints:\n{printed}\nand the page shows:\n{shown}")
                    shown = printed
                    for varying, instead in _VARYING:
                        shown = varying.sub(instead, shown)
                told += f"$ {command}\n{shown}"
            text = text.replace(f"\n{block.body}```\n", f"\n{told}```\n", 1)
    if refresh:
        page.write_text(text)
    return count


def main() -> None:
    """Write what the commands of pages print into them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--board", action="store_true", help="also run what builds a simulator")
    parser.add_argument("pages", nargs="*", type=Path, default=PAGES)
    options = parser.parse_args()
    for page in options.pages:
        with tempfile.TemporaryDirectory() as folder:
            print(page, run_page(page, Path(folder), board=options.board, refresh=True), "commands")


if __name__ == "__main__":
    main()
