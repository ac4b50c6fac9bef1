"""A group of commands of which each is imported when it is called: ``sluice --help`` waits for no compiler."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from .sentence import enumerated
from .signals import until_nobody_reads

__all__ = ["LazyCommand", "LazyGroup"]


@dataclass(frozen=True)
class LazyCommand:
    """A command that is not imported yet."""

    module: str
    "full name of its module"
    attribute: str
    "its name there"
    help: str
    "what the list of commands says of it: the command's own short help, as tests check"

    def load(self) -> click.Command:
        """Import the command."""
        command = getattr(import_module(self.module), self.attribute)
        assert isinstance(command, click.Command)
        return command


class LazyGroup(click.Group):
    """A group whose commands in ``lazy`` (name -> where it is) are imported when they are called."""

    def __init__(self, *args: Any, lazy: Mapping[str, LazyCommand], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = dict(lazy)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names in alphabetical order."""
        return sorted({*super().list_commands(ctx), *self.lazy})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command ``cmd_name``, imported now if it was not before; None if there is none."""
        if cmd_name in self.lazy and cmd_name not in self.commands:
            self.add_command(self.lazy[cmd_name].load(), cmd_name)
        return super().get_command(ctx, cmd_name)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Parse the command line, which prints the help that it asks for."""
        with until_nobody_reads():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. Raises click.NoSuchOption, with the commands that have the option, for one that it has
        not."""
        try:
            with until_nobody_reads():
                return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise self._with_owners(ctx, error) from None

    def _with_owners(self, ctx: click.Context, error: click.NoSuchOption) -> click.NoSuchOption:
        named = [
            f"`{ctx.command_path} {name}`"
            for name in self.list_commands(ctx)
            if (command := self.get_command(ctx, name)) is not None
            and any(error.option_name in (*one.opts, *one.secondary_opts) for one in command.params)
        ]
        if not named or error.ctx is None:
            return error
        owners = enumerated(named)
        have = "have" if named[1:] else "has"
        message = f"`{error.ctx.command_path}` has no option {error.option_name}; {owners} {have} it"
        return click.NoSuchOption(error.option_name, message, error.possibilities, error.ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing one."""
        names = self.list_commands(ctx)
        limit = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._short_help(name, limit)) for name in names])

    def _short_help(self, name: str, limit: int) -> str:
        if name in self.commands:
            return self.commands[name].get_short_help_str(limit)
        return self.lazy[name].help
