"""Parts of sentences in messages, reports and pages."""

from collections.abc import Iterable

__all__ = ["enumerated"]


def enumerated(items: Iterable[str], word: str = "and") -> str:
    """The items as a list in a sentence, with the word before the last one: ``a, b and c``; "" for none."""
    *first, last = list(items) or [""]
    return f"{', '.join(first)} {word} {last}" if first else last
