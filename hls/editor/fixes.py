"""The advice of reports as changes of the text, each offered only with what it was measured to gain.

:func:`candidates` writes them as edits; :func:`tried` plans the text with one of them, and says what that gained. So an
edit that is not what the advice meant, or that does not compile, is never offered.
"""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..diag import Code, CompileError
from ..driver import plan_text
from ..report.advice import gained, slowness
from ..report.advice_text import outcome
from ..report.checked import Checked, check_plan
from ..report.facts.loops import Loop, Rewrite, every
from ..report.model import Kernel
from ..sentence import enumerated
from ..target.board import BoardError, load_board
from .analysis import Request
from .edits import Edit, applied, closing, line_start, statement_end
from .partial_sums import partial_sums
from .scan import Plain

Found = TypeVar("Found")

__all__ = ["Fix", "advise", "attempt", "candidates", "tried"]

_LOG = logging.getLogger(__name__)
#: iterations up to which a loop is unrolled whole
MOST_COPIES = 32
#: what a fix of each kind may change besides the speed
_CARE = {
    "ivdep": "if no iteration uses an element that another iteration stores",
    "partial sums": "rounded in another order",
    "remove pragmas": "unless it is needed for another reason",
    "restrict": "if the host never passes overlapping buffers",
    "unroll": "with as many copies of its body",
}


@dataclass(frozen=True)
class Fix:
    """A change of the text, offered in its lines ``first`` to ``last`` (from 1). ``loops`` are the ids of those of
    which it is to make one faster; or else it is to remove warnings of the number ``code``."""

    title: str
    loops: tuple[str, ...]
    edits: tuple[Edit, ...]
    first: int
    last: int
    code: Code | None = None


def candidates(text: str, file: str, kernels: Sequence[Kernel]) -> tuple[Fix, ...]:
    """The changes that may make loops of ``text`` faster, from kernels whose reports have advice; each once."""
    writer = _Writer(text, file)
    found: dict[tuple[Edit, ...], Fix] = {}
    for kernel in kernels:
        for fix in writer.of_kernel(kernel):
            found.setdefault(fix.edits, fix)
    return tuple(found.values())


def advise(request: Request) -> tuple[Fix, ...]:
    """The changes that may make loops of the text faster, none of them tried. Raises nothing: a text that cannot be
    planned has none."""
    return _guarded(lambda: candidates(request.text, request.file, _advised(request).kernels), ())


def attempt(request: Request, fix: Fix) -> Fix | None:
    """:func:`tried`, and None for a change after which the text cannot be planned. Raises nothing."""
    return _guarded(lambda: tried(request, _advised(request), fix), None)


def _guarded(work: Callable[[], Found], otherwise: Found) -> Found:
    try:
        return work()
    except (CompileError, BoardError):  # not every change can be built; of the text as it is, its messages are shown
        return otherwise
    except Exception:  # noqa: BLE001 (a fault of the compiler must not end the session)
        _LOG.exception("a change of the text was not tried")
        return otherwise


#: what was advised last, as all changes of one text are compared with it
_last: list[tuple[Request, Checked]] = []


def _advised(request: Request) -> Checked:
    if not _last or _last[0][0] != request:
        _last[:] = [(request, _checked(request, request.text, advice=True))]
    return _last[0][1]


def _checked(request: Request, text: str, advice: bool = False) -> Checked:
    plan = plan_text(text, load_board(request.board), request.folder_first, request.file)
    return check_plan(plan, request.file, advice)


def tried(request: Request, before: Checked, fix: Fix) -> Fix | None:
    """The fix with what it gains in its title, found by planning the text with it; None if that is nothing, or a loop
    is slower with it. Raises CompileError where the text with it cannot be planned."""
    after = _checked(request, applied(request.text, fix.edits))
    old, new = _loops(before), _loops(after)
    if any(slowness(new[id]) > slowness(loop) for id, loop in old.items() if id in new):
        return None
    for id in fix.loops:
        now = gained(fix.title, old[id], new[id]) if id in new and id in old else None
        if now is not None:
            where = f"loop {old[id].label}".rstrip()
            title = f"{fix.title}: {where} {outcome(now, old[id])} instead of {_figures(old[id])}"
            return replace(fix, title=title)
    gone = _count(before, fix.code) - _count(after, fix.code)
    if fix.code is None or gone <= 0:
        return None
    return replace(fix, title=f"{fix.title}: {gone} warning{'s' if gone > 1 else ''} {fix.code.number} less")


def _count(checked: Checked, code: Code | None) -> int:
    return sum(one.code is code for one in checked.messages)


def _figures(loop: Loop) -> str:
    as_it_is = gained("", Loop("", None, 2**62), loop)
    return outcome(as_it_is, loop) if as_it_is is not None else f"II {loop.ii}"


def _loops(checked: Checked) -> dict[str, Loop]:
    """The loops in hardware by their ids."""
    return {loop.id: loop for kernel in checked.kernels for loop in every(kernel.loops) if loop.ii}


class _Writer:
    """Writes changes as edits of the text of ``file``. Loops and arrays whose places are in other files, or in macros,
    have none."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.plain = Plain(text, file)
        indent = re.search(r"^(\t|[ ]{2,8})\S", self.plain.code, re.MULTILINE)
        self.unit = indent[1] if indent else "    "

    def of_kernel(self, kernel: Kernel) -> Iterator[Fix]:
        """The changes for one kernel."""
        yield from self._restrict(kernel)
        for loop in every(kernel.loops):
            at = self._loop(loop)
            if at is not None:
                yield from self._rewrites(loop, at)
                yield from self._unrolled(loop)

    def _loop(self, loop: Loop) -> int | None:
        """Where a loop's keyword is; None where it is not in this text."""
        if loop.span is None or loop.span.file != self.file or loop.work_items:
            return None
        at = self.plain.offset(loop.span)
        return at if re.compile(r"(?:for|while|do)\b").match(self.plain.code, at) else None

    def _lines(self, at: int, end: int | None) -> tuple[int, int]:
        return self.plain.line(at), self.plain.line(at if end is None else end - 1)

    def _fix(self, title: str, kind: str, loops: tuple[str, ...], edits: Sequence[Edit], at: int) -> Fix:
        care = f", {_CARE[kind]}" if kind in _CARE else ""
        return Fix(f"{title}{care}", loops, tuple(edits), *self._lines(at, statement_end(self.plain.code, at)))

    # --- what reports advise ---

    def _rewrites(self, loop: Loop, at: int) -> Iterator[Fix]:
        for one in loop.would_be:
            rewrite = one.rewrite
            if rewrite is None:
                continue
            title, kind, edits = self._written(rewrite)
            if edits:
                yield self._fix(title, kind, (loop.id,), edits, at)

    def _written(self, rewrite: Rewrite) -> tuple[str, str, Sequence[Edit]]:
        """The title of a change, its kind, and its edits; no edits where the text has not the form for them."""
        at = self.plain.offset(rewrite.span) if rewrite.span and rewrite.span.file == self.file else None
        words = " ".join(rewrite.names)
        if at is None:
            return "", "", ()
        if rewrite.kind == "pragma":
            return f"Write #pragma {words}", rewrite.names[0], self._pragma(words, at)
        if rewrite.kind == "remove pragmas":
            found = self._pragmas(rewrite.names, at)
            return f"Remove #pragma {enumerated(found)}", rewrite.kind, tuple(found.values())
        if rewrite.kind == "attributes":
            attribute = f"__attribute__(({', '.join(rewrite.names)}))"
            return f"Write {attribute}", rewrite.kind, [Edit(at, at, f"{attribute} ")]
        title = f"Shift {rewrite.number} partial sums of {' and of '.join(rewrite.names)} through a private array"
        edits = partial_sums(self.plain.code, at, rewrite.names, rewrite.number or 0, self.unit)
        return title, rewrite.kind, edits or ()

    def _pragma(self, words: str, at: int) -> list[Edit]:
        """A pragma for the loop at that place, on a line of its own in front of it."""
        start = line_start(self.text, at)
        before = self.text[start:at]
        if before.strip():
            return [Edit(at, at, f"\n#pragma {words}\n")]
        return [Edit(start, start, f"{before}#pragma {words}\n")]

    def _pragmas(self, names: tuple[str, ...], at: int) -> dict[str, Edit]:
        """By name, the edits that take away the lines with these pragmas right above a loop."""
        edits, start = {}, line_start(self.text, at)
        while start > 0:
            above = line_start(self.text, start - 1)
            if self.plain.code[above:start].strip():
                break
            found = re.match(r"\s*#\s*pragma\s+(\w+)", self.text[above:start])
            if found and found[1] in names:
                edits[found[1]] = Edit(above, start, "")
            start = above
        return edits

    # --- what they do not try ---

    def _unrolled(self, loop: Loop) -> Iterator[Fix]:
        """An inner loop with few iterations unrolled, for the sake of the one around it."""
        for child in loop.children:
            at = self._loop(child)
            short = child.ii and child.trip_count is not None and 1 < child.trip_count <= MOST_COPIES
            if at is not None and short and not any(inner.ii for inner in child.children):
                title = f"Unroll loop {child.label} (#pragma unroll)"
                yield self._fix(title, "unroll", (loop.id,), self._pragma("unroll", at), at)

    def _restrict(self, kernel: Kernel) -> Iterator[Fix]:
        """All pointers of a kernel to global memory declared ``restrict``, where they may be the same memory."""
        if kernel.span is None or kernel.span.file != self.file or not _may_overlap(kernel):
            return
        code, at = self.plain.code, self.plain.offset(kernel.span)
        opened = code.find("(", at)
        close = closing(code, opened) if opened >= 0 else None
        body = code.find("{", close) if close is not None else -1
        end = closing(code, body) if body >= 0 else None
        if close is None or end is None:
            return
        names, edits = [], []
        for found in re.compile(r"[^,]+").finditer(code, opened + 1, close):
            pointer = re.search(r"\*\s*(?:(?:const|volatile)\s+)?([A-Za-z_]\w*)\s*$", found.group())
            if pointer and re.search(r"\b(?:__)?global\b", found.group()):
                place = found.start() + pointer.start(1)
                names.append(pointer[1])
                edits.append(Edit(place, place, "restrict "))
        loops = tuple(loop.id for loop in every(kernel.loops) if loop.ii)
        if edits and loops:
            title = f"Declare {enumerated(names)} restrict, {_CARE['restrict']}"
            yield Fix(title, loops, tuple(edits), *self._lines(at, end + 1), Code.STORE_ACKNOWLEDGED)


def _may_overlap(kernel: Kernel) -> bool:
    """Whether anything in the kernel waits for another access to global memory."""
    if any(one.code is Code.STORE_ACKNOWLEDGED for one in kernel.messages):
        return True
    loops = every(kernel.loops)
    return any(loop.conflicts or (loop.bottleneck and loop.bottleneck.kind == "memory") for loop in loops)
