"""The operands of preprocessor directives, checked where a directive takes effect.

C11 6.10.1p6: in a group that a condition leaves out, directives are read only as far as their names, to follow the
nesting. pcpp does not tell :meth:`on_directive_handle` whether the group is left out, so nothing is refused there: a
directive that has no operand gets a stand-in, and what pcpp calls to carry a directive out refuses it.
"""

import copy
from collections.abc import Iterator
from typing import Any

from ..diag import Code, CompileError
from .pasting import PastingPreprocessor

__all__ = ["NEED_OPERAND", "CheckingPreprocessor"]

#: directives that need something after their name
NEED_OPERAND = frozenset({"define", "undef", "include", "ifdef", "ifndef", "if", "elif"})
#: type of the token that stands for an operand that is not there
_MISSING = "CPP_MISSING"


class CheckingPreprocessor(PastingPreprocessor):
    """Refuses directives without an operand, or with one that is no name, unless a condition leaves them out."""

    def on_directive_handle(self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]) -> bool:
        """Every directive is pcpp's to carry out; ``toks`` get a stand-in for an operand that is missing."""
        if directive.value in NEED_OPERAND and not toks:
            missing = copy.copy(directive)
            missing.type, missing.value, missing.directive = _MISSING, "", directive.value
            toks.append(missing)
        return True

    def on_unknown_macro_in_defined_expr(self, tok: Any) -> bool:
        """Called for what ``#ifdef`` tests unless it is a macro, and with names alone for ``defined``."""
        self._check_name(self.lastdirective.value, tok)
        return False

    def define(self, tokens: list[Any]) -> None:
        """Define a macro, which has a name."""
        self._check_name("define", tokens[0])
        super().define(tokens)

    def undef(self, tokens: list[Any]) -> None:
        """Forget a macro, which has a name."""
        self._check_name("undef", tokens[0])
        super().undef(tokens)

    def include(self, tokens: list[Any], original_line: list[Any]) -> Iterator[Any]:
        """The tokens of a file that is named."""
        self._check_present(tokens[0])
        yield from super().include(tokens, original_line)

    def evalexpr(self, tokens: list[Any]) -> Any:
        """The value of the condition of an ``#if``, which has one."""
        self._check_present(tokens[0])
        return super().evalexpr(tokens)

    def _check_present(self, token: Any) -> None:
        if token.type == _MISSING:
            raise CompileError.at(token.place, f"#{token.directive} needs something after it", code=Code.PREPROCESSOR)

    def _check_name(self, directive: str, token: Any) -> None:
        self._check_present(token)
        if token.type != self.t_ID:
            raise CompileError.at(
                token.place, f"#{directive} needs a name, not '{token.value}'", code=Code.PREPROCESSOR
            )
