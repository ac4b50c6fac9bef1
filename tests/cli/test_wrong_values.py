"""A wrong value for each option of each command: wrong usage, with the option's name and what it takes instead.

The options come from the commands, so that a new one has its case without being asked; one whose value is a text that
its type does not check needs a row in :data:`WRONG`, or in :data:`LATER`.
"""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.cli_files import SOURCE_OR_HOST
from hls.cli_numbers import Numbers, Reals
from tests.guides.document import commands

#: wrong values of options whose values a function checks
WRONG = {
    "--board": "zc706",
    "--device": "zc706",
    "--fail-above": "much",
    "--fit": "much",
    "--goal": "beauty",
    "--limit": "loops",
    "--prefix": "1st",
    "--trace-window": "long",
    "--trip": "many",
    "-D": "3=4",
}
#: why no value is wrong before what it names is known: an error of the command itself, which these tests show
LATER = {
    "board new --description": "any text is one",
    "board new --part": "any text is one",
    "board new --speed-grade": "any text is one",
    "compile --no-interleaving": "test_options.py",
    "compile --print-after": "test_opt.py",
    "compile --stop-after": "test_opt.py",
    "diff --kernel": "test_diff.py",
    "opt --passes": "test_opt.py",
    "opt --print-after": "test_opt.py",
    "opt --stop-after": "test_opt.py",
    "profile --kernel": "test_profile.py",
    "stalls --kernel": "test_waveform.py",
    "synth --board": "test_synth.py",
    "tune --study": "any text names a study",
}


def _wrong(name: str, option: click.Option) -> list[str]:
    """Values that the option does not take; none if that is known only later."""
    kind = option.type
    if f"{name} {max(option.opts, key=len)}" in LATER:
        return []
    if option.is_flag:
        return ["yes"]
    if isinstance(kind, click.Path):
        return ["nowhere/at_all" if kind.exists else "a_file" if not kind.file_okay else "a_folder"]
    if isinstance(kind, click.IntRange | click.FloatRange):
        low = [] if kind.min is None else [str(kind.min - 1)]
        high = [] if kind.max is None else [str(kind.max + 1)]
        return ["wrong", "1e", *low, *high]
    if isinstance(kind, click.Choice):
        return ["wrong"]
    return [WRONG[one] for one in option.opts if one in WRONG][:1]


def _cases() -> Iterator[tuple[str, click.Command, click.Option]]:
    for name, command in commands(main):
        for option in command.params:
            if isinstance(option, click.Option):
                yield name, command, option


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("wrong"))
        patch.setenv("SLUICE_DEBUG", "1")  # an internal error is a failure of the test, not a message
        patch.delenv("SLUICE_BOARD", raising=False)
        Path("a_file").write_text("import sys\n")
        Path("a_folder").mkdir()
        yield


@pytest.mark.parametrize("name", sorted({name for name, _, _ in _cases()}))
def test_wrong_values(name: str):
    before = sorted(Path().rglob("*"))
    for _, command, option in (case for case in _cases() if case[0] == name):
        spelled = max(option.opts, key=len)
        values = _wrong(name, option)
        assert bool(values) != (f"{name} {spelled}" in LATER), f"{name} {spelled}: a row in WRONG or in LATER"
        for value in values:
            joined = spelled.startswith("--") or option.is_flag
            given = [f"{spelled}={value}"] if joined else [spelled, value]
            result = CliRunner().invoke(main, [*name.split(), *given, *_places(command)], prog_name="sluice")
            assert result.exit_code == 2 and isinstance(result.exception, SystemExit), result.output
            told = result.stderr.splitlines()[-1]
            assert any(f"'{one}'" in told for one in option.opts), told
            assert " range" not in told, "the numbers that it takes, in words"
    assert sorted(Path().rglob("*")) == before, "something was left behind"


def _places(command: click.Command) -> list[str]:
    """Values of the command's arguments."""
    needed = [one for one in command.params if isinstance(one, click.Argument) and one.required]
    return ["a_folder" if isinstance(one.type, click.Path) and not one.type.file_okay else "a_file" for one in needed]


def test_options_that_are_known_later_are_options():
    assert set(LATER) <= {f"{name} {max(option.opts, key=len)}" for name, _, option in _cases()}


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        (Numbers(1), "0", "'0' is not a whole number from 1 on"),
        (Numbers(0, 4096), "4097", "'4097' is not a whole number from 0 to 4,096"),
        (Numbers(), "1.5", "'1.5' is not a whole number"),
        (Numbers(max=3), "4", "'4' is not a whole number of at most 3"),
        (Reals(1, 2000), "fast", "'fast' is not a number from 1 to 2,000"),
        (Reals(0), "nan", "'nan' is not a number from 0 on"),
        (Reals(), "inf", "'inf' is not a number"),
    ],
)
def test_numbers(kind, value, told):
    with pytest.raises(click.BadParameter) as caught:
        kind.convert(value, None, None)
    assert caught.value.message == told


@pytest.mark.parametrize(("name", "ending"), [("source", ".py"), ("host", ".cl")])
def test_a_source_and_a_host_are_not_each_other(tmp_path, name, ending):
    """Every command that takes one of them only refuses the other by its ending, before Python or the front end reads
    it."""
    (tmp_path / f"file{ending}").write_text("import this")
    asked = [
        parameter
        for command, one in commands(main)
        for parameter in one.params
        if parameter.name == name and isinstance(parameter.type, click.Path)
        if parameter.type is not SOURCE_OR_HOST and command != "opt"  # which reads IR
    ]
    assert len(asked) >= 4
    for parameter in asked:
        with pytest.raises(click.BadParameter, match="OpenCL C"):
            parameter.type.convert(str(tmp_path / f"file{ending}"), parameter, None)
