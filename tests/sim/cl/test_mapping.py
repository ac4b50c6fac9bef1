"""Buffers with USE_HOST_PTR: the host's own array shows results while it is mapped, and is read when it is unmapped."""

import numpy as np
import pytest

from sim import cl
from sim.cl.options import parse_options

mf, maps = cl.mem_flags, cl.map_flags
SOURCE = """__kernel void next(__global int *a) { a[get_global_id(0)] += 1; }
__kernel void back(__global int *a, __local int *t) {
  int k = get_local_id(0);
  t[k] = a[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[get_global_id(0)] = t[get_local_size(0) - 1 - k];
}"""


@pytest.fixture(scope="module")
def queue():
    board = cl.get_platforms()[0].get_devices()[0].board
    return cl.CommandQueue(cl.Context([cl.Device(board, "emulator")]))


@pytest.fixture(scope="module")
def program(queue):
    return cl.Program(queue.context, SOURCE).build()


def test_results_are_seen_while_it_is_mapped(queue, program):
    own = np.arange(16, dtype=np.int32)
    buffer = cl.Buffer(queue.context, mf.READ_WRITE | mf.USE_HOST_PTR, hostbuf=own)
    assert buffer.host_ptr == own.ctypes.data
    kernel = cl.Kernel(program, "next")
    kernel(queue, (16,), None, buffer)
    seen, _ = cl.enqueue_map_buffer(queue, buffer, maps.READ | maps.WRITE, 16, (4,), np.int32)
    assert np.shares_memory(seen, own) and list(own) == [0, 1, 2, 3, 5, 6, 7, 8, *range(8, 16)]
    own[5] = 100
    seen.base.release(queue).wait()
    kernel(queue, (16,), None, buffer)
    seen, _ = cl.enqueue_map_buffer(queue, buffer, maps.READ, 0, (16,), np.int32)
    assert list(own) == [2, 3, 4, 5, 6, 101, 8, 9, *range(10, 18)]
    seen.base.release(queue)


def test_parts_show_their_part(queue):
    own = np.arange(16, dtype=np.int32)
    whole = cl.Buffer(queue.context, mf.READ_WRITE | mf.USE_HOST_PTR, hostbuf=own)
    part = whole[8:40].get_sub_region(8, 16)
    assert part.host_ptr == own.ctypes.data + 16
    with (found := cl.enqueue_map_buffer(queue, part, maps.WRITE_INVALIDATE_REGION, 4, (2,), np.int32)[0]).base:
        found[:] = 7, 8
    result = np.empty(16, np.int32)
    cl.enqueue_copy(queue, result, whole)
    assert list(result) == [0, 1, 2, 3, 4, 7, 8, *range(7, 16)]


def test_memory_that_must_not_be_written_is_only_copied(queue, program):
    buffer = cl.Buffer(queue.context, mf.READ_WRITE | mf.USE_HOST_PTR, hostbuf=bytes(64))
    cl.Kernel(program, "next")(queue, (16,), None, buffer)
    seen, _ = cl.enqueue_map_buffer(queue, buffer, maps.READ, 0, (16,), np.int32)
    assert (seen == 1).all() and buffer.host_ptr is None


@pytest.mark.parametrize("given", ["options", "environment"])
def test_sizes_that_a_kernel_does_not_say(queue, monkeypatch, given):
    """`-max-work-group-size` and `-local-mem-size`, as build options and for a host that cannot be changed."""
    words = ["-max-work-group-size=512", "-local-mem-size=32768"]
    a = np.arange(1024, dtype=np.int32)
    small = cl.Kernel(cl.Program(queue.context, SOURCE).build(), "back")
    buffer = cl.Buffer(queue.context, mf.COPY_HOST_PTR, hostbuf=a)
    with pytest.raises(cl.LogicError, match="the hardware has 16384 bytes for it, not 32768"):
        small(queue, (1024,), (512,), buffer, cl.LocalMemory(32768))
    with pytest.raises(cl.LogicError, match="has room for groups of 256 work-items, not 512"):
        small(queue, (1024,), (512,), buffer, cl.LocalMemory(2048))
    if given == "environment":
        monkeypatch.setenv("SLUICE_BUILD_OPTIONS", " ".join(words))
    large = cl.Kernel(cl.Program(queue.context, SOURCE).build(words if given == "options" else []), "back")
    large(queue, (1024,), (512,), buffer, cl.LocalMemory(32768))
    result = np.empty_like(a)
    cl.enqueue_copy(queue, result, buffer)
    assert (result == a.reshape(2, 512)[:, ::-1].reshape(-1)).all()


def test_what_attributes_say_stays(queue):
    text = SOURCE.replace("__kernel void back", "__attribute__((max_work_group_size(64))) __kernel void back")
    kernel = cl.Kernel(cl.Program(queue.context, text).build("-max-work-group-size=512"), "back")
    assert kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, queue.context.devices[0]) == 64


def test_options_that_are_wrong(monkeypatch, tmp_path):
    assert parse_options("-Drestrict= -DX -DY=2", tmp_path).defines == {"restrict": "", "X": "1", "Y": "2"}
    for words, said in (("-local-mem-size=x", "numbers from 0 to"), ("-D'x", "No closing quotation; end each quote")):
        with pytest.raises(cl.RuntimeError, match=said):
            parse_options(words, tmp_path)
        monkeypatch.setenv("SLUICE_BUILD_OPTIONS", words)
        with pytest.raises(cl.RuntimeError, match=said):
            parse_options("", tmp_path)
        monkeypatch.delenv("SLUICE_BUILD_OPTIONS")
