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


def test_the_newer_is_taken():
    texts = [
        "OpenCL 3.0 PoCL 3.0-rc2  Linux, LLVM 14.0.6",
        "OpenCL 3.0 PoCL 3.1+debian  Linux",
        "OpenCL 2.0 pocl 1.8",
        "OpenCL 1.2",
    ]
    assert sorted(texts, key=pocl._version) == [texts[3], texts[2], texts[0], texts[1]]
