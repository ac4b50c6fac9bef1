"""Lenses that run a project's hosts: on the emulator, or on the simulated board for a profile."""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types as lsp

from .measured import FOLDER
from .scan import symbols
from .server import Server

__all__ = ["Runs", "register"]

#: the commands of the lenses: what each says of a host, and the words of `sluice` that run it
_COMMANDS = {
    "sluice.emulate": ("run {} on the emulator", ("run", "--device", "emulator", "--no-stats")),
    "sluice.profile": ("profile {} on the simulated board", ("profile", "-o", FOLDER)),
}


class Runs:
    """The host program that runs: one at a time."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.process: Process | None = None

    def lenses(self, uri: str) -> Iterator[lsp.CodeLens]:
        """Above the first kernel of the text, two for each host of its project."""
        document = self.server.document(uri)
        found = (one for one in symbols(document.source, document.path) if one.kind == "kernel")
        first = next(found, None)
        if first is None:
            return
        place = self.server.converter(uri).range(first.span)
        for host in self.server.hosts(uri):
            for command, (words, _) in _COMMANDS.items():
                yield lsp.CodeLens(place, lsp.Command(words.format(Path(host).name), command, arguments=[uri, host]))

    async def run(self, command: str, uri: str, host: str) -> int | None:
        """Run the host, whose output is in the editor's log, and say how it ended; the exit code, None if it was not
        run. It reads its kernels from their files: a text that is not saved is not what runs."""
        title, words = _COMMANDS[command]
        said = title.format(Path(host).name)
        if self.process is not None:
            self._say(lsp.MessageType.Error, f"{said}: another host is still running")
            return None
        if host not in self.server.hosts(uri):
            self._say(lsp.MessageType.Error, f"{said}: the project does not name this host")
            return None
        folder = self.server.home(uri)
        given = [*words, str(Path(os.path.abspath(host)))]
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "sluice", *given, cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        try:
            last = await self._log(self.process)
            code = await self.process.wait()
        finally:
            self.end()
        if code:
            self._say(lsp.MessageType.Error, f"{said}: exit code {code}; {last or 'see the log'}")
        else:
            self._say(lsp.MessageType.Info, f"{said}: done{f'; {last}' if last else ''}")
        return code

    def end(self) -> None:
        """End the host that runs, which ends its simulator."""
        if self.process is not None and self.process.returncode is None:
            self.process.terminate()
        self.process = None

    async def _log(self, process: Process) -> str:
        """Show the output line by line; returns the last line."""
        assert process.stdout is not None
        last = ""
        while piece := await process.stdout.read(4096):
            text = piece.decode("utf-8", "replace").rstrip("\n")
            last = text.splitlines()[-1].strip() if text.strip() else last
            self.server.window_log_message(lsp.LogMessageParams(lsp.MessageType.Log, text))
        return last

    def _say(self, kind: lsp.MessageType, text: str) -> None:
        self.server.window_show_message(lsp.ShowMessageParams(kind, f"sluice: {text}"))


def register(server: Server) -> Runs:
    """Let the server run what its lenses offer; returns what runs."""
    runs = Runs(server)

    @server.command("sluice.emulate")
    async def emulate(uri: str, host: str) -> int | None:
        return await runs.run("sluice.emulate", uri, host)

    @server.command("sluice.profile")
    async def profile(uri: str, host: str) -> int | None:
        return await runs.run("sluice.profile", uri, host)

    return runs
