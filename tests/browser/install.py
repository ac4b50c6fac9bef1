"""Unpacks Debian's Chromium and its driver into .venv/chromium: no root, and nothing of the system changes.

Run as ``python -m tests.browser.install``. The packages are those that ``apt-get install`` would add to this system, so
what is installed already is not fetched again.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.browser.chromium import FOLDER, find

PACKAGES = ("chromium", "chromium-driver", "fonts-dejavu-core")


def main() -> int:
    found = find()
    if found:
        print(f"browser: {found.binary} is there")
        return 0
    if not all(shutil.which(tool) for tool in ("apt-get", "dpkg")):
        print("browser: no apt-get here; install chromium and chromedriver, then run this again", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder:
        options = _lists(Path(folder))
        names = _needed(options)
        if not names:
            print("browser: apt knows no package chromium; is Debian's main archive in its sources?", file=sys.stderr)
            return 1
        print(f"browser: fetching {len(names)} packages into {FOLDER} (150 MB, 420 MB unpacked)", flush=True)
        try:
            # as root, apt would change to a user of its own, who may not write into the folder
            download = ["apt-get", *options, "-o", "APT::Sandbox::User=root", "-qq", "download", *names]
            subprocess.run(download, cwd=folder, check=True)
            _unpack(Path(folder), FOLDER)
        except subprocess.CalledProcessError as error:
            print(f"browser: {error.cmd[0]} failed, see above", file=sys.stderr)
            return 1
    if not find():
        print(f"browser: {FOLDER} has no chromium after unpacking", file=sys.stderr)
        return 1
    return 0


def _lists(folder: Path) -> list[str]:
    """Options of apt-get with which it knows Chromium: none, or those of package lists of our own in ``folder``."""
    if _needed([]):
        return []
    (folder / "lists" / "partial").mkdir(parents=True)
    options = ["-o", f"Dir::State::lists={folder / 'lists'}", "-o", f"Dir::Cache={folder}", "-o", "Debug::NoLocking=1"]
    subprocess.run(["apt-get", *options, "-qq", "update"], check=False)
    return options


def _needed(options: list[str]) -> list[str]:
    """The packages that an installation would add; none if apt does not know them."""
    command = ["apt-get", *options, "install", "--simulate", "--no-install-recommends", *PACKAGES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith("Inst ")]


def _unpack(packages: Path, target: Path) -> None:
    """Unpack all packages into ``target``, which appears only when it is complete."""
    made = target.with_name(target.name + ".new")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    for package in sorted(packages.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(made)], check=True)
    shutil.rmtree(target, ignore_errors=True)
    made.rename(target)


if __name__ == "__main__":
    sys.exit(main())
