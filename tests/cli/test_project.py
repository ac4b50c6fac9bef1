"""The project file sluice.toml: what it says of a command where the command line does not, and its errors."""

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result

from hls.cli import main
from hls.cli_options import parse_limits
from hls.options import Options
from hls.project.keys import KEYS, TABLES, schema
from hls.project.read import read
from hls.target.board import load_board

ROOT = Path(__file__).parents[2]
TEXT = """\
#include "step.h"
__kernel void total(__global const int *restrict a, __global int *restrict out)
{
    int s = 0;
    for (int i = 0; i < COUNT; i += STEP)
        s += a[i];
    out[0] = s;
}
"""
PROJECT = """\
kernels = ["k.cl"]
board = "ecp5_onchip"
clock = 60
include-dirs = ["inc"]

[defines]
COUNT = 32

[options]
prefix = "mine"
control = "wires"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("SLUICE_BOARD", raising=False)
    for name in ("inc", "other", "inner"):
        (tmp_path / name).mkdir()
    (tmp_path / "inc/step.h").write_text("#define STEP 1\n")
    (tmp_path / "other/step.h").write_text("#define STEP 4\n")
    (tmp_path / "k.cl").write_text(TEXT)
    (tmp_path / "sluice.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sluice(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def compiled(*arguments: str) -> tuple[str, float, int, str]:
    """Board, clock, iterations and top module of a compilation."""
    told = sluice("compile", *arguments, "-o", "out", "--no-html")
    assert told.exit_code == 0, told.output
    report = json.loads(Path("out/report.json").read_text())
    interface = json.loads(Path("out/interface.json").read_text())
    (loop,) = report["kernels"][0]["loops"]
    return report["board"], report["clock_mhz"], loop["trip_count"], interface["top"]


def test_what_the_command_line_leaves_out_is_the_projects(folder):
    assert compiled() == ("ecp5_onchip", 60, 32, "mine_sluice_system")


def test_the_command_line_wins(folder):
    assert compiled("-D", "COUNT=16", "-I", "other", "--prefix", "", "--clock", "50") == (
        "ecp5_onchip",
        50,
        4,
        "sluice_system",
    )


def test_the_clock_goes_with_the_projects_board(folder, monkeypatch):
    own = compiled()[1]
    usual = load_board("ecp5_onchip").clock.kernel_mhz
    assert compiled("--board", "ecp5_onchip")[1] == usual != own
    monkeypatch.setenv("SLUICE_BOARD", "ecp5_onchip")
    assert compiled()[1] == usual


def test_it_is_found_above_the_kernel_from_anywhere(folder, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    told = sluice("check", str(folder / "k.cl"))
    assert told.exit_code == 0, told.output  # step.h is found, and COUNT is defined
    assert sluice("check").exit_code == 2  # no project above this folder


def test_the_nearest_of_two_holds_and_is_named(folder, monkeypatch):
    (folder / "inner/k.cl").write_text("__kernel void inner(__global int *o) { o[0] = 1; }\n")
    (folder / "inner/sluice.toml").write_text('kernels = ["k.cl"]\n')
    monkeypatch.chdir(folder / "inner")
    told = sluice("check")
    assert told.stdout.startswith("kernel inner: ")
    assert "note: sluice.toml holds, as the nearest; ../sluice.toml above it is not read" in told.stderr


def test_several_kernels_are_checked_and_compiled_one_after_the_other(folder):
    """A command that is for one program, or an option that is, asks which."""
    Path("l.cl").write_text(TEXT.replace("total", "other").replace("a[i]", "sqrtt(a[i])"))
    Path("sluice.toml").write_text(PROJECT.replace('["k.cl"]', '["l.cl", "k.cl"]'))
    told = sluice("check")
    assert told.exit_code == 1 and "l.cl:6:14: error" in told.stderr
    assert told.stdout.startswith("kernel total: "), "the second is checked though the first has an error"
    Path("l.cl").write_text(TEXT.replace("total", "other"))
    assert sluice("compile", "--no-html").exit_code == 0
    assert [Path(one, "report.json").is_file() for one in ("k", "l")] == [True, True]
    for words in (("check", "--json"), ("compile", "-o", "out"), ("estimate",), ("export",)):
        told = sluice(*words)
        assert told.exit_code == 1 and "the project has 2 kernels, and the command line names none" in told.output
    assert "hint: name one of l, k" in sluice("export").stderr
    assert sluice("check", "l.cl", "--json").exit_code == 0


def test_the_design_of_a_project_is_that_of_its_program(folder):
    told = sluice("export", "--for", "fusesoc")
    assert told.exit_code == 1 and "sluice.toml:1:1: error[E0920]: Directory 'k' does not exist." in told.stderr
    assert "hint: compile the program of the project first, or name the output folder" in told.stderr
    Path("sluice.toml").write_text(PROJECT.replace('control = "wires"', ""))
    assert sluice("compile", "--no-html").exit_code == 0
    assert sluice("export", "--for", "fusesoc").stdout.startswith("k/export/fusesoc: ")


def test_a_kernel_that_a_command_names_is_no_program():
    """`sluice profile --kernel NAME` is another parameter than the program of `sluice diff --kernel K.cl`."""
    for name in main.list_commands(None):
        command = main.get_command(None, name)
        named = {one.name: one for one in getattr(command, "params", ())}
        assert "program" not in named or "K.cl" in named["program"].metavar
        assert "kernel" not in named or named["kernel"].metavar in ("NAME", "K")


def test_libraries_of_a_project(folder):
    """Commands, editors and `-l` have the same functions; an error of a library is told with the line that names it."""
    for name in ("functions.toml", "functions.h", "models.cl", "mac3.v", "larger.v"):
        shutil.copy(ROOT / "tests/libraries" / name, folder)
    text = TEXT.replace("s += a[i]", "s = mac3(a[i], s)")
    Path("k.cl").write_text('#include "functions.h"\n#define sum broken\n' + text)
    assert "'mac3' is declared, but" in sluice("check").stderr or sluice("check").exit_code == 1
    for command in ("check", "estimate"):
        told = sluice(command, "-l", "functions.toml")
        assert told.exit_code == 0, told.output
    Path("sluice.toml").write_text('libraries = ["functions.toml"]\n' + PROJECT)
    told = sluice("check")
    assert (told.exit_code, told.stdout) == (0, "kernel total: 1 loop, pipelined; slowest: i (line 7) II 4\n")
    assert sluice("check", "-l", "functions.toml").exit_code == 0, "named twice, it is one"
    assert [one.name for one in read(Path("sluice.toml")).applied(Options()).libraries] == ["mac3", "larger"]
    Path("functions.toml").write_text("[[function]]\nname = 3\n")
    told = sluice("check")
    assert told.exit_code == 1 and "functions.toml:" in told.stderr
    assert "sluice.toml:1:1: note: as this file names it" in told.stderr


def test_a_host_is_run_on_the_projects_board(folder):
    Path("host.py").write_text("import os, sys\nprint(os.environ['SLUICE_BOARD'], sys.argv[1:])\nsys.exit(3)\n")
    Path("sluice.toml").write_text('hosts = ["host.py"]\n' + PROJECT)
    done = subprocess.run([sys.executable, "-P", "-m", "sluice", "run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "ecp5_onchip@60 []\n"), done.stderr


def test_estimates_are_those_of_the_projects_board_and_macros(folder):
    """Here the macros that the program needs, and the board's clock and the file's errors."""
    told = sluice("estimate")
    assert told.exit_code == 0 and "total on ecp5_onchip: 37 cycles" in told.stdout, told.output
    assert told.stdout == sluice("estimate", "k.cl", "--board", "ecp5_onchip@60").stdout
    assert told.stdout != sluice("estimate", "--board", "de5net").stdout
    Path("sluice.toml").write_text("board = 3\n")
    for command, program in (("estimate", "k.cl"), ("predict", "host.py")):
        assert "sluice.toml:1:1: error[E0920]: board must be a text, not 3" in sluice(command, program).stderr


WRONG = {
    "kernel = []": ("1:1", "kernel is not a known key", "write kernels"),
    "[options]\nfp_relaxed = true": ("2:1", "options.fp_relaxed is not a known key", "write options.fp-relaxed"),
    "fpc = true": ("1:1", "fpc is not a known key", "write options.fpc"),
    "[options]\ndefines = 1": ("2:1", "options.defines is not a known key", "write defines"),
    '[options]\nbord = "x"': ("2:1", "options.bord is not a known key", "write board, above the first line"),
    "zzz = 1": ("1:1", "zzz is not a known key", "known here are board, clock, defines"),
    'board = "de5nte"': ("1:10", "board names an unknown board 'de5nte'", "write de5net"),
    'board = "my/board.toml"': ("1:10", "board names a file 'my/board.toml' that is not there", ""),
    'board = "de5net@9999"': ("1:10", "board is not valid: the kernel clock must be 1 to 2,000 MHz", ""),
    "clock = 0": ("1:1", "clock must be 1 to 2,000, not 0", ""),
    'kernels = [\n  "k.cl",\n  "l.cl",\n]': ("3:4", "kernels names a file 'l.cl' that is not there", "paths start at"),
    'kernels = "k.cl"': ("1:1", "kernels must be a list of texts, not 'k.cl'", ""),
    "options = 1": ("1:1", "options must be a table [options], not 1", ""),
    'options = { control = "axi" }': ("1:1", "options.control must be one of axi-lite, wires, not 'axi'", ""),
    'options.control = "axi"': ("1:1", "options.control must be one of axi-lite, wires, not 'axi'", ""),
    "[options]\nfpc = 1": ("2:1", "options.fpc must be true or false, not 1", ""),
    "[defines]\n2N = 1": ("2:1", "defines.2N is not a name as in C", "letters, digits"),
    "[defines]\nN = [1]": ("2:1", "defines.N must be a text, a number or true, not [1]", ""),
    "[limits]\noperation = 9": ("2:1", "limits.operation is not a known key", "write operations"),
    "[limits]\noperations = 0": ("2:1", "limits.operations must be a whole number from 1 on, not 0", ""),
    'board = "de5net"\nclock': ("2:6", "this project file is not valid TOML", "saved half-way"),
    "[options]\nprivate-cache-bytes = true": (
        "2:1",
        "options.private-cache-bytes must be a whole number, not true",
        "",
    ),
    "board = 2026-01-02": ("1:1", "board must be a text, not 2026-01-02", ""),
    'kernels = ["inc"]': ("1:13", "kernels takes a file, and 'inc' is a folder", "paths start at"),
    'include-dirs = ["k.cl"]': ("1:18", "include-dirs takes a folder, and 'k.cl' is a file", "paths start at"),
    'board = "de5net"\nclock = ' + "9" * 5000: ("2:1", "this project file is not valid TOML: a number is too long", ""),
    "clock = 0x" + "f" * 5000: ("1:1", "clock must be 1 to 2,000, not a number that is far larger", ""),
    "x = " + "[" * 3000: ("1:1", "this project file is not valid TOML: tables or lists are nested too deeply", ""),
    'board = "de5net"\nkernels = [\n': ("2:12", "this project file is not valid TOML", "saved half-way"),
}


@pytest.mark.parametrize("text", WRONG, ids=[text[:40] for text in WRONG])
def test_errors_have_a_place_and_say_what_to_write(folder, text):
    Path("sluice.toml").write_text(text)
    place, message, hint = WRONG[text]
    told = sluice("check", "k.cl")
    assert told.exit_code == 1
    assert f"sluice.toml:{place}: error[E0920]: {message}" in told.stderr
    assert hint in told.stderr.partition("hint: ")[2]
    (error,) = json.loads(sluice("check", "k.cl", "--json").stdout)
    assert (f"{error['line']}:{error['column']}", error["code"]) == (place, "E0920")


def test_a_value_that_only_the_command_refuses_is_the_projects_error(folder):
    Path("sluice.toml").write_text(PROJECT.replace('"mine"', '"2x"'))
    told = sluice("compile")
    assert told.exit_code == 1 and "sluice.toml:10:1: error[E0920]: '2x' is not a name as in Verilog" in told.stderr


def test_it_is_no_text_or_no_readable_file(folder):
    Path("sluice.toml").write_bytes(b'board = "\xff"\n')
    assert "sluice.toml:1: error[E0920]: cannot read this project file: it is not in UTF-8" in sluice("check").stderr
    for make in (lambda: Path("sluice.toml").mkdir(), lambda: Path("sluice.toml").symlink_to("sluice.toml")):
        shutil.rmtree("sluice.toml") if Path("sluice.toml").is_dir() else Path("sluice.toml").unlink()
        make()
        told = sluice("check", "k.cl")
        assert told.exit_code == 1 and "sluice.toml:1: error[E0920]: cannot read this project file: " in told.stderr


def test_a_file_of_windows_is_read_as_any_other(folder):
    """Its byte order mark and line ends."""
    Path("sluice.toml").write_bytes(b"\xef\xbb\xbf" + PROJECT.replace("\n", "\r\n").encode())
    assert read(Path("sluice.toml")).board == "ecp5_onchip@60"


def test_a_kernel_that_is_named_twice_is_one(folder):
    Path("sluice.toml").write_text(PROJECT.replace('["k.cl"]', '["k.cl", "./k.cl"]'))
    told = sluice("check")
    assert told.exit_code == 0, told.stderr


def test_a_project_without_programs_says_so(folder):
    for text in ("", "kernels = []\nhosts = []\n"):
        Path("sluice.toml").write_text(text)
        told = sluice("check")
        assert told.exit_code == 1
        assert "sluice.toml:1" in told.stderr and "the project names no kernels, and the command line" in told.stderr
        assert 'hint: write kernels = ["kernel.cl"]' in told.stderr
        assert "the project names no hosts" in sluice("run").stderr


def test_every_key_gives_a_parameter_of_compile_or_run_a_value():
    compile_, run = main.commands["compile"], main.get_command(None, "run")
    parameters = {one.name: one for command in (run, compile_) for one in command.params}
    for path, key in KEYS.items():
        parameter = parameters[key.parameter]
        choices = tuple(getattr(parameter.type, "choices", ()))  # of numbers, the option's metavar tells the choices
        assert choices == key.choices or parameter.metavar == "|".join(map(str, key.choices)), path
        assert not key.field or hasattr(Options(), key.field)
        if path.startswith("options."):
            assert f"--{path.removeprefix('options.')}" in _names(parameter), path


def _names(parameter) -> set[str]:
    return {f"--{one.lstrip('-')}" for one in (*parameter.opts, *parameter.secondary_opts)}


def test_options_of_a_plan_are_those_of_a_compilation(folder):
    """What the editor plans with: the file's values where the options say nothing."""
    Path("sluice.toml").write_text(PROJECT + "private-cache-bytes = 0\n[limits]\noperations = 99\n")
    found = read(Path("sluice.toml")).applied(Options({"COUNT": "8"}, (Path("own"),), control="axi-lite"))
    assert (found.defines, found.include_dirs) == ({"COUNT": "8"}, (Path("own"), Path("inc")))
    assert (found.prefix, found.control, found.cache_bytes) == ("mine", "wires", 0)
    assert found.libraries == ()
    assert found.limits == parse_limits(None, None, ("operations=99",))


def test_the_schema_is_the_table_and_accepts_the_examples(request):
    file, page = ROOT / "docs/project.schema.json", ROOT / "docs/project.md"
    if request.config.getoption("--refresh", default=False):
        file.write_text(json.dumps(schema(), indent=1) + "\n")
    assert json.loads(file.read_text()) == schema()
    jsonschema.Draft202012Validator.check_schema(schema())
    blocks = page.read_text().split("```toml\n")[1:]
    for text in (PROJECT, *(one.partition("```")[0] for one in blocks)):
        jsonschema.validate(tomllib.loads(text), schema())
    for text in ("zzz = 1", "options.fpc = 1", "limits.operations = 0", "clock = 0"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(tomllib.loads(text), schema())


def test_the_page_lists_every_key():
    page = (ROOT / "docs/project.md").read_text()
    for path, key in KEYS.items():
        assert f"| `{path.removeprefix('options.')}` | {key.meaning}" in page, path
    for name, meaning in TABLES.items():
        assert f"| `[{name}]` | {meaning}" in page
