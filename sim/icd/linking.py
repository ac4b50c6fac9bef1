"""Linking by source: the compiler sees a whole program, so compiled programs are joined as preprocessed text."""

import itertools
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from hls.diag import Span
from sim.cl.binary import Binary
from sim.cl.build_log import NO_WARNINGS, WARNINGS_ARE_ERRORS
from sim.cl.options import parse_options

if TYPE_CHECKING:
    from hls.frontend.preprocess import Expanded

__all__ = ["MAIN", "linked_source", "part_names", "preprocessed"]

#: the name of a program's own text, which is in no file
MAIN = "<program source>"


def preprocessed(
    program: Binary, part: str, name: str = MAIN, known_as: Mapping[str, str] = MappingProxyType({})
) -> Binary:
    """A program that includes nothing and has no macros, to be linked as a ``part`` of another. Line markers say where
    its lines come from: from the file ``name``, or one that it includes; ``known_as`` maps a folder to its name there.
    Raises hls.diag.CompileError."""
    from hls.frontend.preprocess import preprocess

    options = parse_options(_before_links(program.options), Path.cwd())
    expanded = preprocess(program.source, name, options.defines, [str(d) for d in options.include_dirs], known_as)
    return Binary(_in_lines(expanded), tuple(_others(program.options)), part)


def _in_lines(expanded: "Expanded") -> str:
    """The text with line breaks where the source has them, each token in its column where that is possible, and with
    line markers."""
    from hls.frontend.line_markers import marker

    text, width, last = list[str](), 0, Span("", 0)
    ends = [*expanded.starts[1:], len(expanded.text)][: len(expanded.starts)]  # a text of macros alone has no token
    for start, end, place in zip(expanded.starts, ends, expanded.spans, strict=True):
        piece = expanded.text[start:end].strip()
        directive = piece.startswith("#")
        if (place.file, place.line) != (last.file, last.line) or directive:
            text.append("\n" if text else "")
            if directive or (place.file, place.line) != (last.file, last.line + 1):
                text.append(marker(place.file, place.line))
            width, last = 0, place
        touches = width and not expanded.text[start - 1].isspace()
        gap = 0 if touches else max(place.column - 1 - width, 1 if width else 0)
        text += [" " * gap, piece]
        width += gap + len(piece)
        if directive:
            last = Span("", 0)  # a new line, whatever follows
    return "".join([*text, "\n"])


def linked_source(parts: Sequence[Binary]) -> tuple[str, tuple[str, ...]]:
    """The source of a program of all parts, which are preprocessed, and the options that it is built with.

    What the parts declare alike (prototypes, structures of a header that all include) is kept once; a part comes behind
    those that define what it only declares. What is static in one part, and in another of the same name, has a name of
    its own in each, unless both are the same and keep no value.
    """
    options = dict.fromkeys(word for part in parts for word in part.options)
    texts = [
        part.source.replace(_marks(MAIN), _marks(name)) for part, name in zip(parts, part_names(parts), strict=True)
    ]
    return "\n".join(_once(_ordered(_apart(texts)))), tuple(options)


def part_names(parts: Sequence[Binary]) -> list[str]:
    """What messages call each part's own text: a name with a number that no other part has, nor one of those that a
    library among them was made of."""
    taken = {match[2] for part in parts for match in _MARKER.finditer(part.source)}
    free = (name for k in itertools.count(1) if (name := f"{MAIN[:-1]} {k}>") not in taken)
    return list(itertools.islice(free, len(parts)))


def _marks(name: str) -> str:
    """The end of each line marker of this file."""
    return f' "{name}"\n'


def _before_links(options: Sequence[str]) -> list[str]:
    """Without options of clLinkProgram, which some hosts pass when they compile."""
    return [word for word in options if word != "-create-library"]


def _apart(texts: Sequence[str]) -> list[str]:
    """The texts, where static variables and functions that differ from those of earlier texts have other names."""
    seen, done = dict[str, str](), list[str]()
    for k, text in enumerate(texts):
        while clashing := {name for name, part in _static(text).items() if seen.get(name, part) != part or not part}:
            clashing &= seen.keys()
            if not clashing:
                break
            for name in clashing:  # what calls them then differs, too
                text = _renamed(text, name, f"{name}_of_part_{k + 1}")
        seen |= _static(text)
        done.append(text)
    return done


def _renamed(text: str, name: str, new: str) -> str:
    """The text with another name for a variable or function; members and literals stay."""
    used = re.compile(rf"({_LITERAL.pattern})|(?<![\w.])(?<!->){name}\b")
    return used.sub(lambda found: found[1] or new, text)


def _static(text: str) -> dict[str, str]:
    """The static variables and functions of a text by name, each with its declaration; with nothing for one that keeps
    values, which is never that of another text."""
    found: dict[str, str] = {}
    for part in _declarations(_unmarked(text)):
        head, same = _ATTRIBUTE.sub("", part.partition("{")[0]), " ".join(part.split())
        if part.rstrip().endswith("}") and _COPIED.search(head):
            found |= dict.fromkeys(_CALLED.findall(head)[:1], same if _is_shared(part) else "")
        elif part.rstrip().endswith(";") and re.search(r"\bstatic\b", head) and "(" not in head.partition("=")[0]:
            found |= dict.fromkeys(_declared(_ATTRIBUTE.sub("", part)), same if _is_shared(part) else "")
    return found


def _declared(part: str) -> list[str]:
    """The variables that a declaration of several may declare."""
    flat = _LITERAL.sub("", part)
    while flat != (flat := re.sub(r"\{[^{}]*\}|\([^()]*\)|\[[^\[\]]*\]", " ", flat)):
        pass
    words = (re.findall(r"\w+", one.partition("=")[0]) for one in flat.split(","))
    return [found[-1] for found in words if found]


def _ordered(texts: Sequence[str]) -> list[str]:
    """The texts in their order, but each behind those that define functions that it only declares, where that is
    possible."""
    left, done = [(text, *_names(text)) for text in texts], list[str]()
    while left:
        free = (k for k, one in enumerate(left) if not any(one[2] & other[1] for other in left if other is not one))
        done.append(left.pop(next(free, 0))[0])
    return done


_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.DOTALL)
#: a static variable that a kernel may change: each program has its own
_OWN = re.compile(r"\s*static\b(?![^=;]*\b(const|constant|__constant)\b)[^=;(]*[=;]")
#: a function of which each program has a copy; one that keeps values has its own in each
_COPIED, _KEPT = re.compile(r"\b(static|inline)\b"), re.compile(r"\bstatic\b")
_LITERAL = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
_MARKER = re.compile(r'^# (\d+) "(.*)"\n', re.MULTILINE)
_CALLED = re.compile(r"(\w+)\s*\(")


def _names(text: str) -> tuple[set[str], set[str]]:
    """The functions that a text defines, and those that it only declares."""
    defined, declared = set[str](), set[str]()
    for part in _declarations(_unmarked(text)):
        found = _CALLED.findall(_ATTRIBUTE.sub("", part.partition("{")[0]))[:1]
        (declared if part.rstrip().endswith(";") else defined).update(found)
    return defined, declared - defined


def _others(options: Sequence[str]) -> list[str]:
    """The options that concern neither the preprocessor nor the messages about this program alone."""
    found, skip = [], False
    for word in _before_links(options):
        if skip or word[:2] in ("-D", "-I"):
            skip = not skip and len(word) == 2
        elif word not in (NO_WARNINGS, WARNINGS_ARE_ERRORS):
            found.append(word)
    return found


def _once(texts: Sequence[str]) -> list[str]:
    """The texts without declarations that an earlier one has."""
    seen: set[str] = set()
    kept = []
    for text in texts:
        own, whole = list[str](), True
        place: _Place | None = None
        for part in _declarations(text):
            known = _is_shared(_unmarked(part)) and _key(part) in seen
            if not known:
                own += [part] if whole or place is None else ["\n", place.marker(), part]
            place, whole = _behind(part, place), not known
        seen |= {_key(part) for part in _declarations(text)}
        kept.append("".join(own))
    return kept


def _key(part: str) -> str:
    """A declaration, however it is written and wherever it stands."""
    return " ".join(_unmarked(part).split())


class _Place(NamedTuple):
    """A place of the source in joined texts."""

    file: str  #: as a line marker has it
    line: int
    column: int  #: from 0

    def marker(self) -> str:
        """What brings the text behind it to this place."""
        return f'# {self.line} "{self.file}"\n{" " * self.column}'


def _behind(part: str, place: _Place | None) -> _Place | None:
    """The end of a part that begins at ``place``; None if it is not known."""
    markers = [*_MARKER.finditer(part)]
    if markers:
        part, place = part[markers[-1].end() :], _Place(markers[-1][2], int(markers[-1][1]), 0)
    if place is None:
        return None
    before, ends, line = part.rpartition("\n")
    return _Place(place.file, place.line + (before + ends).count("\n"), len(line) + (0 if ends else place.column))


def _unmarked(text: str) -> str:
    return _MARKER.sub("", text)


def _is_shared(part: str) -> bool:
    """Whether a part at file level is the same in all programs that have it: a type, a prototype, a constant of all
    programs, or a function that each has a copy of, as headers define them."""
    if part.rstrip().endswith("}"):
        head, _, body = part.partition("{")
        return bool(_COPIED.search(head)) and not _KEPT.search(body)
    return part.rstrip().endswith(";") and not _OWN.match(part)


def _declarations(text: str) -> list[str]:
    """The text split at file level: behind each semicolon, and behind the body of each function."""
    parts, start, depth = [], 0, 0
    for at, character in enumerate(_LITERAL.sub(lambda found: "_" * len(found[0]), text)):
        depth += (character in "{(") - (character in "})")
        rest = text[at + 1 :].lstrip()[:1] if character == "}" and depth == 0 else ""
        ends = character == ";" and depth == 0 or character == "}" and depth == 0 and _is_body(text[start:at], rest)
        if ends:
            parts.append(text[start : at + 1])
            start = at + 1
    return [*parts, text[start:]]


def _is_body(before: str, rest: str) -> bool:
    """Whether a brace at file level ends a function: its head has parentheses and no ``=``, and no name follows."""
    head = before.partition("{")[0]
    return ")" in head and "=" not in head and not head.lstrip().startswith(("typedef", "struct", "union", "enum"))
