"""The log of a build that went well so far: what the compiler warns of, as the options ``-w`` and ``-Werror`` ask."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from hls.diag import CompileError, Diagnostic, first_of_each, render

from .options import MORE_OPTIONS, split_options

__all__ = ["NO_WARNINGS", "WARNINGS_ARE_ERRORS", "build_log", "told_warnings"]

NO_WARNINGS, WARNINGS_ARE_ERRORS = "-w", "-Werror"


def build_log(warnings: Sequence[Diagnostic], sources: Mapping[str, str], options: Sequence[str]) -> str:
    """The texts of :func:`told_warnings`, in lines."""
    return "\n".join(told_warnings(warnings, sources, options))


def told_warnings(
    warnings: Sequence[Diagnostic], sources: Mapping[str, str], options: Sequence[str]
) -> tuple[str, ...]:
    """Each warning as text, and of many of one kind the first ones: none with ``-w``, also if there is a ``-Werror``.
    The options of $SLUICE_BUILD_OPTIONS count, too.

    Raises CompileError, with the warnings as its diagnostics, where there are some and ``-Werror`` is given.
    """
    words = {*options, *split_options(os.environ.get(MORE_OPTIONS) or "", MORE_OPTIONS)}
    if NO_WARNINGS in words:
        return ()
    if WARNINGS_ARE_ERRORS in words and warnings:
        error = CompileError(*(_as_error(one) for one in warnings))
        error.sources = dict(sources)
        raise error
    return tuple(render(one, dict(sources)) for one in first_of_each(warnings))


def _as_error(warning: Diagnostic) -> Diagnostic:
    return replace(warning, severity="error", message=f"{warning.message} [{WARNINGS_ARE_ERRORS}]")
