"""The process that plans programs for an editor: it takes as long as it takes while the server goes on answering, and
what happens to it does not happen to the server."""

import logging
import multiprocessing
import os
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from ..diag import Code, Diagnostic, Span
from .analysis import Answer, Request, plan
from .fixes import Fix, advise, attempt

__all__ = ["Planner"]

_LOG = logging.getLogger(__name__)
#: seconds in which a plan is expected; then the text says that there is none
LIMIT = 60.0


#: what the process can be asked for
_JOBS: dict[str, Callable[..., object]] = {"plan": plan, "advise": advise, "attempt": attempt}


class _Unanswered(Exception):
    """The process did not answer; the text says why, as the end of a sentence."""


class Planner:
    """One process, started when it is first needed, and again where it has ended. One thread at a time calls
    :meth:`plan`, :meth:`advise` or :meth:`attempt`; any thread calls :meth:`abandon`."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._abandoned = False

    def plan(self, request: Request) -> Answer | None:
        """:func:`hls.editor.analysis.plan` in the process; None if it was abandoned. A process that ends, or takes
        longer than the limit, is a message in the answer."""
        try:
            answer = self._ask("plan", request)
        except _Unanswered as error:
            return _without_plan(request, str(error))
        assert answer is None or isinstance(answer, Answer)
        return answer

    def advise(self, request: Request) -> tuple[Fix, ...]:
        """:func:`hls.editor.fixes.advise` in the process; nothing if it was abandoned, or did not end in time."""
        return self._found("advise", request) or ()

    def attempt(self, request: Request, fix: Fix) -> Fix | None:
        """:func:`hls.editor.fixes.attempt` in the process; None if it was abandoned, or did not end in time."""
        return self._found("attempt", request, fix)

    def _found(self, job: str, *given: object) -> Any:
        try:
            return self._ask(job, *given)
        except _Unanswered as error:
            _LOG.error("trying changes of the text %s", error)
            return None

    def _ask(self, job: str, *given: object) -> object:
        """What the process answers; None if it was abandoned. Raises _Unanswered."""
        self._abandoned = False
        connection = self._connect()
        if self._abandoned:  # while the process was starting
            self.end()
            return None
        try:
            connection.send((job, given))
            if not connection.poll(self.limit):
                raise _Unanswered(f"takes longer than {self.limit:g} seconds")
            answer: object = connection.recv()
        except (EOFError, OSError, _Unanswered) as error:  # the process is gone, or is late
            self.end()
            if self._abandoned:
                return None
            why = error if isinstance(error, _Unanswered) else "ended its process, perhaps for lack of memory"
            raise _Unanswered(str(why)) from None
        if self._abandoned:  # after it had answered: it has been killed, or is about to be
            self.end()
            return None
        return answer

    def abandon(self) -> None:
        """End what is being planned, as its text has changed."""
        self._abandoned = True
        process = self._process  # another thread may set it to None
        if process is not None:
            process.kill()

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _connect(self) -> Connection:
        if self._process is not None and not self._process.is_alive():
            self.end()
        if self._connection is None:
            # a fresh interpreter: a fork would copy the locks of the server's threads
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), name="sluice-planner", daemon=True)
            process.start()
            theirs.close()
            self._process, self._connection = process, ours  # only now: another thread may kill it
        return self._connection


def _without_plan(request: Request, why: str) -> Answer:
    message = Diagnostic(
        f"the plan of this program {why}",
        Span(request.file, 1),
        "see what `sluice check` says; the next change of the text tries again",
        severity="warning",
        code=Code.NOT_PLANNED,
    )
    return Answer((message,))


def _serve(connection: Connection) -> None:
    """Plan what is asked for until the server is gone, which closes its end of the connection."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the server ends this process
    os.dup2(2, 1)  # the server's output is the editor's input
    while True:
        try:
            job, given = connection.recv()
            connection.send(_JOBS[job](*given))
        except (EOFError, OSError):
            return
