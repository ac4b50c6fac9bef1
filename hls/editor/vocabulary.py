"""The words that the language has besides the program's own: what may be typed at a place, and what a word means."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from ..diag.explain import explain
from ..frontend.attributes import OWNERS, Form
from ..frontend.builtins import BUILTINS, NOT_BUILT, WORK_ITEM
from ..frontend.builtins_vector import VECTOR_BUILTINS
from ..frontend.pragmas import LOOP_PRAGMAS, PragmaForm
from ..frontend.words import TYPE_WORDS, VECTOR_TYPES
from ..ir.attributes import ATTRIBUTES
from .scan import symbols, word_at

__all__ = ["Word", "complete", "describe", "words_of"]

_CHANNEL_CALLS = {
    "read_channel_intel": "takes a value from a channel; waits until there is one",
    "write_channel_intel": "puts a value into a channel; waits until there is room",
    "read_channel_nb_intel": "takes a value from a channel if there is one; says whether it did",
    "write_channel_nb_intel": "puts a value into a channel if there is room; says whether it did",
}
#: pragmas with clauses instead of a number
_CLAUSED = {
    "ivdep": "pragma of a loop: its iterations do not depend on each other through memory; array(NAME) and safelen(N) "
    "limit what it says",
    "loop_fuse": "pragma of a block: its loops are made one; depth(N) and independent widen what it does",
}
_CODE = re.compile(r"\b[EWN]\d{4}\b")
_MEANINGS = {row.key: row.meaning for row in ATTRIBUTES.values()}


@dataclass(frozen=True)
class Word:
    """A word, its ``kind`` ("builtin", "attribute", "pragma", "type", or that of a symbol of the text), and what it
    means."""

    name: str
    kind: str
    meaning: str


@cache
def _builtins() -> dict[str, Word]:
    arities: dict[str, set[int]] = {}
    rows = [(row.name, row.arity) for row in BUILTINS.values()]
    for name, arity in rows + [(row.name, row.arity) for row in VECTOR_BUILTINS.values()]:
        arities.setdefault(name, set()).add(arity)
    found = {name: f"built-in function of {_count(sorted(many))}" for name, many in arities.items()}
    for name, (_, result, dimension) in WORK_ITEM.items():
        found[name] = f"work-item function: {result}, {'takes a dimension' if dimension else 'takes no argument'}"
    return {name: Word(name, "builtin", meaning) for name, meaning in (found | _CHANNEL_CALLS).items()}


def _count(numbers: list[int]) -> str:
    return f"{' or '.join(map(str, numbers))} argument{'' if numbers == [1] else 's'}"


@cache
def _attributes() -> dict[str, Word]:
    holders: dict[str, list[tuple[str, Form]]] = {}
    for owner, forms in OWNERS:
        for name, form in forms.items():
            holders.setdefault(name, []).append((owner, form))
    return {name: Word(name, "attribute", _attribute(name, found)) for name, found in holders.items()}


def _attribute(name: str, found: list[tuple[str, Form]]) -> str:
    form = found[0][1]
    takes = str(form.least) if form.least == form.most else f"{form.least} to {form.most}"
    meaning = _MEANINGS.get(form.name or name, "") if form.kept else "has no effect here"
    of = ", ".join(owner for owner, _ in found)
    return "\n\n".join(filter(None, [f"attribute of {of}; arguments: {takes}", meaning]))


@cache
def _pragmas() -> dict[str, Word]:
    found = {name: _pragma(form) for name, form in LOOP_PRAGMAS.items()}
    found |= _CLAUSED
    return {name: Word(name, "pragma", meaning) for name, meaning in found.items()}


def _pragma(form: PragmaForm) -> str:
    takes = "takes no argument"
    if form.takes_argument:
        takes = f"takes a number from {form.lowest} to {form.highest}"
        takes += "" if form.bare is None else ", or nothing"
    return "\n\n".join(filter(None, [f"pragma of a loop; {takes}", _MEANINGS.get(form.attr, "")]))


@cache
def _types() -> dict[str, Word]:
    scalars = {name: "built-in type" for name in TYPE_WORDS}
    vectors = {name: _vector(name) for name in VECTOR_TYPES}
    return {name: Word(name, "type", meaning) for name, meaning in (scalars | vectors).items()}


def _vector(name: str) -> str:
    count = re.sub(r"\D", "", name)
    return f"vector of {count} {name.removesuffix(count)} components"


def words_of(kind: str) -> Mapping[str, Word]:
    """The words of the language of a kind: "builtin", "attribute", "pragma" or "type"."""
    return {"builtin": _builtins, "attribute": _attributes, "pragma": _pragmas, "type": _types}[kind]()


def complete(
    before: str, text: str, file: str, elsewhere: Mapping[str, str] = MappingProxyType({})
) -> tuple[Word, ...]:
    """What may stand where the line ``before`` ends: attributes inside of ``__attribute__``, pragmas behind
    ``#pragma``, else built-in functions, types, and what the text defines, or headers (the kinds of their names are in
    ``elsewhere``)."""
    if re.search(r"#\s*pragma\s+(?:\w+\s+)?\w*$", before):
        return tuple(_pragmas().values())
    if _in_attribute(before):
        return tuple(_attributes().values())
    own = {one.name: Word(one.name, one.kind, _own(one.kind, one.span.line)) for one in symbols(text, file)}
    others = {name: Word(name, kind, f"{kind} of a header") for name, kind in elsewhere.items()}
    return tuple((_types() | _builtins() | others | own).values())


def _in_attribute(before: str) -> bool:
    inside = before.rpartition("__attribute__")
    return bool(inside[1]) and inside[2].count("(") - inside[2].count(")") in (1, 2) and "(" in inside[2]


def _own(kind: str, line: int) -> str:
    return f"{kind}, line {line}"


def describe(line: str, column: int, text: str, file: str) -> Word | None:
    """What the word at ``column`` (from 0) of a line means; None if it is unknown. In a line of a pragma or attribute
    its names come first, as `max_concurrency` is both."""
    for code in _CODE.finditer(line):
        if code.start() <= column <= code.end() and (found := explain(code.group())):
            return Word(code.group(), "message", found.text())
    name = word_at(line, column)
    return next(_meanings(name, line, text, file), None) if name else None


def _meanings(name: str, line: str, text: str, file: str) -> Iterator[Word]:
    tables = [_builtins(), _types()]
    if re.match(r"\s*#\s*pragma\b", line):
        tables.insert(0, _pragmas())
    elif "__attribute__" in line:
        tables.insert(0, _attributes())
    own = {one.name: Word(name, one.kind, _own(one.kind, one.span.line)) for one in symbols(text, file)}
    for table in (own, *tables):
        if name in table:
            yield table[name]
    if name in NOT_BUILT:
        what, instead = NOT_BUILT[name]
        yield Word(name, "builtin", f"{what}: {instead}")
