"""Every word of a report or a profile table is a term of docs/glossary.md or one of the plain English words of
plain_words.txt.

A new word fails here. If it has a technical meaning, define it in the glossary; if it is plain English, add it to the
list (``--refresh`` does so) and read the change as a reviewer would: could an established term say the same?
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("plain_words.txt")
#: the modules whose string constants are sentences, titles and headings
SOURCES = (
    "hls/report/text.py",
    "hls/report/loop_text.py",
    "hls/report/channel_text.py",
    "hls/report/area_text.py",
    "hls/report/causes.py",
    "hls/report/ranking.py",
    "hls/report/sentences.py",
    "hls/report/memory_text.py",
    "hls/report/memories.py",
    "hls/report/pace.py",
    "hls/report/advice_text.py",
    "hls/profile/text.py",
)
#: calls whose string arguments name fields, files or modes
NAMING = frozenset({"get", "getattr", "setattr", "StringIO", "compile", "sub", "attrgetter"})


def _is_name(parent: ast.AST, child: ast.Constant) -> bool:
    """Whether a constant is a key, an operand of a comparison, a docstring or a name rather than text."""
    if isinstance(parent, ast.Subscript | ast.Compare | ast.Expr | ast.keyword):
        return True
    if isinstance(parent, ast.Dict):
        return child in parent.keys
    if isinstance(parent, ast.Call):
        function = parent.func
        return (function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")) in NAMING
    return False


def _has_no_text(parent: ast.AST, child: ast.AST) -> bool:
    """Whether a part of the tree is a format such as ``:>7`` or the list of public names."""
    if isinstance(parent, ast.FormattedValue):
        return child is parent.format_spec
    return isinstance(child, ast.Assign) and any(ast.unparse(target) == "__all__" for target in child.targets)


def texts(source: str) -> list[str]:
    """The string constants of a module that a reader may see; placeholders of ``str.format`` are left out."""
    found = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.Constant):
                if not _has_no_text(node, child):
                    visit(child)
            elif isinstance(child.value, str) and not _is_name(node, child):
                found.append(re.sub(r"\{\w*\}", " ", child.value))

    visit(ast.parse(source))
    return found


def words(text: str) -> set[str]:
    """The words of a text in small letters. Names of the dialect (``max_work_group_size``), options and clocks are
    none."""
    plain = re.sub(r"#pragma \w+(?: \d+)?|\w*_\w*|\w*\d\w*", " ", text)
    return {word.lower() for word in re.findall(r"[A-Za-z]+(?:'[a-z]+)?", plain) if len(word) > 1}


def glossary() -> set[str]:
    """The words of the bold terms."""
    terms = re.findall(r"\*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text())
    return {word for term in terms for word in words(term)}


def is_known(word: str, known: set[str]) -> bool:
    """Whether the word or its singular is known."""
    return bool({word, word.removesuffix("s"), word.removesuffix("es"), re.sub("ies$", "y", word)} & known)


def said() -> set[str]:
    """All words of the modules."""
    return {word for name in SOURCES for text in texts((ROOT / name).read_text()) for word in words(text)}


def listed() -> list[str]:
    """The words of the list."""
    return LIST.read_text().split()


def test_every_word_is_a_term_or_plain_english(request):
    terms = glossary()
    if request.config.getoption("--refresh"):
        LIST.write_text("".join(f"{word}\n" for word in sorted(said()) if not is_known(word, terms)))
    new = sorted(word for word in said() if not is_known(word, terms | set(listed())))
    assert not new, f"define in docs/glossary.md or add to {LIST.name}: {', '.join(new)}"


def test_the_list_has_no_word_that_is_not_used_and_no_term():
    assert listed() == sorted(set(listed()))
    assert not set(listed()) - said(), "no report says these words any more: remove them"
    assert not [word for word in listed() if is_known(word, glossary())], "these words are terms: remove them"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('"""Docstring."""\nx = f"II {ii}: limited by {cause(loop, key=1):>7}"', {"ii", "limited", "by"}),
        ('y = stats["cycles"]; z = a == "known"', set()),
        ('t = {"key": "several operations share {subject}{at}"}', {"several", "operations", "share"}),
        ('u = one.get("name"); v = _table("Channels", "<unit")', {"channels", "unit"}),
        ('w = "need numwriteports(1), max_work_group_size or #pragma unroll 1"', {"need", "numwriteports", "or"}),
    ],
)
def test_what_counts_as_text(source, expected):
    assert {word for text in texts(source) for word in words(text)} == expected


def test_a_new_word_is_found():
    assert not is_known("riddle", glossary() | set(listed()))
    assert is_known("banks", {"bank"}) and is_known("copies", {"copy"}) and not is_known("bank", {"ban"})
