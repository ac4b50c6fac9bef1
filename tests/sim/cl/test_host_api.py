"""pyopencl's names: memory, copies, arguments, sizes and their errors. Nothing here builds a simulation."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from hls.options import Options
from hls.target.board import load_board
from sim import cl
from sim.cl.emulated import emulate_source
from sim.cl.launch import index_space
from sim.errors import BuildError
from sim.settings import number
from sim.shared import Fault, FaultKind
from tests.sim import handmade

mf = cl.mem_flags
code = cl.status_code


def fails(kind, status, text=""):
    """Expects a cl error with this code, whose message has ``text``."""
    return pytest.raises(kind, match=f"{code.to_string(status)}.*{text}")


#: public attributes of cl.Program that pyopencl's has, too
OF_PYOPENCL = {
    *("all_kernels", "binaries", "binary_sizes", "build", "context", "devices", "get_build_info", "get_info"),
    *("kernel_names", "num_devices", "num_kernels", "reference_count", "source"),
}


class TestMemory:
    def test_a_buffer_begins_as_its_host_array_and_comes_back(self, context, queue):
        data = np.arange(1000, dtype=np.int32)
        buffer = cl.Buffer(context, mf.READ_ONLY | mf.COPY_HOST_PTR, hostbuf=data)
        back = np.empty_like(data)
        event = cl.enqueue_copy(queue, back, buffer)
        event.wait()
        assert (back == data).all()
        assert buffer.size == data.nbytes
        assert event.profile.end > event.profile.start

    def test_buffers_lie_apart_and_never_at_zero(self, context):
        buffers = [cl.Buffer(context, mf.READ_WRITE, size) for size in (1, 64, 4096, 5000)]
        for low, high in pairwise(buffers):
            assert high.address - (low.address + low.size) >= 4096
        assert buffers[0].address > 0

    def test_released_memory_is_used_again(self, context):
        first = cl.Buffer(context, mf.READ_WRITE, 10000)
        address = first.address
        cl.Buffer(context, mf.READ_WRITE, 64)
        first.release()
        assert cl.Buffer(context, mf.READ_WRITE, 9000).address == address
        with fails(cl.LogicError, code.INVALID_MEM_OBJECT, "released"):
            first.release()

    def test_sub_buffers_share_bytes(self, context, queue):
        whole = cl.Buffer(context, mf.READ_WRITE, 64)
        cl.enqueue_fill_buffer(queue, whole, np.uint8(0), 0, 64)
        cl.enqueue_fill_buffer(queue, whole[16:32], np.uint32(0x01020304), 0, 16)
        back = np.empty(64, np.uint8)
        cl.enqueue_copy(queue, back, whole)
        assert back.sum() == 4 * (1 + 2 + 3 + 4)
        assert back[16] == 4

    @pytest.mark.parametrize(
        "flags, options, status",
        [
            (mf.READ_WRITE, {}, code.INVALID_BUFFER_SIZE),
            (mf.READ_WRITE, {"hostbuf": np.zeros(4)}, code.INVALID_HOST_PTR),
            (mf.COPY_HOST_PTR, {"size": 4}, code.INVALID_HOST_PTR),
            (mf.COPY_HOST_PTR, {"size": 100, "hostbuf": np.zeros(4)}, code.INVALID_VALUE),
            (mf.COPY_HOST_PTR, {"hostbuf": np.zeros((4, 4))[:, 0]}, code.INVALID_VALUE),
            (mf.COPY_HOST_PTR, {"hostbuf": 7}, code.INVALID_VALUE),
        ],
    )
    def test_buffers_that_cannot_be(self, context, flags, options, status):
        with fails(cl.LogicError, status):
            cl.Buffer(context, flags, **options)

    def test_a_full_memory_says_how_full(self, context):
        with fails(cl.MemoryError, code.MEM_OBJECT_ALLOCATION_FAILURE, "no room for .* de5net"):
            cl.Buffer(context, mf.READ_WRITE, 1 << 40)


class TestCopies:
    @pytest.fixture
    def buffer(self, context):
        return cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.arange(16, dtype=np.uint8))

    def test_parts(self, context, queue, buffer):
        other = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.zeros(16, np.uint8))
        cl.enqueue_copy(queue, other, buffer, src_offset=4, dst_offset=8, byte_count=2)
        back = np.empty(4, np.uint8)
        cl.enqueue_copy(queue, back, other, device_offset=7)
        assert back.tolist() == [0, 4, 5, 0]
        cl.enqueue_copy(queue, other, np.array([9], np.uint8), device_offset=15)
        cl.enqueue_copy(queue, back, other, device_offset=12)
        assert back.tolist() == [0, 0, 0, 9]

    def test_fortran_arrays(self, context, queue):
        data = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
        back = np.zeros_like(data, order="F")
        cl.enqueue_copy(queue, back, cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=data))
        assert (back == data).all()

    def test_what_does_not_fit(self, queue, buffer):
        with fails(cl.LogicError, code.INVALID_VALUE, "buffer of 16 bytes"):
            cl.enqueue_copy(queue, np.empty(17, np.uint8), buffer)
        with fails(cl.LogicError, code.INVALID_VALUE, "multiples of the pattern"):
            cl.enqueue_fill_buffer(queue, buffer, np.uint32(0), 0, 15)
        with fails(cl.LogicError, code.MEM_COPY_OVERLAP):
            cl.enqueue_copy(queue, buffer[0:8], buffer[4:12])
        with fails(cl.LogicError, code.INVALID_MEM_OBJECT, "neither"):
            cl.enqueue_copy(queue, np.empty(1), np.empty(1))
        with fails(cl.LogicError, code.INVALID_VALUE, "read-only"):
            cl.enqueue_copy(queue, bytes(4), buffer)

    def test_a_part_of_rows_and_planes(self, context, queue):
        """As numpy's slices, from the host, between buffers, within one, and back."""
        data = np.arange(4 * 6 * 10, dtype=np.int16).reshape(4, 6, 10)
        buffer = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.zeros_like(data))
        pitches = {"buffer_pitches": (20, 120), "host_pitches": (20, 120)}
        cl.enqueue_copy(
            queue, buffer, data, buffer_origin=(4, 1, 1), host_origin=(6, 2, 0), region=(8, 3, 2), **pitches
        )
        wanted = np.zeros_like(data)
        wanted[1:3, 1:4, 2:6] = data[:2, 2:5, 3:7]
        other = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.zeros(64, np.uint8))
        cl.enqueue_copy(
            queue,
            other,
            buffer,
            src_origin=(4, 1, 1),
            dst_origin=(2, 0),
            src_pitches=(20, 120),
            dst_pitches=(10,),
            region=(8, 3),
        )
        cl.enqueue_copy(
            queue,
            buffer,
            buffer,
            src_origin=(4, 1, 1),
            dst_origin=(12, 1, 1),
            src_pitches=(20, 120),
            dst_pitches=(20, 120),
            region=(8, 3, 2),
        )
        wanted[1:3, 1:4, 6:10] = wanted[1:3, 1:4, 2:6]
        assert (buffer.bytes == wanted.reshape(-1).view(np.uint8)).all()
        assert (other.bytes.view(np.int16).reshape(-1)[:15].reshape(3, 5)[:, 1:] == data[0, 2:5, 3:7]).all()
        back = np.zeros((3, 4), np.int16)
        cl.enqueue_copy(
            queue, back, buffer, buffer_origin=(4, 1, 1), host_origin=(0, 0), region=(8, 3), buffer_pitches=(20, 120)
        )
        assert (back == data[0, 2:5, 3:7]).all()

    @pytest.mark.parametrize(
        "options, text",
        [
            ({"region": (5, 3), "buffer_pitches": (5,)}, "the host side: a region of"),
            ({"region": (8, 3), "host_pitches": (4,)}, "the host side"),
            ({"region": (7, 2), "buffer_origin": (3, 0)}, "the buffer side"),
            ({"region": (0, 1)}, "is not within"),
            ({"region": (4, 1), "src_origin": (0,)}, "no arguments"),
            ({"buffer_origin": (0,)}, "wants a region"),
        ],
    )
    def test_parts_that_cannot_be(self, queue, buffer, options, text):
        with fails(cl.LogicError, code.INVALID_VALUE, text):
            cl.enqueue_copy(queue, np.zeros(14, np.uint8), buffer, **options)

    def test_a_mapped_buffer_shares_its_bytes(self, context, queue):
        buffer = cl.Buffer(context, mf.COPY_HOST_PTR, hostbuf=np.arange(12, dtype=np.float32))
        array, event = cl.enqueue_map_buffer(
            queue, buffer, cl.map_flags.READ | cl.map_flags.WRITE, 16, (2, 4), np.float32
        )
        event.wait()
        assert (array == np.arange(4, 12).reshape(2, 4)).all()
        with array.base:
            array[1, 3] = 77
        assert buffer.bytes.view(np.float32)[11] == 77
        array.base.release(queue).wait()
        for offset, flags, text in (
            (20, cl.map_flags.READ, "not within the buffer of 48 bytes"),
            (16, 64, "none of cl.map_flags"),
        ):
            with fails(cl.LogicError, code.INVALID_VALUE, text):
                cl.enqueue_map_buffer(queue, buffer, flags, offset, (2, 4), np.float32)


class TestLaunches:
    @pytest.fixture
    def data(self, context):
        return cl.Buffer(context, mf.READ_WRITE, 64)

    def test_counts(self, program, queue, data):
        with fails(cl.LogicError, code.INVALID_KERNEL_ARGS, "takes 3 arguments .*int words, int amount.*, not 2"):
            program.increment(queue, (1,), None, data, np.int32(1))
        with pytest.raises(TypeError):  # what pyopencl raises
            program.increment(queue, (1,), None, data, np.int32(1))

    @pytest.mark.parametrize(
        "value, status, text",
        [
            (5, code.INVALID_ARG_VALUE, "set_scalar_arg_dtypes"),
            (np.int64(5), code.INVALID_ARG_SIZE, r"pass numpy\.int32"),
            (np.float32(5), code.INVALID_ARG_VALUE, "something else"),
            (None, code.INVALID_ARG_SIZE, "a scalar is wanted"),
            (np.zeros(4), code.INVALID_ARG_SIZE, "4 bytes are wanted, an array of 4 float64 has 32"),
        ],
    )
    def test_scalars(self, program, queue, data, value, status, text):
        with fails(cl.LogicError, status, text):
            program.increment(queue, (1,), None, data, value, np.int32(1))

    def test_arrays_are_no_buffers(self, program, queue):
        with fails(cl.LogicError, code.INVALID_ARG_SIZE, "argument 1 of kernel increment.*cl.Buffer first"):
            program.increment(queue, (1,), None, np.zeros(4, np.int32), np.int32(1), np.int32(1))

    def test_buffers_of_other_contexts(self, program, queue):
        foreign = cl.Buffer(cl.create_some_context(), mf.READ_WRITE, 64)
        with fails(cl.LogicError, code.INVALID_MEM_OBJECT, "another context"):
            program.increment(queue, (1,), None, foreign, np.int32(1), np.int32(1))

    def test_unset_arguments_are_named(self, program, queue, data):
        kernel = cl.Kernel(program, "increment")
        kernel.set_arg(0, data)
        with fails(cl.LogicError, code.INVALID_KERNEL_ARGS, "not set: words, amount"):
            cl.enqueue_nd_range_kernel(queue, kernel, (1,), None)
        with fails(cl.LogicError, code.INVALID_ARG_INDEX):
            kernel.set_arg(3, data)

    @pytest.mark.parametrize(
        "sizes, status, text",
        [
            (((0,), None), code.INVALID_GLOBAL_WORK_SIZE, "at least 1"),
            (((-1,), None), code.INVALID_GLOBAL_WORK_SIZE, "at least 1"),
            (((4,), None), code.INVALID_GLOBAL_WORK_SIZE, "single work-item kernel"),
            (((1,), (2,)), code.INVALID_WORK_GROUP_SIZE, "not a multiple"),
            (((1,), (1, 1)), code.INVALID_VALUE, "dimensions"),
            (((1, 1, 1, 1), None), code.INVALID_WORK_DIMENSION, "1 to 3"),
        ],
    )
    def test_sizes(self, program, queue, data, sizes, status, text):
        with fails(cl.LogicError, status, text):
            program.increment(queue, *sizes, data, np.int32(1), np.int32(1))

    @pytest.mark.parametrize("sizes", [((12,), (6,)), ((8, 4), (2, 4)), ((6,), None)])
    def test_groups_are_multiples_of_the_lanes(self, sizes):
        kernel = replace(handmade.kernel(ndrange=True), lanes=4)
        with fails(cl.LogicError, code.INVALID_WORK_GROUP_SIZE, "num_simd_work_items.*must be a multiple"):
            index_space(kernel, *sizes, None)

    def test_the_group_size_that_is_chosen_is_a_multiple_of_the_lanes(self):
        kernel = replace(handmade.kernel(ndrange=True), lanes=4)
        assert index_space(kernel, (1004,), None, None).local_size == (4, 1, 1)
        assert index_space(kernel, (320, 3), None, None).local_size == (160, 1, 1)

    def test_every_compute_unit_gets_groups(self):
        """Where the host names no size, there are groups for all units, if there can be."""
        kernel = replace(handmade.kernel(ndrange=True), units=4)
        assert index_space(kernel, (1024,), None, None).local_size == (64, 1, 1)
        assert index_space(kernel, (1024, 16), None, None).local_size == (256, 1, 1)
        assert index_space(kernel, (7,), None, None).local_size == (7, 1, 1)

    def test_the_emulator_wants_the_same_groups(self):
        source = "__kernel __attribute__((num_simd_work_items(4))) void k(__global int *a) { a[get_global_id(0)] = 1; }"
        (kernel,) = emulate_source(source, load_board("de5net"), Options(), "k.cl").interface.kernels
        assert kernel.lanes == 4

    def test_the_emulator_wants_no_larger_groups_than_the_program_allows(self):
        source = (
            "__kernel __attribute__((max_work_group_size(8, 2))) void k(__global int *a) { a[get_global_id(0)] = 1; }"
        )
        (kernel,) = emulate_source(source, load_board("de5net"), Options(), "k.cl").interface.kernels
        assert index_space(kernel, (64,), None, None).local_size == (16, 1, 1)
        with fails(cl.LogicError, code.INVALID_WORK_GROUP_SIZE, "room for groups of 16 work-items, not 32"):
            index_space(kernel, (64,), (32,), None)

    def test_the_emulator_has_room_for_what_the_board_has(self, context):
        source = """void meet(void) { barrier(CLK_LOCAL_MEM_FENCE); }
            __kernel void a(__local int *t, __global int *o) { t[get_local_id(0)] = 1; meet(); o[get_global_id(0)] = t[0]; }
            __kernel void b(__attribute__((local_mem_size(64))) __local int *t, __global int *o) { t[0] = 1; o[get_global_id(0)] = t[0]; }"""
        program, queue = cl.Program(context, source).build(device="emulator"), cl.CommandQueue(context)
        buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4096)
        with fails(cl.LogicError, code.INVALID_WORK_GROUP_SIZE, "room for groups of 256 work-items, not 512"):
            program.a(queue, (512,), (512,), cl.LocalMemory(2048), buffer)
        with fails(cl.LogicError, code.INVALID_ARG_SIZE, "16384 bytes for it, not 16388"):
            program.a(queue, (256,), (256,), cl.LocalMemory(16388), buffer)
        with fails(cl.LogicError, code.INVALID_ARG_SIZE, "64 bytes for it, not 68"):
            program.b(queue, (1024,), (1024,), cl.LocalMemory(68), buffer)
        program.b(queue, (1024,), (1024,), cl.LocalMemory(64), buffer).wait()

    def test_what_a_kernel_says_of_its_groups(self, context):
        info = cl.kernel_work_group_info
        source = """__kernel __attribute__((reqd_work_group_size(8, 4, 1), num_simd_work_items(2))) void a(__global int *o) { o[get_global_id(0)] = 1; }
            __kernel __attribute__((max_work_group_size(32))) void b(__global int *o) { o[get_global_id(0)] = 1; }
            __kernel void c(__global int *o) { o[get_global_id(0)] = 1; }"""
        program, (device,) = cl.Program(context, source).build(device="emulator"), context.devices
        asked = info.WORK_GROUP_SIZE, info.COMPILE_WORK_GROUP_SIZE, info.PREFERRED_WORK_GROUP_SIZE_MULTIPLE
        assert [[cl.Kernel(program, name).get_work_group_info(one, device) for one in asked] for name in "abc"] == [
            [32, [8, 4, 1], 2],
            [32, [0, 0, 0], 1],
            [1024, [0, 0, 0], 1],  # what hosts take as the size of their groups; launches may have more
        ]
        with fails(cl.LogicError, code.INVALID_VALUE, "unknown parameter 0x1234"):
            cl.Kernel(program, "a").get_work_group_info(0x1234, device)

    def test_names(self, program, context):
        assert program.kernel_names == "increment"
        assert [kernel.function_name for kernel in program.all_kernels()] == ["increment"]
        with pytest.raises(AttributeError, match="no kernel 'other'; the program has increment"):
            _ = program.other
        with fails(cl.LogicError, code.INVALID_KERNEL_NAME):
            cl.Kernel(program, "other")
        with pytest.raises(AttributeError, match="before build"):
            _ = cl.Program(context, "source").increment
        with fails(cl.LogicError, code.INVALID_KERNEL_NAME):  # so a host program ends with a message
            _ = program.other
        assert not hasattr(program, "other")

    def test_only_attributes_of_pyopencl_hide_kernels(self, context):
        public = {name for name in (*vars(cl.Program), *vars(cl.Program(context, ""))) if not name.startswith("_")}
        names = sorted(public | {"result", "system", "launches"})
        source = "".join(f"__kernel void {name}(__global int *o) {{ o[0] = 1; }}\n" for name in names)
        program = cl.Program(context, source).build(device="emulator")
        hidden = {name for name in names if not isinstance(getattr(program, name), cl.Kernel)}
        assert hidden == OF_PYOPENCL
        assert all(cl.Kernel(program, name).function_name == name for name in hidden)
        assert cl.Program.capture(program) == []

    @pytest.mark.parametrize(
        "size, offset", [(None, None), (10, None), ((2.5,), None), ("ab", None), ((8,), 1), ((8,), (0.5,))]
    )
    def test_sizes_are_tuples_of_integers(self, size, offset):
        with pytest.raises(cl.LogicError, match=r"must be a tuple of integers, such as \(1024,\), not"):
            index_space(handmade.kernel(ndrange=True), size, None, offset)

    def test_an_access_through_a_null_pointer_is_said(self, context):
        fault = Fault(FaultKind.READ_OUTSIDE, 64, 4, 0, 0, 1)
        assert "None" in context.simulated.describe(fault, {})
        assert "None" not in context.simulated.describe(replace(fault, address=1 << 20), {})

    def test_a_number_in_the_environment(self, monkeypatch):
        """What is no number there is said, and the variable named."""
        monkeypatch.setenv("SLUICE_JOBS", "-3")
        with pytest.raises(BuildError, match="SLUICE_JOBS must be a number from 1 to 4096, not '-3'"):
            number("SLUICE_JOBS", 2, 4096)
        monkeypatch.setenv("SLUICE_JOBS", "")
        assert number("SLUICE_JOBS", 2) == 2

    def test_a_missing_compiler_is_said(self, program, queue, data, monkeypatch):
        from sim import toolchain

        toolchain.find_tools.cache_clear()
        monkeypatch.setenv("CXX", "no-such-compiler")
        with fails(cl.RuntimeError, code.DEVICE_NOT_AVAILABLE, "no-such-compiler is not on the PATH; install"):
            program.increment(queue, (1,), None, data, np.int32(1), np.int32(1))
        toolchain.find_tools.cache_clear()


class TestOptions:
    def test_are_passed_on(self, compiled, context, tmp_path):
        cl.Program(context, "").build(["-D N=4", "-DM", "-I", str(tmp_path), "-fp-relaxed", "-cl-std=CL1.2"])
        cl.Program(context, "").build("-D N=4 -fpc -cl-denorms-are-zero")
        first, second = compiled
        assert first.defines == {"N": "4", "M": "1"}
        assert first.include_dirs[1:] == (tmp_path,)
        assert (first.fp_relaxed, first.fpc) == (True, False)
        assert (second.defines, second.fp_relaxed, second.fpc) == ({"N": "4"}, False, True)
        assert (first.denorms_are_zero, second.denorms_are_zero) == (False, True)

    @pytest.mark.parametrize("option, text", [("-foo", "unknown option -foo"), ("-D", "-D needs a value")])
    def test_unknown_ones_are_refused(self, compiled, context, option, text):
        with fails(cl.RuntimeError, code.INVALID_BUILD_OPTIONS, text):
            cl.Program(context, "").build([option])

    def test_random_stalls_are_built_in_when_a_seed_is_set(self, compiled, context, monkeypatch):
        monkeypatch.setenv("SLUICE_STALL_SEED", "3")
        cl.Program(context, "").build()
        assert compiled[0].random_stalls
        monkeypatch.setenv("SLUICE_STALL_SEED", "x")
        with fails(cl.RuntimeError, code.INVALID_VALUE, "SLUICE_STALL_SEED"):
            cl.Program(context, "").build()


SHARED = """__kernel void chain(__global int *restrict a, __global const int *restrict b, int n) { for (int i = 1; i < n; i++) a[i] = b[i - 1] + 1; }
void put(__global int *p, int k, int v) { p[k] = v; }
__kernel void helped(__global int *restrict a, __global int *b, int n) { __global int *p = n > 3 ? a : a + 1; put(p, 0, b[n - 1]); }
__kernel void both_read(__global const int *restrict a, __global int *restrict b, __global int *out, int n) { out[0] = a[0] + b[n - 1]; }
__kernel void table(__global int *a, __constant int *t, int n) { for (int i = 1; i < n; i++) a[i] = t[i - 1] + 1; }
__kernel void plain(__global int *a, __global const int *b, int n) { for (int i = 1; i < n; i++) a[i] = b[i - 1] + 1; }
"""


@pytest.mark.parametrize("device", ["emulator", "board"])
class TestRestrict:
    """A launch knows its buffers: those that restrict says lie apart must do so where one of them is written."""

    def launch(self, device, kernel, *offsets):
        context = cl.create_some_context(device=device, board="ecp5_onchip")
        queue, program = cl.CommandQueue(context), cl.Program(context, SHARED).build()
        whole = cl.Buffer(
            context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=np.zeros(256, np.int32)
        )
        buffers = [whole.get_sub_region(128 * offset, 160) for offset in offsets]
        return getattr(program, kernel)(queue, (1,), None, *buffers, np.int32(4))

    @pytest.mark.parametrize(
        "kernel, offsets, names",
        [
            ("chain", (0, 0), "'a' and 'b' that share 160 bytes, and writes through 'a'"),
            ("chain", (0, 1), "'a' and 'b' that share 32 bytes"),
            ("helped", (2, 2), "'a' and 'b' that share 160 bytes, and writes through 'a'; but 'a' is restrict"),
            (
                "table",
                (0, 1),
                (
                    "'a' and 't' that share 32 bytes, and writes through 'a'; but 't' is __constant.*declare it __global "
                    "const"
                ),
            ),
        ],
    )
    def test_overlaps_are_refused_before_anything_runs(self, device, kernel, offsets, names):
        with pytest.raises(
            cl.LogicError,
            match=f"(?s)INVALID_KERNEL_ARGS.*program source>:\\d+:\\d+: error\\[E1003\\]: kernel {kernel} .*{names}",
        ):
            self.launch(device, kernel, *offsets)


@pytest.mark.parametrize(
    "kernel, offsets",
    [("chain", (0, 2)), ("both_read", (0, 0, 2)), ("table", (0, 2)), ("plain", (0, 0)), ("plain", (0, 1))],
)
def test_what_restrict_does_not_forbid_runs(kernel, offsets):
    TestRestrict().launch("emulator", kernel, *offsets).wait()


def test_what_a_program_has_is_no_kernel():
    program = cl.Program(cl.create_some_context(device="emulator"), SHARED).build()
    assert program.get_info(cl.program_info.NUM_KERNELS) == 5 and program.get_info(cl.program_info.SOURCE) == SHARED
    assert (
        program.get_info(cl.program_info.KERNEL_NAMES).split(";")[0] == "chain"
        and program.devices == program.context.devices
    )
    for name in ("compile", "link", "int_ptr"):
        with pytest.raises(AttributeError, match=f"cl.Program.{name} is not there"):
            getattr(program, name)


def test_vector_arguments_are_made_by_name():
    context = cl.create_some_context(device="emulator")
    queue = cl.CommandQueue(context)
    program = cl.Program(context, "__kernel void k(__global float *o, float4 v, uint3 w) { o[0] = v.z + w.y; }").build()
    out, found = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4), np.zeros(1, np.float32)
    program.k(queue, (1,), None, out, cl.cltypes.make_float4(1, 2, 3, 4), cl.cltypes.make_uint3(5, 6, 7)).wait()
    cl.enqueue_copy(queue, found, out).wait()
    assert found[0] == 9 and cl.cltypes.make_float4(2)["w"] == 2


def test_diagnostics_in_an_error_begin_on_a_line_of_their_own():
    code = cl.status_code.OUT_OF_RESOURCES
    assert str(cl.RuntimeError("clFinish", code, "\nk.cl:1:2: error: wrong")).splitlines() == [
        "clFinish failed: OUT_OF_RESOURCES:",
        "k.cl:1:2: error: wrong",
    ]
    assert str(cl.RuntimeError("clFinish", code, "given up")) == "clFinish failed: OUT_OF_RESOURCES - given up"
