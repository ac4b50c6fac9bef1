"""The process that plans: what is abandoned, what takes too long, and what ends unforeseen."""

import os
import signal
import threading
from pathlib import Path

import pytest

from hls.editor.analysis import Request
from hls.editor.worker import Planner
from hls.options import Options

ROOT = Path(__file__).parents[2]


def request(example: str) -> Request:
    file = ROOT / "examples" / example / "kernel.cl"
    return Request(file.read_text(), str(file), "de5net", Options())


@pytest.fixture
def planner():
    one = Planner()
    yield one
    one.end()


def test_a_plan_again_after_the_process_was_killed(planner):
    assert planner.plan(request("vecadd")).planned
    os.kill(planner._process.pid, signal.SIGKILL)
    answer = planner.plan(request("vecadd"))  # the process may not have been seen to be gone
    assert answer.planned or "ended its process" in answer.messages[0].message
    assert planner.plan(request("vecadd")).planned


def test_an_abandoned_plan_has_no_answer(planner):
    thread = threading.Timer(0.05, planner.abandon)
    thread.start()
    assert planner.plan(request("matmul")) is None
    thread.join()
    assert planner.plan(request("vecadd")).planned


def test_a_plan_abandoned_while_its_process_starts_has_no_answer(planner, monkeypatch):
    connect = planner._connect

    def starting():
        connection = connect()
        planner.abandon()
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(planner, "_connect", starting)
        assert planner.plan(request("vecadd")) is None
    assert planner.plan(request("vecadd")).planned


def test_a_plan_that_takes_too_long_is_a_warning():
    planner = Planner(limit=0.01)
    try:
        (warning,) = planner.plan(request("matmul")).messages
    finally:
        planner.end()
    assert (warning.severity, warning.span.line) == ("warning", 1)
    assert "takes longer than 0.01 seconds" in warning.message


def test_the_process_ends_with_its_server(planner):
    """Also where the server has no time to end it: its end of the connection is closed."""
    planner.plan(request("vecadd"))
    planner._connection.close()
    planner._process.join(10)
    assert planner._process.exitcode == 0
    planner._connection = None
