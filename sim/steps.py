"""Shows the steps of a long operation on stderr: on a terminal in one line that counts the seconds, elsewhere one line
each."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

__all__ = ["Steps"]


class Steps:
    """Called with the name of each step, and without arguments when the operation is over, however it ended."""

    def __init__(self) -> None:
        self._line: Progress | None = None

    def __call__(self, step: str) -> None:
        """Show ``step`` as the current one on stderr: a line that counts the seconds on a terminal, else a line for
        each step. An empty step ends the display."""
        if not sys.stderr.isatty():
            if step:
                print(f"sluice: {step}", file=sys.stderr, flush=True)
        elif not step:
            self._stop()
        elif self._line is None:
            # importing these takes a tenth of a second, which a program that shows no steps does not have to wait
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("sluice: {task.description}", markup=False), TimeElapsedColumn())
            self._line = Progress(*columns, console=Console(stderr=True), transient=True)
            self._line.add_task(step, total=None)
            self._line.start()
        else:
            self._line.update(self._line.task_ids[0], description=step)

    def _stop(self) -> None:
        if self._line is not None:
            self._line.stop()
            self._line = None
