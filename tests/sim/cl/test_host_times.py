"""The times of commands that move bytes: over the link to the host, and within the board."""

from dataclasses import replace

import numpy as np
import pytest

from hls.target.board import Host, load_board
from sim import cl
from sim.cl import timeline


@pytest.fixture
def context():
    made = cl.create_some_context(board="de5net")
    made.simulated.facts = replace(made.simulated.facts, host=Host(bytes_per_ns=4.0, latency_ns=700.0))
    return made


def took(event) -> int:
    return event.profile.end - event.profile.start


def test_a_transfer_takes_a_latency_and_its_bytes(context):
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, 0, 8000)
    assert took(cl.enqueue_copy(queue, buffer, np.zeros(4, np.uint8))) == 701
    written = cl.enqueue_copy(queue, buffer, np.zeros(8000, np.uint8))
    read = cl.enqueue_copy(queue, np.zeros(8000, np.uint8), buffer)
    assert took(written) == took(read) == 2700 and read.profile.start == written.profile.end


def test_a_buffer_that_is_made_from_the_host_takes_its_transfer(context, monkeypatch):
    monkeypatch.setattr(timeline.TIMELINE, "folder", "folder")
    monkeypatch.setattr(timeline.TIMELINE, "commands", [])
    before = context.simulated.now_ns
    cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(1000, np.int32))
    assert context.simulated.now_ns - before == 1700
    (command,) = timeline.TIMELINE.commands
    assert (command.kind, command.bytes, command.queue) == ("create", 4000, None)
    assert (command.start_ns, command.end_ns) == (before, before + 1700)


def test_bytes_within_the_board_do_not_pass_the_link(context):
    queue = cl.CommandQueue(context)
    one, other = cl.Buffer(context, 0, 256_000), cl.Buffer(context, 0, 256_000)
    assert took(cl.enqueue_copy(queue, one, other)) == 20_000  # two times 256,000 bytes at 25.6 bytes a ns
    assert took(cl.enqueue_fill_buffer(queue, one, np.int32(1), 0, 256_000)) == 20_000


def test_a_command_is_submitted_when_it_no_longer_waits(context):
    queue = cl.CommandQueue(context)
    buffer, gate = cl.Buffer(context, 0, 4000), cl.UserEvent(context)
    began = context.simulated.now_ns
    late = cl.enqueue_copy(queue, buffer, np.zeros(1000, np.int32), is_blocking=False, wait_for=[gate])
    context.simulated.now_ns += 5000
    gate.set_status(cl.command_execution_status.COMPLETE)
    assert late.profile.queued == began
    assert late.profile.submit == late.profile.start == began + 5000


def test_boards_state_their_link_and_a_board_without_one_has_no_latency():
    assert load_board("a10pac").host == Host(6.0, 2000.0, 5000.0)
    assert load_board("ecp5_onchip").host == Host(6.0, 0.0, 0.0)
