"""Spaces: constraints, files of the user, and the order of points."""

import pytest

from hls.frontend import parse_source
from hls.ir import Attr, walk
from hls.tune import Knob, StudyError
from hls.tune.knobs import most_copies
from hls.tune.space import Constraint, limited, points, read_space, single_changes, size_of

KNOBS = (Knob("unroll k@11", "unroll", None, (None, 2, 4, 8)), Knob("-D TILE", "define", None, ("4", "8")))


def test_points_begin_with_the_program_as_written_and_single_changes():
    found = list(points(KNOBS))
    assert len(found) == size_of(KNOBS) == 8
    assert found[0] == {"unroll k@11": None, "-D TILE": "4"}
    assert found[: len(list(single_changes(KNOBS)))] == sorted(single_changes(KNOBS), key=lambda one: found.index(one))


@pytest.mark.parametrize(
    ("text", "left"),
    [("TILE % k == 0", 8 - 1), ("k <= 4 and TILE == 8", 3), ("TILE // 2 > k", 3), ("k * TILE < 20 or k == 8", 7)],
)
def test_constraints_name_macros_and_loops(text, left):
    # a loop as written counts as 1
    assert len(list(points(KNOBS, [Constraint(text)]))) == left


@pytest.mark.parametrize("text", ["k ==", "k.real == 1", "open(k)", "k // 0 == 1", "'a' == k"])
def test_other_constraints_are_errors(text):
    with pytest.raises(StudyError, match="write a comparison"):
        list(points(KNOBS, [Constraint(text)]))


def test_a_file_gives_values_constraints_and_fixed_knobs(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text('constraints = ["k < 8"]\nfixed = ["-D TILE"]\n[values]\n"unroll k@11" = [2, 8]\n')
    file = read_space(path)
    knobs = limited(KNOBS, file)
    assert [(one.name, one.values) for one in knobs] == [("unroll k@11", (2, 8))]
    assert list(points(knobs, file.constraints)) == [{"unroll k@11": 2}]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("knobs = 1", "unknown key 'knobs'"),
        ("values = 3", "a list of values"),
        ("[values]\na = []", "a list of values"),
        ('constraints = "k"', "must be a list"),
        ("a = ", "Invalid value"),
    ],
)
def test_a_file_of_another_form_is_an_error(tmp_path, text, told):
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(StudyError, match=told):
        read_space(path)


def test_a_name_that_no_knob_has_is_an_error_that_lists_them(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text('[values]\n"unroll z@1" = [2]\n')
    with pytest.raises(StudyError, match="no knob is called 'unroll z@1'; the program has -D TILE, unroll k@11"):
        limited(KNOBS, read_space(path))


def test_copies_of_loops_beside_each_other_are_not_multiplied():
    text = "__kernel void k(__global int *restrict a) { for (int i = 0; i < 64; i++) for (int j = 0; j < 64; j++) "
    text += "a[i * j] = i; for (int m = 0; m < 64; m++) a[m] += m; }"
    module = parse_source(text, "k.cl", {}, []).module
    places = {op.attrs[Attr.LABEL]: op.span for op in walk(module.functions["k"].body) if op.opcode == "loop"}
    knobs = [Knob(name, "unroll", span, (None, 2, 4, -1)) for name, span in places.items()]
    knobs.append(Knob("units", "num_compute_units", module.functions["k"].span, (None, 2)))
    assert most_copies(module, knobs, {}) == 1
    assert most_copies(module, knobs, {"i": 4, "j": 2, "m": 4}) == 8
    assert most_copies(module, knobs, {"i": -1, "j": 2, "m": 4, "units": 2}) == 8
