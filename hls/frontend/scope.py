"""Names in scope, and the messages collected so far."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from ..diag import Code, CompileError, Diagnostic, Span
from .types import CType, Qualified, Struct

__all__ = ["POISON", "EnumConstant", "Occurrence", "Scopes", "StructTag", "TypeName"]


class TypeName:
    """A typedef."""

    def __init__(self, meaning: Qualified, span: Span) -> None:
        self.meaning, self.span = meaning, span


class StructTag:
    """A struct or union tag; the table's key is "struct NAME" or "union NAME", so tags are a name space of their
    own."""

    def __init__(self, type: Struct, span: Span) -> None:
        self.type, self.span = type, span


class EnumConstant:
    """The meaning of the name of an enumeration constant."""

    def __init__(self, value: int, type: CType, span: Span) -> None:
        self.value, self.type, self.span = value, type, span


class _Poison:
    """A name whose declaration failed: its uses are not reported."""

    span = None


POISON = _Poison()


@dataclass(frozen=True)
class Occurrence:
    """The name ``text`` at ``span`` means what was declared at ``declared``, which is ``span`` where it is declared. A
    name that a macro expands to is at the place of the macro's name. ``meaning`` says what was declared, in words."""

    text: str
    span: Span
    declared: Span
    meaning: str = ""


class Scopes:
    """A stack of name tables, with messages collected by :meth:`recover`."""

    def __init__(self) -> None:
        self._stack: list[dict[str, object]] = [{}]
        self.declared_at: dict[object, Span] = {}  #: where each meaning was declared first
        self.name_uses: list[tuple[str, Span, object]] = []  #: the names in the text, with their places and meanings
        self.diagnostics: list[Diagnostic] = []

    @contextmanager
    def scope(self) -> Iterator[None]:
        """A context in which new names are declared in a scope of their own."""
        self._stack.append({})
        try:
            yield
        finally:
            self._stack.pop()

    def find(self, name: str, span: Span | None = None) -> Any:
        """The meaning of the name here, or None; ``span`` is where it is used. Raises a silent CompileError for a name
        whose declaration failed."""
        for table in reversed(self._stack):
            if name in table:
                if table[name] is POISON:
                    raise CompileError()
                self.occurs(name, table[name], span)
                return table[name]
        return None

    def occurs(self, name: str, meaning: object, span: Span | None) -> None:
        """Record that the name with this meaning stands at ``span``."""
        if span is not None and meaning in self.declared_at:
            self.name_uses.append((name, span, meaning))

    def types(self) -> list[str]:
        """The names that denote a type here."""
        meanings = {name: meaning for table in self._stack for name, meaning in table.items()}
        return [name for name, meaning in meanings.items() if isinstance(meaning, TypeName)]

    def here(self, name: str) -> Any:
        """What ``name`` means in the innermost scope, None if it is not declared there."""
        return self._stack[-1].get(name)

    def add(self, name: str, meaning: Any, span: Span | None) -> None:
        """Declare the name in the innermost scope."""
        known = self.here(name)
        if known is not None and known is not POISON and meaning is not POISON:
            note = Diagnostic("the first one is here", known.span, severity="note")
            raise CompileError(
                Diagnostic(
                    f"'{name}' is declared twice", span, "rename one of them", notes=(note,), code=Code.DEFINED_TWICE
                )
            )
        self._stack[-1][name] = meaning
        if span is not None and meaning is not POISON:
            self.declared_at.setdefault(meaning, span)
            self.occurs(name, meaning, span)

    def similar(self, name: str, more: Iterable[str] = ()) -> str:
        """A hint with a similar known name, or nothing."""
        return self.closest(name, {n for table in self._stack for n in table} | set(more))

    @staticmethod
    def closest(name: str, names: Iterable[str]) -> str:
        """A hint with the most similar one of ``names``, or nothing."""
        close = get_close_matches(name, sorted(names))
        longer = [one for one in close if one.startswith(name)]  # a part of the name is missing: as similar as others
        return f"did you mean '{(longer or close)[0]}'?" if close else ""

    @contextmanager
    def recover(self) -> Iterator[None]:
        """Record the errors of the block and continue after it."""
        try:
            yield
        except CompileError as error:
            self.diagnostics.extend(error.diagnostics)

    @contextmanager
    def poisoning(self, name: str | None) -> Iterator[None]:
        """If the declaration of ``name`` fails, later uses of it are not reported."""
        try:
            yield
        except CompileError:
            if name and self.here(name) is None:
                self.poison(name)
            raise

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Discard the warnings of the block: its contents are checked again later."""
        count = len(self.diagnostics)
        yield
        del self.diagnostics[count:]

    def poison(self, name: str) -> None:
        """Suppress further messages about the name in this scope."""
        self._stack[-1][str(name)] = POISON

    def warn(self, span: Span | None, message: str, hint: str = "", *, code: Code) -> None:
        """Keep a warning; the check goes on."""
        self.diagnostics.append(Diagnostic(message, span, hint, "warning", code=code))

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors found so far, each once, in the order in which they were found."""
        return [d for d in dict.fromkeys(self.diagnostics) if d.severity == "error"]
