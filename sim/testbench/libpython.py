"""The shared library of Python, which cocotb loads into the simulator.

Debian's python3 neither needs nor installs it; its package can be downloaded and unpacked without root:
``python -m sim.testbench.libpython`` does so, into ``lib`` of the virtual environment.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import find_libpython

__all__ = ["fetch", "locate", "main"]

NAME = f"libpython{sys.version_info.major}.{sys.version_info.minor}"


def locate() -> Path | None:
    """``$LIBPYTHON_LOC``, the library that belongs to this Python, the one fetched before, or None."""
    named = os.environ.get("LIBPYTHON_LOC")
    if named:
        return Path(named)
    found = find_libpython.find_libpython()
    if found:
        return Path(found)
    return next(iter(sorted(Path(sys.prefix, "lib").glob(f"{NAME}.so.*"))), None)


def fetch(target: Path) -> Path:
    """Download the package of this Python's version and put its library into ``target``.

    Raises OSError with the output of a program that failed, and if a program or the library is missing.
    """
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise OSError(f"{program} is not there")
    with tempfile.TemporaryDirectory(prefix="sluice-") as name:
        folder = Path(name)
        _download(folder)
        package = next(iter(folder.glob("*.deb")), None)
        if package is None:
            raise OSError(f"no package {NAME}")
        _run(["dpkg-deb", "-x", str(package), str(folder / "content")], folder)
        library = next((p for p in sorted(folder.glob(f"content/usr/lib/*/{NAME}.so.*")) if not p.is_symlink()), None)
        if library is None:
            raise OSError(f"package {package.name} holds no {NAME}.so")
        target.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(library, target / f"{NAME}.so.1.0"))


def _download(folder: Path) -> None:
    """Download the package with its own package lists: the machine's may be missing, and only root may update them."""
    own = []
    for kind in ("State", "Cache"):
        (folder / kind / "lists" / "partial").mkdir(parents=True)
        (folder / kind / "archives" / "partial").mkdir(parents=True)
        own += ["-o", f"Dir::{kind}={folder / kind}"]
    own += [
        "-o",
        "Dir::State::status=/var/lib/dpkg/status",
        "-o",
        "APT::Sandbox::User=",
        "-o",
        "Acquire::Languages=none",
    ]
    _run(["apt-get", "-qq", *own, "update"], folder)
    _run(["apt-get", "-qq", *own, "download", NAME], folder)


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise OSError(f"{command[0]}: {done.stderr.strip() or done.stdout.strip()}")


def main() -> int:
    """Make sure that the library exists; if it cannot be had, says what to do and is no error."""
    if locate() is not None:
        return 0
    print(f"setup: fetching {NAME} for cocotb testbenches")
    try:
        fetch(Path(sys.prefix, "lib"))
    except OSError as error:
        print(
            f"setup: {NAME} could not be fetched ({error}); everything but the generated cocotb testbenches works "
            f"without it. To run those, install the package {NAME} or set LIBPYTHON_LOC to the library.",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
