"""A missing resource of the machine (memory, a home folder, disk space) is reported: never as a fault of the
compiler, never as a traceback."""

import errno
import os
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from hls.diag import internal_error, machine_trouble
from sim.cache import cached
from sim.errors import BuildError
from tests.faults.commands import SLUICE

KERNEL = "__kernel void k(__global int *o) { o[0] = 7; }\n"
HOST = """import numpy as np
import sluice.cl as cl
context = cl.create_some_context()
queue, out, found = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4), np.zeros(1, np.int32)
cl.Program(context, open("k.cl").read()).build().k(queue, (1,), None, out).wait()
cl.enqueue_copy(queue, found, out).wait()
print(found[0])
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "k.cl").write_text(KERNEL)
    (tmp_path / "host.py").write_text(HOST)
    return tmp_path


def run(folder: Path, *arguments: str, memory: int | None = None, **environment: str | None):
    env = {**os.environ, **environment}

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        [*SLUICE, *arguments],
        cwd=folder,
        env={name: value for name, value in env.items() if value is not None},
        preexec_fn=limited if memory else None,
        capture_output=True,
        text=True,
        check=False,
    )


def refused(done) -> str:
    assert done.returncode == 1 and "Traceback" not in done.stderr and "internal" not in done.stderr, done.stderr
    return done.stderr


@pytest.mark.parametrize("gibibytes", [0.5, 2])
def test_little_memory_for_the_compiler(folder, gibibytes):
    said = refused(run(folder, "compile", "k.cl", memory=int(gibibytes * 2**30), SLUICE_CACHE=str(folder / "cache")))
    assert said.startswith("error[E0908]: out of memory") and "ulimit -v" in said and len(said.splitlines()) == 2
    assert not (folder / "k").exists()


def test_little_memory_for_the_board(folder):
    said = refused(run(folder, "run", "--device", "emulator", "host.py", memory=2 << 30))
    assert said.startswith(
        "host.py:4: error: clCreateContext failed: OUT_OF_HOST_MEMORY - the board's memory of 4.03 GiB cannot be mapped"
    )


def test_little_memory_for_the_compiler_in_a_host_program(folder):
    said = refused(
        run(folder, "run", "--board", "ecp5_onchip", "host.py", memory=2 << 30, SLUICE_CACHE=str(folder / "cache"))
    )
    assert (
        said.startswith("host.py:5: error: clEnqueueNDRangeKernel failed: OUT_OF_RESOURCES")
        and "error[E0908]: out of memory: the translator to Verilog" in said
    )


@pytest.mark.parametrize("home", ["/dev/null", "/proc/nobody", None])
def test_without_a_home(folder, home):
    """Containers run as users that have none: the caches of the user are done without."""
    done = run(folder, "compile", "k.cl", HOME=home, XDG_CACHE_HOME=None, SLUICE_CACHE=None)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["host.py", "k", "k.cl"]


def test_a_cache_that_cannot_be_written(folder):
    said = refused(run(folder, "run", "--device", "emulator", "host.py", SLUICE_CACHE="/proc/cache"))
    assert "cannot use the build cache /proc/cache" in said and "set SLUICE_CACHE" in said


def test_no_room_for_a_build(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path))

    def make(folder):
        raise OSError(errno.ENOSPC, "No space left on device", str(folder / "unit.cc"))

    with pytest.raises(BuildError, match="cannot use the build cache .*: No space left on device; set SLUICE_CACHE"):
        cached("kind", "ab", "tool", make)
    assert [path.name for path in (tmp_path / "kind").iterdir()] == ["ab.lock"]


@pytest.mark.parametrize(
    "said",
    [
        "cc1plus: out of memory allocating 65536 bytes after a total of 1234 bytes",
        "g++: fatal error: Killed signal terminated program cc1plus",
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ],
)
def test_little_memory_for_the_cpp_compiler(folder, said):
    compiler = folder / "bin" / "g++"
    compiler.parent.mkdir()
    compiler.write_text(
        f'#!/bin/sh\ncase "$*" in *kernels.cpp*) echo "{said}" >&2; exit 1;; esac\nexec "{shutil.which("g++")}" "$@"\n'
    )
    compiler.chmod(0o755)
    found = refused(
        run(folder, "run", "--device", "emulator", "host.py", SLUICE_CACHE=str(folder / "cache"), CXX=str(compiler))
    )
    assert said in found and "there is not enough memory" in found


def test_modules_of_the_working_directory_are_not_the_translators(folder):
    """It is a Python program of its own."""
    (folder / "wasmtime.py").write_text("raise SystemExit('mine')\n")
    done = run(folder, "compile", "k.cl", SLUICE_CACHE=str(folder / "cache"))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "error, said",
    [
        (MemoryError(), "out of memory"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "out of memory"),
        (RuntimeError("can't start new thread"), "out of memory: can't start new thread"),
        (RuntimeError("std::bad_alloc"), "out of memory"),
        (RuntimeError("memory allocation of 16777216 bytes failed"), "out of memory: memory allocation of 16777216"),
        (
            ImportError("a.so: failed to map segment from shared object\nsee the installation"),
            "out of memory: a.so: failed to map segment from shared object",
        ),
        (OSError(errno.ENOSPC, "No space left on device", "a/b"), "a/b: No space left on device"),
        (OSError(errno.EROFS, "Read-only file system", "a/b"), "a/b: Read-only file system"),
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files"),
        (RuntimeError("Traceback:\n  OSError: [Errno 27] File too large\n"), "OSError: [Errno 27] File too large"),
        (RuntimeError("cannot write x.o: No space left on device"), "cannot write x.o: No space left on device"),
    ],
)
def test_words(error, said):
    found = machine_trouble(error)
    assert found.message.startswith(said) and found.hint
    try:
        raise KeyError from error
    except KeyError as wrapped:
        assert internal_error(wrapped).message == found.message


@pytest.mark.parametrize("arguments", [("compile", "k.cl"), ("--help",), ("opt", "--list-passes")])
def test_output_to_a_full_disk(folder, arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*SLUICE, *arguments], cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    said = refused(done)
    assert said.startswith("error[E0909]: ") and "No space left on device\n  hint: make room" in said


def test_few_open_files_in_a_host_program(folder):
    """The error is raised by a function of Python that one of ours called."""
    limit = 'import resource\ntext = open("k.cl").read()\nresource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))\n'
    build = HOST.index("cl.Program")
    (folder / "few.py").write_text(HOST[:build] + limit + HOST[build:].replace('open("k.cl").read()', "text"))
    said = refused(run(folder, "run", "--device", "emulator", "few.py", SLUICE_CACHE=str(folder / "cache")))
    assert "Too many open files" in said and said.startswith("few.py:"), said


def test_other_errors_are_faults():
    assert (
        machine_trouble(FileNotFoundError(errno.ENOENT, "No such file", "x")) is None
        and machine_trouble(KeyError("memory bank")) is None
    )
