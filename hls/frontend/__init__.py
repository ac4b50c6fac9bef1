"""OpenCL C to IR: preprocess, parse, check, lower."""

import gc
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import MappingProxyType

from ..diag import Code, CompileError, Diagnostic, Span
from ..ir import Module
from ..recursion import deep_recursion
from .check import check
from .included import readable
from .library import link
from .lower import lower
from .meanings import occurrences_of
from .parse import parse
from .preprocess import Expanded, preprocess, with_macro
from .scope import Occurrence

#: nested Python calls: parser and checker need about fifteen per nesting level, and 400 brackets may nest (see guard)
_CALLS = 12_000
#: new objects after which garbage is searched for among them, and searches after which it is among older ones
OBJECTS, OLDER = 800_000, 5
_DOUBLE = re.compile(r"\bdouble\d*\b|\bcl_khr_fp64\s*:\s*enable\b")

__all__ = ["FrontendError", "Options", "Result", "parse_source", "rarely_collected"]


@dataclass(frozen=True)
class Options:
    """Frontend options of the compiler's command line."""

    single_precision_constants: bool = False  #: an unsuffixed 1.0 means 1.0f, without a warning
    warnings_are_errors: bool = False


@dataclass(frozen=True)
class Result:
    """The IR of a source text before any pass, and the warnings of the frontend. ``occurrences`` are the names in the
    text, with what they mean, and ``macros`` the places of the definitions of macros, those of included files too."""

    module: Module
    warnings: tuple[Diagnostic, ...] = ()
    occurrences: tuple[Occurrence, ...] = ()
    macros: Mapping[str, Span] = field(default_factory=dict)


class FrontendError(CompileError):
    """Every error found in a source text, with the warnings, and the source texts to quote."""

    def __init__(
        self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, str], warnings: Iterable[Diagnostic] = ()
    ) -> None:
        super().__init__(*diagnostics)
        self.sources, self.warnings = dict(sources), tuple(warnings)


def parse_source(
    text: str,
    file: str = "kernel.cl",
    defines: Mapping[str, str] | None = None,
    include_dirs: Iterable[str] = (),
    options: Options = Options(),
    include_roots: Iterable[str | Path] = (),
    models: Sequence[str] = (),
    known_as: Mapping[str, str] = MappingProxyType({}),
) -> Result:
    """Compile OpenCL C to IR as ``hls.ir.nodes`` describes it, before any pass.

    ``file`` names the text in messages; relative includes start from it. ``defines`` maps macros to their text. With
    ``include_roots``, no file outside these folders is read. Raises FrontendError (a CompileError) with all errors that
    could be found in one run. ``models`` are the paths of files behind the text, which define functions that it
    declares; they see the macros of files that they include themselves, and no others of the text. ``known_as`` maps a
    folder to its name in the locations of its files (:func:`preprocess`).
    """
    text = text.removeprefix("\ufeff")  # host programs read it with the byte order mark
    sources = {file: readable(text)}
    roots = [*include_roots, *(Path(model).parent for model in models)] if include_roots else ()
    try:
        with rarely_collected(), deep_recursion(_CALLS):
            defines, include_dirs = defines or {}, [*include_dirs]
            text = _with_models(text, file, defines, include_dirs, roots, models) if models else text
            expanded = preprocess(text, file, defines, include_dirs, known_as, roots)
            sources |= expanded.sources
            return _compile(expanded, file, options, sources)
    except CompileError as error:
        raise FrontendError(
            sorted(error.diagnostics, key=_order), sources, sorted(error.warnings, key=_order)
        ) from None
    except RecursionError:
        place = Diagnostic(
            "an expression or statement nests too deeply", Span(file, 1), "split it up", code=Code.NESTED_TOO_DEEP
        )
        raise FrontendError([place], sources) from None


def _with_models(
    text: str,
    file: str,
    defines: Mapping[str, str],
    include_dirs: Sequence[str],
    roots: Iterable[str | Path],
    models: Sequence[str],
) -> str:
    """The text with those of the models behind it, without the macros that it was given, or that a file defines which
    no model includes. Those of shared files stay: such a file is read once. Raises CompileError."""
    behind = "".join(f'#include "{model}"\n' for model in models)
    mine = preprocess(text, file, defines, include_dirs, roots=roots)
    theirs = {os.path.realpath(name) for name in preprocess(behind, "models", {}, include_dirs, roots=roots).sources}
    own = [name for name, place in mine.macros.items() if os.path.realpath(place.file) not in theirs]
    given = [name.partition("(")[0] for name in defines]
    return "\n".join([text, *(f"#undef {name}" for name in dict.fromkeys([*given, *own])), behind])


def _compile(expanded: Expanded, file: str, options: Options, sources: dict[str, str]) -> Result:
    """:func:`parse_source` after the preprocessor."""
    try:
        return _translated(expanded, file, options, sources)
    except CompileError as error:
        told = CompileError(*(with_macro(d, expanded) for d in error.diagnostics))
        told.warnings = tuple(with_macro(d, expanded) for d in error.warnings)
        raise told from None


def _translated(expanded: Expanded, file: str, options: Options, sources: dict[str, str]) -> Result:
    """The result, with messages that do not mention macros yet."""
    # Without fp64, OpenCL reads 1.0 as a float. A program that never mentions double must not pay for double-precision
    # units.
    doubles = bool(_DOUBLE.search(expanded.text))
    program = check(parse(expanded, file), options.single_precision_constants, doubles)
    if not program.errors and not any(f.kernel for f in program.functions):
        program.diagnostics.append(
            Diagnostic("there is no kernel in this file", Span(file, 1), "mark one with __kernel", code=Code.NO_KERNEL)
        )
    found = [*expanded.warnings, *dict.fromkeys(program.diagnostics)]
    errors = [d for d in found if d.severity == "error" or options.warnings_are_errors]
    if errors:
        error = CompileError(*errors)
        error.warnings = tuple(d for d in found if d not in errors)
        raise error
    module = link(
        lower(program.functions, program.constants, sources, tuple(program.channels), program.program_variables)
    )
    warnings = tuple(with_macro(d, expanded) for d in sorted(found, key=_order))
    return Result(module, warnings, occurrences_of(program), expanded.macros)


class _Collector:
    """The settings of Python's garbage collector outside all sections that collect rarely; threads may overlap."""

    def __init__(self) -> None:
        self.lock, self.sections = Lock(), 0
        self.enabled, self.thresholds = True, (0, 0, 0)

    def enter(self) -> None:
        """A section begins."""
        with self.lock:
            self.sections += 1
            if self.sections == 1:
                self.enabled, self.thresholds = gc.isenabled(), gc.get_threshold()
                gc.set_threshold(OBJECTS, OLDER, OLDER)
                gc.enable()

    def leave(self) -> None:
        """A section ends; with the last one, the settings are as before."""
        with self.lock:
            self.sections -= 1
            if not self.sections:
                gc.set_threshold(*self.thresholds)
                if not self.enabled:
                    gc.disable()


_collector = _Collector()


@contextmanager
def rarely_collected() -> Iterator[None]:
    """Collects garbage at long intervals: trees of tokens, operations and nets mostly grow here, and scanning them at
    Python's intervals costs a third of the time or more. Small programs never reach the first collection; large ones
    would need several times the memory without any, as each pass leaves a copy of the kernel behind."""
    _collector.enter()
    try:
        yield
    finally:
        _collector.leave()


def _order(d: Diagnostic):
    return (d.span.file, d.span.line, d.span.column) if d.span else ("", 0, 0)
