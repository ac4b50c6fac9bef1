"""Shifted arrays: the same bytes as the loops that shift them, in registers or block RAM by size, at any depth."""

import random
import time

import numpy as np
import pytest
from test_transforms import compiled, count, loops, same

from hls.frontend import parse_source
from hls.ir import Module, walk
from hls.ir.interpreter import run_kernel
from hls.passes.lowering.inline import Inline
from hls.passes.pipeline import kernel_passes
from hls.passes.pipeline_options import PipelineOptions

ARGS = "kernel void k(global const int *restrict a, global int *restrict out, int n, int m)"


def kernel(size: int, body: str, begin: str = "for (int k = 0; k < {size}; k++) sr[k] = 0;", type: str = "int") -> str:
    text = f"{ARGS} {{ {type} sr[{size}]; {begin}\n#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ {body} }} }}"
    return text.replace("{size}", str(size)).replace("{last}", str(size - 1))


def check(text: str, sizes=(0, 1, 7, 300)):
    module, function = compiled(text)
    for n in sizes:
        rng = np.random.default_rng(n)
        buffers = {"a": rng.integers(-99, 99, 304).astype(np.int32), "out": np.zeros(304, np.int32)}
        same(module, function, buffers, {"n": n, "m": 3})
    return function


def memories(function) -> dict[str, int]:
    """The lengths of the arrays in block RAM."""
    return {m.name: m.length for m in function.memories.values() if m.onchip}


UP = "for (int k = {last}; k > 0; k--) sr[k] = sr[k - 1];"
DOWN = "for (int k = 0; k < {last}; k++) sr[k] = sr[k + 1];"


@pytest.mark.parametrize("pragma", ["", "\n#pragma unroll\n", "\n#pragma unroll 4\n"])
@pytest.mark.parametrize("shift, first, last", [(UP, "0", "{last}"), (DOWN, "{last}", "0")], ids=["up", "down"])
def test_small_ones_are_registers(shift, first, last, pragma):
    function = check(kernel(9, f"{pragma}{shift} sr[{first}] = a[i]; out[i] = sr[{last}] + sr[3];"))
    assert not memories(function) and len(loops(function)) == 1


@pytest.mark.parametrize("shift, first, last", [(UP, "0", "{last}"), (DOWN, "{last}", "0")], ids=["up", "down"])
def test_long_ones_are_delay_lines_between_their_taps(shift, first, last):
    function = check(kernel(200, f"{shift} sr[{first}] = a[i]; out[i] = sr[{last}] - sr[120] * sr[121] + sr[119];"))
    assert sorted(memories(function).values()) == [77, 118]
    assert count(function, "load") == 3  # of each delay line and of a


def test_elements_behind_the_last_tap_need_no_place():
    function = check(kernel(200, f"{UP} sr[0] = a[i]; out[i] = sr[70];"))
    assert list(memories(function).values()) == [69]


def test_a_shift_by_several_places_moves_as_many_lines():
    shift = "for (int k = {last}; k > 3; k--) sr[k] = sr[k - 4];"
    body = shift + " for (int k = 0; k < 4; k++) sr[k] = a[i] * k; out[i] = sr[{last}] + sr[196] - sr[101] + sr[2];"
    function = check(kernel(200, body))
    assert sorted(memories(function).values()) == [48, 48]  # one line has its tap in the middle, one is never read


@pytest.mark.parametrize("condition", ["a[i] & 1", "i > m", "a[i] > 0 && i < 99"])
def test_conditional_shifts(condition):
    check(kernel(100, f"if ({condition}) {{ {UP} sr[0] = a[i]; }} out[i] = sr[{{last}}] + sr[50];"))
    check(kernel(100, f"if ({condition}) {{ {UP} sr[0] = a[i]; }} out[i] = sr[a[i] & 63];"))


def test_taps_at_places_of_the_run():
    function = check(kernel(100, f"{UP} sr[0] = a[i]; out[i] = sr[(a[i] & 63) + m] + sr[{{last}}] + sr[0];"))
    assert memories(function) == {"sr.ring": 128}
    function = check(kernel(100, f"{DOWN} sr[{{last}}] = a[i]; out[i] = sr[a[i] & 63]; sr[(a[i] & 31) + 68] ^= i;"))
    assert memories(function) == {"sr.ring": 128}


def test_the_end_that_nothing_moves_to_keeps_its_value():
    check(kernel(100, f"{UP} if (i & 1) sr[0] = a[i]; out[i] = sr[1] + sr[{{last}}];"))
    check(kernel(100, f"{DOWN} if (i & 1) sr[{{last}}] = a[i]; out[i] = sr[(a[i] & 31) + 68];"))


def test_two_shifts_in_one_iteration():
    check(kernel(100, f"{UP} sr[0] = a[i]; {UP} sr[0] = i; out[i] = sr[{{last}}] + sr[60];"))
    check(kernel(100, f"{UP} sr[0] = a[i]; out[i] = sr[{{last}}]; if (a[i] & 1) {{ {UP} }}"))


def test_parts_and_rows():
    check(
        kernel(
            200,
            "for (int k = 99; k > 0; k--) sr[k] = sr[k - 1]; for (int k = 199; k > 120; k--) sr[k] = sr[k - 1];"
            "sr[0] = a[i]; sr[120] = sr[99]; out[i] = sr[199] + sr[110];",
        )
    )
    rows = (
        "\n#pragma unroll\nfor (int r = 0; r < 3; r++) for (int k = 49; k > 0; k--) sr[r * 50 + k] = sr[r * 50 + k - "
        "1];"
        "sr[0] = a[i]; sr[50] = sr[49]; sr[100] = sr[99]; out[i] = sr[149];"
    )
    check(kernel(150, rows))


@pytest.mark.parametrize(
    "body",
    [
        "for (int k = 1; k < {size}; k++) sr[k] = sr[k - 1]; sr[0] = a[i]; out[i] = sr[{last}];",  # that is no shift
        "for (int k = {last}; k > 0; k--) sr[k] = sr[k - 1] + 1; sr[0] = a[i]; out[i] = sr[{last}];",
        "for (int k = {last}; k > m; k--) sr[k] = sr[k - 1]; sr[0] = a[i]; out[i] = sr[{last}];",
        "for (int k = {last}; k > 1; k -= 2) sr[k] = sr[k - 1]; sr[0] = a[i]; out[i] = sr[{last}];",
        "\n#pragma unroll 1\nfor (int k = {last}; k > 0; k--) sr[k] = sr[k - 1]; sr[0] = a[i]; out[i] = sr[{last}];",
    ],
    ids=range(5),
)
def test_what_is_no_shift_stays_a_loop(body):
    function = check(kernel(60, body))
    assert "sr" in memories(function)


def test_how_it_begins():
    body = f"out[i] = sr[99] + sr[33]; {UP} sr[0] = a[i];"
    check(kernel(100, body, begin="for (int k = 0; k < {size}; k++) sr[k] = m + 1;"))
    check(
        kernel(100, body, begin="for (int k = 0; k < 70; k++) sr[k] = 1; for (int k = 70; k < {size}; k++) sr[k] = 2;")
    )
    check(kernel(100, body, begin="for (int k = 0; k < {size}; k++) sr[k] = a[k];"))
    check(f"{ARGS} {{ int sr[100] = {{1, 2, 3}}; for (int i = 0; i < n; i++) {{ {body} }} }}".replace("{last}", "99"))


def test_a_register_of_each_run_of_a_loop():
    text = (
        f"{ARGS} {{ for (int j = 0; j < 3; j++) {{ int sr[100]; for (int k = 0; k < 100; k++) sr[k] = j;"
        f"\n#pragma unroll 1\nfor (int i = 0; i < n; i++) {{ {UP} sr[0] = a[i]; out[i] += sr[99] ^ sr[40]; }} }} }}"
    ).replace("{last}", "99")
    check(text)


@pytest.mark.parametrize("type", ["float", "uchar", "long", "short", "float4"])
def test_other_elements(type):
    value = "(float4)(a[i])" if type == "float4" else f"({type})a[i]"
    tap = "(int)sr[99]" if type != "float4" else "(int)sr[99].y"
    begin = (
        "for (int k = 0; k < {size}; k++) sr[k] = 1;"
        if type != "float4"
        else "for (int k = 0; k < {size}; k++) sr[k] = (float4)(1.0f);"
    )
    check(kernel(100, f"{UP} sr[0] = {value}; out[i] = {tap};", begin, type))


def test_sixteen_thousand_elements_take_no_time():
    text = kernel(16384, f"\n#pragma unroll\n{UP} sr[0] = a[i]; out[i] = sr[16383] + sr[5000];")
    begin = time.process_time()
    function = check(text, sizes=(5,))
    assert sorted(memories(function).values()) == [4999, 11382]
    assert time.process_time() - begin < 20  # most of it in the interpreter


def test_a_loop_that_shifts_a_larger_array_unasked_stays():
    """Of a part that is read anywhere, element by element would be left."""
    part = UP.replace("> 0", "> 1")
    _, function = compiled(kernel(16400, f"{part} sr[a[i] & 63] = i; out[i] = sr[m];"))
    assert len(loops(function)) == 3


class Registers:
    """Random kernels with one array that is shifted now and then."""

    def __init__(self, seed: int):
        rng = self.rng = random.Random(seed)
        self.size, self.by = rng.choice([40, 64, 97, 130]), rng.choice([1, 1, 1, 2, 3])
        self.up, self.dynamic = rng.random() < 0.5, rng.random() < 0.4

    def shift(self) -> str:
        size, by = self.size, self.by
        if self.up:
            return f"for (int k = {size - 1}; k >= {by}; k--) sr[k] = sr[k - {by}];"
        return f"for (int k = 0; k < {size - by}; k++) sr[k] = sr[k + {by}];"

    def place(self) -> str:
        if self.dynamic and self.rng.random() < 0.5:
            return self.rng.choice([f"(uint)a[i] % {self.size}", f"i % {self.size}", "m + 2"])
        return str(self.rng.choice([0, self.size - 1, self.rng.randrange(self.size)]))

    def statement(self) -> str:
        kind = self.rng.random()
        if kind < 0.35:
            return self.shift()
        if kind < 0.5:
            return f"if (a[i] & {self.rng.choice([1, 2])}) {{ {self.shift()} }}"
        if kind < 0.75:
            return f"sr[{self.place()}] = {self.rng.choice(['a[i]', 'i', f'sr[{self.place()}] + a[i]'])};"
        return f"out[i] ^= sr[{self.place()}] * {self.rng.randrange(1, 9)};"

    def text(self) -> str:
        begin = self.rng.choice(
            [f"for (int k = 0; k < {self.size}; k++) sr[k] = {self.rng.choice(['0', 'm', '7'])};", "sr[0] = 3;"]
        )
        body = " ".join(self.statement() for _ in range(self.rng.randint(3, 7)))
        return (
            f"{ARGS} {{ int sr[{self.size}] = {{0}}; {begin}\n#pragma unroll {self.rng.choice([1, 1, 2])}\n"
            f"for (int i = 0; i < n; i++) {{ {self.shift()} {body} }} }}"
        )


@pytest.mark.parametrize("part", range(3))
def test_random_registers(part):
    for seed in range(12 * part, 12 * part + 12):
        check(Registers(seed).text(), sizes=(1, 5, 140))


def test_every_stage_means_the_same():
    text = kernel(90, f"if (a[i] & 1) {{ {UP} sr[0] = a[i]; }} out[i] = sr[{{last}}] + sr[12];")
    module = Inline().run(parse_source(text, "k.cl").module)
    function, wanted = module.kernels[0], None
    for each in kernel_passes(PipelineOptions()):
        function = each.run(function)
        buffers = {"a": np.arange(300, dtype=np.int32) * 7, "out": np.zeros(300, np.int32)}
        run_kernel(
            Module({"k": function}),
            "k",
            {name: data.view(np.uint8) for name, data in buffers.items()},
            {"n": 200, "m": 1},
        )
        wanted = buffers["out"] if wanted is None else wanted
        assert np.array_equal(buffers["out"], wanted), each.name
        if each.name == "lower-private-memories":
            assert not any(op.opcode in ("shift", "fill") for op in walk(function.body))
