"""Signals before the command ``sluice`` has its own handlers (``hls.signals``): they end it without a traceback.

The package imports this module before all others, and it needs only modules that Python imports to start: what comes
earlier is Python's own start and the script that pip writes for the command.
"""

import _signal  # importing `signal` itself takes milliseconds more
import os
import sys

__all__ = ["end_on_signals"]


def end_on_signals() -> None:
    """From here on, SIGINT, SIGTERM and SIGHUP end the command with 128 + n at once: so far there is nothing to clean
    up. Does nothing in programs that import the package."""
    if _is_command():
        for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
            if number != _signal.SIGHUP or _signal.getsignal(number) != _signal.SIG_IGN:  # nohup
                _signal.signal(number, lambda number, _frame: os._exit(128 + number))


def _is_command() -> bool:
    """Whether this is the start of the command ``sluice``, and not of a program that imports the package."""
    argv, all_words = getattr(sys, "argv", []), getattr(sys, "orig_argv", [])
    if argv[:1] == ["-m"]:
        return all_words[all_words.index("-m") + 1 :][:1] == ["sluice"]
    return bool(argv) and os.path.basename(argv[0]) == "sluice"
