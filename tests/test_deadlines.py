"""Tests of random examples have no deadline, which a busy machine would miss."""

from hypothesis import given, settings
from hypothesis import strategies as st


@given(st.just(None))
@settings(max_examples=1)
def test_no_example_has_one(_):
    assert settings.default.deadline is None
