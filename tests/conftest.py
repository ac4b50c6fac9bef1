"""Marks long tests and tests that share a simulator, and orders the latter: `make test` runs such groups on two
processors.

A group stays on one worker, so that its simulator is built once. The longest go first: a long one that starts last
leaves the other processor idle until it ends.
"""

import functools
import gc
import json
import os
from pathlib import Path

#: Trees of operations and nets grow for seconds before any of them is garbage, and Python looks through all of them
#: again and again: a third of the time of most tests. The compiler that is imported next is never garbage.
gc.set_threshold(100_000, 10, 50)

import pytest
from hypothesis import settings

from tests.repetitions import pairwise
from tests.spent import Spent
from tests.translator import install as translate_here

#: The compiler starts a process for each design, which takes three times as long as the translation of a small one.
translate_here()

#: Libraries of the tests collect garbage when they are imported: what is there by now is not looked at.
gc.freeze()

#: How long an example of a test takes tells of the machine: none has a deadline.
settings.register_profile("sluice", deadline=None)
settings.load_profile("sluice")

TESTS = Path(__file__).parent
#: Fixtures with several simulated systems: the tests of each are a group of their own.
SYSTEMS = ("system", "other")
#: Files in which each example is built by itself, and the parameter that names it. An example is one group in all of
#: them.
EXAMPLES = {"examples/test_on_board.py": "name", "model/test_cycles.py": "example"}
#: Seconds of each group, build included, on one processor. Only the order matters; a group that is not listed goes
#: first.
SECONDS = json.loads((TESTS / "seconds.json").read_text())


@functools.cache
def _within(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def file_of(item: pytest.Item) -> str:
    """The file of a test, within this folder."""
    return _within(item.path)


def group_of(item: pytest.Item) -> str:
    """The name of the group of a test: its file, and what else decides which simulator it needs."""
    file = file_of(item)
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    if EXAMPLES.get(file) in parameters:
        return f"example {parameters[EXAMPLES[file]]}"
    chosen = [item.callspec.indices[name] for name in SYSTEMS if name in parameters]
    return " ".join([file, *map(str, chosen)])


#: (file, function or *, identity or nothing) of each line of long.txt
LONG = tuple(
    (*line.split(" ", 2), "")[:3] for line in (TESTS / "long.txt").read_text().splitlines() if line and line[0] != "#"
)
#: the same by their file: most tests are in none
LINES = {file: [line for line in LONG if line[0] == file] for file in {file for file, _, _ in LONG}}

#: the files of which tests were collected, and the lines of long.txt that name one of these
COLLECTED: set[str] = set()
NAMED: set[tuple[str, str, str]] = set()

#: Runs of tests are short, also those of the commands that tests start.
os.environ.setdefault("SLUICE_SHORT_RUNS", "1")


def pytest_configure(config):
    """Count where the time goes. Tests start pytest in other folders, where options of this one are unknown."""
    os.environ.pop("PYTEST_ADDOPTS", None)
    record = config.getoption("--record-seconds")
    spent = Spent(group_of, Path(record) if record and not hasattr(config, "workerinput") else None)
    spent.install()
    config.pluginmanager.register(spent, "spent")


def long_lines(item: pytest.Item) -> list[tuple[str, str, str]]:
    """The lines of long.txt that name the test."""
    file, function = file_of(item), getattr(item, "originalname", item.name)
    if file not in LINES:
        return []
    identity = item.callspec.id if hasattr(item, "callspec") else ""
    simulated = item.get_closest_marker("verilator") is not None
    return [
        (file, name, part)
        for _, name, part in LINES[file]
        if (function == name or name == "*" and simulated) and part in ("", identity, *identity.split("-"))
    ]


def mark_combinations(items: list[pytest.Item]) -> None:
    """Mark long what a test marked ``pairwise`` tries beyond every pair of values of its parameters. Parameters of one
    ``parametrize`` are one: their values come together."""
    tests: dict[object, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("pairwise"):
            tests.setdefault((item.parent, item.originalname), []).append(item)
    for cases in tests.values():
        for case, kept in zip(cases, pairwise([_values(case) for case in cases])):
            if not kept:
                case.add_marker(pytest.mark.long)


def _values(case: pytest.Item) -> tuple[tuple[int, ...], ...]:
    """Which values each ``parametrize`` has given to a case of a test. These are the same objects in all cases, and not
    all of them can be compared."""
    given = (mark.args[0] for mark in case.iter_markers("parametrize"))
    names = ([name.strip() for name in one.split(",")] if isinstance(one, str) else one for one in given)
    return tuple(tuple(id(case.callspec.params[name]) for name in one) for one in names)


def pytest_addoption(parser):
    """One flag refreshes golden files: of passes and analyses, messages, and what the command line says."""
    parser.addoption("--refresh", "--update-ir", action="store_true", help="rewrite the golden files of the tests run")
    parser.addoption(
        "--record-seconds", metavar="FILE", help="write the processor seconds of each group of tests there"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark long tests, and those that need a simulator with their group, the longest groups first; the others stay as
    they are, in front."""
    built = {id(item): group_of(item) for item in items if item.get_closest_marker("verilator")}
    mark_combinations(items)
    for item in items:
        COLLECTED.add(file_of(item))
        if lines := long_lines(item):
            item.add_marker(pytest.mark.long)
            NAMED.update(lines)
        if id(item) in built:
            item.add_marker(pytest.mark.xdist_group(built[id(item)]))
    items.sort(
        key=lambda item: (id(item) in built, -SECONDS.get(built.get(id(item)), float("inf")), built.get(id(item), ""))
    )


def pytest_collection_finish(session):
    """What all tests share is never garbage. Groups that do not hold would build every simulator on each processor,
    which takes twice the time and shows nowhere else."""
    gc.freeze()
    if getattr(session.config.option, "loadgroup", False):
        loose = [
            item.nodeid for item in session.items if item.get_closest_marker("xdist_group") and "@" not in item.nodeid
        ]
        if loose:
            raise pytest.UsageError(
                f"pytest-xdist does not keep groups together with pytest {pytest.__version__}: {loose[0]} has none; "
                "install a version that pyproject.toml allows (make setup)"
            )
