"""Linking by source: the compiler sees a whole program, so compiled programs are joined as preprocessed text."""

from collections.abc import Sequence
from pathlib import Path

from sim.cl.binary import Binary
from sim.cl.options import parse_options

__all__ = ["linked_source"]


def linked_source(parts: Sequence[Binary]) -> tuple[str, tuple[str, ...]]:
    """The source of a program of all parts, and the options that it is built with.

    One part stays as it is. Several are preprocessed each with its own macros, so that these stay apart; what the parts
    declare alike (prototypes, structures of a header that all include) is kept once. Raises hls.diag.CompileError.
    """
    if len(parts) == 1:
        return parts[0].source, parts[0].options
    from hls.frontend.preprocess import preprocess

    texts, rest = [], dict[str, None]()
    for part in parts:
        options = parse_options(part.options, Path.cwd())
        expanded = preprocess(part.source, "<program source>", options.defines, [str(d) for d in options.include_dirs])
        texts.append(expanded.text)
        rest |= dict.fromkeys(_others(part.options))
    return "\n".join(_once(texts)), tuple(rest)


def _others(options: Sequence[str]) -> list[str]:
    """The options that do not concern the preprocessor."""
    found, skip = [], False
    for word in options:
        if skip or word[:2] in ("-D", "-I"):
            skip = not skip and len(word) == 2
        else:
            found.append(word)
    return found


def _once(texts: Sequence[str]) -> list[str]:
    """The texts without declarations that an earlier one has."""
    seen: set[str] = set()
    kept = []
    for text in texts:
        own = [part for part in _declarations(text) if not (_is_shared(part) and " ".join(part.split()) in seen)]
        seen |= {" ".join(part.split()) for part in own}
        kept.append("".join(own))
    return kept


def _is_shared(part: str) -> bool:
    """Whether a part at file level only declares: a type, a prototype, a constant of all programs."""
    return part.rstrip().endswith(";")


def _declarations(text: str) -> list[str]:
    """The text split at file level: behind each semicolon, and behind the body of each function."""
    parts, start, depth = [], 0, 0
    for at, character in enumerate(text):
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
