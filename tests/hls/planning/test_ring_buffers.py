"""Ring buffers of lines, as sliding windows use them, store and load in every cycle."""

import pytest

from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.target.board import load_board


def interval(text: str) -> int:
    kernels, _ = plan_module(parse_source(text, "k.cl", {}, []).module, load_board("de5net"), Options())
    (plan,) = kernels[0].plan.loops.values()
    return plan.ii


@pytest.mark.parametrize("qualifier", ["", "restrict"])
@pytest.mark.parametrize("lanes", [4, 40])
def test_lines_behind_memory(qualifier, lanes):
    """What is stored comes from memory, cycles after an iteration could load: both are in one level, also where the
    order of global accesses depends on the buffers of a launch. 40 lanes and two lines take 80 banks."""
    text = f"""
        __kernel __attribute__((task)) void k(__global const uchar *{qualifier} in, __global uchar *{qualifier} out) {{
            uchar line[2][14 * {lanes}], window[3][{2 * lanes}];
            for (size_t y = 0; y < 3000; y++) {{
                uchar now[{lanes}];
                #pragma unroll
                for (int j = 0; j < {lanes}; j++) now[j] = in[y * {lanes} + j];
                #pragma unroll
                for (int i = 0; i < 2; i++) {{
                    #pragma unroll
                    for (int x = 0; x < {lanes}; x++) window[i][x] = window[i][x + {lanes}];
                    #pragma unroll
                    for (int j = 0; j < {lanes}; j++) window[i][{lanes} + j] = line[i][j + {lanes} * (y % 14)];
                    #pragma unroll
                    for (int j = 0; j < {lanes}; j++) line[i][j + {lanes} * (y % 14)] = window[i + 1][j];
                }}
                #pragma unroll
                for (int x = 0; x < {lanes}; x++) {{
                    window[2][x] = window[2][x + {lanes}];
                    window[2][{lanes} + x] = now[x];
                }}
                #pragma unroll
                for (int x = 0; x < {lanes}; x++)
                    out[y * {lanes} + x] = window[0][x + 1] + 2 * window[1][x + 2] - window[2][x + 1];
            }} }}"""
    assert interval(text) == 1
