"""Commands that are imported when they are called."""

import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hls.cli import main


@pytest.mark.parametrize("name", main.lazy)
def test_list_of_commands_says_what_the_command_says(name):
    command = main.lazy[name].load()
    assert command.name == name
    assert command.get_short_help_str(limit=200) == main.lazy[name].help


def test_every_command_is_listed_once():
    listed = main.list_commands(click.Context(main))
    assert listed == sorted(set(listed))
    assert {"compile", *main.lazy} <= set(listed)


def test_help_imports_neither_the_compiler_nor_its_libraries():
    heavy = ("amaranth", "networkx", "numpy", "rich", "hls.driver", "hls.passes", "hls.frontend", "optuna")
    code = f"""import sys
from hls.cli import main
main(["--help"], standalone_mode=False)
print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    for name in main.lazy:
        assert f"  {name} " in done.stdout


def test_a_check_imports_nothing_that_builds_hardware():
    builders = ("hls.rtl", "hls.verilog", "hls.profile", "hls.export", "rich", "jinja2", "pygments", "optuna")
    code = f"""import sys
from hls.cli import main
try:
    main(["check", "examples/matmul/kernel.cl"])
except SystemExit as end:
    print(end.code, [name for name in {builders!r} if name in sys.modules])"""
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0 []"


def test_an_unknown_command_is_a_usage_error():
    with pytest.raises(click.UsageError, match="No such command 'comple'"):
        main(["comple"], standalone_mode=False)


@pytest.mark.parametrize("name", main.list_commands(click.Context(main)))
def test_every_command_shows_its_help(name):
    done = CliRunner().invoke(main, [name, "--help"], prog_name="sluice")
    assert done.exit_code == 0 and done.output.startswith(f"Usage: sluice {name}") and "error" not in done.stderr


def test_a_compilation_ends_without_a_search_for_garbage(tmp_path):
    """When the process ends, no object is left for the collector of the interpreter to visit."""
    (tmp_path / "k.cl").write_text("__kernel void k(__global int *restrict a) { a[0] = 1; }")
    code = """import atexit, gc, sys
atexit.register(lambda: print("frozen", gc.get_freeze_count() > 10_000))
sys.argv = ["sluice", "check", "k.cl"]
from sluice.__main__ import main
main()"""
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout.splitlines()[-1] == "frozen True", found.stdout
