"""Without a working PoCL, the tests that need one are skipped, with the reason."""

import pytest

from tests import pocl


@pytest.fixture(autouse=True)
def anew():
    pocl._chosen.cache_clear()
    yield
    pocl._chosen.cache_clear()


def test_a_compiler_that_fails_is_not_taken(monkeypatch):
    pocl.need()
    pocl._chosen.cache_clear()
    monkeypatch.setattr(pocl, "PROBE", ("-c", "import sys; sys.exit('error: unknown target CPU')"))
    with pytest.raises(pytest.skip.Exception, match=r"no PoCL: .*PoCL .* ended with 1: error: unknown target CPU"):
        pocl.need()


def test_a_compiler_that_ends_the_process_ends_only_the_probe(monkeypatch):
    pocl.need()
    pocl._chosen.cache_clear()
    monkeypatch.setattr(pocl, "PROBE", ("-c", "import os; os.abort()"))
    with pytest.raises(pocl.NotHere, match="ended with -6: no message"):
        pocl.choice()


@pytest.mark.parametrize("ends, tries", [(0, 1), (1, 3)])
def test_one_that_works_is_tried_once_and_one_that_fails_each_time(tmp_path, monkeypatch, ends, tries):
    pocl.need()
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(
        pocl, "PROBE", ("-c", f"import sys; open({str(tmp_path / 'tries')!r}, 'a').write('+'); sys.exit({ends})")
    )
    found = []
    for _ in range(3):
        pocl._chosen.cache_clear()
        found.append(pocl._chosen()[0])
    platforms = (tmp_path / "tries").read_text().count("+") // tries
    assert platforms >= 1 and (tmp_path / "tries").read_text() == "+" * tries * platforms
    assert all((number is None) == bool(ends) for number in found)


def test_the_newer_is_taken():
    texts = [
        "OpenCL 3.0 PoCL 3.0-rc2  Linux, LLVM 14.0.6",
        "OpenCL 3.0 PoCL 3.1+debian  Linux",
        "OpenCL 2.0 pocl 1.8",
        "OpenCL 1.2",
    ]
    assert sorted(texts, key=pocl._version) == [texts[3], texts[2], texts[0], texts[1]]
