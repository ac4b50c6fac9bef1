"""One function of IR as C++ text."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..ir import Attr, Function, Op, PointerType, Region, Type, Value
from ..ir.accesses import last_of_run
from ..ir.checks import checked_loads
from ..ir.launch import PER_GROUP, units_of
from .effects import EFFECTS
from .group_loop import per_group_lines
from .memory import Storage, kind_of
from .ops import expression
from .types import c_type, from_memory, has_data, literal, memory_type, zero

if TYPE_CHECKING:
    from .write import _Program

__all__ = ["FunctionWriter"]


class FunctionWriter:
    """Writes a helper or a kernel. ``shared`` numbers source locations and memories (see :mod:`hls.emulate.write`)."""

    def __init__(self, function: Function, storage: Storage, shared: "_Program") -> None:
        self.function, self.storage, self.shared = function, storage, shared
        self.lines: list[str] = []
        self.names: dict[Value, str] = {}
        self.memories = {name: f"m{k}" for k, name in enumerate(function.memories)}
        #: loads that are only copied: (whether the value was ever written, site)
        self.flags: dict[Value, tuple[str, int]] = {}
        self.checked = checked_loads(function)
        self.depth = 0
        self.numbers: dict[str, int] = {}  #: numbers of the memories that have an address

    def write(self) -> list[str]:
        """The lines of C of the function."""
        if self.function.kind == "kernel":
            self._kernel()
        else:
            self._helper()
        return self.lines

    # interface for the writers of effects

    def line(self, text: str) -> None:
        """Append a line at the current indentation."""
        self.lines.append("  " * self.depth + text)

    def name(self, value: Value) -> str:
        """The C variable of a value; it is named when it is first asked for."""
        return self.names.setdefault(value, f"v{len(self.names)}")

    def declare(self, value: Value, text: str) -> None:
        """Define the variable of a value."""
        self.line(f"{c_type(value.type)} {self.name(value)} = {text};")

    def place(self, op: Op, pointer: str, type: Type, site: int, stored: str = "") -> str:
        """The text of the address of an access to a value of the type; ``stored`` is that of what a store writes."""
        held = self.shared.promises.place(op, pointer, type, site, stored)
        return self.observed(op, held, type.bytes)

    def observed(self, op: Op, pointer: str, bytes: int) -> str:
        """The text of the address of an access that is about to be made, for whoever observes it."""
        last = last_of_run(op) if op.opcode == "load" else None
        name = None if last is None else self.name(last)
        return self.shared.observer.access(self.function.name, op, pointer, bytes, name)

    def site(self, op: Op) -> int:
        """The number of the operation's source location in this function."""
        return self.shared.site(self.function, op.span)

    def region(self, region: Region, finish: Callable[[Op], None]) -> None:
        """Write the operations of a region one level deeper, then what ``finish(terminator)`` writes."""
        self.depth += 1
        self.operations(region.ops[:-1])
        finish(region.terminator)
        self.depth -= 1

    def operations(self, ops: list[Op]) -> None:
        """Write operations."""
        for op in ops:
            self._op(op)

    def declare_results(self, op: Op, initial: list[Value] | None = None) -> None:
        """Define the variables of the results of an operation with regions, as 0 or as ``initial`` values."""
        for k, value in enumerate(op.results):
            if has_data(value.type):
                self.declare(value, self.name(initial[k]) if initial else zero(value.type))

    def assign(self, targets: list[str], sources: list[Value]) -> None:
        """Assign one after the other: a source is never one of the targets."""
        for target, source in zip(targets, sources, strict=True):
            if has_data(source.type):
                self.line(f"{target} = {self.name(source)};")

    def _op(self, op: Op) -> None:
        if op.opcode in EFFECTS:
            EFFECTS[op.opcode](self, op)
        elif op.opcode == "const":
            if has_data(op.result.type):
                self.names[op.result] = literal(op.attrs[Attr.VALUE], op.result.type)
        else:
            self.declare(op.result, expression(op, [self.name(v) for v in op.operands]))

    # the frame

    def _kernel(self) -> None:
        f = self.function
        self.line(f"static void item_{f.name}(Item &item) {{")
        self.depth += 1
        self.line("const Launch &launch = *item.launch;")
        for k, m in enumerate(m for m in f.memories.values() if m.space == "global"):
            place = f"launch.buffers[{k}]"
            self._declare_memory(m, f"{{{place}.data, 0, {place}.size, 0, {self._number(m)}}}")
        for value, argument in zip(f.args, self.shared.arguments(f)):
            text = f"scalar<{memory_type(value.type)}>(launch, {argument.offset})"
            if not argument.name.startswith(PER_GROUP):
                self.declare(value, from_memory(text, value.type))
        groups = per_group_lines(self) if Attr.LAUNCH_ARGS in f.attrs and units_of(f) > 1 else []
        for line in groups:
            self.line(line)
        if begun := self.shared.observer.start(f.name):
            self.line(begun)
        self.depth -= 1
        self._body()
        self.line("}" if not groups else "}}")
        if f.name not in self.shared.waiting:
            site = self.shared.site(f, f.span)
            self.line(f"static void all_{f.name}(Launched &r) {{")
            self.line(f"  for_each_item(r, {site}, [](Item &item) {{ item_{f.name}(item); }});")
            self.line("}")

    def _helper(self) -> None:
        f = self.function
        self.line(f"{self.shared.signature(f)} {{")
        for k, value in enumerate(f.args):
            self.names[value] = f"a{k}"
        self._body()
        self.line("}")

    def _body(self) -> None:
        self.depth += 1
        declare = {"constant": self._table, "private": self._private, "local": self._local}
        for m in self.function.memories.values():
            if m.space in declare:
                declare[m.space](m)
        self.depth -= 1
        self.region(self.function.body, self._return)

    def _return(self, end: Op) -> None:
        values = ", ".join(self.name(v) for v in end.operands)
        if len(end.operands) > 1:
            self.line(f"return {{{values}}};")
        elif values:
            self.line(f"return {values};")

    def _declare_memory(self, memory, text) -> None:
        self.line(f"const Ptr {self.memories[memory.name]}{text};")

    def _number(self, memory) -> int:
        self.numbers[memory.name] = number = self.shared.memory(memory.name, kind_of(memory), memory.element.bytes)
        return number

    def _table(self, memory) -> None:
        name = self.memories[memory.name]
        data = ",".join(map(str, memory.data))
        self.line(f"alignas(16) static u8 {name}_data[] = {{{data}}};")
        self._declare_memory(memory, f"{{{name}_data, 0, {len(memory.data)}, 0, {self._number(memory)}}}")

    def _local(self, memory) -> None:
        if memory.length is None:
            names = [m.name for m in self.function.memories.values() if m.space == "local" and m.length is None]
            number = names.index(memory.name)
            self.line(
                f"const Ptr {self.memories[memory.name]} = local_argument(item, {number}, {self._number(memory)});"
            )
            return
        place, size = self.shared.local(memory), memory.length * memory.element.bytes
        seen = "0" if isinstance(memory.element, PointerType) else f"item.seen + {place}"
        self._declare_memory(memory, f"{{item.shared + {place}, {seen}, {size}, 0, {self._number(memory)}}}")

    def _private(self, memory) -> None:
        name, size = self.memories[memory.name], memory.length * memory.element.bytes
        if memory.name in self.storage.variables:
            self.line(f"{c_type(memory.element)} {name}{{}};")
            if memory.name in self.storage.watched:
                self.line(f"bool {name}_set = true;")
        elif isinstance(memory.element, PointerType):
            self.line(f"Ptr {name}_data[{memory.length}] = {{}};")
            self._declare_memory(memory, f"{{(u8 *){name}_data, 0, {size}, 0, {self._number(memory)}}}")
        else:
            self.line(f"alignas(16) u8 {name}_data[{size}] = {{}}, {name}_seen[{size}] = {{}};")
            self._declare_memory(memory, f"{{{name}_data, {name}_seen, {size}, 0, {self._number(memory)}}}")
            if self.shared.promises.called(self.function):
                self.line(f"untouched(item.promises, {name});")
