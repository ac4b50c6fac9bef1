"""Compiled designs of different kinds: AXI with counters, streams and an autorun kernel, arguments of every type, registers
beside RAM ports, plain wires, copies of buffers."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main

EXAMPLES = Path(__file__).parents[3] / "examples"
LOCAL = """
typedef struct { int a; float b; long c; } settings;
__kernel void scale(__global const float *restrict a, __global float *restrict o, float16 f, settings s, uchar n)
{
    for (int i = 0; i < n; i++)
        o[i] = a[i] * f.s3 + s.b;
}
__kernel void sums(__global const int *a, __global int *o, __local int *part)
{
    int l = get_local_id(0);
    part[l] = a[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l == 0)
        o[get_group_id(0)] = part[0] + part[get_local_size(0) - 1];
}
__attribute__((uses_global_work_offset(0), max_global_work_dim(2)))
__kernel void places(__global int *o)
{
    o[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_global_id(0);
}
__global short copies[3] = { -2, 258 };
__kernel void copy(__global const int *a, __global int *o, int n)
{
    for (int i = 0; i < n; i++)
        o[i] = a[i];
    copies[0]++;
}
"""
COPIES = """
__kernel void find(__global int *restrict next, int n)
{
    while (n > 0)
        n = next[n];
    next[0] = n;
}
"""


@pytest.fixture(scope="session")
def designs(tmp_path_factory):
    """Output folders by name."""
    root = tmp_path_factory.mktemp("designs")
    (root / "local.cl").write_text(LOCAL)
    (root / "copies.cl").write_text(COPIES)
    asked = {
        "vecadd": [EXAMPLES / "vecadd/kernel.cl", "--counters", "--prefix", "va"],
        "packets": [EXAMPLES / "packets/kernel.cl"],
        "lite": [EXAMPLES / "vecadd/kernel.cl", "--board", "ecp5_onchip", "--reset-active", "low"],
        "axis": [EXAMPLES / "packets/kernel.cl", "--stream-names", "axi", "--reset-active", "low"],
        "wires": [EXAMPLES / "vecadd/kernel.cl", "--board", "ecp5_onchip", "--control", "wires"],
        "local": [root / "local.cl", "--board", "a10pac"],
        "copies": [root / "copies.cl", "--copy-bytes", "4096"],
    }
    for name, arguments in asked.items():
        command = ["compile", *map(str, arguments), "--no-html", "-o", str(root / name)]
        done = CliRunner().invoke(main, command, prog_name="sluice", catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
    return {name: root / name for name in asked}
