"""Where the variables of one function live in its IR."""

from ..diag import Span
from ..ir import PTR, Function, MemoryObject, Type, Value
from . import types as ct
from .tree import Variable

__all__ = ["Storage"]


class Storage:
    """Gives each variable its argument value or its memory object, under a name of its own.

    ``constants`` maps file-scope constants to their names in the whole module.
    """

    def __init__(self, function: Function, constants: dict[Variable, str]):
        self.function = function
        self._constants = constants
        self._arguments: dict[Variable, Value] = {}
        self._memories: dict[Variable, str] = {}
        self._taken = set(constants.values())

    def bind_argument(self, variable: Variable, value: Value):
        """The variable is never written: the argument's value is its value."""
        self._arguments[variable] = value

    def bind_buffer(self, variable: Variable):
        """A kernel's pointer parameter: the memory it points to has its name.

        A ``__constant`` one is a buffer of the host like any other, but never written.
        """
        t = variable.type
        self._taken.add(variable.name)
        self.function.memories[variable.name] = MemoryObject(
            variable.name, "global", _element(t.pointee), None, t.const or t.space == "constant", t.restrict, t.volatile,
            span=variable.span)
        self._memories[variable] = variable.name

    def argument(self, variable: Variable) -> Value | None:
        return self._arguments.get(variable)

    def buffer(self, variable: Variable) -> str | None:
        """The memory that a pointer parameter of a kernel stands for, as long as the pointer never moves."""
        if variable.kind == "buffer" and not variable.written:
            return self._memories[variable]
        return None

    def memory(self, variable: Variable) -> str:
        """The name of the memory that holds the variable itself."""
        if variable.kind == "constant":
            return self._constant(variable)
        if variable not in self._memories:
            self.local(variable)
        return self._memories[variable]

    def local(self, variable: Variable) -> str:
        """A new private memory for the variable (for a buffer that moves: for the pointer)."""
        t = variable.type
        length = t.size // t.scalar.size if isinstance(t, ct.Array) else 1
        element = _element(t)
        name = self._add(variable.name, element, length, variable.span, variable.volatile)
        self._memories[variable] = name
        return name

    def temporary(self, name: str, type: Type, span: Span) -> str:
        """A private scalar of the compiler's own."""
        return self._add(name, type, 1, span, False)

    def _add(self, stem: str, element: Type, length: int, span: Span, volatile: bool) -> str:
        name = unique(stem, self._taken)
        self._taken.add(name)
        self.function.memories[name] = MemoryObject(name, "private", element, length, volatile=volatile, span=span)
        return name

    def _constant(self, variable: Variable) -> str:
        name, t = self._constants[variable], variable.type
        if name not in self.function.memories:
            element = _element(t)
            self.function.memories[name] = MemoryObject(
                name, "constant", element, len(variable.data) // element.bytes, const=True, data=variable.data,
                span=variable.span)
        return name


def unique(stem: str, taken) -> str:
    """``stem``, or ``stem.1``, ``stem.2``... if that is taken."""
    name, k = stem, 0
    while name in taken:
        k += 1
        name = f"{stem}.{k}"
    return name


def _element(t: ct.CType) -> Type:
    if isinstance(t, ct.Array):
        t = t.scalar
    return PTR if isinstance(t, ct.Pointer) else ct.ir_type(t)
