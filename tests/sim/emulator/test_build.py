"""Libraries of programs: those for short runs share their runtime."""

import ctypes
from pathlib import Path

import pytest

from sim.emulator.build import build_library
from sim.errors import BuildError

RUNTIME = "static int many() { return 7; }\n"


def text(number: int) -> str:
    return f'extern "C" int result() {{ return many() * {number}; }}\n'


@pytest.fixture
def headers(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path))
    return tmp_path / "emulator-header"


def result(library: Path) -> int:
    return ctypes.CDLL(str(library)).result()


def test_programs_share_their_runtime(headers):
    assert [result(build_library(text(k), True, RUNTIME)) for k in (1, 2)] == [7, 14]
    assert len(list(headers.glob("*/runtime.h.gch"))) == 1
    assert result(build_library(text(1), True, RUNTIME.replace("7", "9"))) == 9
    assert len(list(headers.glob("*/runtime.h.gch"))) == 2


def test_a_program_that_is_optimized_has_its_runtime_within(headers):
    assert result(build_library(text(3), False, RUNTIME)) == 21 and not headers.exists()


def test_a_damaged_header_is_made_anew(headers):
    build_library(text(1), True, RUNTIME)
    (entry,) = (path for path in headers.iterdir() if path.is_dir())
    (entry / "runtime.h.gch").write_bytes(b"none")
    assert result(build_library(text(2), True, RUNTIME)) == 14
    assert (entry / "runtime.h.gch").stat().st_size > 1000


def test_a_header_that_the_compiler_rejects_is_read_as_text(headers, monkeypatch):
    """One precompiled with other options: the compiler says nothing, and reads the text beside it."""
    build_library(text(1), True, RUNTIME)
    (entry,) = (path for path in headers.iterdir() if path.is_dir())
    monkeypatch.setattr("sim.emulator.build._precompiled", lambda *_: entry / "runtime.h")
    monkeypatch.setattr("sim.emulator.build.HASTY", ("-O0", "-DHASTY", "-fexceptions"))
    assert result(build_library(text(2), True, RUNTIME)) == 14


@pytest.mark.parametrize("word", ["c++-header", "-include"])
def test_a_compiler_without_precompiled_headers_reads_the_whole_text(headers, tmp_path, monkeypatch, word):
    """One that makes none, and one that rejects what it made in another folder."""
    other = tmp_path / "other"
    other.write_text(
        f'#!/bin/sh\ncase " $* " in *" {word} "*) echo error: rejected >&2; exit 1;; esac\nexec g++ "$@"\n'
    )
    other.chmod(0o755)
    monkeypatch.setenv("CXX", str(other))
    assert [result(build_library(text(k), True, RUNTIME)) for k in (1, 2)] == [7, 14]


def test_an_error_in_a_program_is_told(headers):
    with pytest.raises(BuildError, match="compiling the emulated kernels failed: .*error"):
        build_library("int none = missing;", True, RUNTIME)
