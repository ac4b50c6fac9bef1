"""Accounts for the time of the tests: processor seconds of building, simulating and Python, printed after the result.

Processor time, not wall time, so that a busy machine shows the same figures. Each worker of pytest-xdist
counts its own, and the process that started them adds up.
"""

import functools
import json
import resource
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

import hls.driver
import hls.frontend
import sim.cache

__all__ = ["Spent"]

OF_SIMULATORS, OF_EMULATORS, OF_COMPILER = "building simulators", "building emulators", "compiling kernels"
OF_FRONT_END, OF_PLANS = "the front end", "planning kernels"  #: apart from compilations, which have both in them
#: functions of the compiler that are counted; tests import their names later
COUNTED = (
    (hls.driver, "compile_module", OF_COMPILER),
    (hls.driver, "plan_module", OF_PLANS),
    (hls.driver, "parse_source", OF_FRONT_END),
    (hls.frontend, "parse_source", OF_FRONT_END),
)
OF_PROGRAMS, OF_PYTHON, OF_COLLECTION = "running simulators and commands", "other Python", "collecting tests"
#: what is made for the cache and is no simulator, by its kind there
OF_CACHED = {"emulator": OF_EMULATORS, "emulator-header": OF_EMULATORS, "pocl": OF_PROGRAMS}
T = TypeVar("T")
MOST = 12  #: groups or files that are named


def _used() -> tuple[float, float]:
    """Of this process, and of programs that have ended: a simulator counts where it is closed."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, others.ru_utime + others.ru_stime


def _minus(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return one[0] - other[0], one[1] - other[1]


class Spent:
    """A plugin that counts. ``group_of`` names what a test belongs to; ``record`` is a JSON file, for the seconds of
    each group that ran. What it says of other groups stays."""

    def __init__(self, group_of: Callable[[pytest.Item], str], record: Path | None = None):
        self._group_of = group_of
        self._record = record
        self.kinds: Counter[str] = Counter()
        self.groups: Counter[str] = Counter()
        self._measuring = threading.Lock()
        self._counted = (0.0, 0.0)  #: of what :meth:`measure` has counted, in Python and in programs

    def install(self) -> None:
        """Count builds, which all go through the cache, and what the compiler is asked for."""
        make = sim.cache._make_whole

        def counted_make(folder: Path, product: str, maker: Callable[[Path], None]) -> None:
            self.measure(
                OF_CACHED.get(folder.parent.name, OF_SIMULATORS), functools.partial(make, folder, product, maker)
            )

        sim.cache._make_whole = counted_make
        for module, name, kind in COUNTED:
            setattr(module, name, self._counted_calls(getattr(module, name), kind))

    def _counted_calls(self, function: Callable[..., T], kind: str) -> Callable[..., T]:
        @functools.wraps(function)
        def counted(*args, **options):
            return self.measure(kind, functools.partial(function, *args, **options))

        return counted

    def measure(self, kind: str, work: Callable[[], T]) -> T:
        """Do the work. What other threads do meanwhile is counted with it, and what is part of it is."""
        if not self._measuring.acquire(blocking=False):
            return work()
        before = _used()
        try:
            return work()
        finally:
            spent = _minus(_used(), before)
            self.kinds[kind] += sum(spent)
            self._counted = (self._counted[0] + spent[0], self._counted[1] + spent[1])
            self._measuring.release()

    def pytest_collection_finish(self) -> None:
        self.kinds[OF_COLLECTION] += sum(_used())

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before, counted = _used(), self._counted
        try:
            return (yield)
        finally:
            spent = _minus(_used(), before)
            python, programs = _minus(spent, _minus(self._counted, counted))
            self.kinds[OF_PYTHON] += python
            self.kinds[OF_PROGRAMS] += programs
            self.groups[self._group_of(item)] += sum(spent)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["spent"] = [dict(self.kinds), dict(self.groups)]

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        kinds, groups = getattr(node, "workeroutput", {}).get("spent", ({}, {}))
        self.kinds.update(kinds)
        self.groups.update(groups)

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.groups:
            terminalreporter.write_line(self.text())
        if self.groups and self._record is not None:
            self.write(self._record)

    def write(self, file: Path) -> None:
        """Put the seconds of the groups that ran into a JSON file, the most first."""
        known = json.loads(file.read_text()) if file.exists() else {}
        known |= {name: round(spent, 1) for name, spent in self.groups.items()}
        file.write_text(json.dumps(dict(sorted(known.items(), key=lambda item: (-item[1], item[0]))), indent=0) + "\n")

    def text(self) -> str:
        """Kinds of work and the dearest groups, the most first."""
        return "\n".join(
            [
                f"processor seconds: {sum(self.kinds.values()):.0f}; {_listed(self.kinds)}",
                f"most of them in: {_listed(self.groups)}",
            ]
        )


def _listed(seconds: Counter[str]) -> str:
    return ", ".join(f"{name} {spent:.1f}" for name, spent in seconds.most_common(MOST))
