"""Versions of OpenCL C that a build option names, texts and constants of other programs, and what hosts are told."""

import numpy as np
import pytest

from hls.target.board import known_boards, load_board
from sim import cl
from sim.cl.platform import KINDS, Device

ATOMICS = """
#if !defined(__opencl_c_int64) || defined(__opencl_c_pipes) || __OPENCL_C_VERSION__ < CL_VERSION_3_0
#error features
#endif
__kernel void k(__global atomic_int *a, __global int *o) {
    int expected = 5, other = 4;
    atomic_store_explicit(a, 5, memory_order_relaxed, memory_scope_work_group);
    o[0] = atomic_compare_exchange_strong_explicit(a, &other, 8, memory_order_relaxed, memory_order_relaxed);
    o[1] = other;
    o[2] = atomic_compare_exchange_weak_explicit(a, &expected, 8, memory_order_relaxed, memory_order_relaxed);
    o[3] = atomic_fetch_add_explicit(a, 3, memory_order_relaxed);
    o[4] = atomic_exchange_explicit(a, -1, memory_order_relaxed);
    o[5] = atomic_load_explicit(a, memory_order_relaxed) + atomic_fetch_max_explicit(a, 9, memory_order_relaxed);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_work_group);
    o[6] = get_enqueued_local_size(0) + atomic_load_explicit(a, memory_order_relaxed);
}
"""

#: of numbers in floating point; the bits are compared
FLOATS = """
__kernel void k(__global int *given, __global int *o) {
    __local atomic_float m;
    __local atomic_double d;
    volatile __global atomic_float *a = (volatile __global atomic_float *)given;
    float zero = 0.0f, none = NAN;
    o[0] = atomic_load_explicit(a, memory_order_relaxed) == 0.0f;
    atomic_store_explicit(a, -0.0f, memory_order_relaxed);
    o[1] = atomic_compare_exchange_strong_explicit(a, &zero, 5.0f, memory_order_relaxed, memory_order_relaxed);
    o[2] = as_int(zero) == INT_MIN && atomic_exchange_explicit(a, NAN, memory_order_relaxed) == 0.0f;
    o[3] = atomic_compare_exchange_weak_explicit(a, &none, 9.5f, memory_order_relaxed, memory_order_relaxed);
    o[4] = atomic_load_explicit(a, memory_order_relaxed) == 9.5f && given[0] == as_int(9.5f);
    atomic_init(&m, 3.0f);
    o[5] = atomic_exchange_explicit(&m, 5.0f, memory_order_relaxed) == 3.0f && atomic_load_explicit(&m, memory_order_relaxed) == 5.0f;
    atomic_init(&d, 0.1);
    o[6] = atomic_exchange_explicit(&d, 5.0, memory_order_relaxed) == 0.1 && atomic_load_explicit(&d, memory_order_relaxed) == 5.0;
}
"""

#: texts, constants that are declared before their definition, and a struct that is defined twice
TEXTS = """
extern constant float half_of;
extern constant int open[];
extern constant struct pair first;
struct pair { int a; float b; };
extern constant int never_used;
int before(int n) { return open[n & 1] + (int)(half_of * 2); }
constant float half_of = 2.5f;
constant int open[] = {7, 8};
constant struct pair { int a; float b; } first = {9, 0.5f};
extern constant float half_of;
#if !defined(__LINE__) || !defined(__FILE__) || defined(__LINES__) || defined(TEXT)
#error these are, and are not, macros
#endif
#ifndef __LINE__
#error it is one
#endif
constant char *end_of(constant char *text) {
    while (*text) text++;
    return text;
}
__kernel void k(__global atomic_int *a, __global int *o) {
    constant char *text = "ab" "c";
    o[0] = before(a[0]) + first.a;
    o[1] = text[1];
    o[2] = end_of(text) - text;
    o[3] = sizeof("four") + "xyz"[a[0] & 1];
    o[4] = end_of("abc")[-1];
    o[5] = __FILE__[0];
    o[6] = sizeof(first);
}
"""


def results(source: str, options: str = "-cl-std=CL3.0") -> list[int]:
    """The seven numbers that kernel k writes."""
    context = cl.create_some_context(board="de5net", device="emulator")
    queue, program = cl.CommandQueue(context), cl.Program(context, source).build(options)
    flags, found = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, np.zeros(7, np.int32)
    a, o = (cl.Buffer(context, flags, hostbuf=one) for one in (np.zeros(1, np.int32), found))
    program.k(queue, (1,), None, a, o)
    cl.enqueue_copy(queue, found, o)
    return list(found)


def test_atomic_functions_of_opencl_c_3():
    assert results(ATOMICS) == [0, 5, 1, 8, 11, -2, 10]


def test_atomic_functions_of_floats_compare_bits():
    assert results(FLOATS) == [1, 0, 1, 1, 1, 1, 1]


def test_texts_and_constants_of_elsewhere():
    assert results(TEXTS) == [7 + 5 + 9, ord("b"), 3, 5 + ord("x"), ord("c"), ord("<"), 8]


@pytest.mark.parametrize(
    ("options", "version", "size"),
    [
        ("", 120, 8),
        ("-cl-std=CL1.1", 110, 8),
        ("-cl-std=CL2.0", 200, 8),
        ("-cl-std=CL3.0 -cl-single-precision-constant", 300, 4),
        ("-D__OPENCL_C_VERSION__=5 -cl-std=CL3.0", 5, 8),
    ],
)
def test_the_version_is_the_one_asked_for(options, version, size):
    text = "typedef double real; __kernel void k(__global int *a, __global int *o)"
    assert results(text + "{ o[0] = __OPENCL_C_VERSION__; o[1] = sizeof(1.0); }", options)[:2] == [version, size]


def test_a_version_that_is_not_there_is_refused():
    context = cl.create_some_context(board="de5net", device="emulator")
    with pytest.raises(cl.RuntimeError, match="-cl-std=CL2.1: the value is one of CL1.0, CL1.1, CL1.2, CL2.0, CL3.0"):
        cl.Program(context, "").build("-cl-std=CL2.1")


def test_hosts_are_told_of_hints_and_of_usual_sizes():
    context = cl.create_some_context(board="de5net", device="emulator")
    source = """
__kernel __attribute__((vec_type_hint( unsigned  int ), work_group_size_hint(4, 1, 1)))
__attribute__((reqd_work_group_size(8, 1, 1))) void k(__global int *a) { a[get_global_id(0)] = 1; }
__kernel void m(__global int *a) { a[get_global_id(0)] = 1; }"""
    program = cl.Program(context, source).build()
    assert program.k.attributes == "reqd_work_group_size(8,1,1) vec_type_hint(unsigned int) work_group_size_hint(4,1,1)"
    assert program.m.attributes == ""
    device = context.devices[0]
    most = program.m.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, device)
    assert (most, device.max_work_group_size) == (1024, 4096)
    queue, a = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * 8192)
    program.m(queue, (8192,), (8192,), a)  # more than hosts are told of
    queue.finish()


@pytest.mark.parametrize("kind", KINDS)
def test_names_of_all_devices_fit_in_the_lines_of_tools(kind):
    """clinfo joins them in a line of 1,024 bytes."""
    names = [Device(load_board(name), kind).name for name in known_boards()]
    assert len(set(names)) == len(names) and sum(len(name) + 10 for name in names) < 1024, names


def test_warnings_are_left_out_or_errors_as_the_options_say(monkeypatch):
    context, asked = cl.create_some_context(board="de5net", device="emulator"), cl.program_build_info.LOG
    source = "__kernel void k(__global int *a) { int unused; a[0] = 1; }"

    def log(options: str, text: str = source) -> str:
        return cl.Program(context, text).build(options).get_build_info(None, asked)

    assert "warning[W0220]: 'unused' is never used\n" in log("")
    assert log("-w") == log("-Werror -w") == "" == log("-Werror", source.replace("int unused; ", ""))
    for options, more in (("-Werror", ""), ("", "-Werror")):
        monkeypatch.setenv("SLUICE_BUILD_OPTIONS", more)
        with pytest.raises(cl.RuntimeError, match=r"1:40: error\[W0220\].* \[-Werror\]\n") as told:
            cl.Program(context, source).build(options)
        assert told.value.code == cl.status_code.BUILD_PROGRAM_FAILURE
