"""`sluice compile --dep-files`: a rule for make with all files that were read."""

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.dependency_file import dependency_rule

LIBRARY = Path(__file__).parents[1] / "libraries"


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def compiled(*arguments, code=0):
    """What `sluice compile` prints."""
    words = ["compile", *map(str, arguments), "--board", "ecp5_onchip", "--no-html"]
    done = CliRunner().invoke(main, words, prog_name="sluice")
    assert done.exit_code == code, done.output
    return done.output


def test_headers_and_libraries_are_named():
    Path("my headers").mkdir()
    Path("my headers/a.h").write_text("#define N 3\n")
    Path("k.cl").write_text('#include "a.h"\n__kernel void k(__global int *a) { a[0] = INT_MAX - N; }\n')
    compiled("k.cl", "-I", "my headers", "-l", LIBRARY / "functions.toml", "-o", "out", "--dep-files", "k.d")
    rule = Path("k.d").read_text()
    first = rule.partition("\n\n")[0].replace("\\\n", "")
    assert first.startswith("out/interface.json: k.cl ") and "my\\ headers/a.h" in first
    assert str(LIBRARY / "functions.toml") in first and ".v" in first
    assert "hls/frontend" not in rule, "a header of the compiler itself changes only with it"
    Path("Makefile").write_text("include k.d\nout/interface.json:\n\t@echo compile again\n")
    assert subprocess.run(["make"], capture_output=True, text=True, check=True).stdout.count("again") == 0


def test_a_place_that_cannot_be_written_is_told():
    Path("k.cl").write_text("__kernel void k(__global int *a) { a[0] = 1; }\n")
    told = compiled("k.cl", "--dep-files", "nowhere/k.d", code=1)
    assert "cannot write to nowhere/k.d: No such file or directory" in told and "--dep-files" in told


def test_names_are_written_as_make_reads_them(tmp_path):
    odd = tmp_path / "a $b #c:d.h"
    odd.write_text("")
    rule = dependency_rule(Path("out"), [odd, odd, tmp_path / "none.h"])
    (tmp_path / "Makefile").write_text(f"{rule}\nout:\n\t@echo '$^' > $@\n")
    subprocess.run(["make", "-s", "out"], cwd=tmp_path, check=True)
    assert (tmp_path / "out").read_text().strip().endswith("a $b #c:d.h")
