"""printf as records of a channel: their text is that which the interpreter prints of the calls."""

import random
import struct

import pytest

from hls.diag import Code
from hls.driver import compile
from hls.frontend import parse_source
from hls.ir.concurrent import Channel
from hls.ir.interpreter import Launch, run_launches
from hls.ir.printing import Format, in_order, lanes_of, places_of, record_type, shown
from hls.ir.types import I32, I64, ArrayType, FloatType
from hls.narrow import instance, present
from hls.options import Options
from hls.passes.link.link_printf import console_of, printed_formats
from hls.passes.link.lower_printf import LowerPrintf
from hls.passes.lowering.inline import Inline
from hls.passes.run_stages import link_program
from tests.plans import planned_text

#: conversion, type in the source, and values of it
KINDS = {
    "%d": ("int", [0, -1, 2147483647, -2147483648]),
    "%5hhd": ("char", [0, -128, 127]),
    "%hx": ("ushort", [0, 65535, 4660]),
    "%ld": ("long", [0, -1, 1 << 62, -(1 << 63)]),
    "%lu": ("ulong", [(1 << 64) - 1, 1 << 32]),
    "%f": ("float", [0.5, -0.0, 1e30]),
    "%.12g": ("double", [1 / 3, -1e300, 5e-324]),
    "%g": ("half", [0.5, -65504.0]),
}


def written(name: str, value: float) -> str:
    """A value of a type in the source."""
    return f"({name})({value!r})" if isinstance(value, float) else f"({name})({value & (1 << 64) - 1}UL)"


def source_of(seed: int) -> str:
    """A kernel with calls in a helper, a loop and under a condition."""
    rng = random.Random(seed)

    def call() -> str:
        kinds = [rng.choice(list(KINDS)) for _ in range(rng.randrange(4))]
        values = [written(KINDS[kind][0], rng.choice(KINDS[kind][1])) for kind in kinds]
        return f'printf("{" ".join([*kinds, "%%"])};"{"".join(", " + value for value in values)});'

    return (
        f"void helper(int x) {{ {call()} if (x & 1) {call()} }}\n"
        f"__kernel void k(__global int *o, int n) {{ {call()} for (int i = 0; i < n; i++) {{ helper(i); "
        f'if (i % 3 == {rng.randrange(3)}) {call()} o[0] = i; printf("%d,", i * n); }} {call()} }}'
    )


@pytest.mark.parametrize("seed", range(12))
def test_records_show_the_text(seed):
    module = link_program(parse_source(source_of(seed), "k.cl").module, prints=True)
    text, launch = [], Launch("k", {"o": bytearray(4)}, {"n": 5})
    run_launches(module, [launch], write=text.append)
    console = present(console_of(module.functions["k"]))
    channel = Channel(console)
    run_launches(LowerPrintf().run(Inline().run(module)), [launch], channels={console: [channel]})
    lanes = instance(module.channels[console].element, ArrayType).length
    records = b"".join(struct.pack(f"<{lanes}I", *record) for record in channel.values)
    assert shown(records, lanes, printed_formats(module)) == "".join(text)


@pytest.mark.parametrize("seed", range(4))
def test_places_bring_records_into_the_order_of_the_program(seed):
    """Work-items on several units, side by side: their records are mixed; those of one work-item keep their order."""
    rng = random.Random(seed)
    source = (
        "__kernel void k(__global int *o, int n) { int l = get_local_id(0) + 4 * get_local_id(1);\n"
        'for (int j = 0; j < (l & 3); j++) printf("%d:%d ", l, j);\nbarrier(CLK_LOCAL_MEM_FENCE);\n'
        'if (l % n) printf("%ld,%d\\n", (long)get_global_id(1), l);\no[l] = l; }'
    )
    module = link_program(parse_source(source, "k.cl").module, prints=True)
    text, launch = [], Launch("k", {"o": bytearray(64)}, {"n": 2 + seed}, (8, 2 * seed + 2, 2), (4, 2, 1))
    run_launches(module, [launch], write=text.append)
    console = present(console_of(module.functions["k"]))
    channel, declared = Channel(console), module.channels[console]
    run_launches(LowerPrintf().run(Inline().run(module)), [launch], channels={console: [channel]})
    lanes, places = instance(declared.element, ArrayType).length, places_of(declared)
    assert places == 7
    queues: dict[tuple, list] = {}
    for record in channel.values:
        queues.setdefault((*record[1:4], *record[5 : 1 + places]), []).append(record)
    mixed = []
    while queues:
        key = rng.choice(list(queues))
        mixed.append(queues[key].pop(0))
        queues = {key: queue for key, queue in queues.items() if queue}
    records = b"".join(struct.pack(f"<{lanes}I", *record) for record in mixed)
    formats = printed_formats(module)
    assert shown(in_order(records, lanes, places), lanes, formats, places) == "".join(text)
    assert shown(records, lanes, formats, places) != "".join(text)


def scattered(seed: int) -> str:
    """A kernel with barriers in loops and conditions, in nests, and calls everywhere among them."""
    rng = random.Random(seed)

    def block(depth: int) -> str:
        text = ""
        for _ in range(rng.randrange(2, 5)):
            kind, number = rng.randrange(5 if depth else 3), rng.randrange(100)
            inner = block(depth - 1) if kind > 2 else ""
            text += (
                f'printf("{number}:%d %d;", l, x++);',
                "barrier(CLK_LOCAL_MEM_FENCE);",
                f'if ((l + x) & {rng.randrange(1, 4)}) printf("{number} %ld\\n", (long)get_global_id(0) + x);',
                f"for (int i{depth} = 0; i{depth} < n; i{depth}++) {{ {inner} }}",
                f"if (n > {rng.randrange(1, 4)}) {{ {inner} }}",
            )[kind]
        return text

    return (
        "__kernel void k(__global int *o, int n) { int l = get_local_id(0) + 4 * get_local_id(1), x = l;\n"
        f'for (int j = 0; j < n; j++) {{ printf("%d,", j); barrier(CLK_LOCAL_MEM_FENCE); {block(2)} }} {block(1)}'
        "\no[l] = x; }"
    )


@pytest.mark.parametrize("seed", range(6))
def test_records_say_their_order_among_barriers(seed):
    """Records in any order at all are brought into that of the program."""
    module = link_program(parse_source(scattered(seed), "k.cl").module, prints=True)
    text, launch = [], Launch("k", {"o": bytearray(64)}, {"n": 2}, (8, 2, 1), (4, 2, 1))
    run_launches(module, [launch], write=text.append)
    console = present(console_of(module.functions["k"]))
    channel, declared = Channel(console), module.channels[console]
    run_launches(LowerPrintf().run(Inline().run(module)), [launch], channels={console: [channel]})
    lanes, places = instance(declared.element, ArrayType).length, places_of(declared)
    records = list(channel.values)
    random.Random(seed).shuffle(records)
    data = b"".join(struct.pack(f"<{lanes}I", *record) for record in records)
    assert places == 8 and len(records) > 32
    assert shown(in_order(data, lanes, places), lanes, printed_formats(module), places) == "".join(text)


def test_a_record_holds_the_longest_call():
    formats = [Format("", ()), Format("%ld%d", (I64, I32)), Format("%g", (FloatType(16),))]
    assert [[lanes_of(one) for one in each.types] for each in formats] == [[], [2, 1], [1]]
    assert (record_type(formats).length, record_type(formats, 3).length) == (4, 7)


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("num_compute_units(2)", "get_global_id(0)"),
        ("num_simd_work_items(2), reqd_work_group_size(4, 1, 1)", "get_global_id(0)"),
        ("num_simd_work_items(2), reqd_work_group_size(4, 1, 1)", "get_global_id(0); meet(n)"),
        ("", "get_global_id(0); helper(); if (n > 3) barrier(CLK_LOCAL_MEM_FENCE)"),
        ("", "n; barrier(CLK_LOCAL_MEM_FENCE)"),
        ("autorun", "get_local_id(0); helper(); if (get_num_groups(0) > 3) barrier(CLK_LOCAL_MEM_FENCE)"),
    ],
)
def test_all_kernels_print(attribute, text):
    given = "" if attribute == "autorun" else "__global int *o, int n"
    source = (
        'void helper(void) { printf("x"); }\n'
        'void meet(int n) { for (int j = 0; j < n; j++) { barrier(CLK_LOCAL_MEM_FENCE); printf("x"); } }\n'
        f"__kernel __attribute__(({attribute})) void k({given}) {{ int i = {text}; helper(); "
        f"{'o[i] = i;' if given else ''} }}\n"
        "__kernel void other(void) { helper(); }"
    )
    result = compile(source, "de5net", Options(printf=True))
    assert not [one for one in result.warnings if one.code == Code.LEFT_OUT_OF_HARDWARE]
    assert {one.prints_for for one in result.interface.streams} == {"k", "other"}
    assert all(one.formats[0].text == "x" for one in result.interface.streams)


def test_without_printf_one_warning_names_the_first_of_all_calls():
    source = "".join(f'__kernel void k{k}(int n) {{ printf("%d", n);\nprintf("{k}"); }}\n' for k in range(3))
    told = [one for one in planned_text(source).warnings if one.code == Code.LEFT_OUT_OF_HARDWARE]
    assert [(one.span.line, one.message) for one in told] == [
        (1, "printf prints nothing on the board, here and in 5 more calls")
    ]


def test_names_of_channels_stay_apart():
    source = 'channel int printf_k; __kernel void k(void) { printf("x"); write_channel_intel(printf_k, 1); }'
    source += "__kernel void r(__global int *o) { o[0] = read_channel_intel(printf_k); }"
    assert {one.name for one in planned_text(source, "de5net", Options(printf=True)).channels} == {
        "printf_k",
        "printf_k1",
    }
