"""Converts pragmas and attributes of loops to attributes of the IR's loops."""

from dataclasses import replace

from pycparser import c_ast

from ..diag import Code, CompileError
from ..ir import Attr
from . import tree as tt
from . import types as ct
from .check_file_variables import FileVariableChecker
from .foreign_pragmas import foreign_pragma
from .parse import Syntax, parse_expressions
from .pragmas import IGNORED_PRAGMAS, LARGEST, LOOP_PRAGMAS, LoopPragma, contradiction, read_loop_pragma, without_vendor

__all__ = ["PragmaChecker"]


class PragmaChecker(FileVariableChecker):
    """Adds pragmas."""

    def __init__(self, syntax: Syntax) -> None:
        super().__init__(syntax)
        self._groups = 0  #: blocks of loops to be fused so far
        self.contract = True  #: whether the program permits contraction in the functions that follow

    def pragma(self, node: c_ast.Node) -> list[LoopPragma]:
        """The loop pragma that a node is, if it is one; warns of unknown pragmas."""
        span = self.span(node)
        text = node.string if isinstance(node.string, str) else node.string.value.strip('"')
        pragma = read_loop_pragma(str(text), span)
        if pragma is not None:
            return [pragma]
        kind = "attribute" if text.startswith("__attribute__") else "pragma"
        words = without_vendor(str(text)).split() or [""]
        if words[:1] in (["OPENCL"], ["STDC"]) and words[1:2] == ["FP_CONTRACT"]:
            self._contraction(words[2:] != ["OFF"])
        name = words[0]
        if name not in IGNORED_PRAGMAS:
            hint = foreign_pragma(" ".join(words)) or self._similar_pragma(name)
            self.warn(span, f"unknown {kind} '{name}' is ignored", hint, code=Code.PRAGMA_IGNORED)
        return []

    def _contraction(self, allowed: bool) -> None:
        """FP_CONTRACT inside a function applies to all of it; outside, to all functions that follow."""
        if self.function is None:
            self.contract = allowed
        elif not allowed:
            self.function.attrs[Attr.FP_CONTRACT] = False

    def _similar_pragma(self, name: str) -> str:
        return self.similar(name, (*LOOP_PRAGMAS, "ivdep", "loop_fuse")) if len(name) > 2 else ""

    def unattached(self, pragmas: list[LoopPragma]) -> None:
        """Warn of pragmas that are not followed by a loop."""
        for pragma in pragmas:
            if pragma.name == "loop_fuse":
                self.warn(
                    pragma.span,
                    "#pragma loop_fuse is not before a block of loops: ignored",
                    "put the loops into braces, and it before them",
                    code=Code.PRAGMA_IGNORED,
                )
            else:
                self.warn(
                    pragma.span,
                    f"{pragma.written} is not before a loop: ignored",
                    "write it directly before for, while or do",
                    code=Code.PRAGMA_IGNORED,
                )

    def fused(self, block: tt.Block, pragmas: list[LoopPragma]) -> tt.Block:
        """The block with its loops marked as a ``loop_fuse`` among the pragmas requests; warns of others."""
        wishes = [pragma for pragma in pragmas if pragma.name == "loop_fuse"]
        self.unattached([pragma for pragma in pragmas if pragma not in wishes])
        if len(wishes) > 1:
            raise CompileError.at(
                wishes[1].span,
                f"duplicate #pragma loop_fuse: the first one is at line {wishes[0].span.line}",
                "keep one of them",
                code=Code.PRAGMAS_CONTRADICT,
            )
        if not wishes:
            return block
        if sum(isinstance(s, tt.Loop) for s in block.statements) < 2:
            self.warn(
                wishes[0].span,
                "#pragma loop_fuse: there are no two loops in this block",
                "remove it",
                code=Code.PRAGMA_IGNORED,
            )
        depth = self._number(wishes[0], wishes[0].argument, 1) if wishes[0].argument else 1
        self._groups += 1
        mark = (self._groups, depth, int(wishes[0].independent))
        return replace(
            block,
            statements=tuple(
                replace(s, attrs=s.attrs | {Attr.LOOP_FUSE: mark}) if isinstance(s, tt.Loop) else s
                for s in block.statements
            ),
        )

    def loop_attrs(self, pragmas: list[LoopPragma]) -> tuple[dict, tuple]:
        """The requests of the pragmas before a loop: its attributes, and (array or None, safelen or 0) of each
        ivdep."""
        attrs, ivdep, spans = {}, [], {}
        self.unattached([pragma for pragma in pragmas if pragma.name == "loop_fuse"])
        for pragma in pragmas:
            with self.recover():
                if pragma.name == "loop_fuse":
                    continue
                if pragma.name == "ivdep":
                    ivdep.append(self._ivdep(pragma))
                else:
                    self._attribute(pragma, attrs, spans)
        opposites = contradiction(attrs)
        if opposites:
            with self.recover():
                names = [_written(name, attrs[name]) for name in opposites]
                raise CompileError.at(
                    max(spans[name] for name in opposites),
                    f"'{names[1]}' and '{names[0]}' contradict each other",
                    "keep one of them",
                    code=Code.PRAGMAS_CONTRADICT,
                )
        return attrs, tuple(ivdep)

    def _attribute(self, pragma: LoopPragma, attrs: dict, spans: dict):
        form = LOOP_PRAGMAS[pragma.name]
        value = form.bare if not pragma.argument else self._number(pragma, pragma.argument, form.lowest, form.highest)
        if form.attr in attrs:
            line = spans[form.attr].line
            if attrs[form.attr] != value:
                raise CompileError.at(
                    pragma.span,
                    f"{pragma.written} contradicts the one at line {line}",
                    "keep one of them",
                    code=Code.PRAGMAS_CONTRADICT,
                )
            self.warn(
                pragma.span,
                f"{pragma.written} repeats the one at line {line}",
                "remove one of them",
                code=Code.PRAGMA_IGNORED,
            )
        attrs[form.attr], spans[form.attr] = value, pragma.span

    def _number(self, pragma: LoopPragma, text: str, lowest: int, highest: int = LARGEST) -> int:
        try:
            nodes = parse_expressions(text, pragma.span, self.types())
        except CompileError:
            plain = text.strip("<>=:() ")
            raise CompileError.at(
                pragma.span,
                f"{pragma.written} takes a number, not '{text}'",
                f"write #pragma {pragma.name} {plain if plain.isalnum() and plain not in self.types() else 'N'}",
                code=Code.PRAGMA_ARGUMENT,
            ) from None
        if len(nodes) != 1:
            raise CompileError.at(pragma.span, f"{pragma.written} takes one number", code=Code.PRAGMA_ARGUMENT)
        number = self.constant_int(nodes[0], f"the number of {pragma.written}")
        if not lowest <= number <= highest:
            limit = f"at least {lowest}" if number < lowest else f"at most {highest:,}"
            raise CompileError.at(
                pragma.span, f"{pragma.written} cannot be {number:,}", limit, code=Code.PRAGMA_ARGUMENT
            )
        return number

    def _ivdep(self, pragma: LoopPragma) -> tuple[tt.Variable | None, int]:
        variable = None
        if pragma.array:
            variable = self.find(pragma.array, pragma.span)
            if not isinstance(variable, tt.Variable) or not isinstance(variable.type, (ct.Pointer, ct.Array)):
                raise CompileError.at(
                    pragma.span,
                    f"ivdep: '{pragma.array}' is not an array or pointer",
                    "" if variable is not None else self.similar(pragma.array),
                    code=Code.PRAGMA_ARGUMENT,
                )
        return variable, self._number(pragma, pragma.safelen, 1) if pragma.safelen else 0


def _written(attr: str, value) -> str:
    """An attribute as written in the source."""
    return attr if value in (True, -1) else f"{attr} {value}"
