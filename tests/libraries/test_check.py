"""``sluice library``: modules against their models."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from hls.cli import main
from hls.rtl_library import load_library
from sim.rtl_check import check_function
from sim.rtl_check import main as check

HERE = Path(__file__).parent


def changed(tmp_path: Path, old: str, new: str) -> Path:
    """The library with a change in one of its files."""
    for name in ("functions.toml", "mac3.v", "larger.v", "models.cl"):
        (tmp_path / name).write_text((HERE / name).read_text().replace(old, new))
    return tmp_path / "functions.toml"


def test_list():
    done = CliRunner().invoke(main, ["library", "list", str(HERE / "functions.toml")])
    assert done.exit_code == 0
    assert done.output == (
        "mac3: module mac3, 3 cycles, 2 operands, mac3.v\nlarger: module larger, 0 cycles, 2 operands, larger.v\n"
    )


def test_modules_that_compute_their_models(capsys):
    assert check([str(HERE / "functions.toml"), "300", "1"]) == 0
    assert "mac3: module mac3 computes its model, 300 operands" in capsys.readouterr().out


def test_modules_of_a_packed_library_some_of_which_wait(tmp_path, capsys):
    packed = str(tmp_path / "lib.slib")
    assert CliRunner().invoke(main, ["library", "pack", str(HERE / "waiting.xml"), "-o", packed]).exit_code == 0
    assert check([packed, "100", "1"]) == 0
    said = capsys.readouterr().out
    assert "gcd: module gcd computes its model, 100 operands" in said
    assert "square: module square computes its model, 100 operands" in said


@pytest.mark.parametrize("latency", [2, 5])
def test_a_wrong_latency_is_found(tmp_path, latency):
    (mac3, _) = load_library(changed(tmp_path, "latency = 3", f"latency = {latency}"))
    found = check_function(mac3, 300)
    assert found is not None
    assert found.latency == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [(["--operands", "0"], "--operands"), (["--seed", "-1"], "--seed"), (["nowhere.toml"], "nowhere.toml")],
)
def test_wrong_usage(words, message):
    done = CliRunner().invoke(main, ["library", "check", str(HERE / "functions.toml"), *words])
    assert done.exit_code == 2
    assert message in done.output


def test_a_module_that_computes_something_else(tmp_path, capsys):
    file = changed(tmp_path, "product <= a * 32'd3", "product <= a * 32'd5")
    assert check([str(file), "300", "1"]) == 1
    said = capsys.readouterr().err
    assert "E0916" in said
    assert "by module mac3, and" in said
    assert "correct the module or the model" in said
