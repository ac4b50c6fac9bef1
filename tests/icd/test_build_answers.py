"""What a build answers is kept: a host that builds a program again needs no compiler until it launches a kernel."""

import subprocess
import sys

import pytest

from hls.target.board import load_board
from sim import cl
from sim.icd import requests
from sim.icd.build_answers import answer_to_build, key_of_build
from sim.icd.objects import Program
from sim.icd.wire import Reader, Writer

SOURCE = "__kernel void f(__global int *a) { a[get_global_id(0)] += N; }"
HOST = f"""
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
program = cl.Program(context, "{SOURCE}").build("-DN=3")
kernel = cl.Kernel(program, "f")
print(kernel.num_args, kernel.get_work_group_info(cl.kernel_work_group_info.WORK_GROUP_SIZE, context.devices[0]))
a = np.arange(8, dtype=np.int32)
buffer = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
kernel(queue, (8,), None, buffer)
cl.enqueue_copy(queue, a, buffer)
print(a.tolist(), len(program.binaries[0]))
"""


@pytest.fixture(autouse=True)
def settings(monkeypatch, tmp_path):
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SLUICE_DEVICE", "emulator")
    for name in ("SLUICE_BUILD_OPTIONS", "SLUICE_DESIGN"):
        monkeypatch.delenv(name, raising=False)


def asked(server: requests.Requests, source: str, options: str) -> tuple[bytes, Program]:
    """The answer to a build of a new program, and the program."""
    server._objects[1] = requests.Context(server.devices[:1])
    server._objects[2] = program = Program(server._objects[1], source)
    writer = Writer()
    server._build(Reader(Writer().number(2).number(1).number(0).text(options).data()), writer)
    return writer.data(), program


def test_the_answer_is_the_same_and_the_compiler_waits_for_a_launch(monkeypatch):
    server, builds, build = requests.Requests(), [], Program.build
    monkeypatch.setattr(Program, "build", lambda *given: builds.append(given[2]) or build(*given))
    first, program = asked(server, SOURCE, "-DN=1")
    again, program = asked(server, SOURCE, "-DN=1")
    assert (first, builds, program.built) == (again, ["-DN=1"], {})
    assert program.kernel(0, "f").function_name == "f" and builds == ["-DN=1"] * 2
    assert program.kernel(0, "f") and len(builds) == 2
    # the program is built otherwise before that launch
    _, program = asked(server, SOURCE, "-DN=1")
    program.build(0, "-DN=2")
    assert program.kernel(0, "f") and builds[2:] == ["-DN=2"]


def test_a_build_that_fails_is_not_kept(monkeypatch):
    server, builds, build = requests.Requests(), [], Program.build
    monkeypatch.setattr(Program, "build", lambda *given: builds.append(given[2]) or build(*given))
    assert asked(server, "wrong", "")[0] == asked(server, "wrong", "")[0] and len(builds) == 2


def test_what_is_put_off_and_fails_then_says_so(monkeypatch):
    server = requests.Requests()
    asked(server, SOURCE, "-DN=1")
    _, program = asked(server, SOURCE, "-DN=1")
    program.source = "wrong"
    for code in (cl.status_code.BUILD_PROGRAM_FAILURE, cl.status_code.INVALID_PROGRAM_EXECUTABLE):
        with pytest.raises(cl.Error) as caught:
            program.kernel(0, "f")
        assert caught.value.code == code


def test_answers_are_told_apart(monkeypatch):
    boards = [load_board(name) for name in ("de5net", "ulx3s")]
    found = [
        key_of_build(cl.Device(board, kind), place, source, options)
        for board in boards
        for kind in ("board", "emulator")
        for place in (0, 1)
        for source in ("a", "b")
        for options in ("", "-DN=1", "-I. -DN=1 -I /usr/include -cl-std=CL3.0", "-max-work-group-size=64 -w")
    ]
    monkeypatch.setenv("SLUICE_BUILD_OPTIONS", "-Drestrict=")
    found.append(key_of_build(cl.Device(boards[0], "board"), 0, "a", ""))
    assert None not in found and len(set(found)) == len(found)


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ('#include "a.h"', ""),
        ("a\n#  include INCLUDED", "-I. -DX=1"),
        ("a", "-I"),
        ("a", "-I . -DX=include"),
        ("a", "-library=f.rtl"),
        ("a", "'"),
        ("a", "--include-root=."),
    ],
)
def test_nothing_is_kept_of_what_other_files_decide(source, options):
    assert key_of_build(cl.Device(load_board("de5net"), "board"), 0, source, options) is None


def test_nothing_is_kept_of_a_design_that_is_tuned(monkeypatch):
    monkeypatch.setenv("SLUICE_DESIGN", "x.json")
    assert key_of_build(cl.Device(load_board("de5net"), "board"), 0, "a", "") is None


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SLUICE_CACHE", str(tmp_path / "file"))
    built = []
    assert answer_to_build("0", lambda: (built.append(1) is None, b"x")) == b"x" and built == [1]


def test_a_host_that_runs_again_gets_the_same(driver, tmp_path):
    settings = {"SLUICE_CACHE": str(tmp_path / "kept"), "PYOPENCL_NO_CACHE": "1"}
    runs = [driver.python(HOST, **settings) for _ in range(2)]
    assert runs[0].returncode == 0 and runs[0].stdout.startswith("1 1024\n[3, 4, 5, 6, 7, 8, 9, 10]"), runs[0].stderr
    assert (runs[1].returncode, runs[1].stdout, runs[1].stderr) == (0, runs[0].stdout, runs[0].stderr)
    assert len(list((tmp_path / "kept/answers").glob("*/answer"))) == 1


def test_warnings_of_a_program_compiled_alone():
    """Its options for them are not those of the link."""
    server = requests.Requests()
    program = Program(requests.Context(server.devices[:1]), SOURCE.replace("{", "{ int unused;"))
    assert "warning[W0220]" in program.compile(0, "-DN=1", {}).log
    failed = program.compile(0, "-DN=1 -Werror", {})
    assert failed.code == cl.status_code.BUILD_PROGRAM_FAILURE and "[-Werror]" in failed.log and not failed.kind
    assert program.compile(0, "-DN=1 -w", {}).log == "" and program.compiled[0].options == ()


def test_the_server_of_a_host_that_only_asks_loads_no_compiler():
    """Such as clinfo, which is to answer within a second."""
    text = "import sys, sim.icd.requests; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "sim.cl" in loaded and not loaded & {"hls.driver", "hls.frontend", "amaranth", "rich"}


def test_a_damaged_message_is_no_number():
    """A message that is cut, has another item, or a count that is none."""
    data = Writer().number(-5).number(2).numbers((1, 2)).text("é").number(0).data()
    reader = Reader(data)
    assert (reader.number(), reader.numbers(), reader.text(), reader.numbers()) == (-5, [1, 2], "é", [])
    counted = Writer().number(2).number(7).text("x").data()
    for damaged in (b"", data[9:30], counted, Writer().number(-4).data(), Writer().text("x").data()):
        with pytest.raises(ValueError, match="wanted at byte"):
            Reader(damaged).numbers()
