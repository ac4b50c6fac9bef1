"""The loops of a kernel as nested in the source, and their names."""

from collections.abc import Iterable
from dataclasses import dataclass

from ..diag import Span
from ..ir import Attr, Function, Module, Op, Region
from ..ir.loop_names import RESTART, Place
from ..passes.lowering.inline import library_label

__all__ = ["SourceLoop", "source_loops"]


@dataclass(frozen=True)
class SourceLoop:
    """A loop before any pass. A loop of a mathematical function is located where the program calls the function."""

    span: Span | None
    label: str
    unroll: int
    form: str  #: "for", "while" or "do"
    children: tuple["SourceLoop", ...]

    @property
    def place(self) -> Place:
        """Location and label, by which a loop is found again after the passes."""
        return self.span, self.label


def source_loops(module: Module, function: Function) -> tuple[SourceLoop, ...]:
    """The loops of a kernel and of the functions it calls; ``module`` is the program before optimization."""
    return _Tree(module).of(function.body)


class _Tree:
    def __init__(self, module: Module) -> None:
        self.module = module

    def of(self, region: Region, call: tuple[Span | None, str] | None = None) -> tuple[SourceLoop, ...]:
        """``call``: where the program calls the mathematical function that the region belongs to, and its name."""
        found: list[SourceLoop] = []
        for op in region.ops:
            if op.opcode == "loop":
                found += self._loop(op, call)
            elif op.opcode == "call":
                callee = self.module.functions[op.attrs[Attr.CALLEE]]
                inside = (op.span, callee.name) if Attr.LIBRARY in callee.attrs else None
                found += self.of(callee.body, call or inside)
            else:
                found += [loop for inner in op.regions for loop in self.of(inner, call)]
        return tuple(found)

    def _loop(self, op: Op, call) -> Iterable[SourceLoop]:
        children = self.of(op.regions[0], call)
        if op.attrs.get(Attr.FORM) == RESTART:  # restart of an autorun kernel, which the source does not contain
            return children
        label = op.attrs.get(Attr.LABEL, "")
        span, label = (call[0], library_label(label, call[1])) if call else (op.span, label)
        return [SourceLoop(span, label, op.attrs.get(Attr.UNROLL, 0), op.attrs.get(Attr.FORM, "for"), children)]
