"""The messages of a command, as text or JSON."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import click

from .diag import CompileError, Diagnostic, first_of_each, internal_error, machine_trouble, render, to_json
from .signals import exit_code, has_reader

__all__ = ["FAILED", "OF_OPTIONS", "Messages", "reported_output_errors"]

#: key of the messages that were found while options were read, in the meta data of the command's context
OF_OPTIONS = "sluice messages of options"
#: exit code of a command that ends with an error
FAILED = 1


@contextmanager
def reported_output_errors() -> Iterator[None]:
    """Ends the program with a message where what it prints cannot be written, such as to a file on a full disk."""
    try:
        yield
    except OSError as error:
        trouble = machine_trouble(error)
        if trouble is None or os.environ.get("SLUICE_DEBUG") == "1":
            raise
        if error.filename is None:
            trouble = replace(trouble, message=f"cannot write the output: {trouble.message}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python writes what is left at its end
        click.echo(render(trouble, {}), err=True)
        sys.exit(FAILED)


class Messages:
    """Collects diagnostics and shows them once, in the requested form."""

    def __init__(self, form: str) -> None:
        """``form`` is "text" or "json"."""
        self.form = form
        self.sources: dict[str, str] = {}
        context = click.get_current_context(silent=True)
        self._found: list[Diagnostic] = context.meta.pop(OF_OPTIONS, []) if context is not None else []

    def add(self, *diagnostics: Diagnostic) -> None:
        """Keep the diagnostics for :meth:`show`; nothing is printed yet."""
        self._found += diagnostics

    def show(self) -> None:
        """Print everything collected: as JSON on stdout, else as text with source lines on stderr, and of many warnings
        of one kind the first ones."""
        if self.form == "json":
            click.echo(to_json(self._found))
        else:
            for diagnostic in first_of_each(self._found, "all of them: sluice compile --diagnostics json"):
                click.echo(render(diagnostic, self.sources), err=True)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Ends the program with messages if the enclosed block fails."""
        try:
            yield
        except (click.ClickException, click.exceptions.Exit, click.Abort):  # wrong usage that shows late; --help
            raise
        except CompileError as error:
            self.sources |= error.sources
            self.add(*error.diagnostics)
        except Exception as error:
            nobody_reads = isinstance(error, BrokenPipeError) and not has_reader(sys.stdout)
            if nobody_reads or os.environ.get("SLUICE_DEBUG") == "1":
                raise
            if exit_code() is not None:
                sys.exit(exit_code())
            self.add(internal_error(error))
        else:
            return
        self.show()
        sys.exit(FAILED)
