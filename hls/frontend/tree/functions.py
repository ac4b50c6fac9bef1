"""Functions, and calls of them."""

from dataclasses import dataclass, field
from typing import Any

from ...diag import Span
from ..types import CType
from .expressions import Expr, Variable
from .statements import Block

__all__ = ["Call", "FunctionTree"]


@dataclass(eq=False)
class FunctionTree:
    """A function; ``body`` stays None while only its prototype has been seen."""

    name: str
    kernel: bool
    result: CType
    parameters: list[Variable]
    span: Span
    body: Block | None = None
    attrs: dict[str, Any] = field(default_factory=dict)
    calls: dict["FunctionTree", Span] = field(default_factory=dict)
    #: required work-item information: by which call, and where
    work_items: dict[str, tuple[str, Span]] = field(default_factory=dict)
    #: the variables of the program that it uses, or one that it calls does: hidden parameters, behind the others
    program_variables: dict[Variable, None] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)  #: parameters whose declarations failed
    written_types: list[str] = field(default_factory=list)  #: of the parameters, as in the source

    @property
    def takes_channels(self) -> bool:
        """Whether it is a helper with channel or pipe parameters: it is compiled once for each combination of channels
        it is called with."""
        return not self.kernel and any(getattr(p, "parameter", False) for p in self.parameters)

    def asks(self, call: str, what: str, span: Span) -> None:
        """Record that the function needs to know its work-item, or others of the group."""
        self.work_items.setdefault(what, (call, span))


@dataclass(frozen=True, eq=False)
class Call(Expr):
    """A call of a helper function of the module."""

    callee: FunctionTree
    arguments: tuple[Expr, ...]
