"""The module that the example programs share."""

import sys

import numpy as np
import pytest
from hosts import EXAMPLES

sys.path.insert(0, str(EXAMPLES))
from common import check, options


def test_options_come_from_the_command_line_then_the_environment_then_the_default(monkeypatch):
    assert options("", [], n=5).n == 5
    monkeypatch.setenv("SLUICE_EXAMPLE_N", "7")
    assert options("", [], n=5).n == 7
    assert options("", ["--n=9"], n=5).n == 9


@pytest.mark.parametrize("word", ["0", "-3", "many"])
def test_options_refuse_what_is_no_size(word, capsys):
    with pytest.raises(SystemExit) as end:
        options("", [f"--n={word}"], n=5)
    assert end.value.code == 2
    assert "--n" in capsys.readouterr().err


def test_check_compares_bytes_not_values():
    zeros = np.array([0.0, 0.0], dtype=np.float32)
    with pytest.raises(SystemExit, match="1 of 2 values differ, first at 1"):
        check("zero", np.array([0.0, -0.0], dtype=np.float32), zeros)
    nan = np.array([np.nan], dtype=np.float32)
    check("nan", nan, nan.copy())


@pytest.mark.parametrize("other", [np.zeros(2, np.float64), np.zeros(3, np.float32)])
def test_check_refuses_another_type_or_shape(other):
    with pytest.raises(SystemExit, match="FAILED"):
        check("shape", other, np.zeros(2, np.float32))
