"""The list of long tests names existing tests."""

import pytest

from tests.conftest import COLLECTED, LONG, NAMED, TESTS


@pytest.mark.parametrize(("file", "function", "identity"), LONG, ids=[" ".join(line) for line in LONG])
def test_names_a_test(file, function, identity):
    assert (TESTS / file).is_file()
    if file not in COLLECTED:
        pytest.skip(f"collect {file} as well, as `make check` does")
    assert (file, function, identity) in NAMED
