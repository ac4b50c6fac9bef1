"""Messages of the command line for every mistake, and its exit code: pinned by the files in expect/.

`--refresh` rewrites them; look at the diff before committing it.
"""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.cli_messages import Messages

EXPECT = Path(__file__).parent / "expect"
KERNEL = "__kernel void k(__global int *restrict a) { a[0] = 1; }\n"
BOARD = (Path(__file__).parents[2] / "boards/de5net.toml").read_text()

#: Files that the cases find in their folder.
FILES = {
    "good.cl": KERNEL,
    "wrong.cl": "__kernel void k(__global int *a)\n{\n\ta[0] = b + c;\n}\n",
    "includes.cl": '#include "part.h"\n__kernel void k(__global int *a) { a[0] = part(); }\n',
    "part.h": "int part() { return undefined_name; }\n",
    "binary.cl": b"\xff\x00\xfe",
    "empty.cl": "",
    "too_large.cl": "__kernel void k(__global int *restrict a)\n{\n    #pragma unroll\n"
    "    for (int i = 0; i < 4000; i++)\n        a[i] = a[i] * i + 3 - (i ^ a[0]);\n}\n",
    "no_clock.toml": BOARD.replace("kernel_mhz", "kernel_ghz"),
    "bad_clock.toml": BOARD.replace("kernel_mhz = 240.0", 'kernel_mhz = "fast"'),
    "not.toml": "[board\n",
    "a_file": "",
    "host.py": "print('never run')\n",
}

CASES = {
    "nothing": [],
    "no_source": ["compile"],
    "missing_source": ["compile", "nowhere.cl"],
    "folder_as_source": ["compile", "."],
    "not_text": ["compile", "binary.cl"],
    "no_kernel": ["compile", "empty.cl"],
    "errors": ["compile", "wrong.cl"],
    "error_in_include": ["compile", "includes.cl"],
    "error_in_a_pass": ["compile", "too_large.cl"],
    "unknown_board": ["compile", "good.cl", "--board", "zc706"],
    "missing_board_file": ["compile", "good.cl", "--board", "zc706.toml"],
    "bad_board_key": ["compile", "good.cl", "--board", "no_clock.toml"],
    "bad_board_value": ["compile", "good.cl", "--board", "bad_clock.toml"],
    "bad_board_file": ["compile", "good.cl", "--board", "not.toml"],
    "bad_define": ["compile", "good.cl", "-D", "3=4"],
    "output_is_a_file": ["compile", "good.cl", "-o", "a_file"],
    "output_below_a_file": ["compile", "good.cl", "-o", "a_file/out"],
    "output_not_writable": ["compile", "good.cl", "-o", "/proc/sluice"],
    "unknown_option": ["compile", "good.cl", "--fast"],
    "option_of_another_command": ["export", "good.cl", "--axi-masters", "1"],
    "option_of_others": ["lint", "--workload", "good.cl"],
    "value_without_equals": ["compile", "good.cl", "--counters", "accounts"],
    "bad_form": ["compile", "good.cl", "--diagnostics", "xml"],
    "no_testbench_for_ram": ["compile", "good.cl", "--board", "ecp5_onchip", "--testbench"],
    "run_missing_host": ["run", "nowhere.py"],
    "run_unknown_board": ["run", "--board", "zc706", "host.py"],
    "run_bad_board": ["run", "--board", "bad_clock.toml", "host.py"],
    "run_trace_nowhere": ["run", "--trace", "nowhere/x.fst", "host.py"],
    "run_bad_seed": ["run", "--stall-seed", "-1", "host.py"],
}
WRONG_USAGE = {
    "nothing",
    "no_source",
    "missing_source",
    "folder_as_source",
    "unknown_board",
    "missing_board_file",
    "bad_define",
    "output_is_a_file",
    "unknown_option",
    "option_of_another_command",
    "option_of_others",
    "value_without_equals",
    "bad_form",
    "run_missing_host",
    "run_unknown_board",
    "run_trace_nowhere",
    "run_bad_seed",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SLUICE_BOARD", raising=False)
    monkeypatch.setenv("SLUICE_DEBUG", "1")  # an internal error is a failure of the test, not a message
    monkeypatch.setenv("COLUMNS", "200")
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())


def invoke(*arguments):
    return CliRunner().invoke(main, list(arguments), prog_name="sluice")


@pytest.mark.parametrize("name", CASES)
def test_message(name, request):
    before = sorted(Path().rglob("*"))
    result = invoke(*CASES[name])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == (2 if name in WRONG_USAGE else 1)
    assert sorted(Path().rglob("*")) == before, "something was left behind"
    got = (
        f"$ sluice {' '.join(CASES[name])}\n[stdout]\n{result.stdout}[stderr]\n{result.stderr}[exit "
        f"{result.exit_code}]\n"
    )
    path = EXPECT / f"{name}.txt"
    if request.config.getoption("--refresh"):
        path.write_text(got)
    assert got == path.read_text()


def test_every_expectation_has_its_case():
    assert {path.stem for path in EXPECT.iterdir()} == set(CASES)


@pytest.mark.parametrize("name", [name for name in CASES if name not in WRONG_USAGE and CASES[name][0] == "compile"])
def test_the_same_messages_as_json(name):
    result = invoke(*CASES[name], "--diagnostics=json")
    records = json.loads(result.stdout)
    assert result.exit_code == 1 and result.stderr == ""
    assert records and all(record["severity"] == "error" and record["message"] for record in records)
    text = (EXPECT / f"{name}.txt").read_text()
    assert all(record["message"] in text and record["hint"] in text for record in records)


def test_a_missing_folder_of_includes_is_a_warning():
    result = invoke("check", "good.cl", "-I", "nowhere")
    assert result.exit_code == 0
    assert "warning[W0911]: -I names the folder nowhere, which does not exist" in result.stderr
    (warning,) = json.loads(invoke("compile", "good.cl", "-I", "nowhere", "--diagnostics=json").stdout)
    assert (warning["code"], warning["severity"]) == ("W0911", "warning")
    assert invoke("compile", "good.cl", "-I", "a_file").exit_code == 2
    assert "W0911" in invoke("lsp", "-I", "nowhere").stderr


def test_the_board_may_come_from_the_environment(monkeypatch):
    monkeypatch.setenv("SLUICE_BOARD", "zc706")
    assert "unknown board 'zc706'" in invoke("compile", "good.cl").stderr
    assert invoke("compile", "wrong.cl", "--board", "de5net").exit_code == 1, "the option comes first"


def test_an_internal_error_is_one_message_that_says_whom_to_tell(monkeypatch):
    def broken(*_arguments, **_options):
        raise KeyError("a fault")

    monkeypatch.setattr("hls.driver.compile", broken)
    with_traceback = invoke("compile", "good.cl")
    assert isinstance(with_traceback.exception, KeyError)
    monkeypatch.delenv("SLUICE_DEBUG")
    result = invoke("compile", "good.cl")
    assert result.exit_code == 1 and isinstance(result.exception, SystemExit)
    message, hint = result.stderr.splitlines()
    assert message.startswith("error[E0999]: internal error: KeyError: 'a fault' (test_messages.py:")
    assert "please report it" in hint and "SLUICE_DEBUG=1" in hint


def test_wrong_usage_inside_a_command_is_no_internal_error(capsys):
    with pytest.raises(click.BadParameter), Messages("text").guard():
        raise click.BadParameter("only now seen")
    assert not capsys.readouterr().err
