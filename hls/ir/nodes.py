"""The nodes of the IR: values, operations, regions, functions, memories, modules.

Structured SSA. Control flow is `if` and `loop` operations that hold regions; a region is an ordered list of
operations that ends in a terminator (`yield` or `return`). Program order of memory accesses is their order in the
region; which of them may be reordered is a fact computed by ``hls.analysis``.

``if %cond`` has two regions; each yields the results. ``loop %enable, %init...`` is rotated: when ``enable`` is false
the results are the initial values; otherwise the body runs at least once with its arguments bound to the carried values
and yields ``(continue, next...)``; it runs again while ``continue`` is true. The results are the last ``next`` values.
"""

from dataclasses import dataclass, field

from ..diag import Span
from ..narrow import present
from .attributes import Attributes, AttributeValue
from .types import Type

__all__ = ["Function", "InitialValue", "MemoryObject", "Module", "Op", "Parameter", "Region", "Value"]


@dataclass(eq=False, slots=True, repr=False)
class Value:
    """The result of an operation, or an argument of a region or function."""

    type: Type
    name: str = ""  #: its name in the kernel, if it has one
    owner: "Op | Region | None" = None  #: the operation that defines it, or the region it is an argument of
    index: int = 0  #: which result or argument of the owner

    def __repr__(self) -> str:  # the generated one would recurse through everything reachable, many times
        return f"<Value {self.name or self.index}: {self.type}>"

    @property
    def op(self) -> "Op | None":
        """The operation that computes the value; None for arguments of regions and functions."""
        owner = self.owner
        return owner if type(owner) is Op else None

    @property
    def defining_op(self) -> "Op":
        """The operation that defines it, where the caller knows that there is one: TypeError for an argument."""
        if not isinstance(self.owner, Op):
            raise TypeError(f"{self!r} is an argument, which no operation defines")
        return self.owner


@dataclass(eq=False, slots=True, repr=False)
class Op:
    """One operation. ``opcode`` is a key of ``hls.ir.optable.OPS``."""

    opcode: str
    operands: list[Value]
    results: list[Value] = field(default_factory=list)
    attrs: Attributes = field(default_factory=dict)
    regions: list["Region"] = field(default_factory=list)
    span: Span | None = None

    def __repr__(self) -> str:
        return f"<Op {self.opcode} at {self.span}>"

    @property
    def result(self) -> Value:
        """The result of an operation that has exactly one; ValueError for any other."""
        (value,) = self.results
        return value


@dataclass(eq=False, slots=True, repr=False)
class Region:
    """Arguments and operations in order; the last one is the terminator."""

    args: list[Value] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Region of {len(self.ops)} operations>"

    @property
    def terminator(self) -> Op:
        """The last operation, which ends the region."""
        return self.ops[-1]


@dataclass(frozen=True)
class MemoryObject:
    """A memory that a pointer can point into.

    ``length`` counts elements; None if only the host knows (an argument). ``space`` is "global" (a buffer argument),
    "constant" (a file-scope table; ``data`` holds its bytes), "private" (a variable of one work-item; a scalar variable
    has length 1), "local" (shared by a work-group), "pipe" (a pipe argument) or, in a module, "channel". For the last
    two, the element is the type of the values that are passed, and ``length`` the number of channels in an array of
    them. ``dims`` are the lengths of an array's dimensions as declared, outermost first. ``attrs`` are the attributes
    that the program sets for its hardware: (name, value) pairs; ``attr_spans`` are their source locations, as far as
    known.
    """

    name: str
    space: str
    element: Type
    length: int | None = None
    const: bool = False
    restrict: bool = False
    volatile: bool = False
    data: bytes | None = None
    span: Span | None = None
    attrs: tuple[tuple[str, AttributeValue], ...] = ()
    attr_spans: tuple[tuple[str, Span], ...] = field(default=(), compare=False)
    dims: tuple[int, ...] = field(default=(), compare=False)

    @property
    def elements(self) -> int:
        """The ``length`` of a memory whose length is known here; TypeError for one that only the host knows."""
        return present(self.length)

    def asked_at(self, name: str) -> Span | None:
        """The source location of an attribute; that of the memory's declaration if only that is known."""
        return dict(self.attr_spans).get(name, self.span)

    @property
    def onchip(self) -> bool:
        """Whether it is a memory of the kernel: RAM, or a table in ROM."""
        return self.space in ("private", "local", "constant")


@dataclass(frozen=True)
class InitialValue:
    """The first contents of a variable of the program: ``data``, and zeros up to ``size`` bytes."""

    size: int
    data: bytes


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel as seen by the host: a ``buffer``, ``local`` memory of a size the host sets, a ``pipe``
    (these have a memory of the same name), or a ``scalar``. A buffer with an ``initial`` value is a variable of the
    program, which all kernels with a parameter of that name share: the runtime allocates it, and passes it."""

    name: str
    kind: str
    c_type: str  #: as written, e.g. "__global const float *" or "int"
    bytes: int  #: size of the value that the host passes (8 for a buffer)
    span: Span | None = None
    #: the type with the program's type names resolved, of the pointee for a pointer; empty: as written
    resolved: str = ""
    initial: InitialValue | None = None


@dataclass(eq=False, slots=True, repr=False)
class Function:
    """A kernel or a helper function.

    ``args`` are the scalar parameters (and, in helpers, pointers). ``attrs`` may hold ``work_group_size``
    (x, y, z) required by the kernel, and ``ndrange`` (bool: uses work-item functions).
    """

    name: str
    kind: str  #: "kernel" or "helper"
    params: list[Parameter] = field(default_factory=list)
    args: list[Value] = field(default_factory=list)
    memories: dict[str, MemoryObject] = field(default_factory=dict)
    body: Region = field(default_factory=Region)
    attrs: Attributes = field(default_factory=dict)
    span: Span | None = None
    #: exact copies that nobody uses, for :func:`hls.ir.clone.clone_function`
    spares: list["Function"] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<Function {self.kind} {self.name}>"


@dataclass(eq=False, slots=True, repr=False)
class Module:
    """All functions of one source text, by name and in order, the text of every file for messages, and all channels."""

    functions: dict[str, Function] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    channels: dict[str, MemoryObject] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Module {', '.join(self.functions)}>"

    @property
    def kernels(self) -> list[Function]:
        """The kernels, in the order of the source."""
        return [f for f in self.functions.values() if f.kind == "kernel"]
