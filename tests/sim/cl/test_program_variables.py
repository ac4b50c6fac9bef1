"""Variables of a program in global memory: what hosts see of them. Hardware with some is in test_memories.py and
tests/kernels/memory.cl."""

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir import Module, print_module
from hls.ir.interpreter import run_kernel
from hls.ir.parser import parse_module
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import optimize
from sim import cl

SOURCE = """
typedef struct { int a; float b[2]; } record;
__global int counter;
static __global record one;
__global int counter;
__global float table[8] = { 1.0f, 2.0f, 3.0f };
static __global record one = { 7, { 0.5f, 1.5f } };
__global const int fixed[4] = { 5, 6, 7, 8 };
static __global record one;
__global int4 lanes = (int4)(1, 2, 3, 4);
int plain[4];
int next(int by) { static int calls = 100; calls += by; counter++; return calls; }
void bump(__global int *p, int n) { *p += n; }
__kernel void change(__global int *out, int n)
{
    __global const int *q = fixed;
    for (int i = 0; i < n; i++) {
        bump(&counter, 2);
        out[i] = next(i) + counter;
    }
    table[3] += 10.0f;
    one.b[1] += 1.0f;
    lanes.y += 5;
    plain[n & 3] = n;
    out[0] = q[n & 3];
}
__kernel void show(__global int *out, int table)  // hides the table
{
    int calls = 3, unused = counter;
    out[0] = counter + table; out[1] = one.a; out[2] = one.b[1] * 2; out[3] = lanes.y; out[4] = plain[2];
    out[5] = calls; out[6] = next(0); out[7] = plain[1];
}
__kernel void items(__global int *out) { atomic_inc(&counter); out[get_global_id(0)] = fixed[get_global_id(0) & 3]; }
__kernel void apart(__global int *out) { out[0] = 1; }
"""
#: bytes: counter, table, one, lanes, plain, calls
SIZES = (4, 32, 12, 16, 16, 4)


class Host:
    def __init__(self, device):
        self.context = cl.create_some_context(board="de5net", device=device)
        self.queue, self.buffer = cl.CommandQueue(self.context), cl.Buffer(self.context, cl.mem_flags.READ_WRITE, 32)
        self.program = cl.Program(self.context, SOURCE).build()

    def run(self, kernel, *scalars, size=(1,), program=None):
        cl.Kernel(program or self.program, kernel)(self.queue, size, None, self.buffer, *map(np.int32, scalars))
        found = np.zeros(8, np.int32)
        cl.enqueue_copy(self.queue, found, self.buffer)
        return found.tolist()


@pytest.fixture(params=["emulator", "model"])
def host(request):
    return Host(request.param)


def test_they_keep_their_values_and_all_kernels_share_them(host):
    assert host.run("show", 0) == [0, 7, 3, 2, 0, 3, 100, 0]
    assert host.run("change", 6)[:6] == [7, 108, 113, 119, 126, 134]
    assert host.run("items", size=(8,)) == [5, 6, 7, 8] * 2
    assert host.run("show", 1000) == [1 + 18 + 8 + 1000, 7, 5, 7, 6, 3, 115, 0]
    assert host.run("change", 1)[0] == 6
    assert host.run("show", 0) == [1 + 18 + 8 + 1 + 3, 7, 7, 12, 6, 3, 115, 1]


def test_each_program_has_its_own_and_a_build_begins_anew(host):
    other = cl.Program(host.context, SOURCE).build()
    host.run("change", 6)
    assert host.run("show", 0, program=other)[0] == 0
    host.program.build()
    assert host.run("show", 0)[0] == 0


def test_the_host_passes_the_arguments_of_the_source(host):
    kernels = {one.function_name: one for one in host.program.all_kernels()}
    assert {name: one.num_args for name, one in kernels.items()} == {"change": 2, "show": 2, "items": 1, "apart": 1}
    with pytest.raises(cl.LogicError, match=r"takes 2 arguments \(__global int \* out, int n\), not 1"):
        kernels["change"].set_args(host.buffer)
    with pytest.raises(cl.LogicError, match="no argument 2; it has 2"):
        kernels["change"].set_arg(2, host.buffer)
    with pytest.raises(cl.LogicError, match="not set: out, n"):
        cl.enqueue_nd_range_kernel(host.queue, cl.Kernel(host.program, "change"), (1,), None)
    asked = cl.program_build_info.GLOBAL_VARIABLE_TOTAL_SIZE
    assert host.program.get_build_info(host.context.device, asked) == sum(SIZES)


def test_the_board_has_room_for_them_or_the_launch_names_one():
    source = (
        "__global int large[%d]; __kernel void k(__global int *out) { large[out[0]] += 4; out[0] = large[out[0]]; }"
    )
    context = cl.create_some_context(board="ecp5_onchip", device="emulator")
    queue, out = cl.CommandQueue(context), cl.Buffer(context, cl.mem_flags.READ_WRITE, 4)
    with pytest.raises(cl.MemoryError, match=r"the program's variable 'large': no room for 4,194,304 bytes"):
        cl.Program(context, source % (1 << 20)).build().k(queue, (1,), None, out)
    host = Host("emulator")  # an array that is too large for the chip
    assert host.run("k", program=cl.Program(host.context, source % (6 << 20)).build())[0] == 4


def test_static_variables_of_linked_programs_are_not_one():
    from sim.cl.binary import Binary
    from sim.icd.linking import linked_source

    parts = [
        Binary(f"static int mine;\nextern int both;\n__kernel void {k}(__global int *o) {{ *o = 1; }}\n", (), "p")
        for k in "ab"
    ]
    text, _ = linked_source(parts)
    assert (
        text.count("static int mine;") == text.count("static int mine_of_part_2;") == 1
        and text.count("extern int both;") == 1
    )


def test_what_a_linked_program_prints_keeps_the_names_of_its_variables():
    from sim.cl.binary import Binary
    from sim.icd.linking import linked_source

    text = 'static __global int n;\n__kernel void NAME(__global int *a) { n++; printf("n \\"n\\" is %d", n); a[\'n\'] = n; }\n'
    joined, _ = linked_source([Binary(text.replace("NAME", k), (), "p") for k in "ab"])
    assert 'n_of_part_2++; printf("n \\"n\\" is %d", n_of_part_2); a[\'n\'] = n_of_part_2;' in joined


OWN = """static __global int kept, row[2] = { 3, 4 };
static __constant int scale = FACTOR;
static int scaled(int x) { return x * scale; }
static inline int twice(int x) { printf("}(;"); return 2 * x; }
static int through(int x) { return scaled(twice(x)); }
__kernel void NAME(__global int *a) { kept += a[0]; row[1] += a[0]>kept ? 0 : kept; a[0] = through(kept) + row[1]; }
"""


def test_each_part_has_its_own_of_what_is_static():
    """Variables that keep values, constants and functions that differ, and what calls these; what is alike is there
    once."""
    from sim.cl.binary import Binary
    from sim.icd.linking import linked_source, preprocessed

    parts = [
        preprocessed(Binary(OWN, (f"-DNAME={name}", f"-DFACTOR={factor}")), "object")
        for name, factor in (("f", 1), ("g", 10))
    ]
    text, _ = linked_source(parts)
    assert text.count("int twice(") == text.count("int scaled(") == 1
    context = cl.create_some_context(board="ecp5_onchip", device="emulator")
    program, queue = cl.Program(context, text).build(), cl.CommandQueue(context)
    found = np.zeros(1, np.int32)
    for name, value in (("f", 2 * 5 + 9), ("g", 2 * 5 * 10 + 9), ("f", 2 * 10 + 14 + 5)):
        buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.full(1, 5, np.int32))
        cl.Kernel(program, name)(queue, (1,), None, buffer)
        cl.enqueue_copy(queue, found, buffer)
        assert found[0] == value, name


def test_joined_text_keeps_its_lines():
    from sim.cl.binary import Binary
    from sim.icd.linking import preprocessed

    text = preprocessed(Binary("#define N 3\nint f(int x)\n{\n    return N;\n}\n", ()), "object", "f.cl").source
    assert text.splitlines() == ['# 2 "f.cl"', "int f(int x)", "{", "    return 3 ;", "}"]


def test_joined_text_says_where_its_lines_come_from():
    """Also behind what is left out, since another program has it."""
    from hls.diag import CompileError
    from hls.frontend import parse_source
    from sim.cl.binary import Binary
    from sim.icd.linking import linked_source, preprocessed

    shared = "typedef struct { int a; } one; "
    column = len(f"{shared}int f(void) {{ return ") + 1
    parts = [
        preprocessed(Binary(f"\n{shared}int {name}(void) {{ return missing; }}\n", ()), "object", file)
        for name, file in (("f", "f.cl"), ("g", "g.cl"), ("h", "<program source>"))
    ]
    with pytest.raises(CompileError) as caught:
        parse_source(linked_source(parts)[0], "joined.cl")
    places = [str(found.span) for found in caught.value.diagnostics]
    assert places == [f"{file}:2:{column}" for file in ("<program source 3>", "f.cl", "g.cl")]


def test_passes_and_the_text_of_the_ir_keep_them():
    module = parse_source(SOURCE, "k.cl", {}, []).module
    text = print_module(module)
    assert print_module(parse_module(text)) == text and "initial 12 0x070000000000003f0000c03f" in text
    optimized = {one.name: one for one in optimize(module, PipelineOptions(check=True)).kernels}
    found = []
    for each in (module, parse_module(text), Module(optimized)):
        held = {}
        for kernel, scalars in (("change", {"n": 6}), ("change", {"n": 3}), ("show", {"table": 4})):
            for one in module.functions[kernel].params:
                if one.initial is not None and one.name not in held:
                    data = one.initial.data.ljust(one.initial.size, b"\0")
                    held[one.name] = np.frombuffer(data, np.uint8).copy()
            held["out"] = np.zeros(8, np.int32)
            names = [one.name for one in module.functions[kernel].params if one.kind == "buffer"]
            run_kernel(each, kernel, {name: held[name] for name in names}, scalars, (1,))
        found.append({name: array.tobytes() for name, array in held.items()})
    assert found[0] == found[1] == found[2] and len(found[0]) == 7
