"""The version of this program, and the commit that it was made from."""

import re
from importlib import metadata, resources
from pathlib import Path

__all__ = ["COMMIT_FILE", "DISTRIBUTION", "checked_out", "commit", "version", "version_text"]

#: the name of what pip installs
DISTRIBUTION = "sluice-hls"
#: in an installed package: the commit, written when the package was built
COMMIT_FILE = "commit.txt"
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHORT = 10  #: digits of a commit that are shown


def version() -> str:
    """The version, as ``0.1.0``; "from sources" where the package is not installed."""
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "from sources"


def version_text() -> str:
    """The version with the commit, where one is known, as ``0.1.0 (commit 0123456789)``."""
    found = commit()
    return f"{version()} (commit {found[:_SHORT]})" if found else version()


def commit() -> str:
    """The commit of the sources that run, or that the installed package was built from; "" if it is not known."""
    built = resources.files("hls").joinpath(COMMIT_FILE)
    return built.read_text().strip() if built.is_file() else checked_out(Path(__file__).parents[1])


def checked_out(root: Path) -> str:
    """The commit that is checked out in a clone, or in a worktree of one; "" if ``root`` is neither. Read from git's
    files: starting git would take longer than all else that the command does."""
    found = _head(root).strip()
    return found if _HASH.fullmatch(found) else ""


def _head(root: Path) -> str:
    folder = root / ".git"
    try:
        if folder.is_file():  # of a worktree: names its folder
            folder = root / folder.read_text().removeprefix("gitdir:").strip()
        head = (folder / "HEAD").read_text().strip()
        if not head.startswith("ref:"):
            return head
        name = head.removeprefix("ref:").strip()
        common = folder / "commondir"
        shared = folder / common.read_text().strip() if common.is_file() else folder
        for place in (folder, shared):
            if (place / name).is_file():
                return (place / name).read_text()
        packed = (shared / "packed-refs").read_text().splitlines()
        return next((line.split()[0] for line in packed if line.endswith(f" {name}")), "")
    except OSError:
        return ""
