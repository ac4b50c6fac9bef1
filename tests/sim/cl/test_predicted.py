"""`sluice run --predict`: launches on the simulated board, predicted on the replay before they begin."""

from dataclasses import replace

import numpy as np
import pytest

from hls.model.prediction import Interval
from sim import cl
from sim.cl.modelled import ReplayModel
from sim.cl.unpredicted import NOT_ALONE

pytestmark = pytest.mark.verilator
mf = cl.mem_flags
SOURCE = """
channel int c;
__kernel void chase(__global const int *restrict next, __global int *restrict o, int n)
{
    int p = 0;
    for (int i = 0; i < n; i++)
        p = next[p];
    *o = p;
}
__kernel void increment(__global int *a, int n)
{
    for (int i = 0; i < n; i++)
        a[i] += 1;
}
__kernel void send(int n) { for (int i = 0; i < n; i++) write_channel_intel(c, i); }
__kernel void take(__global int *restrict b, int n) { for (int i = 0; i < n; i++) b[i] = read_channel_intel(c); }
"""
N = 300


@pytest.fixture(scope="module")
def board():
    """A context, and the program built with predictions asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLUICE_PREDICT_RUN", "1")
        context = cl.create_some_context()
        yield context, cl.Program(context, SOURCE).build("-copy-bytes=0", device="board")


def chased(board) -> dict:
    context, program = board
    nexts = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.roll(np.arange(4096, dtype=np.int32), -97))
    out = cl.Buffer(context, mf.READ_WRITE, 4)
    event = program.chase(cl.CommandQueue(context), (1,), None, nexts, out, np.int32(N))
    event.wait()
    return event.stats.to_dict()


def test_a_launch_is_predicted_beside_its_measurement(board, capfd):
    stats = chased(board)
    found = stats["predicted"]
    assert found["error"] == pytest.approx(found["cycles"] / stats["cycles"] - 1)
    assert abs(found["error"]) < 0.05 and found["blame"] is None
    (loop,) = found["loops"]
    assert (loop["name"], loop["iterations"], loop["predicted_iterations"]) == ("i", N, N)
    assert loop["predicted_interval"] == pytest.approx(loop["interval"], rel=0.05)
    assert f"chase: predicted {found['cycles']:,.0f} cycles, measured {stats['cycles']:,} (" in capfd.readouterr().err


def test_a_wrong_prediction_has_an_account_to_blame(board, capfd, monkeypatch):
    """The model is made to believe that memory answers at once."""
    right = ReplayModel.predict

    def wrong(self, *arguments):
        found = right(self, *arguments)
        accounts = tuple(one if one.cause == "issued" else replace(one, cycles=N) for one in found.accounts)
        return replace(found, cycles=Interval(2 * N, 2 * N, 2 * N), accounts=accounts)

    monkeypatch.setattr(ReplayModel, "predict", wrong)
    found = chased(board)["predicted"]
    assert found["error"] < -0.5
    assert found["blame"]["cause"] == "waiting for load of next" and found["blame"]["line"] == 7
    assert "  to blame: waiting for load of next (line 7), " in capfd.readouterr().err


def test_the_memory_is_as_the_board_leaves_it(board):
    """A kernel that changes its input: predicted on a copy, so the change is made once."""
    context, program = board
    data = np.arange(64, dtype=np.int32)
    buffer, back = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=data), np.empty_like(data)
    queue = cl.CommandQueue(context)
    event = program.increment(queue, (1,), None, buffer, np.int32(64))
    cl.enqueue_copy(queue, back, buffer)
    assert (back == data + 1).all() and event.stats.to_dict()["predicted"]["cycles"] > 0


def test_what_the_replay_does_not_cover_is_told(board, capfd):
    """Kernels on channels, and launches that run beside others."""
    context, program = board
    out = cl.Buffer(context, mf.READ_WRITE, 4 * N)
    first = program.send(cl.CommandQueue(context), (1,), None, np.int32(N))
    second = program.take(cl.CommandQueue(context), (1,), None, out, np.int32(N))
    second.wait()
    first.wait()
    for event in (first, second):
        found = event.stats.to_dict()["predicted"]
        assert found["cycles"] is None and (found["why"] == NOT_ALONE or "channel" in found["why"])
    assert "take: not predicted: " in capfd.readouterr().err


def test_nothing_is_predicted_unless_asked_for(board, monkeypatch):
    monkeypatch.delenv("SLUICE_PREDICT_RUN")
    context, _ = board
    plain = cl.Program(context, SOURCE).build("-copy-bytes=0", device="board")
    out = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.zeros(64, dtype=np.int32))
    event = plain.increment(cl.CommandQueue(context), (1,), None, out, np.int32(8))
    event.wait()
    assert "predicted" not in event.stats.to_dict()
