"""Every message has a number: the table of codes, its documentation page, and the code that creates messages."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from hls.diag import Code, CompileError, Span, render, to_json

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/messages.md"


def test_numbers_are_unique_and_of_one_form():
    assert not [n for n, count in Counter(code.number for code in Code).items() if count > 1]
    for code in Code:
        assert code.number[0] in "EWN" and code.number[1:].isdecimal() and len(code.number) == 5, code
        assert code.title.endswith(".") and code.title[0].isupper(), code


def test_text_and_json_have_the_number():
    error = CompileError.at(Span("k.cl", 3, 4), "'x' is not declared", code=Code.UNDECLARED)
    assert render(error.diagnostics[0], {}) == "k.cl:3:4: error[E0201]: 'x' is not declared"
    assert '"code": "E0201"' in to_json(error.diagnostics)


def _messages():
    """(file, line, call) of every place that makes a message of its own: no note of another one."""
    for folder in ("hls", "sim"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for call in ast.walk(ast.parse(path.read_text())):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in ("Diagnostic", "CompileError.at"):
                    yield path.relative_to(ROOT), call.lineno, call


@pytest.fixture(scope="module")
def made():
    found = list(_messages())
    assert len(found) > 300, "is the tree where this test looks for it?"
    return found


def test_every_message_has_a_code(made):
    """Notes that belong to another message have none."""
    without = []
    for path, line, call in made:
        given = {word.arg: word.value for word in call.keywords}
        note = isinstance(given.get("severity"), ast.Constant) and given["severity"].value == "note"
        if "code" not in given and not note:
            without.append(f"{path}:{line}")
    assert not without, without


def test_every_code_is_used():
    used = set()
    for folder in ("hls", "sim"):
        for path in (ROOT / folder).rglob("*.py"):
            used |= {
                node.attr
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Code"
            }
    assert not [code.name for code in Code if code.name not in used]


def test_the_letter_is_the_severity(made):
    for path, line, call in made:
        code = next((word.value for word in call.keywords if word.arg == "code"), None)
        if not isinstance(code, ast.Attribute):
            continue
        texts = [
            node.value
            for node in (*call.args, *(word.value for word in call.keywords))
            if isinstance(node, ast.Constant)
        ]
        severity = next((text for text in texts if text in ("warning", "note")), "error")
        assert Code[code.attr].number[0] == severity[0].upper(), f"{path}:{line}"


def test_the_page_lists_them(request):
    rows = [f"| {code.number} | {code.title} |" for code in sorted(Code, key=lambda one: (one.number[1:], one.number))]
    text = PAGE.read_text()
    head = text[: text.index("| --- | --- |\n") + len("| --- | --- |\n")]
    whole = head + "\n".join(rows) + "\n"
    if request.config.getoption("--refresh", default=False):
        PAGE.write_text(whole)
    assert PAGE.read_text() == whole
