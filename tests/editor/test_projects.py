"""`sluice lsp` in a project: sluice.toml and board files, which change while the server runs."""

import asyncio
from pathlib import Path

import pytest

from hls.editor.projects import Projects, Watched
from tests.editor.client import PATIENCE, editor

ROOT = Path(__file__).parents[2]
TEXT = """\
#include "step.h"
__kernel void total(__global const float *restrict a, __global float *restrict out)
{
    float s = 0;
    for (int i = 0; i < COUNT; i += STEP)
        s += a[i];
    out[0] = s;
}
"""
PROJECT = 'board = "own.toml"\ninclude-dirs = ["inc"]\n[defines]\nCOUNT = 64\n'


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("SLUICE_BOARD", raising=False)
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc/step.h").write_text("#define STEP 1\n")
    (tmp_path / "k.cl").write_text(TEXT)
    (tmp_path / "own.toml").write_text((ROOT / "boards/de5net.toml").read_text())
    (tmp_path / "sluice.toml").write_text(PROJECT)
    return tmp_path


async def until(condition) -> None:
    async def wait() -> None:
        while not condition():
            await asyncio.sleep(0.05)

    await asyncio.wait_for(wait(), PATIENCE)


async def loop_of(one) -> str:
    return next(hint.label for hint in await one.hints() if hint.label.startswith("II"))


def test_the_server_follows_project_and_board(folder):
    """Macros, folders and board are the project's; a change of either file is seen without a change of the text."""
    project, board = folder / "sluice.toml", folder / "own.toml"

    async def session():
        async with editor(folder / "k.cl") as one:
            one.open(TEXT)
            await one.planned()
            first = await loop_of(one)
            one.refreshed.clear()
            project.write_text(PROJECT.replace('"own.toml"', '"own.toml"\nclock = 100'))
            await one.planned()
            slower = await loop_of(one)
            board.write_text('[board]\nname = "half"\n')
            await until(lambda: any("own.toml" in told.message for told in one.published[one.uri]))
            broken = [(told.code, told.message) for told in one.published[one.uri] if told.code == "E0904"]
            one.refreshed.clear()
            board.write_text((ROOT / "boards/de5net.toml").read_text())
            await one.planned()
            return first, slower, broken, await loop_of(one), one.published[one.uri]

    first, slower, broken, mended, told = asyncio.run(session())
    assert first.startswith("II 6") and not slower.startswith("II 6") and slower.startswith("II ")
    assert len(broken) == 1 and "own.toml" in broken[0][1]
    assert mended == slower
    assert not [one for one in told if one.code != "W0706"]


def test_a_project_that_is_saved_half_way(folder):
    """Its error is shown in it; what it said before holds until it is whole again."""
    project = folder / "sluice.toml"

    async def session():
        async with editor(folder / "k.cl") as one:
            one.open(TEXT)
            await one.planned()
            one.refreshed.clear()
            project.write_text(PROJECT + "[opt")
            await until(lambda: one.published.get(project.as_uri()))
            (error,) = one.published[project.as_uri()]
            await one.planned()
            label = await loop_of(one)
            project.write_text(PROJECT)
            await until(lambda: one.published[project.as_uri()] == [])
            return error, label

    error, label = asyncio.run(session())
    assert (error.code, error.range.start.line, error.range.start.character) == ("E0920", 4, 4)
    assert label.startswith("II 6")


def test_the_editors_board_wins(folder):
    async def session(*options: str, settings: object = None):
        async with editor(folder / "k.cl", *options, settings=settings) as one:
            one.open(TEXT)
            await one.planned()
            return await loop_of(one)

    (folder / "sluice.toml").write_text(PROJECT.replace('"own.toml"', '"own.toml"\nclock = 100'))
    own = asyncio.run(session())
    assert asyncio.run(session("--board", "de5net")) == asyncio.run(session(settings={"board": "de5net"})) != own


def test_projects_are_read_again_after_a_change_only(folder):
    projects, file = Projects(), folder / "sluice.toml"
    first = projects.of(folder)
    assert projects.of(folder) is first
    file.write_text(PROJECT + "zzz")
    assert projects.of(folder) is first
    ((path, text, (error,)),) = projects.errors()
    assert (path, text, error.span.file, error.span.line) == (str(file), PROJECT + "zzz", str(file), 5)
    file.unlink()
    assert projects.of(folder) is None and not list(projects.errors())


def test_changes_are_noticed_once(folder):
    watched, board = Watched(), folder / "own.toml"
    inner = folder / "inc"
    assert not watched.changed({inner}, {board})
    assert not watched.changed({inner}, {board})
    board.write_text("")
    assert watched.changed({inner}, {board}) and not watched.changed({inner}, {board})
    (inner / "sluice.toml").write_text("")  # a nearer one
    assert watched.changed({inner}, {board}) and not watched.changed({inner}, {board})
    (inner / "sluice.toml").unlink()
    assert watched.changed({inner}, set()) and not watched.changed({inner, folder}, {board})
