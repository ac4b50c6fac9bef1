"""How a message shows its location."""

import json

from hls.diag import Code, Diagnostic, Span, first_of_each, render, to_json
from hls.diag.repeated import MOST_ALIKE


def shown(line: str, column: int, length: int = 1) -> list[str]:
    return render(Diagnostic("wrong", Span("a.cl", 1, column, length)), {"a.cl": line}).split("\n")[1:]


def test_the_caret_stands_under_the_place():
    assert shown("\tint x = yy;", 10, 2) == ["    \tint x = yy;", "    \t        ^~"]


def test_a_long_line_is_shown_around_the_place():
    line = "".join(f"{k:>9}|" for k in range(1000))
    for column in (1, 100, 5000, 9999, 10_000):
        source, caret = shown(line, column)
        assert len(source) == 4 + 240 and source[4:] in line
        assert source[caret.index("^") - 1 : caret.index("^") + 1] == (
            (" " if column == 1 else line[column - 2]) + line[column - 1]
        )
    assert len(shown(line, 0)[0]) <= 4 + 240
    assert len(shown(line, 9990, 500)[1]) <= 4 + 240


def test_nothing_in_a_source_commands_the_terminal():
    assert shown("a\x1b[2Jb\x00", 7) == ["    a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}", "          ^"]


def test_nothing_in_a_message_commands_the_terminal():
    """Nor do bytes that are no UTF-8 keep it from being written."""
    text = render(Diagnostic("unknown '\x1b[2J\udcc3'", Span("k.cl", 1), "not \x1b"), {})
    assert text.count("\N{REPLACEMENT CHARACTER}") == 3 and "\x1b" not in text
    text.encode()


def test_tools_get_all_of_it():
    note = Diagnostic("because", Span("b.cl", 2, 3), severity="note")
    (record,) = json.loads(
        to_json([Diagnostic("wrong", Span("a.cl", 1, 5, 4), "write it right", notes=(note,), code=Code.SYNTAX)])
    )
    assert record == {
        "severity": "error",
        "code": "E0101",
        "message": "wrong",
        "hint": "write it right",
        "file": "a.cl",
        "line": 1,
        "column": 5,
        "length": 4,
        "notes": [
            {
                "severity": "note",
                "code": None,
                "message": "because",
                "hint": "",
                "file": "b.cl",
                "line": 2,
                "column": 3,
                "length": 1,
                "notes": [],
            }
        ],
    }


def test_of_thousands_of_warnings_of_one_kind_the_first_are_shown():
    doubles = [
        Diagnostic("a double", Span("a.cl", k + 1), severity="warning", code=Code.DOUBLE_AS_FLOAT)
        for k in range(MOST_ALIKE + 1500)
    ]
    other = Diagnostic("a long long", Span("a.cl", 9), severity="warning", code=Code.DECIMAL_AS_ULONG)
    errors = [Diagnostic("not a type", Span("a.cl", k + 1), code=Code.UNKNOWN_TYPE) for k in range(MOST_ALIKE + 1)]
    shown, last = first_of_each([*doubles, other, *errors], "ask for all"), doubles[:MOST_ALIKE]
    assert shown[:-1] == [*last, other, *errors]
    assert render(shown[-1], {}) == "note: 1,500 more warnings W0210 are not shown\n  hint: ask for all"
    assert first_of_each(last) == last
