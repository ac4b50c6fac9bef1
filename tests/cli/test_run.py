"""`sluice run`: the program's own exit code, arguments and errors; refused OpenCL calls are messages at a line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START = "import numpy as np\nimport sim.cl as cl\nctx = cl.create_some_context()\nqueue = cl.CommandQueue(ctx)\n"


def run(folder: Path, text: str, *arguments: str, **environment: str):
    (folder / "host.py").write_text(text)
    command = [sys.executable, "-W", "ignore", "-m", "hls.cli", "run", "host.py", *arguments]
    env = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": os.environ.get("HOME", str(folder))}
    env |= environment
    return subprocess.run(command, cwd=folder, env=env, text=True, capture_output=True, check=False)


def test_arguments_and_exit_code_are_the_programs_own(tmp_path):
    (tmp_path / "beside.py").write_text("NAME = 'beside'\n")
    done = run(
        tmp_path,
        "import sys, beside\nprint(__name__, beside.NAME, sys.argv)\nsys.exit(7)\n",
        "--board",
        "a10pac",
        "-x",
        "--size",
        "9",
        "--",
        "--board",
        "mine",
    )
    assert done.stdout == "__main__ beside ['host.py', '-x', '--size', '9', '--board', 'mine']\n"
    assert (done.returncode, done.stderr) == (7, "")


def test_an_error_of_the_program_is_shown_from_its_own_first_line(tmp_path):
    done = run(tmp_path, "def fails():\n    raise ValueError('mine')\n\nfails()\n")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1] == '  File "host.py", line 4, in <module>'
    assert done.stderr.splitlines()[-1] == "ValueError: mine" and "runpy" not in done.stderr


def test_a_program_is_called_as_the_file_beside_the_host_that_has_its_text(tmp_path):
    """Messages and reports name the file that the host has read, and no other one."""
    (tmp_path / "a.cl").write_bytes(b"\xff" * 99)
    (tmp_path / "gone.cl").symlink_to("nowhere")
    (tmp_path / "mine.cl").write_bytes(b"__kernel void k(__global int *a) {\r\n a[0] = x; }\r\n")
    text = START + "cl.Program(ctx, open('mine.cl').read()%s).build()\n"
    assert "\nmine.cl:2:9: error[E0201]: 'x' is not declared" in run(tmp_path, text % "").stderr
    assert "\n<program source>:2:9: error[E0201]" in run(tmp_path, text % " + ' '").stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "cl.Program(ctx, '__kernel void k(__global int *a) { a[0] = x; }').build()",
            [
                "host.py:5: error: clBuildProgram failed: BUILD_PROGRAM_FAILURE",
                "<program source>:1:43: error[E0201]: 'x' is not declared",
            ],
        ),
        ("cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 0)", ["host.py:5: error: ", "INVALID_BUFFER_SIZE"]),
        ("cl.create_some_context(board='none')", ["host.py:5: error: ", "unknown board"]),
    ],
)
def test_what_opencl_refuses_is_a_message_at_the_programs_line(tmp_path, text, said):
    done = run(tmp_path, f"{START}{text}\n")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[0].startswith(said[0])
    assert text in done.stderr.splitlines()[1]
    assert all(part in done.stderr for part in said)
    assert "Traceback" in run(tmp_path, f"{START}{text}\n", SLUICE_DEBUG="1").stderr


def test_missing_tools_are_named_with_what_to_do(tmp_path):
    text = (
        f"{START}program = cl.Program(ctx, '__kernel void k(__global int *a) {{ a[0] = 1; }}').build()\n"
        "program.k(queue, (1,), None, cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64))\n"
    )
    done = run(tmp_path, text, CXX="no-such-compiler")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "host.py:6: error: " in done.stderr
    assert "no-such-compiler is not on the PATH; install g++ or set CXX to the compiler to use" in done.stderr


EMULATED = (
    f"{START}program = cl.Program(ctx, '__kernel void k(__global int *a, int i) {{ a[i] = 1; }}').build()\n"
    "buffer = cl.Buffer(ctx, cl.mem_flags.READ_WRITE, 64)\n"
    "print(program.k(queue, (1,), None, buffer, np.int32(3)).stats.to_dict()['device'])\n"
)


def test_the_emulator_is_chosen_by_an_option(tmp_path):
    done = run(tmp_path, EMULATED, "--device", "emulator")
    assert (done.returncode, done.stdout) == (0, "emulator\n")
    assert done.stderr.startswith("k: emulated, 1 work-item in ") and len(done.stderr.splitlines()) == 1
    assert run(tmp_path, EMULATED, "--device", "emulator", "--no-stats").stdout == "emulator\n"
    assert run(tmp_path, EMULATED, SLUICE_DEVICE="emulator", SLUICE_STATS="0").stdout.endswith("emulator\n")


def test_an_emulated_fault_is_shown_with_both_lines(tmp_path):
    text = f"{EMULATED}program.k(queue, (1,), None, buffer, np.int32(16))\n"
    done = run(tmp_path, text, "--device", "emulator", "--no-stats")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[0].startswith("host.py:8: error: clEnqueueNDRangeKernel failed: OUT_OF_RESOURCES")
    assert (
        "<program source>:1:48: error[E1001]: kernel k: a write of bytes 64 to 67 of argument `a` (index 16)"
        in done.stderr
    )


def test_hardware_options_do_not_go_with_the_emulator(tmp_path):
    done = run(tmp_path, EMULATED, "--device", "emulator", "--stall-seed", "3")
    assert done.returncode == 2 and "leave them out with --device emulator" in done.stderr


@pytest.mark.parametrize(
    "arguments, device", [(("--device", "model"), ""), (("--workload", "w"), ""), ((), "emulator")]
)
def test_predictions_are_beside_measurements_only(tmp_path, arguments, device):
    """Where nothing is measured there is nothing to compare with, whoever chose the device."""
    done = run(tmp_path, "print('ran')", "--predict", *arguments, **({"SLUICE_DEVICE": device} if device else {}))
    assert done.returncode == 2 and "--predict is beside what the board measures" in done.stderr
    assert not (tmp_path / "w").exists() and "ran" not in done.stdout


def test_depths_of_channels_are_about_the_emulator(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "host.py").write_text("import os; print(os.environ['SLUICE_CHANNEL_DEPTHS'])")
    command = [sys.executable, "-W", "ignore", "-m", "hls.cli", "run", "--channel-depths", "strict"]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, "host.py"], env=env, text=True, capture_output=True, check=False)
    assert done.returncode == 2 and "add --device emulator" in done.stderr
    done = subprocess.run(
        [*command, "--device", "emulator", "host.py"], env=env, text=True, capture_output=True, check=False
    )
    assert done.stdout == "strict\n", done.stderr


@pytest.mark.parametrize(("option", "value"), [("--printf", "1"), ("--no-printf", "0"), ("", "None")])
def test_hardware_for_printf_is_a_choice(option, value, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "host.py").write_text("import os; print(os.environ.get('SLUICE_PRINTF'))")
    env = {name: text for name, text in os.environ.items() if name != "SLUICE_PRINTF"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-W", "ignore", "-m", "hls.cli", "run", *filter(None, [option]), "host.py"]
    done = subprocess.run(command, env=env, text=True, capture_output=True, check=False)
    assert done.stdout == f"{value}\n", done.stderr
