"""What is said where the language server cannot start, and that the extension sends what the server knows."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from hls import cli_lsp
from hls.cli import main
from hls.editor.server import Settings
from hls.options import Options

ROOT = Path(__file__).parents[2]


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setattr(cli_lsp.util, "find_spec", lambda name: None)
    told = CliRunner().invoke(main, ["lsp"])
    assert told.exit_code == 1
    assert told.output == "Error: the language server needs pygls: pip install 'sluice-hls[editor]'\n"


def test_settings_of_the_extension_are_known():
    folder = ROOT / "editors/vscode"
    declared = json.loads((folder / "package.json").read_text())["contributes"]["configuration"]["properties"]
    names = {name.removeprefix("sluice.") for name in declared} - {"command"}
    assert names == set(re.findall(r'given\.get\("(\w+)"\)', (folder / "extension.js").read_text()))
    defaults = {name: declared[f"sluice.{name}"]["default"] for name in names}
    assert Settings("de5net", Options()).changed(defaults) == Settings("de5net", Options())


@pytest.mark.parametrize("given", [[], {"board": 3}, {"fpc": "yes"}])
def test_settings_of_another_type(given):
    with pytest.raises(TypeError, match="must be"):
        Settings("de5net", Options()).changed(given)
