"""Every message to the user is pinned: NAME.cl and the frontend's messages about it, NAME.expect. A kernel that the
frontend accepts is also checked against the table of features that hardware does not support yet, and in the folder
planned it goes through every step before hardware is generated."""

import re
from pathlib import Path

import pytest

from hls.diag import CompileError, render
from hls.driver import plan_module
from hls.frontend import parse_source
from hls.options import Options
from hls.passes.link.check_legality import check_hardware
from hls.passes.run_stages import link_program
from hls.target.board import load_board

BOARD = load_board("de5net")
HERE = Path(__file__).parent
CASES = [*sorted(HERE.glob("*.cl")), *sorted(HERE.glob("planned/*.cl"))]


def messages(path: Path) -> str:
    """What the user reads: the errors and warnings, or the warnings alone where the kernel is accepted."""
    text = path.read_text()
    try:
        result = parse_source(text, path.name, {}, [path.parent / "include"])
        warnings = [*result.warnings, *_of_hardware(result.module, path)]
    except CompileError as error:
        sources = getattr(error, "sources", None) or result.module.sources
        return "\n".join(render(d, sources) for d in error.diagnostics) + "\n"
    return "\n".join(render(d, result.module.sources) for d in warnings) + "\n"


def _of_hardware(module, path: Path):
    if path.parent == HERE:
        return check_hardware(module)
    return plan_module(link_program(module), BOARD, Options())[1]


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_message(path, request):
    got, expect = messages(path), path.with_suffix(".expect")
    if request.config.getoption("--refresh"):
        expect.write_text(got)
    assert got.strip(), "nothing was said about this kernel"
    assert got == expect.read_text()


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_every_message_has_a_place_and_a_number(path):
    for line in messages(path).splitlines():
        if re.search(r": (error|warning)\b.*?: ", line):
            assert re.match(r"[\w/.]+:\d+:(\d+:)? (error\[E|warning\[W)\d{4}\]: ", line), line
