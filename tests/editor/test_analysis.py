"""What an editor is told about a text, without a server."""

import sys
from pathlib import Path

from lsprotocol import types as lsp
from pygls.workspace import PositionCodec

from hls.editor import analysis
from hls.editor.analysis import Request, front_end, names_elsewhere
from hls.editor.convert import Converter
from hls.editor.edits import applied
from hls.editor.rename import declaration_of, rename
from hls.editor.texts import Text, lines_of
from hls.editor.tokens import tokens
from hls.editor.vocabulary import complete
from hls.options import Options

TEXT = "inline int twice(int x) {\n  int spare = 3;\n  return 2 * x;\n}\n"


def told(name: str, text: str) -> list[tuple[str, int]]:
    request = Request(text, str(Path("/nowhere", name)), "de5net", Options())
    return [(one.code.number, one.span.line) for one in front_end(request).messages]


def test_warnings_are_shown_beside_errors():
    """They stay while a line is half written, and a header has no kernel, which is no reason to hide them."""
    assert told("helpers.cl.h", TEXT) == [("W0220", 2)]
    wrong = "#pragma nonsense\n__kernel void k(__global int *a) { a[0] = b; }\n"
    assert told("k.cl", wrong) == [("E0201", 2), ("W0304", 1)]
    assert told("k.cl", "int f(int x) { return y; }\n__kernel void k(__global int *a) { a[0] = f(1); }\n") == [
        ("E0201", 1)
    ]


def test_a_text_is_read_once_for_all_questions(monkeypatch):
    """A thousand lines take seconds, and an editor asks for each name under the pointer."""
    reads: list[str] = []
    parsed = analysis.parsed
    monkeypatch.setattr(analysis, "parsed", lambda text, *given: reads.append(text) or parsed(text, *given))
    text = TEXT + "__kernel void k(__global int *a) { a[0] = twice(a[1]); }\n"
    request = Request(text, "/nowhere/k.cl", "de5net", Options())
    assert front_end(request).messages and len(reads) == 1
    assert declaration_of(request, 4, 44).name == "twice" and declaration_of(request, 2, 13).name == "x"
    assert len(reads) == 1
    front_end(request)  # a header may have changed
    assert len(reads) == 2


def test_colours_take_time_in_proportion_to_the_text():
    def calls(functions: int) -> int:
        text = "".join(f"static int f{k}(int x) {{ return x * {k}; }}\n" for k in range(functions))
        count = 0

        def note(frame, event, given):
            nonlocal count
            count += event == "call"

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            tokens(text, "k.cl")
        finally:
            sys.setprofile(before)
        return count

    assert calls(240) < 3 * calls(120)


def test_names_of_headers_lead_there(tmp_path):
    """Macros and types, too; in UTF-16 units of the header's line."""
    (tmp_path / "h.h").write_text("/* 𝄞 */ typedef struct { float x; } pt;\n/* 𝄞 */ #define SQ(x) ((x) * (x))\n")
    text = '#include "h.h"\n__kernel void k(__global pt *p) { p[0].x = SQ(p[1].x); }\n'
    request = Request(text, str(tmp_path / "k.cl"), "de5net", Options())
    places = [declaration_of(request, 1, text.splitlines()[1].index(one)) for one in ("pt", "SQ")]
    assert [(one.name, one.span.line) for one in places] == [("pt", 1), ("SQ", 2)]
    kinds = names_elsewhere(request.file)
    assert (kinds["pt"], kinds["SQ"]) == ("type", "macro")
    named = {
        text.splitlines()[one.span.line - 1][one.span.column - 1 :][: one.span.length]: one.kind
        for one in tokens(text, request.file, kinds)
    }
    assert (named["pt"], named["SQ"]) == ("type", "macro")
    assert {"pt", "SQ"} <= {one.name for one in complete("  ", text, request.file, kinds)}
    convert = Converter(request.file, "file:///k.cl", lines_of(text), PositionCodec())
    assert convert.range(places[0].span).start == lsp.Position(
        0, "/* xx */ typedef struct { float x; } pt".index("pt", 9)
    )


def test_a_form_feed_ends_no_line():
    """Nor does another character at which Python begins a line, in any of the places where lines are counted."""
    text = "// page\f 1\n// \u2028 \x85\n\f\n__kernel void k(__global int *a) { a[0] = b; }\n"
    assert told("k.cl", text) == [("E0201", 4)]
    document = Text("file:///k.cl", text)
    change = lsp.Range(lsp.Position(3, 42), lsp.Position(3, 43))
    document.apply_change(lsp.TextDocumentContentChangePartial(range=change, text="1"))
    assert document.source == text.replace("= b", "= 1")


def test_a_type_is_renamed_wherever_it_stands():
    """In parameters, declarations, casts and sizeof; the tag of a structure is another name."""
    text = (
        "typedef struct pt { float x; } pt;\n"
        "__kernel void k(__global pt *p) { const pt q = p[sizeof(pt)]; p[0] = *(pt *)&q; }\n"
    )
    edits = rename(Request(text, "/nowhere/k.cl", "de5net", Options()), 1, text.splitlines()[1].index("pt"), "point")
    assert applied(text, edits) == text.replace("pt ", "point ").replace("pt;", "point;").replace(
        "(pt)", "(point)"
    ).replace("struct point", "struct pt")
