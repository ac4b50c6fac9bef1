"""What an editor is told about a text, without a server."""

from pathlib import Path

from hls.editor.analysis import Request, front_end
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
