"""The pages of the documentation that are run: every file and command, and what is printed."""

import re

import pytest

from .pages import DOCS, PAGES, Failure, blocks, differs, run_page

README = DOCS.parent / "README.md"

#: those with commands that build a simulator
ON_THE_BOARD = [page for page in PAGES if any(block.board for block in blocks(page))]


@pytest.mark.parametrize("page", [page for page in PAGES if page not in ON_THE_BOARD], ids=lambda page: page.stem)
def test_the_commands_print_what_the_page_shows(page, tmp_path):
    assert run_page(page, tmp_path, board=False) > 0


@pytest.mark.verilator
@pytest.mark.parametrize("page", ON_THE_BOARD, ids=lambda page: page.stem)
def test_the_commands_on_the_board_print_what_the_page_shows(page, tmp_path):
    assert run_page(page, tmp_path, board=True) > 0


def test_the_readme_shows_what_the_tutorial_prints():
    text, tutorial = README.read_text(), (DOCS / "tutorial.md").read_text()
    edit = text[text.index("## An II of 6") : text.index("## Where every cycle went")]
    (block,) = re.findall(r"^```\n(.*?)^```$", edit, re.MULTILINE | re.DOTALL)
    assert block in tutorial
    figures = set(re.findall(r"\d,\d{3}|II \d -> \d \([^)]*\)", edit.replace(block, "")))
    assert len(figures) >= 6 and not [one for one in figures if one not in tutorial]


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a\nb\n", "a\nb\n", False),
        ("a\nb\n", "a\n", True),
        ("", "a\n", True),
        ("a ... c\n", "a 7 b c\n", False),
        ("a ... c\n", "a 7\nc\n", True),
        ("a\n...\nz\n", "a\nb\nc\nz\n", False),
        ("a\n...\nz\n", "a\nz\n", False),
        ("a\n...\nz\n", "a\nb\n", True),
        ("1.5\n", "1x5\n", True),
    ],
)
def test_dots_stand_for_text_or_lines(shown, printed, expected):
    assert differs(shown, printed) is expected


def test_a_page_that_shows_something_else_is_told_and_mended(tmp_path):
    page = tmp_path / "page.md"
    page.write_text('Text.\n\n```c title="a/k.cl"\n1\n```\n\n```console\n$ cat a/k.cl\n2\n$ echo x\nx\n```\n')
    with pytest.raises(Failure, match="prints:\n1\n\nand the page shows:\n2"):
        run_page(page, tmp_path, board=False)
    assert run_page(page, tmp_path, board=False, refresh=True) == 2
    assert "$ cat a/k.cl\n1\n$ echo x\nx\n```" in page.read_text()
    assert run_page(page, tmp_path, board=False) == 2


def test_a_command_that_fails_is_told(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ false\n```\n")
    with pytest.raises(Failure, match="ends with 1"):
        run_page(page, tmp_path, board=False)
