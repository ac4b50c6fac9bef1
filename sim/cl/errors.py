"""pyopencl's exceptions, with OpenCL's codes; the message says what to do."""

from .constants import status_code

__all__ = ["Error", "LogicError", "MemoryError", "RuntimeError"]


class Error(Exception):
    """``code`` is the OpenCL status, ``routine`` the call that failed, ``what`` the explanation."""

    def __init__(self, routine: str, code: int, what: str = "") -> None:
        self.routine, self.code, self.what = routine, code, what
        text = f"{routine} failed: {status_code.to_string(code)}"
        separator = ":" if what.startswith("\n") else " - "  # diagnostics begin on a line of their own
        super().__init__(f"{text}{separator}{what}" if what else text)


class LogicError(Error):
    """The host program made an invalid request."""


class ArgumentCountError(LogicError, TypeError):
    """A kernel got too few or too many arguments; pyopencl raises TypeError here."""


class MissingKernelError(LogicError, AttributeError):
    """A program has no kernel of that name; pyopencl raises AttributeError here."""


class RuntimeError(Error):
    """A build or a run failed."""


class MemoryError(Error):
    """The board's memory is full."""
