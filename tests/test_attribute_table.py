"""The table of attributes (hls/ir/attributes.py) matches the compiler: every attribute is used, all are listed and
documented."""

import ast
import importlib
import re
from collections import Counter
from pathlib import Path

from hls.frontend import attributes as source
from hls.frontend.pragmas import LOOP_PRAGMAS
from hls.ir.attributes import ATTRIBUTES, CHANNELS, FUNCTIONS, MEMORIES
from hls.ir.optable import OPS
from tests import attribute_table
from tests.attribute_table import PAGE, ROOT
from tests.test_layers import imports

#: what the program may ask for, by who holds it in the IR
ASKED = (
    (FUNCTIONS, source.FUNCTION),
    (MEMORIES, source.MEMORY),
    (MEMORIES, source.LOCAL_ARGUMENT),
    (MEMORIES, source.ARGUMENT),
    (CHANNELS, source.CHANNEL),
    (MEMORIES, source.CHANNEL),  # of a pipe
)

#: what the IR says and nobody asks: every memory fence orders reads and writes alike
NEVER_READ = {"KIND"}


def test_keys_are_names_and_each_holder_has_one_meaning_of_a_key():
    held = Counter((holder, row.key) for row in ATTRIBUTES.values() for holder in row.holders)
    assert [pair for pair, count in held.items() if count > 1] == []
    assert [row.key for row in ATTRIBUTES.values() if not re.fullmatch(r"[a-z]\w*", row.key)] == []
    known = {*OPS, FUNCTIONS, MEMORIES, CHANNELS}
    assert [holder for row in ATTRIBUTES.values() for holder in row.holders if holder not in known] == []


def test_no_key_is_written_as_a_string_elsewhere():
    assert list(attribute_table.literals()) == []


def test_a_string_as_a_key_is_found(tmp_path):
    file = tmp_path / "hls" / "pass.py"
    file.parent.mkdir()
    file.write_text(
        "def f(op, attrs):\n"
        "    op.attrs['a'] = dict(op.attrs).get('b')\n"
        "    if 'c' in op.attrs: build(attrs={'d': 1} | ({'e': 2} if attrs else {}))\n"
        "    op.attrs |= {'f': op.memory.asked_at('g'), **attrs}\n"
    )
    assert {place.partition("'")[2] for place in attribute_table.literals(tmp_path)} == {f"{x}'" for x in "abcdefg"}


def test_every_attribute_has_a_writer_and_a_reader():
    found = attribute_table.uses()
    assert set(found) == set(ATTRIBUTES)
    assert [name for name, row in ATTRIBUTES.items() if not (row.asked or found[name].writers)] == []
    assert {name for name in ATTRIBUTES if not found[name].readers} == NEVER_READ


def test_writers_and_readers_are_told_apart(tmp_path):
    file = tmp_path / "hls" / "passes" / "one.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "TOLD = {Attr.A: 'a module says something about it'}\n"
        "def f(op):\n"
        "    op.attrs[Attr.B] = op.attrs[Attr.C]\n"
        "    return build(attrs={Attr.D: 1}), ((Attr.E, 2),), Attr.F in op.attrs\n"
    )
    found = attribute_table.uses(tmp_path)
    assert {name for name, use in found.items() if use.writers} == set("BDE")
    assert {name for name, use in found.items() if use.readers} == set("ACF")
    assert found["B"].writers == {"passes.one"}


def test_what_the_program_may_ask_for_is_in_the_table():
    """An operation that stands for a loop keeps what was asked of the loop."""
    asked = {
        (name, "loop" if holder in ("shift", "fill") else holder)
        for name, row in ATTRIBUTES.items()
        if row.asked
        for holder in row.holders
    }
    by_key = {(ATTRIBUTES[name].key, holder) for name, holder in asked}
    written = {(form.name or name, holder) for holder, forms in ASKED for name, form in forms.items() if form.kept} | {
        (form.attr, "loop") for form in LOOP_PRAGMAS.values()
    }
    promised = {(word, holder) for holder, forms in ASKED for form in forms.values() for word in form.promises}
    assert by_key == written | promised


def test_no_string_comes_from_a_pass_to_what_runs_after_it():
    """Planning, rtl and report read the IR, so what they must know of its notes is in the table."""
    after = ("hls.planning.memory", "hls.planning.schedule", "hls.rtl", "hls.report")
    strings = []
    for use in imports(ROOT):
        if use.user in after and use.module.startswith("hls.passes"):
            module, names = importlib.import_module(use.module), _imported(use.file, use.line)
            strings += [f"{use.file}:{use.line}: {n}" for n in names if isinstance(getattr(module, n, None), str)]
    assert strings == []


def _imported(file: Path, line: int) -> list[str]:
    tree = ast.parse((ROOT / file).read_text())
    return [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.lineno == line
        for alias in node.names
    ]


def test_the_page_is_up_to_date():
    assert PAGE.read_text() == attribute_table.page(), "run python -m tests.attribute_table"
