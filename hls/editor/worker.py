"""The process that plans programs for an editor: it takes as long as it takes while the server goes on answering, and
what happens to it does not happen to the server."""

import multiprocessing
import os
import signal
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

from ..diag import Code, Diagnostic, Span
from .analysis import Answer, Request, plan

__all__ = ["Planner"]

#: seconds in which a plan is expected; then the text says that there is none
LIMIT = 60.0


class Planner:
    """One process, started when it is first needed, and again where it has ended. One thread at a time calls
    :meth:`plan`; any thread calls :meth:`abandon`."""

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._abandoned = False

    def plan(self, request: Request) -> Answer | None:
        """:func:`hls.editor.analysis.plan` in the process; None if it was abandoned. A process that ends, or takes
        longer than the limit, is a message in the answer."""
        self._abandoned = False
        connection = self._connect()
        if self._abandoned:  # while the process was starting
            self.end()
            return None
        try:
            connection.send(request)
            if not connection.poll(self.limit):
                self.end()
                return None if self._abandoned else _without_plan(request, f"takes longer than {self.limit:g} seconds")
            answer = connection.recv()
        except (EOFError, OSError):  # the process is gone
            self.end()
            return None if self._abandoned else _without_plan(request, "ended its process, perhaps for lack of memory")
        assert isinstance(answer, Answer)
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
            connection.send(plan(connection.recv()))
        except (EOFError, OSError):
            return
