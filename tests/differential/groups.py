"""Random kernels whose work-items exchange values through local memory, with barriers in loops and branches.

Whatever is read from local memory is read between two barriers, and written between two others, so any phase can be
left out.
"""

import random
from dataclasses import replace

import numpy as np

from hls.ir.launch import IndexSpace
from sim.emulator import Emulator

from .devices import Results, inputs, module_of, outputs
from .generate import OUTPUTS, PARAMETERS, WORDS, Generator, reveal
from .tree import Node, Type, sequence

__all__ = ["group_source", "on_emulator", "on_pocl"]

ITEMS, GROUP = 8, 4
PARAMETER_LIST = PARAMETERS.removesuffix(", uint g")


def group_source(seeds) -> str:
    """A kernel ``gSEED`` for each seed."""
    head = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#pragma OPENCL FP_CONTRACT OFF\n"
    return head + "\n".join(str(_kernel(seed)) for seed in seeds)


def _kernel(seed: int) -> Node:
    rng = random.Random(seed)
    g = Generator(rng, vectors=rng.random() < 0.3)
    g.fixed += [("g", Type("uint")), ("l", Type("uint"))]
    declarations = g.declare(rng.randint(2, 4))
    element = Type(rng.choice(["char", "ushort", "int", "long", "float", "double"]), rng.choice([1, 1, 1, 2, 4]))
    if element.is_float:
        element = replace(element, moved=rng.random() < 0.7)
    g.shared.append(("shared", element, GROUP))
    body = [_phases(g, element, 2), g.statement(1, False), _phases(g, element, 1), g.statement(1, False)]
    counters = "".join(f"int i{k} = 0; " for k in range(g.loops))
    form = (
        f"__kernel void g{seed}({PARAMETER_LIST}) {{{{\n__local {element} shared[{GROUP}]; __local int total;\n"
        f"uint g = get_global_id(0), l = get_local_id(0); {counters}\n"
        f"{' '.join(f'{o} += g * {WORDS};' for o in OUTPUTS)}\n"
        f"{element} x = ({element})(1);\nshared[l] = ({element})(2); if (l == 0) total = 0;\n"
        "barrier(CLK_LOCAL_MEM_FENCE);\n{0}\n{1}\n{2}\noi[63] = total;\n}}"
    )
    return Node(form, (sequence(*declarations), sequence(*body), reveal(g)))


def _phases(g: Generator, element: Type, depth: int) -> Node:
    return sequence(*(_phase(g, element, depth) for _ in range(g.rng.randint(1, 3))))


def _phase(g: Generator, element: Type, depth: int) -> Node:
    """Values change hands; perhaps several times, or only in some groups."""
    kind = g.rng.random()
    if depth and kind < 0.25:
        i = f"i{g.loops}"
        g.loops += 1
        body = _phases(g, element, depth - 1)
        return Node(f"for ({i} = 0; {i} < {g.rng.randint(1, 3)}; {i}++) {{{{\n{{0}}\n}}}}", (body,))
    if depth and kind < 0.45:
        condition = g.rng.choice(["get_group_id(0) == 1", "get_num_groups(0) > 1", "in_uint[get_group_id(0)] & 1"])
        return Node(f"if ({condition}) {{{{\n{{0}}\n}}}}", (_phases(g, element, depth - 1),))
    if kind < 0.55:
        source = f"(const __global {element} *){element.source} + {g.rng.randrange(8)}"
        return Node(
            "barrier(CLK_LOCAL_MEM_FENCE);\n"
            f"{{{{ event_t e = async_work_group_copy(shared, {source}, {GROUP}, 0); wait_group_events(1, &e); }}}}\n"
            "barrier(CLK_LOCAL_MEM_FENCE);"
        )
    if kind < 0.65:
        return Node("atomic_add(&total, {0});\nbarrier(CLK_LOCAL_MEM_FENCE);", (g.expression(Type("int"), 1),))
    return Node(
        "x = {0};\nbarrier(CLK_LOCAL_MEM_FENCE);\nshared[l] = x;\nbarrier(CLK_LOCAL_MEM_FENCE);",
        (g.expression(element, 2),),
    )


def on_pocl(context, source: str, seeds) -> list[bytes]:
    """The bytes that each kernel writes; of NaN that were computed there is one."""
    import pyopencl as cl

    program, queue = cl.Program(context, source).build(options=["-w"]), cl.CommandQueue(context)
    flags, found = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, []
    for seed in seeds:
        given, results = inputs(seed), outputs(ITEMS, WORDS)
        buffers = [cl.Buffer(context, flags, hostbuf=a) for a in (*given.values(), *results.values())]
        cl.Kernel(program, f"g{seed}")(queue, (ITEMS,), (GROUP,), *buffers)
        for array, buffer in zip(results.values(), buffers[len(given) :], strict=True):
            cl.enqueue_copy(queue, array, buffer)
        found.append(_bytes(results))
    return found


def on_emulator(source: str, seeds) -> list[bytes]:
    emulator, found = Emulator(module_of(source), hasty=True), []
    for seed in seeds:
        results = outputs(ITEMS, WORDS)
        emulator.run(f"g{seed}", inputs(seed) | results, {}, IndexSpace.of((ITEMS,), (GROUP,)))
        found.append(_bytes(results))
    return found


def _bytes(results: dict[str, np.ndarray]) -> bytes:
    return Results(*(array[np.newaxis] for array in results.values())).of(0)
