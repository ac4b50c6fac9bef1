"""Renaming what a program defines: macros, kernels, functions, variables, types and channels.

The front end says which names in the text mean the same thing, and it has the last word: the text after the edits must
be the same program but for the name, else they are refused.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..diag import CompileError, Span
from ..frontend import Result
from ..ir.printer import print_function, print_module
from .analysis import Request, program_of
from .edits import Edit, applied, is_name, words
from .scan import Plain, word_at

__all__ = ["Declaration", "Refused", "declaration_of", "name_at", "rename"]

_PLACE = re.compile(r' @"(?:[^"\\]|\\.)*":\d+:\d+')
#: a memory where it is declared, or in quotes in an attribute; the name of a value in front of its number
_MEMORY = re.compile(r'(^  memory |")([\w.]+)(:|")', re.MULTILINE)
_VALUE = re.compile(r"%(?:\w+\.)+(?=\d)")
_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)(?P<rest>(?:\\\r?\n|[^\n])*)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>[a-z]+)(?:\\\r?\n|[^\n])*", re.MULTILINE)


class Refused(Exception):
    """The name cannot be changed; the text says why, and what to do."""


def name_at(request: Request, line: int, column: int) -> Span | None:
    """The place of the name at a place (both from 0) that is neither in a comment nor in a literal; None if there is
    none."""
    plain = Plain(request.text, request.file)
    lines = plain.uncommented.split("\n")
    text = lines[line] if line < len(lines) else ""
    name = word_at(text, column)
    start = next((at for at in words(text, name) if at <= column <= at + len(name)), None) if name else None
    return None if start is None else Span(request.file, line + 1, start + 1, len(name))


@dataclass(frozen=True)
class Declaration:
    """What the name ``name`` means, in words, and where it was declared."""

    name: str
    meaning: str
    span: Span


def declaration_of(request: Request, line: int, column: int) -> Declaration | None:
    """The declaration of the variable, function, channel, type or macro whose name stands at a place (both from 0);
    None if there is none, and in a text with errors."""
    place = name_at(request, line, column)
    if place is None:
        return None
    try:
        program = program_of(request)
    except CompileError:
        return None
    found = {Declaration(one.text, one.meaning, one.declared) for one in program.occurrences if one.span == place}
    name = request.text.split("\n")[line][place.column - 1 : place.column - 1 + place.length]
    if name in program.macros:  # what it expands to may be declared, too
        return Declaration(name, "macro", program.macros[name])
    return found.pop() if len(found) == 1 else None


def rename(request: Request, line: int, column: int, new: str) -> tuple[Edit, ...]:
    """The edits that give what stands at a place (both from 0) the name ``new``. Raises Refused."""
    place = name_at(request, line, column)
    if place is None:
        raise Refused("there is no name here")
    if not is_name(new):
        raise Refused(f"'{new}' is not a name as in C: use letters, digits and underscores")
    renaming = _Renaming(request, place)
    if new == renaming.name:
        return ()
    edits = tuple(Edit(at, at + len(renaming.name), new) for at in sorted(renaming.places()))
    renaming.check(edits, new)
    return edits


class _Renaming:
    """The name at ``place`` in the text of a request. Raises Refused where the text does not compile."""

    def __init__(self, request: Request, place: Span) -> None:
        self.request, self.place = request, place
        self.plain = Plain(request.text, request.file)
        self.at = self.plain.offset(place)
        self.name = request.text[self.at : self.at + place.length]
        self.before = self._parsed(request, "mend the errors of this text first")

    def places(self) -> set[int]:
        """Where the name must be changed, as offsets."""
        if self._macro():
            return self._of_macro()
        declared = {one.declared for one in self.before.occurrences if one.span == self.place}
        if len(declared) != 1:
            raise Refused(self._unknown(len(declared)))
        return self._of_meaning(next(iter(declared)))

    def check(self, edits: Iterable[Edit], new: str) -> None:
        """Refuse edits after which the text is another program."""
        why = f"with the name '{new}' the text does not compile"
        after = self._parsed(replace(self.request, text=applied(self.request.text, edits)), why)
        renamed = re.sub(rf"(?<!\w){re.escape(self.name)}(?!\w)", new, _told(self.before))
        if renamed != re.sub(rf"(?<!\w){re.escape(self.name)}(?!\w)", new, _told(after)):
            raise Refused(f"with the name '{new}' the text would mean something else: choose another name")

    def _parsed(self, request: Request, why: str) -> Result:
        try:
            return program_of(request)
        except CompileError as error:
            first = error.diagnostics[0]
            where = f"line {first.span.line}: " if first.span else ""
            raise Refused(f"{why} ({where}{first.message})") from None

    # --- macros ---

    def _macro(self) -> bool:
        return any(one["name"] == self.name for one in _DEFINE.finditer(self.plain.uncommented))

    def _of_macro(self) -> set[int]:
        for one in _DEFINE.finditer(self.plain.uncommented):
            parameters = re.match(r"\(([^)]*)\)", one["rest"])
            if parameters and next(words(parameters[1], self.name), None) is not None:
                line = self.plain.line(one.start())
                raise Refused(f"'{self.name}' is also a parameter of the macro in line {line}: rename that first")
        return {*words(self.plain.uncommented, self.name)}

    # --- what is declared ---

    def _of_meaning(self, declared: Span) -> set[int]:
        found = set()
        for one in self.before.occurrences:
            if one.declared != declared:
                continue
            if one.span.file != self.request.file:
                raise Refused(
                    f"'{self.name}' is also in {one.span.file}, line {one.span.line}: rename it by hand there"
                )
            found |= self._exact(one.span)
        return found | self._in_skipped(found)

    def _exact(self, span: Span) -> set[int]:
        """Where the name stands at the place of an occurrence: at it, or in the pragma there."""
        at = self.plain.offset(span)
        if self.request.text.startswith(self.name, at) and at in words(self.plain.code, self.name, at):
            return {at}
        for directive in _DIRECTIVE.finditer(self.plain.uncommented):
            if directive.start() <= at < directive.end() and directive["word"] == "pragma":
                return {*words(self.plain.uncommented, self.name, *directive.span())}
        macro = word_at(self.request.text[at:].partition("\n")[0], 0)
        raise Refused(f"the macro '{macro}' in line {span.line} uses '{self.name}': it cannot be renamed there")

    def _in_skipped(self, found: set[int]) -> set[int]:
        """Refuse a name that also stands where the preprocessor leaves the text out: what it means there is unknown."""
        known = {self.plain.offset(one.span) for one in self.before.occurrences if one.span.file == self.request.file}
        first, last = self.plain.extent(min(found), max(found))
        for at in words(self.plain.code, self.name, first, last):
            if at not in known and not self._member(at) and self.plain.conditional(at):
                line = self.plain.line(at)
                raise Refused(f"'{self.name}' is also in line {line}, which is not compiled: rename it by hand there")
        return set()

    def _member(self, at: int) -> bool:
        return self.request.text[:at].rstrip().endswith((".", "->"))

    def _unknown(self, meanings: int) -> str:
        if meanings:
            return f"'{self.name}' has several meanings here, as the text is included in several ways"
        return (
            f"'{self.name}' is not defined in this text as a macro, kernel, function, variable or channel, and only "
            "such names can be changed"
        )


def _told(result: Result) -> str:
    """The program without its places, and with numbers for the names of memories and values: variables of one name are
    told apart by a number in the names of their memories, which depends on the others."""
    module = result.module
    functions = (_numbered(print_function(one), tuple(one.memories)) for one in module.functions.values())
    channels = print_module(replace(module, functions={}))
    return "\n".join([_PLACE.sub("", channels), *functions])


def _numbered(text: str, memories: tuple[str, ...]) -> str:
    numbers = {name: str(number) for number, name in enumerate(memories)}
    text = _MEMORY.sub(lambda found: found[1] + numbers.get(found[2], found[2]) + found[3], _PLACE.sub("", text))
    return _VALUE.sub("%", text)
