"""The list of long tests names tests that there are."""

import pytest

from tests.conftest import LONG, TESTS


@pytest.mark.parametrize(("file", "function", "identity"), LONG, ids=[" ".join(line) for line in LONG])
def test_names_a_test(file, function, identity):
    text = (TESTS / file).read_text()
    assert f"\ndef {function}(" in text if function != "*" else "verilator" in text
