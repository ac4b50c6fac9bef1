"""Options of `sluice compile` that change the hardware, from the command line."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from hls.cli import main

KERNEL = """\
__kernel void k(__global const int *restrict a, __constant int *c, __global int *restrict out, int n)
{
    for (int i = 0; i < n; i++)
        out[i] = a[a[i]] + c[i & 3];
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k.cl").write_text(KERNEL)
    return tmp_path


def compiled(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(main, ["compile", "k.cl", "-o", "out", "--no-html", *options])


def caches(folder: Path, *options: str) -> dict[str, int]:
    """The cache of each load, in bytes."""
    assert compiled(folder, *options).exit_code == 0
    (kernel,) = json.loads((folder / "out/report.json").read_text())["kernels"]
    return {one["expression"]: one["cache_bytes"] for one in kernel["accesses"] if one["kind"].startswith("load")}


def test_private_caches(folder):
    usual = caches(folder)["a[a[i]]"]
    assert usual > 0
    assert caches(folder, "--private-cache-bytes", "0")["a[a[i]]"] == 0
    large = caches(folder, "-private-cache-bytes", str(4 * usual))["a[a[i]]"]
    assert large >= 4 * usual, "rounded up"


def test_constant_cache(folder):
    assert caches(folder, "--const-cache-bytes", "2048")["c[i & 3]"] == 2048
    assert caches(folder)["c[i & 3]"] == 16384


def test_copied_buffers(folder):
    (folder / "k.cl").write_text(
        "__kernel void k(__global int *restrict a, int n) { while (n > 0) n = a[n]; a[0] = n; }"
    )

    def memories(*options: str) -> list[str]:
        assert compiled(folder, *options).exit_code == 0
        (kernel,) = json.loads((folder / "out/report.json").read_text())["kernels"]
        return [one["name"] for one in kernel["memories"]]

    assert memories("--copy-bytes", "0") == [] and "a_copy" in memories()
    assert "a_copy" in memories("--copy-bytes", "512") and "a_copy" in memories("-copy-bytes", "512")


def test_control_by_wires(folder):
    refused = compiled(folder, "--control", "wires")
    assert refused.exit_code == 1
    assert "choose a board with memory on the chip" in refused.output
    assert compiled(folder, "--control", "wires", "--board", "ecp5_onchip").exit_code == 0
    assert not any("axil" in file.read_text() for file in (folder / "out/rtl").iterdir())


def test_random_stalls(folder):
    assert compiled(folder).exit_code == 0
    assert "stall_seed" not in (folder / "out/rtl/sluice_system.v").read_text()
    assert compiled(folder, "--random-stalls").exit_code == 0
    assert "input wire [31:0] stall_seed" in (folder / "out/rtl/sluice_system.v").read_text()


def test_banks_one_behind_the_other(folder):
    assert compiled(folder, "--no-interleaving", "default").exit_code == 0
    refused = compiled(folder, "-no-interleaving", "HBM")
    assert refused.exit_code == 1 and "board de5net has no memory 'HBM'" in refused.output


def test_managers_of_a_memory(folder):
    def banks(*options: str) -> int:
        done = compiled(folder, *options)
        assert done.exit_code == 0, done.output
        (memory,) = json.loads((folder / "out/interface.json").read_text())["memories"]
        return memory["banks"]

    assert (banks(), banks("--axi-masters", "1"), banks("-axi-masters", "2")) == (2, 1, 2)
    assert "m_axi1" in (folder / "out/rtl/sluice_system.v").read_text()
    refused = compiled(folder, "--axi-masters", "3")
    assert refused.exit_code == 1
    assert "3 does not divide the number of banks of memory DDR of board de5net, 2" in refused.output


def test_addresses_of_managers(folder):
    def bits(*options: str) -> set[int]:
        done = compiled(folder, *options)
        assert done.exit_code == 0, done.output
        described = json.loads((folder / "out/interface.json").read_text())
        ports = {port["bits"] for port in described["ports"] if re.fullmatch(r"m_axi\d+_a[rw]addr", port["name"])}
        assert ports == {bus["address_bits"] for bus in described["buses"] if bus["protocol"] == "axi4"}
        return ports

    assert (bits(), bits("--axi-address-bits", "64"), bits("--axi-address-bits", "32")) == ({64}, {64}, {32})
    wrong = compiled(folder, "--axi-address-bits", "48")
    assert wrong.exit_code == 2 and "addresses can have 64 or 32 bits, not 48" in wrong.output
    large = compiled(folder, "--axi-address-bits", "32", "--board", "u250")
    assert large.exit_code == 1 and "of memory DDR of board u250" in large.output, large.output
    nowhere = compiled(folder, "--axi-address-bits", "32", "--board", "ecp5_onchip")
    assert (
        nowhere.exit_code == 1 and "memory of board ecp5_onchip is on the chip, and has no AXI port" in nowhere.output
    )


def test_single_precision_constants(folder):
    """Beside a double, an unsuffixed constant is one, and its product takes a unit for doubles."""
    product = "__kernel void k(__global float *restrict a, __global double *restrict b) { b[0] = a[0] * 1.5; }"
    (folder / "k.cl").write_text(product)

    def doubles(*options: str) -> bool:
        done = compiled(folder, *options)
        assert done.exit_code == 0 and "W0210" not in done.output, done.output
        (unit,) = (folder / "out/rtl").glob("float_mul_*.v")
        return "[63:0]" in unit.read_text()

    assert doubles()
    assert not doubles("-cl-single-precision-constant")
