"""A study: points that are to be evaluated and were, shared by worker processes through an engine (Optuna).

A point is a trial. A worker that takes one leaves a lease with it; when the lease has run out, as the worker was
killed, another one takes the point. (Optuna's own heartbeat needs a database and does not work with ask and tell.)
"""

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import plain, record_of
from .knobs import Knob, Values
from .points import Point

__all__ = ["LEASE_SECONDS", "Study", "StudyError"]

#: a point that takes longer is given to another worker as well, which costs time but changes no result
LEASE_SECONDS = 120.0
_NAME = "sluice"


class StudyError(Exception):
    """A study that cannot be used; the text says what to do."""


def _engine() -> Any:
    try:
        import optuna
    except ImportError:
        raise StudyError("the search needs Optuna: pip install 'sluice-hls[tune]'") from None
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


@dataclass(frozen=True)
class _Taken:
    """A trial that this process evaluates."""

    trial: Any
    values: dict[str, int | str | None]


class Study:
    """The study at ``place``: a file on a disk that all workers see (a journal), or the URL of a database.

    ``identity`` names what its points depend on: program, workload, board, version of the compiler. ``sampled``: points
    are chosen by a sampler of fixed seed, otherwise those of :meth:`enqueue` are done in order. Raises StudyError if
    the place cannot be used or holds the study of something else.
    """

    def __init__(
        self, place: str, knobs: Sequence[Knob], identity: Mapping[str, str], sampled: bool = False, workers: int = 1
    ) -> None:
        self.knobs, self.sampled = tuple(knobs), sampled
        self._optuna = _engine()
        if place.startswith("sqlite") and workers > 1:
            raise StudyError("SQLite locks when several workers write: name a file for a journal, or another database")
        self._distributions = {
            knob.name: self._optuna.distributions.CategoricalDistribution(list(knob.values)) for knob in knobs
        }
        try:
            self._study = self._optuna.create_study(
                study_name=_NAME,
                storage=self._storage(place),
                sampler=self._optuna.samplers.TPESampler(seed=0, constant_liar=True, n_startup_trials=32),
                load_if_exists=True,
            )
        except StudyError:
            raise
        except Exception as error:  # noqa: BLE001 (each database has errors of its own)
            raise StudyError(f"{place}: cannot be used as a study: {error}") from None
        self._agree(place, identity)

    def _storage(self, place: str) -> Any:
        if "://" in place:
            return place
        backend = self._optuna.storages.journal.JournalFileBackend(place)
        return self._optuna.storages.JournalStorage(backend)

    def _agree(self, place: str, identity: Mapping[str, str]) -> None:
        """Give a new study its identity; raise StudyError if an old one has another."""
        mine = dict(identity) | {"knobs": json.dumps([(one.name, one.values) for one in self.knobs])}
        theirs = self._study.user_attrs.get("identity")
        if theirs is None:
            self._study.set_user_attr("identity", mine)
            return
        for name, value in mine.items():
            if theirs.get(name) != value:
                raise StudyError(
                    f"{place} is a study of another {name} ({_short(theirs.get(name))}, now {_short(value)}): "
                    "name another study, or remove it"
                )

    def known(self) -> dict[str, dict[str, int | str | None]]:
        """The values of all points that were asked for or taken, by their key."""
        return {key(values): values for one in self._trials() if (values := self._values(one)) is not None}

    def enqueue(self, points: Sequence[Values]) -> None:
        """Add points that the study does not have yet, in order."""
        known = self.known()
        for values in points:
            if key(values) not in known:
                self._study.enqueue_trial(dict(values))
                known[key(values)] = dict(values)

    def take(self, budget: int) -> _Taken | None:
        """A point to evaluate, leased to this process; None if all that were enqueued are done or under way. A sampler
        is asked for more until ``budget`` points are known."""
        while self._waiting() or (self.sampled and len(self.known()) < budget):
            trial = self._study.ask()
            if not self.sampled and not self._enqueued(trial.number):
                # another worker took the last waiting point in between, and Optuna sampled one that nobody asked for
                self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
                continue
            trial.set_user_attr("lease", [_worker(), time.time() + LEASE_SECONDS])
            values = {knob.name: trial.suggest_categorical(knob.name, list(knob.values)) for knob in self.knobs}
            return _Taken(trial, values)
        return None

    def _enqueued(self, number: int) -> bool:
        """Is this trial a point of :meth:`enqueue`, and not one that the sampler chose?"""
        return any(one.number == number and "fixed_params" in one.system_attrs for one in self._trials())

    def _waiting(self) -> bool:
        return any(one.state.name == "WAITING" for one in self._trials())

    def give(self, taken: _Taken, point: Point) -> None:
        """Store what was found of a point."""
        try:
            taken.trial.set_user_attr("point", json.dumps(plain(point)))
        except self._optuna.exceptions.UpdateFinishedTrialError:
            return  # it took longer than its lease, and another worker has the point
        states = self._optuna.trial.TrialState
        if point.problem is not None or point.cycles is None:
            self._study.tell(taken.trial, state=states.PRUNED, skip_if_finished=True)
        else:
            self._study.tell(taken.trial, point.cycles, skip_if_finished=True)

    def reclaim(self, now: float | None = None) -> int:
        """Enqueue again the points whose leases have run out; how many."""
        now = time.time() if now is None else now
        states, found = self._optuna.trial.TrialState, 0
        for one in self._trials():
            lease = one.user_attrs.get("lease")
            if one.state == states.RUNNING and lease is not None and lease[1] < now:
                values = self._values(one)
                self._study.tell(one.number, state=states.FAIL, skip_if_finished=True)
                if values is not None:
                    self._study.enqueue_trial(values)
                found += 1
        return found

    def running(self) -> int:
        """How many points are under way."""
        return sum(one.state.name == "RUNNING" for one in self._trials())

    def points(self) -> Iterator[Point]:
        """What was found, in the order of the points' names."""
        found = {}
        for one in self._trials():
            text = one.user_attrs.get("point")
            if text is not None and one.state.is_finished():
                point = record_of(Point, json.loads(text))
                found[point.name] = point
        return iter(found[name] for name in sorted(found))

    def _trials(self) -> list[Any]:
        return self._study.get_trials(deepcopy=False)

    def _values(self, trial: Any) -> dict[str, int | str | None] | None:
        """The point of a trial, also of one that waits; None for one of which a worker died before it had chosen."""
        given = trial.params or trial.system_attrs.get("fixed_params")
        return {name: given.get(name) for name in self._distributions} if given else None


def key(values: Values) -> str:
    """A text that two points share only if they are equal."""
    return json.dumps(sorted((name, value) for name, value in values.items()), default=str)


def _short(text: object) -> str:
    return str(text)[:12]


def _worker() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def journal_of(folder: Path) -> str:
    """The place of the study that a folder of results has by default."""
    return str(folder / "study.journal")
