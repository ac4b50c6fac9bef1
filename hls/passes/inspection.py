"""How to look inside a run of the passes: IR dumps, IR text after chosen passes, and the time that each pass took."""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from ..diag import Code, CompileError, Diagnostic
from ..ir import Function, print_function

__all__ = ["Inspection"]

#: a file of a dump
_FILE = re.compile(r"\d{4}-.*\.(ir|unchanged)")


@dataclass
class Inspection:
    """The inspection options of one compilation, and the data gathered for them.

    Attributes
    ----------
    dump : folder for the IR after every pass, or None. A pass that changed a kernel writes
        ``KERNEL/NNNN-STAGE-PASS.ir``, any other an empty ``KERNEL/NNNN-STAGE-PASS.unchanged``; numbers count passes
        and sort as text. A kernel that is planned a second time, for comparison, has a second folder ``KERNEL.2``.
    print_after : passes after which the IR of every kernel is passed to ``tell``
    stop_after : the pass after which the compilation ends; None: at its end
    verify_each : run the verifier after every pass
    time_passes : record the seconds that each pass takes
    tell : prints text
    """

    dump: Path | None = None
    print_after: frozenset[str] = frozenset()
    stop_after: str | None = None
    verify_each: bool = False
    time_passes: bool = False
    tell: Callable[[str], None] = print
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    runs: Counter[str] = field(default_factory=Counter)
    _dumps: dict[str, "_Dump"] = field(default_factory=dict)
    _again: set[tuple[str, int]] = field(default_factory=set)

    def before(self, function: Function) -> None:
        """A kernel is about to enter the passes: its dump begins with its current IR, unless it has one already."""
        if self.dump is not None and function.name not in self._dumps:
            self._dumps[function.name] = _Dump(self.dump / function.name, function)

    def again(self, function: Function) -> None:
        """A kernel is planned again with other choices: that run is dumped to a folder of its own."""
        if self.dump is not None:
            count = next(n for n in itertools.count(2) if (function.name, n) not in self._again)
            self._again.add((function.name, count))
            self._dumps[function.name] = _Dump(self.dump / f"{function.name}.{count}", function)

    def after(self, stage: str, name: str, function: Function, changed: bool | None) -> None:
        """A pass has run; ``changed`` is None if this was not compared."""
        if name in self.print_after:
            self.tell(
                f"; {function.name} after {stage} "
                f"{name}{'' if changed is not False else ' (unchanged)'}\n{print_function(function)}"
            )
        if self.dump is not None:
            self._dumps[function.name].write(f"{stage}-{name}", function)

    @staticmethod
    def text(function: Function) -> str:
        """The function as IR text."""
        return print_function(function)

    def spent(self, name: str, seconds: float) -> None:
        """Add ``seconds`` to the time of a pass."""
        self.seconds[name] += seconds
        self.runs[name] += 1

    def time_table(self) -> str:
        """The passes in order of decreasing time, one a line: milliseconds, share, runs, name."""
        total = sum(self.seconds.values()) or 1.0
        rows = [
            f"{1000 * taken:9.1f} ms {100 * taken / total:5.1f}% {self.runs[name]:6d} x  {name}"
            for name, taken in sorted(self.seconds.items(), key=lambda one: -one[1])
        ]
        return "\n".join([*rows, f"{1000 * total:9.1f} ms 100.0%           total"]) + "\n"


class _Dump:
    """The dump of one kernel: a file for each pass."""

    def __init__(self, folder: Path, function: Function) -> None:
        self.folder, self.count = folder, 0
        self.text: str | None = None
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for old in folder.iterdir():  # from an earlier compilation
                if _FILE.fullmatch(old.name):
                    old.unlink()
        self.write("input", function)

    def write(self, name: str, function: Function) -> None:
        """Write the function after a pass; an empty file if its text did not change."""
        text = print_function(function)
        suffix = "ir" if text != self.text else "unchanged"
        with _writing(self.folder):
            (self.folder / f"{self.count:04d}-{name}.{suffix}").write_text(text if suffix == "ir" else "")
        self.count, self.text = self.count + 1, text


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CompileError(
            Diagnostic(
                f"cannot write the dump folder {folder}: {error.strerror}",
                hint="name another folder with --dump-ir",
                code=Code.CANNOT_WRITE,
            )
        ) from error
