"""Functions that are equal up to the channels that they call."""

import pytest

from hls.ir import print_function
from hls.ir.channel_renaming import channel_renaming, renamed
from hls.ir.parser import parse_function


def stage(name: str, read: tuple[str, int], write: tuple[str, int], add: int = 9, also: str = "") -> str:
    return f"""kernel @{name}() {{autorun = true}} {{
  %on: i1 = const {{value = 1}}
  %from: i64 = const {{value = {read[1]}}}
  %x: i32 = channel_read %from, %on {{channel = "{read[0]}", blocking = true, length = 64}}
  %k: i32 = const {{value = {add}}}
  %y: i32 = add %x, %k
  %to: i64 = const {{value = {write[1]}}}
  channel_write %to, %on, %y {{channel = "{write[0]}", blocking = true, length = 64}}
{also}  return
}}
"""


def test_a_copy_with_its_own_channels():
    first, second = (parse_function(stage(f"k_{n}", ("a", n), ("b", n + 1))) for n in (10, 20))
    found = channel_renaming(first, second)
    assert found is not None and found.indices == {10: 20, 11: 21}
    copy = renamed(first, found, "k_20")
    assert copy is not None and print_function(copy) == print_function(second)
    assert print_function(first) == print_function(parse_function(stage("k_10", ("a", 10), ("b", 11))))
    other = parse_function(stage("m", ("c", 10), ("d", 12)))
    found = channel_renaming(first, other)
    assert found is not None and (found.names, found.indices) == ({"a": "c", "b": "d"}, {10: 10, 11: 12})


@pytest.mark.parametrize(
    "other",
    [
        stage("m", ("a", 20), ("b", 21), add=8),  # computes something else
        stage("m", ("a", 21), ("b", 20)),  # its channels sort in the other order
        stage("m", ("d", 20), ("c", 21)),
        stage("m", ("a", 20), ("b", 20)),  # two channels became one
        stage("m", ("a", 20), ("a", 21)),
    ],
)
def test_functions_that_differ_in_more_than_channels(other):
    assert channel_renaming(parse_function(stage("k", ("a", 10), ("b", 11))), parse_function(other)) is None


USED = '  channel_write %to, %on, %z {channel = "c", blocking = true, length = 64}\n'


@pytest.mark.parametrize(
    ("also", "same"),
    [
        ("  %z: i32 = trunc %to\n" + USED, False),  # the index is a number of the program, too
        ("  %other: i64 = const {value = 21}\n  %z: i32 = trunc %other\n" + USED, False),  # equals the copy's index
        ("  %other: i64 = const {value = 5}\n  %z: i32 = trunc %other\n" + USED, True),
        ("  %z: i32 = const {value = 21}\n" + USED, True),  # of another type than indices: never merged with one
    ],
)
def test_an_index_that_may_be_merged_with_a_number_of_the_program(also, same):
    first = parse_function(stage("k", ("a", 10), ("b", 11), also=also))
    second = parse_function(stage("m", ("a", 20), ("b", 21), also=also))
    assert (channel_renaming(first, second) is not None) == same


def test_what_passes_left_names_a_channel_elsewhere():
    """Not renamed, as what the name stands for there is not known."""
    first, second = (parse_function(stage(name, (name, 1), ("z", 2))) for name in ("k", "m"))
    found = channel_renaming(first, second)
    assert found is not None and renamed(first, found, "m") is not None
    first.attrs["console"] = "k"
    assert renamed(first, found, "m") is None
