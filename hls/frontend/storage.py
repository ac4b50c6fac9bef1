"""Assigns the variables of one function to values and memories of its IR."""

from collections.abc import Collection
from typing import Any

from ..diag import Code, CompileError, Span
from ..ir import Attr, Function, MemoryObject, Type, Value
from . import types as ct
from .layout import has_pointer, leaf_count, leaves, memory_element, splits, steps
from .tree import Variable

__all__ = ["Storage", "unique"]


class Storage:
    """Gives each variable its argument value or its memory objects, under names of their own.

    A variable made of structs or vectors is split if possible: each scalar member, or array of them, has a memory of
    its own, so that parts accessed by constants become values and the rest become as many small memories as there are
    members. ``whole`` are the variables whose address is taken: they have one memory; of those that hold pointers, each
    part without one has (:meth:`coarse`). ``constants`` maps file-scope constants, and variables of the program, to
    their names in the whole module.
    """

    def __init__(self, function: Function, constants: dict[Variable, str], whole: set[Variable] = frozenset()) -> None:
        self.function = function
        self._constants = constants
        self._whole = whole
        self._arguments: dict[Variable, Value | tuple[Value, ...]] = {}
        self._memories: dict[Variable, str] = {}
        self._program_variables: dict[Variable, tuple[str, Value | None]] = {}
        self._parts: dict[tuple[Variable, tuple[int, ...]], str] = {}
        self._taken = set(constants.values())

    def bind_argument(self, variable: Variable, value: Value | tuple[Value, ...]) -> None:
        """A variable that is never written: its value is that of the argument."""
        self._arguments[variable] = value

    def bind_buffer(self, variable: Variable) -> None:
        """A kernel's pointer parameter: the memory it points to has its name.

        A ``__constant`` one is a buffer of the host like any other, but never written.
        """
        t = variable.type
        self._taken.add(variable.name)
        element = memory_element(ct.UCHAR if isinstance(t.pointee, ct.Void) else t.pointee)
        self.function.memories[variable.name] = MemoryObject(
            variable.name,
            "local" if t.space == "local" else "global",
            element,
            None,
            t.const or t.space == "constant",
            t.restrict,
            t.volatile,
            span=variable.span,
            attrs=(*variable.attrs.items(), *([(Attr.CONSTANT_MEMORY, True)] if t.space == "constant" else [])),
            attr_spans=tuple(variable.attr_spans.items()),
        )
        self._memories[variable] = variable.name

    def bind_program_variable(self, variable: Variable, pointer: Value | None) -> None:
        """A variable of the program: a helper has a pointer to it, a kernel a buffer, which no other argument shares
        bytes with."""
        name = self._constants[variable]
        self._program_variables[variable] = name, pointer
        if pointer is None:
            self.function.memories[name] = MemoryObject(
                name,
                "global",
                memory_element(variable.type),
                None,
                variable.const,
                True,
                variable.volatile,
                span=variable.span,
                attrs=tuple(variable.attrs.items()),
                attr_spans=tuple(variable.attr_spans.items()),
            )

    def program_variable(self, variable: Variable) -> tuple[str, Value | None]:
        """The name of a variable of the program, and the pointer to it in a helper."""
        return self._program_variables[variable]

    def argument(self, variable: Variable) -> Any:
        """The value of a parameter that is never written (for a struct or vector, of each scalar), or None."""
        return self._arguments.get(variable)

    def buffer(self, variable: Variable) -> str | None:
        """The memory that a pointer parameter of a kernel points to, if the pointer is never modified."""
        if variable.kind == "buffer" and not variable.written:
            return self._memories[variable]
        return None

    def apart(self, variable: Variable) -> bool:
        """Whether the variable is split into several memories, see :meth:`part`."""
        t = variable.type
        return (
            variable.kind not in ("buffer", "shared")
            and _divisible(t)
            and (variable not in self._whole or has_pointer(t))
        )

    def coarse(self, variable: Variable) -> bool:
        """Whether only what holds pointers is split, as the address of the variable, or of a part of it, is taken."""
        return variable in self._whole and has_pointer(variable.type)

    def part(self, variable: Variable, path: tuple[int, ...]) -> str:
        """The memory of the member or component at ``path``."""
        if (variable, path) not in self._parts:
            name, t, count = variable.name, variable.type, 1
            for step in (*path, None):
                while isinstance(t, ct.Array):
                    t, count = t.element, count * t.length
                if step is None:
                    break
                name += f".{_step_name(t, step)}"
                t = steps(t)[step]
            self._parts[variable, path] = self._part(variable, path, name, t, count)
        return self._parts[variable, path]

    def _part(self, variable: Variable, path: tuple[int, ...], name: str, t: ct.CType, count: int) -> str:
        element = memory_element(t)
        length = count * t.size // element.bytes
        if variable.kind != "constant":
            return self._add(name, element, length, variable)
        name = self._name(self._constants[variable] + name.removeprefix(variable.name))
        starts = places(variable.type, path)
        data = b"".join(
            variable.data[place : place + t.size]
            for start in starts
            for place in range(start, start + count // len(starts) * t.size, t.size)
        )
        self.function.memories[name] = MemoryObject(
            name, "constant", element, length, const=True, data=data, span=variable.span, dims=_dims(variable.type)
        )
        return name

    def memories(self, variable: Variable) -> list[str]:
        """All memories of a local variable."""
        if not self.apart(variable):
            return [self.memory(variable)]
        paths = [path for path, _, _ in splits(variable.type)] if self.coarse(variable) else _paths(variable.type)
        return [self.part(variable, path) for path in paths]

    def scalar(self, variable: Variable, number: int) -> tuple[str, int, ct.CType]:
        """The location of scalar ``number`` of a local variable: memory, byte offset, type."""
        t = variable.type
        if not self.apart(variable):
            offset, scalar = leaves(t)[number]
            return self.memory(variable), offset, scalar
        path, index, coarse = [], 0, self.coarse(variable)
        while _divisible(t) and (not coarse or has_pointer(t)):
            if isinstance(t, ct.Array):
                k, number = divmod(number, leaf_count(t.element))
                t, index = t.element, index * t.length + k
                continue
            k, inner = 0, steps(t)
            while number >= leaf_count(inner[k]):
                number -= leaf_count(inner[k])
                k += 1
            path, t = [*path, k], inner[k]
        offset, scalar = leaves(t)[number]
        return self.part(variable, tuple(path)), index * t.size + offset, scalar

    def memory(self, variable: Variable) -> str:
        """The name of the memory that holds the whole variable."""
        if variable.kind == "constant":
            return self._constant(variable)
        if variable not in self._memories:
            self.local(variable, "local" if variable.kind == "shared" else "private")
        return self._memories[variable]

    def local(self, variable: Variable, space: str = "private") -> str:
        """A new memory for the variable (for a modified buffer pointer: for the pointer)."""
        t = variable.type
        if has_pointer(t) and _divisible(t):
            raise CompileError.at(
                variable.span,
                f"'{variable.name}' holds a pointer, so its address cannot be taken",
                "use its members directly, or keep an index instead of the pointer",
                code=Code.NO_ADDRESS,
            )
        element = memory_element(t)
        name = self._add(variable.name, element, t.size // element.bytes, variable, space)
        self._memories[variable] = name
        return name

    def table(self, variable: Variable, data: bytes) -> None:
        """A variable that never changes: it becomes a table like those at file scope."""
        element = memory_element(variable.type)
        name = self._name(variable.name)
        self.function.memories[name] = MemoryObject(
            name,
            "constant",
            element,
            len(data) // element.bytes,
            const=True,
            data=data,
            span=variable.span,
            attrs=tuple(variable.attrs.items()),
            attr_spans=tuple(variable.attr_spans.items()),
            dims=_dims(variable.type),
        )
        self._memories[variable] = name

    def temporary(self, name: str, type: Type, span: Span) -> str:
        """A private scalar introduced by the compiler."""
        return self._add(name, type, 1, Variable(name, ct.VOID, "local", span))

    def _name(self, stem: str) -> str:
        name = unique(stem, self._taken)
        self._taken.add(name)
        return name

    def _add(self, stem: str, element: Type, length: int, variable: Variable, space: str = "private") -> str:
        name = self._name(stem)
        self.function.memories[name] = MemoryObject(
            name,
            space,
            element,
            length,
            volatile=variable.volatile,
            span=variable.span,
            attrs=tuple(variable.attrs.items()),
            attr_spans=tuple(variable.attr_spans.items()),
            dims=_dims(variable.type),
        )
        return name

    def _constant(self, variable: Variable) -> str:
        name, t = self._constants[variable], variable.type
        if name not in self.function.memories:
            element = memory_element(t)
            self.function.memories[name] = MemoryObject(
                name,
                "constant",
                element,
                len(variable.data) // element.bytes,
                const=True,
                data=variable.data,
                span=variable.span,
                dims=_dims(t),
            )
        return name


def _dims(t: ct.CType) -> tuple[int, ...]:
    """The lengths of an array's dimensions, outermost first; empty for any other type."""
    return (t.length, *_dims(t.element)) if isinstance(t, ct.Array) else ()


def _divisible(t: ct.CType) -> bool:
    """Whether the type has members or components that can be split."""
    while isinstance(t, ct.Array):
        t = t.element
    return isinstance(t, ct.Struct) and not t.union or bool(steps(t))


def places(t: ct.CType, path: tuple[int, ...]) -> list[int]:
    """The byte offsets of the members or components at the path, in memory order (for arrays of them, of the first
    element)."""
    if isinstance(t, ct.Array) and path:
        inner = places(t.element, path)
        return [k * t.element.size + offset for k in range(t.length) for offset in inner]
    if not path:
        return [0]
    if isinstance(t, ct.Vector):
        return [path[0] * t.element.size]
    member = t.members[path[0]]
    return [member.offset + offset for offset in places(member.type, path[1:])]


def _paths(t: ct.CType, path: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """The paths to all members and components that are split."""
    while isinstance(t, ct.Array):
        t = t.element
    if not _divisible(t):
        return [path]
    return [p for k, inner in enumerate(steps(t)) for p in _paths(inner, (*path, k))]


def _step_name(t: ct.CType, step: int) -> str:
    if isinstance(t, ct.Struct):
        return t.members[step].name or f"unnamed{step}"
    if isinstance(t, ct.Pointer):
        return f"part{step}"
    return "xyzw"[step] if t.length <= 4 else f"s{step:x}"


def unique(stem: str, taken: Collection[str], between: str = ".") -> str:
    """``stem``, or ``stem.1``, ``stem.2``... if that is taken."""
    name, k = stem, 0
    while name in taken:
        k += 1
        name = f"{stem}{between}{k}"
    return name
