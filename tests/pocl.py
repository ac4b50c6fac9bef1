"""Selects the installed PoCL, an independent OpenCL implementation, that the tests run on.

`make setup` installs one (see the test dependencies in pyproject.toml). If the system has another as well, the newer is
taken: a PoCL fails to compile for a processor that its LLVM does not know, perhaps only at the fiftieth program. Each
is first tried with random programs, in a separate process (tests/differential/probe.py): a compiler that aborts would
abort the tests. One that works is remembered in the cache of builds, for this version and this processor.

    python -m tests.pocl            says which one is taken, or why none
"""

import functools
import re
import subprocess
import sys
from pathlib import Path

from sim.cache import cached, content_key

__all__ = ["NotHere", "choice", "context", "need"]

#: what Python is given, with the platform's number behind it; ends with 0 where that serves
PROBE = ("-m", "tests.differential.probe")
#: for what takes ten
SECONDS = 240
ROOT = Path(__file__).resolve().parents[1]


#: lines of the kernel's description of a processor that say what code it runs
PROCESSOR = re.compile(r"^(?:model name|flags|Features|CPU part)\s*:.*$", re.MULTILINE)


class _Fails(Exception):
    """A PoCL does not compile or run the programs; the message says what it said."""


class NotHere(Exception):
    """No PoCL can be used; the message says why."""


def _version(text: str) -> tuple[int, ...]:
    """Of "OpenCL 3.0 PoCL 3.1+debian ..." it is (3, 1)."""
    found = re.search(r"PoCL (\d+)\.(\d+)", text, re.IGNORECASE)
    return tuple(map(int, found.groups())) if found else ()


def _complaint(number: int, version: str) -> str:
    """What the platform of this number says to the programs; nothing if it works."""
    try:
        cached("pocl", _key(number, version), "works", functools.partial(_try, number))
    except _Fails as said:
        return str(said)
    return ""


def _key(number: int, version: str) -> str:
    """Of what decides whether a PoCL works: itself, the programs, and the processor for which it compiles."""
    try:
        processor = sorted(set(PROCESSOR.findall(Path("/proc/cpuinfo").read_text())))
    except OSError:
        processor = []
    programs = [path.read_text() for path in sorted((ROOT / "tests" / "differential").glob("*.py"))]
    return content_key([version, str(number), *PROBE, *processor, *programs])


def _try(number: int, folder: Path) -> None:
    """Run the programs; write what is kept of it into ``folder``. Raises _Fails."""
    try:
        done = subprocess.run(
            [sys.executable, *PROBE, str(number)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _Fails(f"did not compile fifty programs within {SECONDS} seconds") from None
    if done.returncode:
        lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        told = [line for line in lines if re.search("error", line, re.IGNORECASE)] or lines or ["no message"]
        raise _Fails(f"ended with {done.returncode}: {told[0][:200]}")
    (folder / "works").write_text(str(number))


@functools.cache
def _chosen() -> tuple[int | None, str]:
    """The number of the newest PoCL that works among the platforms, or None, and why."""
    try:
        import pyopencl as cl
    except ImportError as error:
        return None, f"pyopencl cannot be imported: {error}"
    try:
        found = [(p.version, k) for k, p in enumerate(cl.get_platforms()) if "Portable Computing Language" in p.name]
    except cl.Error as error:
        return None, f"no OpenCL platform is installed: {error}"
    complaints = [] if found else ["none of the OpenCL platforms is PoCL"]
    for version, number in sorted(found, key=lambda each: _version(each[0]), reverse=True):
        complaint = _complaint(number, version)
        if not complaint:
            return number, version
        complaints.append(f"{version.split(',')[0].strip()} {complaint}")
    return None, "; ".join(complaints)


def choice() -> int:
    """The number of the platform to use, as PYOPENCL_CTX takes it. Raises NotHere."""
    number, why = _chosen()
    if number is None:
        raise NotHere(why)
    return number


def context():
    """A context on its first device. Raises NotHere."""
    number = choice()
    import pyopencl as cl

    return cl.Context([cl.get_platforms()[number].get_devices()[0]])


def need() -> int:
    """For tests: as :func:`choice`, but skips the test where there is none, with the reason."""
    import pytest

    try:
        return choice()
    except NotHere as error:
        pytest.skip(f"no PoCL: {error}")


if __name__ == "__main__":
    print(*_chosen())
