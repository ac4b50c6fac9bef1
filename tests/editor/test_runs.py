"""What `sluice lsp` runs, and what it shows of the last profile."""

import asyncio
import json

import pytest
from click.testing import CliRunner
from lsprotocol import types as lsp

from hls.cli import main
from hls.diag import Span
from hls.editor.marks import Hint
from hls.editor.measured import Profiles, measured
from hls.profile.model import SCHEMA
from tests.editor.client import PATIENCE, editor

TEXT = """\
channel int c;
__kernel void total(__global const int *restrict a, __global int *restrict out, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    out[0] = s;
    write_channel_intel(c, s);
}
"""
PLANNED = [Hint(Span("/k.cl", line), "loop", "II 1") for line in (5, 6, 7)]


def launch(program: int, iterations: int, ii: float, stall: float) -> dict:
    def access(kind: str, buffer: str, line: int | None, share: float | None) -> dict:
        return {"kind": kind, "buffer": buffer, "line": line, "stall": share}

    def end(name: str, line: int, reads: float | None, writes: float | None) -> dict:
        return {"name": name, "line": line, "end": "write", "read_stall": reads, "write_stall": writes}

    loop = {"line": 5, "name": "i", "iterations": iterations, "measured_ii": ii, "scheduled_ii": 1.0}
    return {
        "kernel": "total",
        "program": program,
        "cycles": 100 * iterations,
        "loops": [loop, loop | {"line": 40}, loop | {"measured_ii": None}],
        "accesses": [access("load", "a", 6, stall), access("store", "out", 7, 0.0), access("load", "x", None, 0.5)],
        "channels": [end("c", 8, None, 0.25), end("other", 8, None, 0.25)],
    }


def profile(**more) -> dict:
    programs = [{"number": 0, "source": TEXT}, {"number": 1, "source": TEXT + " "}]
    launches = [launch(0, 10, 1.0, 0.1), launch(0, 30, 3.0, 0.3), launch(1, 10**6, 50.0, 0.9)]
    return {"schema": SCHEMA, "programs": programs, "launches": launches} | more


def test_measured_figures_are_means_over_the_launches_of_the_text():
    found = measured(profile(), TEXT, PLANNED, "/k.cl")
    assert [(one.span.line, one.label) for one in found] == [
        (5, "measured: II 2.5"),
        (6, "measured: load a stalls 25%"),
        (8, "measured: channel c waits 25%"),
    ]
    assert found[0].tooltip == "loop i of total: 40 iterations, II 2.5, planned 1"
    assert measured(profile(), TEXT + "\n", PLANNED, "/k.cl") == ()
    assert [one.span.line for one in measured(profile(), TEXT, [], "/k.cl")] == [8], "lines of an included file"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": 0}', json.dumps(profile(launches=[{}]))])
def test_a_file_that_is_no_profile_has_no_hints(tmp_path, text):
    (tmp_path / "profile").mkdir()
    file = tmp_path / "profile/profile.json"
    profiles = Profiles()
    assert not profiles.hints(tmp_path, TEXT, PLANNED, "/k.cl")
    file.write_text(text)
    assert not profiles.hints(tmp_path, TEXT, PLANNED, "/k.cl")
    file.write_text(json.dumps(profile()))
    assert len(profiles.hints(tmp_path, TEXT, PLANNED, "/k.cl")) == 3


def test_a_project_in_an_editor(tmp_path):
    """Its host runs on the emulator by a lens, and says when it fails; a profile is shown until the text changes."""
    assert CliRunner().invoke(main, ["init", str(tmp_path / "new")]).exit_code == 0
    folder = tmp_path / "new"
    kernel = folder / "kernel.cl"
    text = kernel.read_text()
    at = next(k for k, line in enumerate(text.split("\n"), 1) if "for (" in line)

    async def session():
        async with editor(kernel) as one:

            async def run(command: str, host: str) -> object:
                given = lsp.ExecuteCommandParams(command, [one.uri, host])
                return await asyncio.wait_for(one.client.workspace_execute_command_async(given), PATIENCE)

            async def shown() -> list[str]:
                return [hint.label for hint in await one.hints() if hint.label.startswith("measured")]

            one.open(text)
            await one.planned()
            lenses = [lens.command for lens in await one.lenses() if lens.command.command]
            assert [lens.title for lens in lenses] == [
                "run host.py on the emulator",
                "profile host.py on the simulated board",
            ]
            uri, host = lenses[0].arguments
            assert uri == one.uri
            assert await run("sluice.emulate", host) == 0
            assert one.shown[-1] == "sluice: run host.py on the emulator: done; new: all results are right"
            assert await run("sluice.emulate", "/etc/passwd") is None and "does not name this host" in one.shown[-1]
            (folder / "host.py").write_text("raise SystemExit('it is broken')\n")
            assert await run("sluice.emulate", host) == 1
            assert one.shown[-1] == "sluice: run host.py on the emulator: exit code 1; it is broken"

            launches = [launch(0, 10, 2.0, 0.0)]
            launches[0]["loops"] = [launches[0]["loops"][0] | {"line": at}]
            one.refreshed.clear()
            (folder / "profile").mkdir()
            data = profile(programs=[{"number": 0, "source": text}], launches=launches)
            (folder / "profile/profile.json").write_text(json.dumps(data))
            await one.planned()
            assert await shown() == ["measured: II 2"]
            one.change(text + "\n")
            await one.planned()
            assert await shown() == []

    asyncio.run(session())
