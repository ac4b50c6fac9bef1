"""Python's shared library for cocotb: found, or a message that says what to do."""

from pathlib import Path

import pytest

from sim.testbench import libpython


def test_the_named_library_comes_first(monkeypatch):
    monkeypatch.setenv("LIBPYTHON_LOC", "/some/where/libpython.so")
    assert libpython.locate() == Path("/some/where/libpython.so")


def test_one_that_was_fetched_is_found(monkeypatch, tmp_path):
    monkeypatch.delenv("LIBPYTHON_LOC", raising=False)
    monkeypatch.setattr(libpython.find_libpython, "find_libpython", lambda: None)
    monkeypatch.setattr(libpython.sys, "prefix", str(tmp_path))
    assert libpython.locate() is None
    (tmp_path / "lib").mkdir()
    library = tmp_path / "lib" / f"{libpython.NAME}.so.1.0"
    library.touch()
    assert libpython.locate() == library


def test_without_it_and_without_packages_setup_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(libpython, "locate", lambda: None)
    monkeypatch.setenv("PATH", "/nowhere")
    assert libpython.main() == 0
    said = capsys.readouterr().err
    assert "apt-get is not there" in said and "set LIBPYTHON_LOC" in said


def test_a_package_without_the_library_is_refused(monkeypatch, tmp_path):
    monkeypatch.setattr(libpython.shutil, "which", lambda program: program)
    monkeypatch.setattr(libpython, "_run", lambda command, folder: None)
    with pytest.raises(OSError, match=f"no package {libpython.NAME}"):
        libpython.fetch(tmp_path)
