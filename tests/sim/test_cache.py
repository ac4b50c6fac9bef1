"""The cache of builds: whole entries only, damaged ones made again, nothing left of killed processes."""

import multiprocessing
import os
import random
import stat
from pathlib import Path

import pytest

from sim.cache import HOST, cached
from sim.errors import BuildError
from tests.faults.damage import DAMAGE, change_bytes

KEY, PRODUCT = "0123abcd", "tool"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path))
    return tmp_path


def build(made=None, text="#!/bin/sh\necho made\n"):
    """Make the entry, or find it; ``made`` counts."""

    def make(where: Path) -> None:
        if made is not None:
            made.append(where)
        (where / PRODUCT).write_text(text)
        (where / PRODUCT).chmod(0o755)
        (where / "source").write_text("of it")

    return cached("kind", KEY, PRODUCT, make)


def test_an_entry_is_made_once(folder):
    made = []
    assert build(made) == build(made) == folder / "kind" / KEY / PRODUCT and len(made) == 1
    assert sorted(path.name for path in (folder / "kind").iterdir()) == [KEY, f"{KEY}.lock"]


def entry(folder: Path) -> Path:
    return folder / "kind" / KEY


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_made_anew(folder, damage):
    made = []
    build(made)
    DAMAGE[damage](entry(folder), PRODUCT)
    assert os.popen(str(build(made))).read() == "made\n" and len(made) == 2
    assert sorted(path.name for path in (folder / "kind").iterdir()) == [KEY, f"{KEY}.lock"]


def test_a_thousand_damages(folder):
    """Bytes changed, cut off or added anywhere in the files of an entry, and files removed."""
    rng, noticed = random.Random(7), 0
    whole = build()
    right = whole.read_bytes()
    for _ in range(1000):
        change_bytes(entry(folder), PRODUCT, rng)
        made = []
        assert build(made).read_bytes() == right and os.access(whole, os.X_OK)
        noticed += len(made)
    assert noticed == 1000


def test_a_failed_build_leaves_nothing_behind(folder):
    def fail(where: Path) -> None:
        (where / PRODUCT).write_text("half")
        raise BuildError("the compiler says no")

    with pytest.raises(BuildError, match="says no"):
        cached("kind", KEY, PRODUCT, fail)
    assert [path.name for path in (folder / "kind").iterdir()] == [f"{KEY}.lock"]


def _die(folder):
    os.environ["SLUICE_CACHE"] = str(folder)

    def make(where: Path) -> None:
        (where / PRODUCT).write_text("half")
        os._exit(9)

    cached("kind", KEY, PRODUCT, make)


def test_what_a_process_that_died_left_is_swept(folder):
    process = multiprocessing.get_context("fork").Process(target=_die, args=(folder,))
    process.start()
    process.join()
    assert len(list((folder / "kind").iterdir())) == 2  # the lock, and what was not finished
    build()
    assert sorted(path.name for path in (folder / "kind").iterdir()) == [KEY, f"{KEY}.lock"]


def test_what_a_living_process_makes_stays(folder):
    (folder / "kind").mkdir()
    mine = folder / "kind" / f"ab.{HOST}.{os.getpid()}.cd"
    mine.mkdir()
    build()
    assert mine.is_dir()


@pytest.mark.parametrize("umask, mode", [(0o022, 0o755), (0o002, 0o775), (0o077, 0o700)])
def test_the_mode_is_that_of_the_umask(folder, umask, mode):
    before = os.umask(umask)
    try:
        build()
    finally:
        os.umask(before)
    assert stat.S_IMODE(entry(folder).stat().st_mode) == mode
    assert stat.S_IMODE((folder / "kind" / f"{KEY}.lock").stat().st_mode) == mode & 0o666


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(
        BuildError, match=f"cannot use the build cache {tmp_path}/file/cache: Not a directory; set SLUICE_CACHE"
    ):
        build()
