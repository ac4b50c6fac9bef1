"""The engine of the replay as a library: built once, and kept next to the simulators."""

import ctypes
import os
import weakref
from enum import IntEnum
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from sim.cache import cached, content_key
from sim.errors import BuildError
from sim.programs import Programs
from sim.toolchain import find_compiler

__all__ = ["BoardMemory", "ChannelText", "LaunchText", "Status", "engine"]

FLAGS = ("-std=gnu++17", "-O2", "-shared", "-fPIC")
PARTS = (
    ("sim.model.engine", ("engine.cpp", "system.cpp", "machine.cpp", "loop.cpp", "memory.cpp", "atomic_memory.cpp")),
    ("sim.dram", ("channel.cpp",)),
)


class Status(IntEnum):
    """How a replay came to a stop: ``System::Status`` in ``engine/system.h``."""

    GAVE_UP, OVER, CORRECTED, STARVED = range(4)


class LaunchText(ctypes.Structure):
    """``Launch`` in ``engine/engine.cpp``."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("numbers", "data", "widths", "counts", "bases")),
        ("records", ctypes.c_uint64),
        ("start", ctypes.c_uint64),
        ("endless", ctypes.c_uint64),
        ("units", ctypes.c_uint64),
        ("figures", ctypes.c_void_p),
        ("cycles", ctypes.c_uint64),
        ("issued", ctypes.c_uint64),
        ("outcomes", ctypes.c_void_p),
        ("grows", ctypes.c_uint64),
        ("unfinished", ctypes.c_uint64),
    ]


class ChannelText(ctypes.Structure):
    """``ChannelPlan`` in ``engine/channel.h``."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("depth", "latency", "held", "board")]


@cache
def engine() -> ctypes.CDLL:
    """The library. Raises ToolMissing, or BuildError if the compiler fails."""
    library = ctypes.CDLL(str(_built()))
    place, number = ctypes.c_void_p, ctypes.c_uint64
    library.sluice_new_replay.argtypes = [place, number, place, number, place, ctypes.c_int64]
    library.sluice_new_replay.restype = ctypes.c_void_p
    library.sluice_continue.argtypes, library.sluice_continue.restype = [place, number, ctypes.c_bool], ctypes.c_uint64
    library.sluice_report.argtypes = [place, place, number]
    library.sluice_delete_replay.argtypes = [place]
    library.sluice_new_memory.restype = ctypes.c_void_p
    library.sluice_delete_memory.argtypes = (ctypes.c_void_p,)
    return library


class BoardMemory:
    """The memory of a running board as the engine has it, from one replay to the next: rows that are open, and when it
    refreshes. ``numbers`` are those of the board. Raises as :func:`engine`."""

    def __init__(self, numbers: np.ndarray) -> None:
        library = engine()
        self.handle = ctypes.c_void_p(library.sluice_new_memory(numbers.ctypes.data_as(ctypes.c_void_p)))
        weakref.finalize(self, library.sluice_delete_memory, self.handle)


def _built() -> Path:
    compiler = find_compiler()
    root = Path(str(files("sim")))
    folders = [root / "model" / "engine", root / "dram"]
    texts = [one.read_text() for folder in folders for one in sorted(folder.iterdir()) if one.suffix in (".h", ".cpp")]
    sources = [root / Path(*package.split(".")[1:]) / name for package, names in PARTS for name in names]
    # In one unit, which reads the headers once: in units of their own the files take almost twice the time.
    unit = "".join(f'#include "{source}"\n' for source in sources)

    def make(folder: Path) -> None:
        (folder / "engine.cc").write_text(unit)
        command = [compiler.path, *FLAGS, str(folder / "engine.cc"), "-o", str(folder / "engine.so")]
        with Programs() as programs:
            done = programs.run(command, environment={**os.environ, "TMPDIR": str(folder)})
        if done.returncode:
            raise BuildError("compiling the engine of the replay failed", done.stderr)

    return cached("replay", content_key([compiler.identity, *FLAGS, *texts]), "engine.so", make)
