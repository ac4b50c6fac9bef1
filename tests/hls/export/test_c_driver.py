"""The driver in C: it compiles without a warning, and writes what the register map says."""

import os
import shutil
import struct
import subprocess

import numpy as np
import pytest

from hls.export.c_values import c_launch_value
from hls.export.description import read_description
from hls.export.view import register_name
from hls.export.write import write_export
from hls.ir.launch import IndexSpace
from sim.toolchain import find_tools

WARNINGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
#: registers that answer as the hardware does: a start takes two reads of control, done is cleared by writing 1
DEVICE = """
#include <stdio.h>
#include "TOP.h"
static uint32_t words[1 << 18];
static int left;
static uint32_t get(void *context, uint32_t address)
{
    (void)context;
    if (address % 0x10000 == 0 && (words[address / 4] & 1) && !left--)
        words[address / 4] = 2;
    return words[address / 4];
}
static void put(void *context, uint32_t address, uint32_t value)
{
    (void)context;
    printf("write %x %x\\n", address, value);
    if (address % 0x10000 == 0) {
        if (value & 2)
            words[address / 4] &= ~2u;
        if (value & 1) {
            words[address / 4] = 1;
            left = 2;
        }
    } else
        words[address / 4] = value;
}
static const struct TOP_device device = {NULL, get, put};
int main(void)
{
BODY
    return 0;
}
"""


@pytest.fixture
def driver(designs, tmp_path):
    """Compile a body of main() with the driver of a design, run it, and return the lines that it prints."""

    def run(name: str, body: str) -> list[str]:
        gcc = shutil.which("gcc")
        if gcc is None:
            pytest.skip("needs gcc")
        described = read_description(designs[name])
        write_export(described, designs[name], "c", tmp_path / "c")
        text = DEVICE.replace("BODY", body).replace("TOP", described.top)
        (tmp_path / "c" / "main.c").write_text(text)
        command = [gcc, *WARNINGS, "main.c", f"{described.top}.c", "-o", "main"]
        done = subprocess.run(command, cwd=tmp_path / "c", capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return subprocess.run([tmp_path / "c" / "main"], capture_output=True, text=True, check=True).stdout.splitlines()

    return run


def written(lines: list[str]) -> dict[int, int]:
    """The last value written to each address."""
    found = (line.split() for line in lines if line.startswith("write "))
    return {int(address, 16): int(value, 16) for _, address, value in found}


def value_at(words: dict[int, int], kernel, name: str, bytes: int) -> bytes:
    """The bytes written to an argument's or a launch value's register, as the description places it."""
    start = next(one.offset for one in kernel.registers if register_name(one) == name) + kernel.base
    count = -(-bytes // 4)
    return struct.pack(f"<{count}I", *(words[start + 4 * n] for n in range(count)))[:bytes]


@pytest.mark.parametrize("name", ["vecadd", "packets", "lite", "local"])
def test_registers_lie_where_the_description_says(designs, driver, name):
    described = read_description(designs[name])
    body = [
        f'    printf("%s %s %u\\n", "{kernel.name}", "{register_name(one)}", '
        f"(unsigned)offsetof(struct TOP_registers_{kernel.name}, {register_name(one)}) + TOP_WINDOW_BYTES * TOP_KERNEL_{kernel.name});"
        for kernel in described.kernels
        for one in kernel.registers
    ]
    wanted = [
        f"{kernel.name} {register_name(one)} {kernel.base + one.offset}"
        for kernel in described.kernels
        for one in kernel.registers
    ]
    assert driver(name, "    (void)device;\n" + "\n".join(body)) == wanted


def test_arguments_of_every_type(designs, driver):
    lines = driver(
        "local",
        """
    struct TOP_arguments_scale scale = {0x1122334455667788u, 64, {0}, {0}, 200};
    struct TOP_arguments_sums sums = {1, 2, 1024};
    struct TOP_arguments_copy copy = {.arg_n = -3, .arg_copies = 4096}, disjoint = {.disjoint = 1};
    int n;
    for (n = 0; n < 64; n++)
        scale.arg_f[n] = (uint8_t)n;
    for (n = 0; n < 16; n++)
        scale.arg_s[n] = (uint8_t)(255 - n);
    TOP_set_arguments_scale(&device, &scale);
    TOP_set_arguments_sums(&device, &sums);
    TOP_set_arguments_copy(&device, &disjoint);
    printf("overlap %u\\n", words[(TOP_KERNEL_copy * TOP_WINDOW_BYTES + offsetof(struct TOP_registers_copy, launch_overlap)) / 4]);
    TOP_set_arguments_copy(&device, &copy);
""",
    )
    words = written(lines)
    scale, sums, _places, copy = read_description(designs["local"]).kernels
    assert value_at(words, scale, "arg_a", 8) == (0x1122334455667788).to_bytes(8, "little")
    assert value_at(words, scale, "arg_f", 64) == bytes(range(64))
    assert value_at(words, scale, "arg_s", 16) == bytes(255 - n for n in range(16))
    assert value_at(words, scale, "arg_n", 8) == (200).to_bytes(8, "little")
    assert value_at(words, sums, "arg_part", 8) == (1024).to_bytes(8, "little")
    assert value_at(words, copy, "arg_n", 4) == (-3).to_bytes(4, "little", signed=True)
    assert value_at(words, copy, "arg_copies", 8) == (4096).to_bytes(8, "little")
    assert copy.given == copy.arguments[:3] and copy.arguments[3].variable.contents == bytes.fromhex("feff02010000")
    assert "overlap 0" in lines and value_at(words, copy, "launch_overlap", 4) == b"\1\0\0\0"


@pytest.mark.parametrize(("bytes", "wanted"), [(0, 0), (400, 400), (1 << 40, 0xFFFFFFFF)])
def test_the_size_of_a_buffer(designs, driver, bytes, wanted):
    lines = driver(
        "copies",
        f"""
    struct TOP_arguments_find find = {{.arg_n = 5, .bytes_of_next = {bytes}u}};
    TOP_set_arguments_find(&device, &find);
""",
    )
    (find,) = read_description(designs["copies"]).kernels
    assert value_at(written(lines), find, "launch_bytes_of_next", 4) == struct.pack("<I", wanted)


def test_the_size_of_a_launch(designs, driver):
    lines = driver(
        "local",
        """
    const uint64_t global[] = {24, 6, 10}, local[] = {4, 3, 5}, offset[] = {7, 8, 9};
    printf("result %d\\n", TOP_set_size_sums(&device, 3, global, local, offset));
    printf("result %d\\n", TOP_set_size_sums(&device, 4, global, local, offset));
    printf("result %d\\n", TOP_set_size_sums(&device, 1, global, offset, offset));
""",
    )
    sums = read_description(designs["local"]).kernels[1]
    space, words = IndexSpace.of((24, 6, 10), (4, 3, 5), (7, 8, 9)), written(lines)
    assert sums.launch
    for name in sums.launch:
        assert int.from_bytes(value_at(words, sums, f"launch_{name}", 8), "little") == space.argument(name), name
    assert [line for line in lines if line.startswith("result")] == ["result 0", "result -3", "result -3"]


def test_a_kernel_with_a_limit_of_dimensions_and_without_an_offset(designs, driver):
    lines = driver(
        "local",
        """
    const uint64_t size[] = {4, 3, 1}, zero[] = {0, 0, 0}, offset[] = {0, 1, 0};
    printf("result %d\\n", TOP_set_size_places(&device, 2, size, NULL, zero));
    printf("result %d\\n", TOP_set_size_places(&device, 3, size, NULL, NULL));
    printf("result %d\\n", TOP_set_size_places(&device, 2, size, NULL, offset));
""",
    )
    places = read_description(designs["local"]).kernels[2]
    assert (places.most_dims, places.may_be_offset) == (2, False)
    assert places.launch and not any(name.startswith("global_offset") for name in places.launch)
    assert [line for line in lines if line.startswith("result")] == ["result 0", "result -3", "result -3"]


def test_every_value_of_a_launch_has_its_formula():
    space = IndexSpace.of((24, 6, 10), (4, 3, 5), (7, 8, 9))
    names = [
        "work_dim",
        *(f"{stem}_{d}" for stem in ("global_size", "local_size", "num_groups", "global_offset") for d in range(3)),
    ]
    names += [
        f"{stem}_{ds}"
        for stem in ("global_count", "local_count", "group_count")
        for ds in ("0", "01", "12", "012", "02")
    ]
    values = {"dimensions": 3, "global_size": (24, 6, 10), "local_size": (4, 3, 5), "offset": (7, 8, 9)}
    for name in names:
        assert eval(c_launch_value(name).replace("/", "//"), values) == space.argument(name), name
    with pytest.raises(KeyError):
        c_launch_value("weather_0")


def test_a_run(designs, driver):
    lines = driver(
        "vecadd",
        """
    struct TOP_arguments_vecadd arguments = {0};
    size_t n;
    printf("start %d\\n", TOP_start(&device, TOP_KERNEL_vecadd, 1));
    printf("again %d\\n", TOP_start(&device, TOP_KERNEL_vecadd, 0));
    left = 9;
    printf("arguments %d\\n", TOP_set_arguments_vecadd(&device, &arguments));
    printf("short %d\\n", TOP_wait(&device, TOP_KERNEL_vecadd, 3));
    printf("wait %d\\n", TOP_wait(&device, TOP_KERNEL_vecadd, 100));
    words[1] = 4;
    printf("status %u %s\\n", TOP_finish(&device, TOP_KERNEL_vecadd), TOP_status_text(TOP_KERNEL_vecadd, 2));
    printf("control %u %d\\n", words[0], TOP_status_text(TOP_KERNEL_vecadd, 30) == NULL);
    words[4] = 5;
    words[5] = 1;
    printf("cycles %llx\\n", (unsigned long long)TOP_cycles(&device, TOP_KERNEL_vecadd));
    for (n = 0; n < TOP_counters(TOP_KERNEL_vecadd); n++) {
        words[0x1000 / 4 + 2 * n] = (uint32_t)n + 1;
        printf("%s %u\\n", TOP_counter_name(TOP_KERNEL_vecadd, n), (unsigned)TOP_counter(&device, TOP_KERNEL_vecadd, n));
    }
    printf("beyond %d %u\\n", TOP_counter_name(TOP_KERNEL_vecadd, n) == NULL, (unsigned)TOP_counter(&device, TOP_KERNEL_vecadd, n));
    TOP_interrupt(&device, TOP_KERNEL_vecadd_ndrange, 1);
""",
    )
    said = [line for line in lines if not line.startswith("write")]
    assert said[:8] == [
        "start 0",
        "again -1",
        "arguments -1",
        "short -2",
        "wait 0",
        "status 4 Memory refused load of a (line 7).",
        "control 0 1",
        "cycles 100000005",
    ]
    kernel = read_description(designs["vecadd"]).kernels[0]
    assert said[8:] == [*(f"{one.name} {n + 1}" for n, one in enumerate(kernel.counters)), "beyond 1 0"]
    assert lines[0] == "write 0 9" and written(lines)[0x1000C] == 1


def test_autorun_kernels_are_not_started(driver):
    assert driver("packets", '    printf("%d\\n", TOP_start(&device, TOP_KERNEL_parser, 0));') == ["-4"]


@pytest.mark.parametrize("name", ["vecadd", "local"])
def test_headers_are_headers_of_cpp_too(designs, tmp_path, name):
    described = read_description(designs[name])
    write_export(described, designs[name], "c", tmp_path / "c")
    text = f'#include "{described.top}.h"\nint main() {{ {described.top}_device device; {described.top}_mmio(&device, 0); }}\n'
    (tmp_path / "main.cpp").write_text(text)
    command = [find_tools().cxx, "-std=c++11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-Ic", "main.cpp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: the bus of the registers, and block RAMs, of the design in Verilator
SIMULATED = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include "VTOP.h"
#include "verilated.h"
extern "C" {
#include "TOP.h"
}
static VTOP *dut;
static uint32_t memory[3][256];
static uint64_t cycles;
static void step()
{
    dut->clk = 0;
    dut->eval();
    uint32_t a = dut->ram_vecadd_load_a_L7_en ? memory[0][dut->ram_vecadd_load_a_L7_addr % 256] : dut->ram_vecadd_load_a_L7_data;
    uint32_t b = dut->ram_vecadd_load_b_L7_en ? memory[1][dut->ram_vecadd_load_b_L7_addr % 256] : dut->ram_vecadd_load_b_L7_data;
    if (dut->ram_vecadd_store_c_L7_strobe == 15)
        memory[2][dut->ram_vecadd_store_c_L7_addr % 256] = dut->ram_vecadd_store_c_L7_data;
    dut->clk = 1;
    dut->eval();
    dut->ram_vecadd_load_a_L7_data = a;
    dut->ram_vecadd_load_b_L7_data = b;
    if (++cycles > 100000) {
        std::printf("no answer\n");
        std::exit(1);
    }
}
static uint32_t get(void *, uint32_t address)
{
    dut->s_axil_araddr = address;
    dut->s_axil_arvalid = dut->s_axil_rready = 1;
    dut->eval();
    while (!dut->s_axil_arready) step();
    step();
    dut->s_axil_arvalid = 0;
    dut->eval();
    while (!dut->s_axil_rvalid) step();
    uint32_t value = dut->s_axil_rdata;
    if (dut->s_axil_rresp) std::printf("refused read %x\n", address);
    step();
    return value;
}
static void put(void *, uint32_t address, uint32_t value)
{
    dut->s_axil_awaddr = address;
    dut->s_axil_wdata = value;
    dut->s_axil_wstrb = 15;
    dut->s_axil_awvalid = dut->s_axil_wvalid = dut->s_axil_bready = 1;
    dut->eval();
    while (dut->s_axil_awvalid || dut->s_axil_wvalid) {
        int address_taken = dut->s_axil_awready, data_taken = dut->s_axil_wready;
        step();
        if (address_taken) dut->s_axil_awvalid = 0;
        if (data_taken) dut->s_axil_wvalid = 0;
        dut->eval();
    }
    while (!dut->s_axil_bvalid) step();
    if (dut->s_axil_bresp) std::printf("refused write %x\n", address);
    step();
}
int main()
{
    dut = new VTOP;
    dut->rst_n = 0;
    step();
    dut->rst_n = 1;
    for (int n = 0; n < 256; n++) {
        float a = n * 0.5f, b = 100.0f - n;
        std::memcpy(&memory[0][n], &a, 4);
        std::memcpy(&memory[1][n], &b, 4);
    }
    TOP_device device = {nullptr, get, put};
    TOP_arguments_vecadd arguments = {0, 0, 0, 200};
    std::printf("%d", TOP_set_arguments_vecadd(&device, &arguments));
    std::printf(" %d", TOP_start(&device, TOP_KERNEL_vecadd, 0));
    std::printf(" %d", TOP_wait(&device, TOP_KERNEL_vecadd, 10000));
    std::printf(" %u", TOP_finish(&device, TOP_KERNEL_vecadd));
    std::printf(" %d\n", TOP_cycles(&device, TOP_KERNEL_vecadd) > 200 && TOP_cycles(&device, TOP_KERNEL_vecadd) < 300);
    for (int n = 0; n < 256; n++)
        std::printf("%08x\n", memory[2][n]);
}
"""


@pytest.mark.verilator
def test_the_driver_runs_the_hardware(designs, tmp_path):
    described, tools = read_description(designs["lite"]), find_tools()
    write_export(described, designs["lite"], "c", tmp_path / "c")
    (tmp_path / "main.cpp").write_text(SIMULATED.replace("TOP", described.top))
    rtl = designs["lite"] / "rtl"
    command = [str(tools.verilator), "--cc", "--exe", "--build", "-Mdir", "build", "--top-module", described.top]
    command += [
        "-CFLAGS",
        f"-I{tmp_path / 'c'}",
        str(rtl / described.waivers),
        *(str(rtl / one) for one in described.files),
    ]
    command += ["main.cpp", str(tmp_path / "c" / f"{described.top}.c"), "-o", "run"]
    environment = {"VERILATOR_ROOT": str(tools.verilator_root)}
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = subprocess.run([tmp_path / "build" / "run"], capture_output=True, text=True, check=True, timeout=600).stdout
    first, *values = said.splitlines()
    assert first == "0 0 0 0 1"
    n = np.arange(200, dtype=np.float32)
    wanted = (n * np.float32(0.5) + (np.float32(100) - n)).view(np.uint32)
    assert [int(one, 16) for one in values] == [*wanted.tolist(), *[0] * 56]
