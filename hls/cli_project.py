"""Commands that take what their command line leaves out from the project file ``sluice.toml``."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from .cli_messages import Messages
from .diag import Code, CompileError, Diagnostic, render

if TYPE_CHECKING:
    from .options import Options
    from .project.read import Project

__all__ = ["Merged", "ProjectCommand", "on_project"]

#: key of the context's ``meta`` for the project
_PROJECT = "sluice.project"
#: key of the context's ``meta`` for the programs that the command runs for, one after the other
_EACH = "sluice.each"
#: the parameters that a project's kernels and hosts give values
_PROGRAMS = {"source": ("source", "program", "folder"), "host": ("host",)}


class Merged(click.Option):
    """A repeatable option to whose values on the command line those of the project are added: before them, or behind
    them with ``own_first``."""

    def __init__(self, *names: Any, own_first: bool = False, **more: Any) -> None:
        super().__init__(*names, **more)
        self.own_first = own_first

    def consume_value(self, ctx: click.Context, opts: Mapping[str, Any]) -> Any:
        """The values, and where they come from."""
        value, source = super().consume_value(ctx, opts)
        more = (ctx.default_map or {}).get(self.name or "")
        if source is ParameterSource.COMMANDLINE and more:
            value = (*value, *more) if self.own_first else (*more, *value)
        return value, source


class ProjectCommand(click.Command):
    """A command with a program, SOURCE or HOST, whose project is the nearest above that, else above the working
    directory. Its parameters take what the project says of them; what the command line and the environment say wins.
    Where the project names several programs, the command line must name one, unless the command is ``for_each``: then
    it runs for each of them, without the parameters ``alone``, which are for one program.

    A command with a design, OUT, takes the folder that ``sluice compile`` writes for the project's program."""

    def __init__(self, *given: Any, for_each: bool = False, alone: tuple[str, ...] = (), **more: Any) -> None:
        super().__init__(*given, **more)
        self.for_each, self.alone = for_each, alone

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line with the project's values as defaults. An error in the project ends the program."""
        given = self._given(ctx, args)
        messages = Messages("json" if given.get("form") == "json" or given.get("as_json") else "text")
        with messages.guard():
            project = self._project(given)
            if project is not None:
                messages.sources[project.file] = project.text
                ctx.meta[_PROJECT] = project
                ctx.default_map = {**(ctx.default_map or {}), **self._defaults(project, given, ctx)}
            try:
                return super().parse_args(ctx, args)
            except click.BadParameter as error:
                raise _of_project(ctx, error, project) or error from None

    def _given(self, ctx: click.Context, args: list[str]) -> dict[str, Any]:
        """What the command line says, as texts; nothing where it cannot be parsed, which is reported later."""
        try:
            found, _, _ = self.make_parser(ctx).parse_args(list(args))
        except click.UsageError:
            return {}
        return {name: value for name, value in found.items() if isinstance(value, str | bool)}

    def _project(self, given: Mapping[str, Any]) -> "Project | None":
        from .project.read import find, read

        program = given.get("source") or given.get("host") or given.get("program") or given.get("folder")
        found = find(Path(program).parent) if program else ()
        found = found or find(Path.cwd())
        if len(found) > 1:
            click.echo(render(_nearest(found), {}), err=True)
        return read(found[0]) if found else None

    def _defaults(self, project: "Project", given: Mapping[str, Any], ctx: click.Context) -> dict[str, Any]:
        """The project's values of this command's parameters. Its clock is that of its board."""
        found, taken = project.parameters(), {one.name for one in self.params}
        for name, several in (("source", "kernels"), ("host", "hosts")):
            programs = found.pop(name, [])
            wanted = [one for one in _PROGRAMS[name] if one in taken]
            if len(programs) == 1:
                found |= {one: str(Path(programs[0]).stem) if one == "folder" else programs[0] for one in wanted}
            elif programs and wanted and not any(given.get(one) for one in wanted):
                if self.for_each and not any(given.get(one) for one in self.alone):
                    ctx.meta[_EACH] = programs
                    found[name] = programs[0]
                elif wanted != ["program"]:  # that one may be left out
                    named = [str(Path(one).stem) for one in programs] if "folder" in wanted else programs
                    raise CompileError(_which(project, name, several, named))
        if given.get("board") or os.environ.get("SLUICE_BOARD"):
            found.pop("board", None)
            found.pop("clock", None)
        if "folder" in taken:  # a design has been compiled, with all that
            return {name: value for name, value in found.items() if name == "folder"}
        return {name: value for name, value in found.items() if name in taken}

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, for each program of the project where it names several. The exit code is the largest."""
        programs = ctx.meta.get(_EACH)
        if not programs:
            return super().invoke(ctx)
        worst = 0
        for program in programs:
            ctx.params["source"] = Path(program)
            try:
                super().invoke(ctx)
            except SystemExit as end:
                worst = max(worst, end.code if isinstance(end.code, int) else 1)
        sys.exit(worst)


def on_project(options: "Options") -> "Options":
    """The options of the running command, with what its project says of those that the command has no parameter for."""
    project: Project | None = click.get_current_context().meta.get(_PROJECT)
    return options if project is None else project.applied(options)


def _nearest(found: tuple[Path, ...]) -> Diagnostic:
    near, other = (os.path.relpath(one) for one in found[:2])
    return Diagnostic(f"{near} holds, as the nearest; {other} above it is not read", severity="note")


def _which(project: "Project", parameter: str, key: str, programs: list[str]) -> Diagnostic:
    return Diagnostic(
        f"the project has {len(programs)} {key}, and the command line names none",
        project.place(parameter),
        f"name one of {', '.join(programs)}",
        code=Code.PROJECT_FILE,
    )


def _none(project: "Project", parameter: str) -> CompileError:
    """The error of a project without programs, where the command line names none either."""
    key, example = ("kernels", "kernel.cl") if parameter == "source" else ("hosts", "host.py")
    what = f"the project names no {key}, and the command line names none either"
    hint = f'write {key} = ["{example}"], or name one on the command line'
    return CompileError.at(project.place(parameter), what, hint, code=Code.PROJECT_FILE)


def _of_project(ctx: click.Context, error: click.BadParameter, project: "Project | None") -> CompileError | None:
    """The error about a value of the project; None if the value is not the project's."""
    name = error.param.name if error.param else None
    if project is not None and isinstance(error, click.MissingParameter) and name in ("source", "host"):
        return _none(project, name)
    if project is None or name is None or ctx.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
        return None
    hint = "docs/project.md lists the keys"
    if name == "folder":
        name, hint = "source", "compile the program of the project first, or name the output folder"
    return CompileError.at(project.place(name), error.message, hint, code=Code.PROJECT_FILE)
