"""``sluice library pack``: one file that is used as the description is."""

import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.rtl_library import load_library

HERE = Path(__file__).parent
CALL = '#include "waiting.h"\n__kernel void k(__global uint *o) { o[0] = gcd(o[1], 12) + square(o[2]); }'


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "cache"))


def run(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words])


def packed(folder: Path, library: str = "waiting.xml") -> Path:
    done = run("library", "pack", HERE / library, "-o", folder / "lib.slib")
    assert done.exit_code == 0, done.output
    return folder / "lib.slib"


def test_a_packed_library_is_the_library(tmp_path):
    first, again = packed(tmp_path).read_bytes(), packed(tmp_path).read_bytes()
    assert first == again
    for one, other in zip(load_library(tmp_path / "lib.slib"), load_library(HERE / "waiting.xml"), strict=True):
        assert (one.verilog, one.ports, one.stallable, one.latency) == (
            *(other.verilog, other.ports, other.stallable, other.latency),
        )
        assert one.model.read_text() == other.model.read_text()
    assert sorted(zipfile.ZipFile(tmp_path / "lib.slib").namelist()) == [
        *("library.toml", "models/waiting.cl", "models/waiting.h", "rtl/gcd.v", "rtl/square.v")
    ]


def test_what_models_include_may_be_elsewhere(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/waiting.h").write_text((HERE / "waiting.h").read_text())
    text = (HERE / "waiting.cl").read_text().replace('"waiting.h"', '"../shared/waiting.h"')
    (tmp_path / "models/waiting.cl").write_text(text)
    for name in ("gcd.v", "square.v"):
        (tmp_path / name).write_text((HERE / name).read_text())
    described = (HERE / "waiting.xml").read_text().replace("waiting.cl", "models/waiting.cl")
    (tmp_path / "lib.xml").write_text(described)
    assert run("library", "pack", tmp_path / "lib.xml").exit_code == 0
    (tmp_path / "k.cl").write_text(CALL.replace("waiting.h", "shared/waiting.h"))
    done = run("compile", tmp_path / "k.cl", "-l", tmp_path / "lib.slib", "-o", tmp_path / "out", "--no-html")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out/rtl/gcd.v").read_text().endswith((HERE / "gcd.v").read_text())


def refused(*words: object) -> str:
    done = run(*words)
    assert done.exit_code == 1
    assert "E0916" in done.output
    return done.output


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["rtl/gcd.v"], "the archive is no library: it has no file library.toml"),
        (["library.toml", "../gcd.v"], "the archive has a file of another folder: '../gcd.v'"),
        (["library.toml", "/gcd.v"], "the archive has a file of another folder: '/gcd.v'"),
        (["library.toml", *(f"{k}.v" for k in range(1000))], "the archive has more than 1,000 files, or 64 MiB"),
    ],
)
def test_archives_that_are_refused(tmp_path, names, message):
    with zipfile.ZipFile(tmp_path / "a.slib", "w") as archive:
        for name in names:
            archive.writestr(name, "")
    assert message in refused("library", "list", tmp_path / "a.slib")


def test_damaged_archives(tmp_path, monkeypatch):
    file = packed(tmp_path)
    data = file.read_bytes()
    for wrong in (data[: len(data) // 2], data[:60] + bytes(20) + data[80:]):
        file.write_bytes(wrong)
        assert "the packed library is damaged" in refused("library", "list", file)
    file.write_bytes(data)
    monkeypatch.setenv("SLUICE_CACHE", str(file))
    done = run("library", "list", file)
    assert "cannot be unpacked: Not a directory" in done.output
    monkeypatch.delenv("SLUICE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # as that of a user without a home
    assert "there is no folder to unpack the library in" in refused("library", "list", file)


def test_libraries_that_cannot_be_packed(tmp_path):
    for name in ("gcd.v", "square.v"):
        (tmp_path / name).write_text((HERE / name).read_text())
    (tmp_path / "waiting.cl").write_text('#include "none.h"\n')
    (tmp_path / "lib.xml").write_text((HERE / "waiting.xml").read_text())
    done = run("library", "pack", tmp_path / "lib.xml")
    assert done.exit_code == 1
    assert f"{tmp_path / 'waiting.cl'}:1" in done.output
    (tmp_path / "x").mkdir()
    (tmp_path / "x/gcd.v").write_text((HERE / "square.v").read_text())
    (tmp_path / "lib.xml").write_text((HERE / "waiting.xml").read_text().replace("square.v", "x/gcd.v"))
    (tmp_path / "waiting.cl").write_text((HERE / "waiting.cl").read_text().replace('#include "waiting.h"', ""))
    assert "two Verilog files are named gcd.v" in refused("library", "pack", tmp_path / "lib.xml")
    done = run("library", "pack", HERE / "waiting.xml", "-o", tmp_path / "none" / "lib.slib")
    assert done.exit_code == 1
    assert "cannot write" in done.output
