"""`sluice explain`: each number has an explanation, and the examples have the message that they stand for."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

import hls.diag
from hls.cli import main
from hls.diag import Code, CompileError
from hls.diag.explain import explain
from hls.driver import plan_text
from hls.options import Options
from hls.target.board import load_board

TABLE = tomllib.loads((Path(hls.diag.__file__).parent / "explanations.toml").read_text())
EXAMPLES = [number for number, entry in TABLE.items() if "example" in entry]


def called(*words):
    return CliRunner().invoke(main, ["explain", *words])


def test_each_number_is_explained():
    assert set(TABLE) == {code.number for code in Code}
    for number, entry in TABLE.items():
        assert {"why", "fix"} <= set(entry) <= {"why", "fix", "example"}, number
        assert all(entry[key].endswith((".", ")")) for key in ("why", "fix")), number
    assert len(EXAMPLES) >= 20


@pytest.mark.parametrize("number", EXAMPLES)
def test_an_example_has_its_message(number):
    try:
        told = plan_text(TABLE[number]["example"], load_board("de5net"), Options(), "k.cl").warnings
    except CompileError as error:
        told = error.diagnostics
    assert number in [one.code.number for one in told if one.code]


def test_text_has_reason_remedy_and_example():
    done = called("[e0207]")
    assert done.exit_code == 0 and called("error[E0207]").stdout == done.stdout
    assert done.stdout.startswith("E0207: A function calls itself.\n\n")
    assert called("0706").stdout == called("W0706").stdout
    assert called("W706").stdout == called("706").stdout == called("warning[w706]").stdout == called("W0706").stdout
    assert "E0207" in called("0207").output and "W0207" in called("0207").output, "two messages have these digits"
    found = explain("E0207")
    assert found.why in done.stdout and f"What to do: {found.fix}" in done.stdout
    assert "    int f(int n)" in done.stdout


def test_json():
    found = json.loads(called("W0609", "--json").stdout)
    assert (found["code"], found["title"], found["example"]) == ("W0609", Code.STORE_ACKNOWLEDGED.title, "")


@pytest.mark.parametrize(
    "number, near",
    [("W0207", None), ("W0101", "E0101"), ("0201", "E0201, W0201"), ("W101", "E0101"), ("W99999", None), ("x", None)],
)
def test_an_unknown_number_names_similar_ones(number, near):
    done = called(number)
    if number == "W0207":
        assert done.exit_code == 0
        return
    assert done.exit_code == 2 and f"no message has the number {number}" in done.stderr
    assert (f"similar ones are {near}" if near else "docs/messages.md lists them") in done.stderr
