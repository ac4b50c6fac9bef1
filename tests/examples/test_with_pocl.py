"""Every example against PoCL, an independent OpenCL implementation: kernels and golden functions agree."""

import numpy as np
import pytest
from hosts import EXAMPLES, OURS, SMALL, launches_of, load

from tests import pocl


@pytest.fixture
def pocl_chosen(monkeypatch):
    """What `create_some_context` of pyopencl makes is on PoCL."""
    monkeypatch.setenv("PYOPENCL_CTX", str(pocl.need()))


#: one host in three languages, for the driver: tests/icd runs them
OF_THE_DRIVER = {"hosts"}


def test_every_example_has_a_small_size():
    for file in ("host.py", "kernel.cl"):
        assert set(SMALL) | OF_THE_DRIVER == {path.parent.name for path in EXAMPLES.glob(f"*/{file}")}


@pytest.mark.parametrize("size", ["small", "full"])
@pytest.mark.parametrize("name", sorted(set(SMALL) - OURS))
@pytest.mark.usefixtures("pocl_chosen")
def test_result(name, size, capsys):
    found = load(name, "import pyopencl as cl\n").main(SMALL[name] if size == "small" else [])
    assert capsys.readouterr().out.count("result check passed") == len(found) > 0
    for launch in launches_of(found):
        assert launch.trips > 0 and launch.bytes > 0


@pytest.mark.usefixtures("pocl_chosen")
def test_wrong_result_ends_the_program(monkeypatch, capsys):
    host = load("threshold", "import pyopencl as cl\n")
    monkeypatch.setattr(np, "where", lambda condition, yes, no: np.full(condition.shape, no))
    with pytest.raises(SystemExit, match="threshold: FAILED: .* values differ, first at"):
        host.main(SMALL["threshold"])


@pytest.mark.parametrize("taps", [1, 2, 33, 64])
@pytest.mark.usefixtures("pocl_chosen")
def test_fir_of_any_length(taps, capsys):
    load("fir", "import pyopencl as cl\n").main([f"--taps={taps}", "--n=150"])
