"""The vendor's commands, and the files that they write and read."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sim import cl
from sim.cl.aocx import Aocx
from sim.cl.binary import Binary
from sim.icd import aocl
from sim.icd.aoc import UsageError, main, parse
from tests.icd.conftest import HOSTS

RIGHT = "1024 elements, 0 wrong, "


@pytest.fixture(autouse=True)
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("SLUICE_BOARD", "SLUICE_DEVICE", "CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA"):
        monkeypatch.delenv(name, raising=False)


def test_a_hardware_file_holds_verilog_and_reports_and_runs(driver, capfd):
    assert main([str(HOSTS / "kernel.cl"), "-o", "bin.aocx", "-board=de5net", "-v", "-DUNUSED=1", "-g0"]) == 0
    told = capfd.readouterr()
    assert "without effect here: -g0" in told.err and "bin.aocx" in told.out
    found = Aocx.of(Path("bin.aocx").read_bytes())
    assert {"report.txt", "report.json", "report.html", "interface.json"} <= set(found.files)
    assert any(name.startswith("rtl/") and name.endswith(".v") for name in found.files)
    assert (found.board, found.march) == ("de5net", "hardware") and "-DUNUSED=1" in found.binary.options
    assert aocl.main(["report", "bin.aocx"]) == 0 and "kernel saxpy" in capfd.readouterr().out
    assert aocl.main(["env", "bin.aocx"]) == 0 and capfd.readouterr().out.startswith("board: de5net\nmarch: hardware\n")
    done = driver.run(driver.build(HOSTS / "host.c"), Path("bin.aocx").resolve())
    assert done.returncode == 0 and RIGHT in done.stdout, done.stderr


def test_options_of_the_vendors_own_tools_are_told():
    words = ["-hyper-optimized-handshaking=off", "-high-effort", "-seed=3", "-parallel=2", "-incremental", "-W"]
    assert parse([*words, "k.cl"]).ignored == words
    with pytest.raises(UsageError, match="unknown option -hyper"):
        parse(["-hyper", "k.cl"])


def test_a_file_for_the_emulator_runs_there_alone(driver):
    assert main(["-march=emulator", str(HOSTS / "kernel.cl")]) == 0
    file = Path("kernel.aocx").resolve()
    host = driver.build(HOSTS / "host.c")
    done = driver.run(host, file, SLUICE_DEVICE="", CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA="1")
    assert done.returncode == 0 and RIGHT in done.stdout, done.stderr
    done = driver.run(host, file, SLUICE_DEVICE="board")
    assert done.returncode == 1 and "-march=emulator; set CL_CONTEXT_EMULATOR_DEVICE_INTELFPGA=1" in done.stderr
    done = driver.run(host, file, SLUICE_BOARD="a10pac")
    assert done.returncode == 1 and "compiled for board de5net, and the device is a10pac" in done.stderr


def test_a_damaged_file_is_refused():
    data = Aocx(Binary("__kernel void f() {}", ()), "de5net", "emulator", {"report.txt": b"text" * 100}).to_bytes()
    assert Aocx.of(data).files == {"report.txt": b"text" * 100}
    middle = bytearray(data)
    middle[len(data) // 2] ^= 0x55
    for broken in (data[:-30], data[:40], bytes(middle), b"PK\x03\x04", b"\x7fELF"):
        with pytest.raises(cl.LogicError) as told:
            Aocx.of(broken)
        assert told.value.code == cl.status_code.INVALID_BINARY and "aoc" in told.value.what


@pytest.mark.parametrize(
    "data",
    [Aocx(Binary("", ()), "de5net", "emulator", {}).to_bytes(), b"\x7fELF\x02\x01\xff#"],
    ids=["ours", "of the vendor"],
)
def test_a_compiled_file_passed_as_source_is_named(data):
    context = cl.create_some_context(board="de5net", device="emulator")
    with pytest.raises(cl.RuntimeError, match="this is a compiled program, and no OpenCL C: pass an .aocx to clCreate"):
        cl.Program(context, data.decode(errors="replace")).build()


def test_a_wrong_kernel_is_shown_by_line_and_leaves_no_file(capfd):
    Path("wrong.cl").write_text("__kernel void f(__global int *a) {\n  a[0] = b;\n}\n")
    assert main(["wrong.cl", "-march=emulator"]) == 1
    assert "wrong.cl:2:" in capfd.readouterr().err
    assert main(["wrong.cl"]) == 1
    assert "wrong.cl:2:" in capfd.readouterr().err and not Path("wrong.aocx").exists()


@pytest.mark.parametrize(
    "words, what",
    [
        ([], "no file is given"),
        (["a.cl"], "a.cl: there is no such file"),
        (["-nonsense", "a.cl"], "unknown option -nonsense"),
        (["-march=fpga"], "-march is emulator, or left out, not fpga"),
        (["-o"], "-o needs a value"),
        (["-emulator-channel-depth-model=deep"], "is hardware, strict, default, ignore-depth, not deep"),
        (["-const-cache-bytes=many"], "-const-cache-bytes is a number of 0 or more, not many"),
        (["-clock=fast"], "-clock is a number in MHz, or with Hz, kHz, MHz or GHz, not fast"),
    ],
)
def test_a_wrong_command_line_is_told(words, what, capfd):
    assert main(words) == 2
    assert what in capfd.readouterr().err


def test_options_are_read_as_the_vendor_writes_them():
    found = parse(["--board", "a10pac", "-D", "N=3", "-DM", "k.cl", "-o", "x", "-profile=all", "-rtl", "-fp-relaxed"])
    assert (found.board, found.options, found.counters) == ("a10pac", ["-DN=3", "-DM", "-fp-relaxed"], True)
    assert (found.target, parse(["dir/k.cl", "-c"]).target) == (Path("x.aocr"), Path("k.aoco"))
    with pytest.raises(UsageError):
        parse(["-board"])


def test_aocl_answers_makefiles(capfd):
    for words, wanted in (["version"], "aocl "), (["link-config"], "-lOpenCL\n"), (["diagnose"], "DIAGNOSTIC_PASSED"):
        assert aocl.main(words) == 0 and wanted in capfd.readouterr().out
    assert aocl.main(["-x"]) == 2 and "unknown command -x" in capfd.readouterr().err
    assert aocl.main(["report"]) == 2 and "report needs one file" in capfd.readouterr().err
    assert aocl.main(["env", "none.aocx"]) == 1 and "cannot read none.aocx: No such file" in capfd.readouterr().err
    assert aocl.main(["report", "nowhere.aocx"]) == 1 and "nowhere.aocx" in capfd.readouterr().err


def test_aocl_ends_where_nobody_reads_on():
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from sim.icd import aocl; sys.exit(aocl.main(['makefile']))"],
        stdout=writes,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writes)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_icd_prints_a_setting_for_a_shell(driver):
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sluice", "icd"],
        env=os.environ | driver.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.startswith("export OCL_ICD_VENDORS="), done.stderr
    words = dict(word.split("=", 1) for word in done.stdout.split()[1:])
    assert Path(words["OCL_ICD_VENDORS"]).read_text().strip() == words["OCL_ICD_FILENAMES"]


def test_makefiles_of_the_vendors_examples_find_its_kit(driver):
    """They refuse to start without this header, include it, and call the commands there or from PATH."""
    Path("host.c").write_text(
        '#include <CL/opencl.h>\n#include "CL/cl.h"\n'
        "int main() { return CL_MEM_BANK_2_ALTERA != 2 << 16 || !CL_MEM_HETEROGENEOUS_INTELFPGA; }\n"
    )
    Path("Makefile").write_text(
        "ifeq ($(wildcard $(INTELFPGAOCLSDKROOT)/host/include/CL/opencl.h),)\n$(error no kit)\nendif\n"
        "FLAGS := $(shell $(ALTERAOCLSDKROOT)/bin/aocl compile-config)\n"
        "host: host.c\n\t$(CC) $(FLAGS) $< -o $@ $(shell $(ALTERAOCLSDKROOT)/bin/aocl link-config)\n\t./host\n"
    )
    command = f"eval $({sys.executable} -P -m sluice icd) && make"
    done = subprocess.run(
        ["sh", "-c", command], env=os.environ | driver.environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


#: with the C++ interface of OpenCL 1.x and its names, the flags of buffers where hosts look for them
OLD_HOST = """#define __CL_ENABLE_EXCEPTIONS
#include "CL/cl.hpp"
#include "CL/cl_ext.h"
#include "CL/cl_ext_intelfpga.h"
int main() try {
  VECTOR_CLASS<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  VECTOR_CLASS<cl::Device> devices;
  platforms[0].getDevices(CL_DEVICE_TYPE_ACCELERATOR, &devices);
  cl::Context context(devices);
  STRING_CLASS text = "__kernel void f(__global int *a, int n) { a[get_global_id(0)] += n; }";
  cl::Program::Sources source(1, std::make_pair(text.c_str(), text.size()));
  cl::Program program(context, source);
  program.build(devices);
  cl::CommandQueue queue(context, devices[0]);
  int cells[] = {1, 2, 3, 4}, row[2] = {};
  cl::Buffer buffer(context, CL_MEM_USE_HOST_PTR | CL_MEM_BANK_1_ALTERA | CL_CHANNEL_1_INTELFPGA, sizeof cells, cells);
  cl::make_kernel<cl::Buffer &, int> add(program, "f");
  add(cl::EnqueueArgs(queue, cl::NDRange(4)), buffer, 5).wait();
  cl::size_t<3> origin, host, region;
  origin[0] = 4, region[0] = 8, region[1] = region[2] = 1;
  queue.enqueueReadBufferRect(buffer, CL_TRUE, origin, host, region, 0, 0, 0, 0, row);
  cl_int counted = clGetProfileDataDeviceIntelFPGA(devices[0](), program(), CL_TRUE, CL_TRUE, CL_FALSE, 0, 0, 0, 0);
  return row[0] != 7 || row[1] != 8 || counted != CL_INVALID_OPERATION;
} catch (const cl::Error &error) {
  return 2;
}
"""


def test_hosts_with_the_old_cpp_interface_and_the_vendors_headers_are_built_with_the_kit(driver, tmp_path, capfd):
    """Their own header is taken where the system has one."""
    assert aocl.main(["compile-config"]) == 0
    flags = shlex.split(capfd.readouterr().out)
    Path("old.cpp").write_text(OLD_HOST)
    assert driver.run(driver.build(Path("old.cpp"), *flags)).returncode == 0
    (tmp_path / "own/CL").mkdir(parents=True)
    (tmp_path / "own/CL/cl.hpp").write_text("#define OWN 1\n")
    Path("own.cpp").write_text("#include <CL/cl.hpp>\nint main() { return OWN - 1; }\n")
    assert driver.run(driver.build(Path("own.cpp"), *flags, f"-I{tmp_path}/own")).returncode == 0


#: what the helper files of the other vendor's examples have in common: entries for streams, asked for by name
STREAM_HOST = """#include <CL/cl_ext_xilinx.h>
#include <CL/cl.h>
static decltype(&clCreateStream) create;
static decltype(&clPollStreams) poll;
int main() {
  cl_platform_id platform;
  clGetPlatformIDs(1, &platform, nullptr);
  void *found = clGetExtensionFunctionAddressForPlatform(platform, "clCreateStream");
  create = (decltype(&clCreateStream))found;
  poll = (decltype(&clPollStreams))clGetExtensionFunctionAddressForPlatform(platform, "clPollStreams");
  cl_stream_xfer_req request = {};
  request.flags = CL_STREAM_EOT | CL_STREAM_NONBLOCKING;
  return create != nullptr || poll != nullptr || CL_STREAM_READ_ONLY == CL_STREAM_WRITE_ONLY || request.priv_data;
}
"""


def test_hosts_that_mention_streams_are_built_and_learn_that_there_are_none(driver, capfd):
    assert aocl.main(["compile-config"]) == 0
    flags = shlex.split(capfd.readouterr().out)
    Path("streams.cpp").write_text(STREAM_HOST)
    assert driver.run(driver.build(Path("streams.cpp"), *flags)).returncode == 0


def test_counters_are_built_on_request():
    """``-profile`` in all the ways that Makefiles write it."""
    Path("k.cl").write_text("__kernel void k(__global int *a) { a[0] = 1; }\n")
    for words in (["-profile"], ["-profile=all"], ["--profile"]):
        assert main(["k.cl", "-board=ecp5_onchip", *words]) == 0
        told = json.loads(Aocx.of(Path("k.aocx").read_bytes()).files["report.json"])
        assert told["info"]["counters"] == "all"


@pytest.mark.parametrize("march", [[], ["-march=emulator"]])
def test_make_learns_which_files_were_read(march):
    Path("in c").mkdir()
    Path("in c/a.h").write_text("#define N 3\n")
    Path("k.cl").write_text('#include "a.h"\n__kernel void k(__global int *a) { a[0] = N; }\n')
    Path("bin").mkdir()
    assert main(["k.cl", "-Iin c", "-board=ecp5_onchip", "-dep-files=k.d", "-o", "bin/k.aocx", *march]) == 0
    Path("Makefile").write_text("bin/k.aocx:\n\techo made >> log\n\ttouch $@\n-include k.d\n")

    def makes() -> bool:
        done = subprocess.run(["make"], capture_output=True, text=True, check=True)
        return "echo made" in done.stdout

    assert not makes()
    os.utime("in c/a.h", (2**32, 2**32))
    assert makes()
    Path("in c/a.h").unlink()
    makes()  # the file that is gone is no error


@pytest.mark.parametrize(
    ("option", "said"), [("-version", "aoc 0."), ("-help", "usage: aoc"), ("--help", "usage: aoc")]
)
def test_version_and_help(option, said, capfd):
    assert main([option]) == 0 and capfd.readouterr().out.startswith(said)


CHAIN = """#pragma OPENCL EXTENSION cl_intel_channels : enable
channel int c __attribute__((depth(4)));
__kernel void put(int n) { for (int i = 0; i < n; i++) write_channel_intel(c, i); }
__kernel void take(__global int *restrict o, int n) { for (int i = 0; i < n; i++) o[i] = read_channel_intel(c); }
"""


@pytest.mark.parametrize(("model", "holds"), [("strict", 4), ("default", 4), ("ignore-depth", 100)])
def test_the_emulator_has_channels_as_deep_as_the_file_says(model, holds):
    Path("chain.cl").write_text(CHAIN)
    assert main(["-march=emulator", f"-emulator-channel-depth-model={model}", "chain.cl"]) == 0
    context = cl.create_some_context(device="emulator")
    program = cl.Program(context, context.devices, [Path("chain.aocx").read_bytes()]).build()
    queue = cl.CommandQueue(context)
    program.put(queue, (1,), None, np.int32(holds)).wait()  # alone: nobody takes
    if model == "strict":
        with pytest.raises(cl.Error):
            program.put(queue, (1,), None, np.int32(1)).wait()


def test_a_file_for_another_clock_runs_on_a_board_of_that_clock():
    Path("k.cl").write_text("__kernel void k(__global int *restrict o) { o[0] = 7; }")
    assert main(["-clock=0.2GHz", "k.cl"]) == 0
    data = Path("k.aocx").read_bytes()
    assert Aocx.of(data).clock_mhz == 200 and b"200 MHz" in Aocx.of(data).files["report.txt"]
    Aocx.of(data).for_device("de5net", "board", 200.0)
    Aocx.of(data).for_device("de5net", "emulator", 240.0)
    with pytest.raises(cl.LogicError, match="SLUICE_BOARD=de5net@200"):
        Aocx.of(data).for_device("de5net", "board", 240.0)


def test_options_of_programs_reach_the_compiler():
    words = [
        "-cl-denorms-are-zero",
        "-const-cache-bytes",
        "4096",
        "-axi-masters=2",
        "-axi-address-bits",
        "32",
        "-cl-fast-relaxed-math",
        "-printf",
    ]
    found = parse([*words, "-clock=150MHz", "k.cl"])
    assert found.options == [
        "-cl-denorms-are-zero",
        "-const-cache-bytes=4096",
        "-axi-masters=2",
        "-axi-address-bits=32",
        "-fp-relaxed",
    ]
    assert (found.printf, found.clock) == (True, 150.0)
    assert parse(["-emulator-channel-depth-model", "strict", "k.cl"]).ignored[0].endswith("(it is for -march=emulator)")
    Path("p.cl").write_text('__kernel void p(__constant int *a) { printf("%d", a[0]); }')
    assert main(["-const-cache-bytes=4096", "-cl-denorms-are-zero", "-printf", "p.cl"]) == 0
    assert "printf" in Aocx.of(Path("p.aocx").read_bytes()).files["interface.json"].decode()


def _two_files():
    """Files whose kernels a channel joins, which their header declares; a macro has another value in each."""
    Path("parts.h").write_text(
        "#pragma OPENCL EXTENSION cl_intel_channels : enable\nchannel int c __attribute__((depth(8)));\n"
        "static inline int twice(int x) { return 2 * x; }\ntypedef struct { int a; } one;\n"
    )
    Path("writer.cl").write_text(
        '#include "parts.h"\n#define N 3\n'
        "__kernel void w(__global int *a) { one x = { twice(a[0]) + N }; write_channel_intel(c, x.a); }\n"
    )
    Path("reader.cl").write_text(
        '#include "parts.h"\n#define N 50\n'
        "__kernel void r(__global int *a) { a[0] = twice(read_channel_intel(c)) + N; }\n"
    )


def _run(file: str) -> int:
    """What the reader gets of 5."""
    context = cl.create_some_context(board="ecp5_onchip", device="emulator")
    program = cl.Program(context, context.devices, [Path(file).read_bytes()]).build()
    a, b = (cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=np.full(1, 5, np.int32)) for _ in range(2))
    found = np.zeros(1, np.int32)
    for name, buffer in (("w", a), ("r", b)):
        cl.Kernel(program, name)(cl.CommandQueue(context), (1,), None, buffer)
    cl.enqueue_copy(cl.CommandQueue(context), found, b)
    return int(found[0])


@pytest.mark.parametrize("march", [[], ["-march=emulator"]])
def test_several_files_are_one_program(march, capfd):
    _two_files()
    board = ["-board=ecp5_onchip", *march]
    assert main(["writer.cl", "reader.cl", *board, "-o", "both.aocx"]) == 0
    for name in ("writer", "reader") if march else ():
        assert main(["-c", f"{name}.cl", *board]) == 0
    if march:
        assert main(["writer.aoco", "reader.aoco", *board, "-o", "linked.aocx"]) == 0
        assert _run("linked.aocx") == 2 * (2 * 5 + 3) + 50
    assert _run("both.aocx") == 2 * (2 * 5 + 3) + 50
    assert main(["writer.cl", "missing.cl"]) == 2 and "missing.cl: there is no such file" in capfd.readouterr().err


@pytest.mark.parametrize("march", [[], ["-march=emulator"]])
def test_messages_about_joined_files_name_these(march, capfd):
    _two_files()
    Path("reader.cl").write_text('#include "parts.h"\n\n__kernel void r(__global int *a) { a[0] = wrong; }\n')
    assert main(["-c", "writer.cl", "-march=emulator", "-board=ecp5_onchip"]) == 0
    for writer in ("writer.cl", "writer.aoco"):
        assert main([writer, "reader.cl", "-board=ecp5_onchip", *march, "-o", "both.aocx"]) == 1
        said = capfd.readouterr().err
        assert "reader.cl:3:43: error[E0201]: 'wrong' is not declared\n    __kernel void r" in said
        assert "joined" not in said


def test_the_step_after_c_uses_what_that_made(capfd):
    """As Makefiles do it: a .aoco of each .cl, and a .aocx of that."""
    Path("k.cl").write_text("__kernel void k(__global int *a) { a[0] = N; }\n")
    assert main(["-c", "k.cl", "-DN=3", "-board=ecp5_onchip", "-o", "k.aoco"]) == 0
    Path("k.cl").unlink()
    assert main(["k.aoco", "-report", "-board=ecp5_onchip"]) == 0 and "kernel k" in capfd.readouterr().out
    assert Path("k.aocx").read_bytes() == Path("k.aoco").read_bytes()
    assert main(["k.aoco", "-profile", "-march=emulator", "-o", "p.aocx"]) == 0
    again = Aocx.of(Path("p.aocx").read_bytes())
    assert (again.board, again.march) == ("ecp5_onchip", "emulator") and "a[0] = 3" in again.binary.source
    Path("k.aoco").write_bytes(b"\x7fELF")
    assert main(["k.aoco"]) == 1 and "the vendor's .aocx" in capfd.readouterr().err


def test_a_file_of_macros_alone_is_joined_with_others():
    Path("sizes.cl").write_text("// only this\n#define SIZE 10\n")
    Path("empty.cl").write_text("")
    Path("k.cl").write_text("__kernel void k(__global int *a) { a[0] = 1; }\n")
    assert main(["sizes.cl", "k.cl", "empty.cl", "-march=emulator", "-o", "all.aocx"]) == 0
    assert "__kernel void k" in Aocx.of(Path("all.aocx").read_bytes()).binary.source


def test_the_vendors_board_in_a_makefile_stands_for_ours(capfd, monkeypatch):
    Path("k.cl").write_text("__kernel void k(__global int *a) { a[0] = 1; }\n")
    words = ["k.cl", "-march=emulator", "-board=s5_ref"]
    monkeypatch.delenv("SLUICE_BOARD", raising=False)
    assert main(words) == 1
    assert "set SLUICE_BOARD to the one that stands for it" in capfd.readouterr().err
    monkeypatch.setenv("SLUICE_BOARD", "ecp5_onchip")
    assert main(words) == 0
    assert "s5_ref is no board here: compiled for ecp5_onchip ($SLUICE_BOARD)" in capfd.readouterr().err
    assert Aocx.of(Path("k.aocx").read_bytes()).board == "ecp5_onchip"
    assert main(["k.cl", "-march=emulator", "-board=de5net"]) == 0 and capfd.readouterr().err == ""
    assert Aocx.of(Path("k.aocx").read_bytes()).board == "de5net"
