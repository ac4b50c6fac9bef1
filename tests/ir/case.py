"""A golden file: IR, followed in comments by the output of a pass on it, or the result of an analysis.

The file is IR that ``sluice opt`` reads::

    ; Removes a store to an address that is written again before any read.   what is shown
    ; run: n=0..9, local=4                                                   values for the runs (see meaning.py)
    kernel @k() { ... }
    ; after:
    ; kernel @k() { ... }                                                    or "; after: unchanged"

``; passes:`` names passes with options other than the one that the folder is named after. ``; unchecked: WHY`` says
that the two are not run and compared, and why.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hls.diag import CompileError, Diagnostic
from hls.ir import Module, print_module
from hls.opt import read_module, run_passes
from hls.target.board import Board, load_board
from tests.ir.meaning import difference
from tests.ir.observed import contradiction
from tests.ir.printers import PRINTERS

__all__ = ["ANALYSES", "PACKAGE", "ROOT", "Case", "answered", "cases_of", "read_case", "transformed"]

ROOT = Path(__file__).parent
ANALYSES = ROOT / "analysis"
PACKAGE = ROOT.parents[1] / "hls" / "analysis"
#: what begins the part that the flag --refresh writes
AFTER, ANSWER = "; after:", "; answer:"
KEYS = ("passes", "run", "unchecked")


@dataclass(frozen=True)
class Case:
    """One file. ``header`` are its first comments, ``source`` the IR as written, ``expected`` what stands below it
    (None: nothing yet), ``options`` the values of :data:`KEYS`."""

    path: Path
    header: str
    source: str
    expected: str | None
    options: dict[str, str]

    @property
    def subject(self) -> str:
        """The pass, or the analysis, that the folder is named after."""
        return self.path.parent.name

    @property
    def is_analysis(self) -> bool:
        return self.path.parent.parent == ANALYSES

    @property
    def shown(self) -> str:
        """What the file says is shown."""
        lines = (line[1:].strip() for line in self.header.splitlines())
        return " ".join(line for line in lines if line and line.partition(":")[0] not in KEYS)

    def module(self) -> Module:
        """The input. Raises CompileError for text that is not IR."""
        return read_module(self.header + self.source, self.path.name)

    def write(self, result: str) -> None:
        """Store ``result`` as what is expected."""
        mark = ANSWER if self.is_analysis else AFTER
        if result == "unchanged":
            below = f"{mark} unchanged\n"
        else:
            below = f"{mark}\n" + "".join(f"; {line}".rstrip() + "\n" for line in result.splitlines())
        # answers call values by the names that printed IR has
        source = print_module(self.module()) if self.is_analysis else self.source
        self.path.write_text(self.header + source.rstrip("\n") + "\n" + below)


def cases_of(folder: Path) -> list[Path]:
    """The golden files of a pass or an analysis."""
    return sorted(folder.glob("*.ir"))


def read_case(path: Path) -> Case:
    """The parts of a golden file."""
    lines = path.read_text().splitlines(keepends=True)
    begin = next((k for k, line in enumerate(lines) if not line.startswith(";")), len(lines))
    end = next((k for k, line in enumerate(lines) if line.startswith((AFTER, ANSWER))), len(lines))
    header = "".join(lines[:begin])
    pairs = (line[1:].strip().partition(":") for line in header.splitlines())
    options = {key: value.strip() for key, _, value in pairs if key in KEYS}
    return Case(path, header, "".join(lines[begin:end]), _expected(lines[end:]), options)


def _expected(lines: list[str]) -> str | None:
    if not lines:
        return None
    first = lines[0].partition(":")[2].strip()
    return first or "".join(line.removeprefix(";").removeprefix(" ") for line in lines[1:]).rstrip("\n")


@cache
def board() -> Board:
    """The board for which all cases are run."""
    return load_board("de5net")


def transformed(case: Case) -> tuple[str, str | None]:
    """(what the pass leaves of the module, and says of it; why that computes something else than the input, or
    None)."""
    said: list[Diagnostic] = []
    module = case.module()
    before = print_module(module)
    try:
        after = run_passes(module, case.options.get("passes", case.subject), board(), warn=said.append)
    except CompileError as error:
        broken = next((one.message for one in error.diagnostics if one.message.startswith("malformed IR")), None)
        return _messages([*said, *error.diagnostics]), broken
    text = print_module(after)
    assert print_module(module) == before, "the pass changed its input"
    changed = None if text == before and case.subject != "inline" else text.rstrip("\n")
    wrong = None if "unchecked" in case.options else difference(module, after, case.options.get("run", ""))
    return "\n".join(filter(None, [_messages(said), changed])) or "unchanged", wrong


def _messages(said: list[Diagnostic]) -> str:
    """Messages with their places and hints, without what a terminal shows around them."""
    lines = []
    for one in said:
        lines.append(f"{one.span}: " * (one.span is not None) + f"{one.severity}: {one.message}")
        lines += [f"  hint: {one.hint}"] if one.hint else []
    return "\n".join(lines)


def answered(case: Case) -> tuple[str, str | None]:
    """(what the analysis says of each value, loop or access; what a run did that it rules out, or None)."""
    module = case.module()
    wrong = (contradiction(case.subject, each, case.options.get("run", "")) for each in module.kernels)
    return "\n".join(PRINTERS[case.subject](module)) or "nothing", next(filter(None, wrong), None)
