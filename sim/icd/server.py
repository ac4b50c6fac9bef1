"""The process behind ``libsluice.so``: answers the calls of one host, and ends with it.

The host sends a socket for each of its threads over the first one; a thread here serves each. When the host ends, or
is killed, that first socket is closed, and everything that was started here ends, too.
"""

import contextlib
import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING

from hls.signals import exit_on_signals

from .refusal import refusal
from .wire import Writer, receive, receive_fd, send

if TYPE_CHECKING:
    from .requests import Requests

__all__ = ["serve"]

#: Stack of a thread that compiles: syntax trees are traversed recursively.
STACK_BYTES = 256 << 20


def serve(fd: int) -> None:
    """Serve the host at the other end of this socket until it ends."""
    exit_on_signals()
    _prepare()
    control = socket.socket(fileno=fd)
    host = _Host()
    with contextlib.suppress(OSError):
        control.sendall(b"r")
        while (connection := receive_fd(control)) is not None:
            threading.Thread(target=host.serve, args=(connection,), daemon=True).start()
    # threads may be in the middle of a simulation, or of a build: end as if told to, which leaves nothing behind
    os.kill(os.getpid(), signal.SIGTERM)


def _prepare() -> None:
    """The environment of the host, as sim.cl reads it."""
    threading.stack_size(STACK_BYTES)
    sys.modules["__main__"].__dict__.pop("__file__", None)  # included files are searched from the working folder
    stats = os.environ.get("SLUICE_STATS") or ""
    if stats not in ("", "0", "1"):  # a file
        os.environ.setdefault("SLUICE_STATS_FILE", stats)
        os.environ["SLUICE_STATS"] = "1"


class _Host:
    """Answers the requests of all threads of a host."""

    def __init__(self) -> None:
        self._lock, self._printing = threading.Lock(), threading.Lock()
        self._requests: Requests | None = None

    def serve(self, connection: socket.socket) -> None:
        """Answer the requests of a connection until it is closed."""
        with connection, contextlib.suppress(OSError):
            while (received := receive(connection)) is not None:
                request, output = received
                writer, fd = Writer(), None
                if output is not None:
                    self._print_to(output)
                try:
                    fd = self._loaded().answer(request, writer)
                    data = Writer().number(0).data() + writer.data()
                except BaseException as error:  # noqa: BLE001 - whatever it is, the host waits for an answer
                    data = refusal(error)
                send(connection, data, fd)

    def _print_to(self, output: int) -> None:
        """Print what kernels say to that file, the host's standard output as it is now."""
        with self._printing:
            with contextlib.suppress(OSError, ValueError):  # nobody reads what was there before
                sys.stdout.flush()
            os.dup2(output, 1)
            os.close(output)

    def _loaded(self) -> "Requests":
        """The requests, which load sim.cl."""
        with self._lock:
            if self._requests is None:
                from .requests import Requests

                self._requests = Requests()
            return self._requests
