"""The commit that `sluice --version` shows: of a clone, of a worktree, of what is packed, and none."""

import subprocess

import pytest
from click.testing import CliRunner

from hls import version
from hls.cli import main


def git(folder, *arguments):
    """What git prints, for an author that no configuration has to name."""
    own = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *own, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "commit", "-q", "--allow-empty", "-m", "first")
    return folder


def test_of_a_branch_and_of_a_detached_head(clone):
    first = git(clone, "rev-parse", "HEAD")
    assert version.checked_out(clone) == first
    git(clone, "commit", "-q", "--allow-empty", "-m", "second")
    assert version.checked_out(clone) == git(clone, "rev-parse", "HEAD") != first
    git(clone, "checkout", "-q", first)
    assert version.checked_out(clone) == first


def test_of_packed_references_and_of_a_worktree(clone):
    git(clone, "worktree", "add", "-q", "-b", "side/branch", "../side")
    git(clone.parent / "side", "commit", "-q", "--allow-empty", "-m", "aside")
    aside = git(clone.parent / "side", "rev-parse", "HEAD")
    assert version.checked_out(clone.parent / "side") == aside != git(clone, "rev-parse", "HEAD")
    git(clone, "pack-refs", "--all")
    assert version.checked_out(clone) == git(clone, "rev-parse", "HEAD")
    assert version.checked_out(clone.parent / "side") == aside


@pytest.mark.parametrize("head", [None, "", "ref: refs/heads/none", "not a commit"])
def test_of_what_is_no_clone(tmp_path, head):
    if head is not None:
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git/HEAD").write_text(head)
    assert version.checked_out(tmp_path) == ""


def test_the_command_shows_it(monkeypatch):
    monkeypatch.setattr(version, "checked_out", lambda root: "0123456789abcdef" * 2 + "01234567")
    assert version.version_text() == f"{version.version()} (commit 0123456789)"
    monkeypatch.setattr(version, "checked_out", lambda root: "")
    assert version.version_text() == version.version()
    assert CliRunner().invoke(main, ["--version"], prog_name="sluice").output.startswith(f"sluice {version.version()}")
