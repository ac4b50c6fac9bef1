"""A sample of the long comparison of all arithmetic parts with the processor's own arithmetic (see :mod:`.soak`)."""

import subprocess

import pytest

from tests.rtl_lib.fp.soak import cases, explained, run

VECTORS = 500_000


@pytest.mark.verilator
@pytest.mark.parametrize("streams", [("integers", "halves", "floats"), ("doubles",)], ids=["others", "doubles"])
def test_millions_of_results(tmp_path, streams):
    chosen = cases(streams)
    try:
        done = run(tmp_path, chosen, VECTORS, 1)
    except subprocess.CalledProcessError as error:
        pytest.fail(f"the simulation does not build:\n{error.stderr}")
    assert done.returncode == 0, explained(done.stdout, chosen) + done.stderr
    assert int(done.stdout.split()[0]) > (VECTORS - 40) * len(chosen)
