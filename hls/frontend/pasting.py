"""Preprocessor tokens as in C99, where pcpp's differ: numbers are one token, and ``##`` pastes.

pcpp reads ``1.`` or ``0xFFLL`` as several tokens, pastes without placemarkers, and only in macros with parameters.
"""

import copy
import re
from collections.abc import Iterable, Iterator
from typing import Any

from pcpp import Preprocessor

__all__ = ["PastingPreprocessor"]

#: C99 6.4.8: a preprocessing number, valid or not
_NUMBER = re.compile(r"\.?\d(?:[eEpP][+-]|[\w.])*")
_DIGIT = re.compile(r"\.?\d")
_INTEGER = re.compile(r"(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
#: a single token, as the result of pasting must be
_TOKEN = re.compile(
    rf"""{_NUMBER.pattern}|[A-Za-z_]\w*|[uUL]?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|\.\.\.|<<=|>>=|[-+*/%&|^<>=!]=
                      |<<|>>|&&|\|\||\+\+|--|->|\#\#|[^\w\s]""",
    re.VERBOSE,
)


class PastingPreprocessor(Preprocessor):
    """pcpp with numbers of one token, and with ``##``. ``unpasted`` is called with two tokens that do not form a
    token."""

    def unpasted(self, left: Any, right: Any) -> None:
        """Called if ``left ## right`` is not a token: both are kept."""

    def whole_numbers(self, tokens: Iterable) -> Iterator:
        """The tokens, with those of each number joined."""
        number = None
        for token in tokens:
            value = token.value
            if number is not None and (
                token.lexpos == number.lexpos + len(number.value) and _NUMBER.fullmatch(number.value + value)
            ):
                number.value += value
                number.type = self.t_INTEGER if _INTEGER.fullmatch(number.value) else "CPP_FLOAT"
                continue
            if number is not None:
                yield number
                number = None
            if value == "." or _DIGIT.match(value):
                number = token
            else:
                yield token
        if number is not None:
            yield number

    def tokenize(self, text: str) -> list[Any]:
        """The tokens of ``text``, in which every number is one token."""
        return list(self.whole_numbers(super().tokenize(text)))

    def define(self, tokens: Any) -> None:
        """Define a macro. In one without parameters, ``##`` is applied here, as its tokens never change."""
        super().define(tokens)
        name = (tokens if isinstance(tokens, list) else self.tokenize(tokens))[0].value
        macro = self.macros.get(name)
        if macro is not None and macro.arglist is None:
            macro.value = self._pasted([(self._kind(token), token) for token in macro.value])

    def macro_expand_args(self, macro: Any, args: Any) -> list[Any]:
        """The body of the macro with its arguments substituted. pcpp has found where they go: ``str_patch``, ``patch``
        and ``var_comma_patch``."""
        texts = {place: args[argument] for argument, place in macro.str_patch}
        holes = {place: (kind, argument) for kind, argument, place in macro.patch}
        expanded: dict[int, list] = {}
        body = []
        for place, token in enumerate(macro.value):
            kind, argument = holes.get(place, ("", 0))
            if place in texts:
                body.append(("", self._as_text(token, texts[place])))
            elif not kind:
                body.append(("," if place in macro.var_comma_patch else self._kind(token), _copied(token)))
            elif kind == "t":  # next to ##: unexpanded
                body += [("", _copied(t)) for t in args[argument]] or [("nothing", token)]
            else:
                if argument not in expanded:
                    expanded[argument] = self.expand_macros([_copied(t) for t in args[argument]])
                body += [("", _copied(t)) for t in expanded[argument]]
        return self._pasted(body)

    def _kind(self, token) -> str:
        return "##" if token.type == self.t_DPOUND else ""

    def _as_text(self, token, argument: list):
        """``#argument``: white space becomes one blank, and string literals in the argument get their backslashes."""
        words = [
            " " if t.type in self.t_WS else _quoted(t.value) if t.value[-1] in "\"'" else t.value for t in argument
        ]
        found = _copied(token)
        found.value = '"' + "".join(w for k, w in enumerate(words) if w != " " or words[k - 1] != " ") + '"'
        return found

    def _pasted(self, body: list[tuple[str, Any]]) -> list:
        """The tokens after applying every ``##``. The first of each pair is the kind of the token: "##" the operator,
        "nothing" an empty argument (C99's placemarker), "," the comma that an empty ``__VA_ARGS__`` removes, as in gcc
        and clang."""
        rest = [
            pair
            for k, pair in enumerate(body)
            if pair[0] or pair[1].type not in self.t_WS or "##" not in _around(body, k)
        ]
        out: list[tuple[str, Any]] = []
        rest.reverse()
        while rest:
            kind, token = rest.pop()
            if kind != "##":
                out.append((kind, token))
            elif out and rest:
                out += self._joined(out.pop(), rest.pop())
        return [token for kind, token in out if kind != "nothing"]

    def _joined(self, left: tuple, right: tuple) -> list[tuple]:
        if left[0] == ",":
            return [left, right] if right[0] != "nothing" else []
        if "nothing" in (left[0], right[0]):
            return [right if left[0] == "nothing" else left]
        value = left[1].value + right[1].value
        if not _TOKEN.fullmatch(value):
            self.unpasted(left[1], right[1])
            return [left, right]
        token = _copied(left[1])
        token.value, token.type, token.expanded_from = value, super().tokenize(value)[0].type, []
        if _NUMBER.fullmatch(value):
            token.type = self.t_INTEGER if _INTEGER.fullmatch(value) else "CPP_FLOAT"
        token.place, token.in_macro = None, True  # it has no location in the source
        return [("", token)]


def _copied(token):
    """pcpp modifies the list of macros that a token came from"""
    found = copy.copy(token)
    if hasattr(token, "expanded_from"):
        found.expanded_from = [*token.expanded_from]
    return found


def _quoted(text: str) -> str:
    # not re.sub: literals of megabytes come here, from macros that quote what they quoted, before their limit is met
    return text.replace("\\", r"\\").replace('"', r"\"")


def _around(body: list[tuple[str, Any]], k: int) -> list[str]:
    return [kind for kind, _ in body[max(0, k - 1) : k + 2]]
