"""The OpenCL C file whose kernels a host program launches, found by a run of the program on the emulator."""

import contextlib
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .diag import Code, CompileError, Diagnostic
from .driver import parsed_module
from .model.workload import Workload, read_workload, source_hash
from .options import Options
from .tune.host_run import run_host

__all__ = ["source_of"]

#: folders in which no source of a program lies, and which may be large
SKIPPED = frozenset({".git", ".venv", "__pycache__", "node_modules"})
#: files to try: more are not the folder of one program
MOST_FILES = 200


def source_of(host: Path, arguments: Sequence[str], board: str, options: Options) -> Path:
    """The file among the ``.cl`` files in the folder of ``host`` and below with the program whose kernels it launches.

    ``options`` are those of the command without its macros, to which each build of the host adds its own. Raises
    CompileError if the launched kernels are of no such file or of several, StudyError if the host program fails.
    """
    launches = {(one.build, one.source_hash, one.kernel): one for one in _launches(host, arguments, board)}.values()
    texts = _Texts(host.parent, options)
    found = [path for path in texts.files if any(texts.holds(path, launch) for launch in launches)]
    if len(found) == 1:
        return found[0]
    kernels = ", ".join(sorted({launch.kernel for launch in launches}))
    if not launches:
        message, hint = f"{host} launches no kernel", "name a host program that launches the kernels to examine"
    elif found:
        names = ", ".join(map(str, found))
        message = f"{host} launches kernels of {len(found)} files: {names}"
        hint = f"choose one: `{found[0]} --host {host}`"
    else:
        message = f"no .cl file in {host.parent.resolve()} has the program that {host} builds (kernels: {kernels})"
        hint = f"name the file with its kernels before --host {host}"
    raise CompileError(Diagnostic(message, hint=hint, code=Code.STUDY))


def _launches(host: Path, arguments: Sequence[str], board: str) -> list[Workload]:
    with tempfile.TemporaryDirectory(prefix="sluice-launches-") as aside:
        run_host(host, arguments, board, "--workload", aside)
        return [read_workload(one) for one in sorted(Path(aside).glob("*.json.gz"))]


@dataclass(frozen=True)
class _Texts:
    """The sources in a folder, as the builds of a host program read them."""

    folder: Path
    options: Options

    @property
    def files(self) -> list[Path]:
        """The ``.cl`` files, those of the folder itself first."""
        found: list[Path] = []
        for folder, below, names in os.walk(self.folder):
            below[:] = sorted(name for name in below if name not in SKIPPED)
            found += (Path(folder, name) for name in sorted(names) if name.endswith(".cl"))
            if len(found) >= MOST_FILES:
                break
        return found[:MOST_FILES]

    def holds(self, path: Path, launch: Workload) -> bool:
        """Whether the launched kernel is of the program in this file."""
        used = launch.build.applied(self.options)
        used = replace(used, include_dirs=(path.resolve().parent, *used.include_dirs))
        with contextlib.suppress(CompileError, OSError):  # a file that is no program, or one with other macros
            text = path.read_text(encoding="utf-8", errors="replace")
            module = parsed_module(text, used, str(path))
            return source_hash(str(path), module.sources, used.defines) == launch.source_hash
        return False
