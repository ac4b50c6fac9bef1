"""Private-memory lowering: private memories and tables that did not become values become memories on the chip, if
hardware supports it."""

from dataclasses import dataclass, replace

from ...diag import Code, CompileError, Diagnostic
from ...ir import I64, Attr, Builder, Function, MemoryObject, Op, PointerType, Value, memory_name, regions, uses, walk
from ...ir.clone import clone_function
from ...ir.rewrite import rewrite
from ...ir.snippets import counted_loop
from ...ir.storage import zero
from ..manager import Form, FunctionPass
from .context_arrays import give_parts, kept_across_barriers
from .multi_buffer_private import begins_anew

__all__ = ["LowerPrivateMemories", "capacity"]


#: bytes of a local memory argument if the program gives no limit for its size
LOCAL_BYTES = 16384


def capacity(memory: MemoryObject) -> int:
    """Number of elements that hardware provides if the host sets the number at launch."""
    return max(1, dict(memory.attrs).get(Attr.LOCAL_MEM_SIZE, LOCAL_BYTES) // memory.element.bytes)


@dataclass(frozen=True)
class LowerPrivateMemories(FunctionPass):
    """Private-memory lowering. Before: no pointer variables; scalars and small arrays are values. After: every
    remaining memory of the kernel itself is an array in block RAM with plain accesses. Memories without loads are
    removed with their stores. One that the program initializes to zeros is cleared by a loop. Private ones that are
    live across a barrier become local memory, with a part for each work-item
    (:mod:`hls.passes.memory.context_arrays`)."""

    name = "lower-private-memories"
    requires = frozenset({Form.POINTERS_LOWERED})
    provides = frozenset({Form.ARRAYS_LOWERED})

    def run(self, function: Function) -> Function:
        """Raises CompileError naming every memory that hardware does not support."""
        result = clone_function(function)
        result.memories.update(
            (name, replace(m, length=capacity(m)))
            for name, m in function.memories.items()
            if m.space == "local" and m.length is None
        )
        onchip = [m for m in result.memories.values() if m.onchip]
        addresses: dict[str, list[Op]] = {m.name: [] for m in onchip}
        for op in walk(result.body):
            if op.opcode == "addr" and op.attrs[Attr.MEM] in addresses:
                addresses[op.attrs[Attr.MEM]].append(op)
        atomic = {memory_name(op) for op in walk(result.body) if op.opcode == "atomic"}
        used = [(m, addresses[m.name][0], m.name in atomic) for m in onchip if addresses[m.name]]
        faults = [fault for each in used if (fault := self._fault(*each))]
        if faults:
            raise CompileError(*faults)
        self._drop_unread(result, addresses)
        kept = []
        if function.attrs.get(Attr.NDRANGE):
            private = [m for m in result.memories.values() if m.space == "private" and addresses.get(m.name)]
            kept = kept_across_barriers(result, private)
        _name_owners(result)
        rewrite(result.body, lambda op, b: _begin(result, op, b) if op.opcode == "fresh" else None)
        give_parts(result, kept)
        return result

    def _fault(self, memory: MemoryObject, first: Op, atomic: bool) -> Diagnostic | None:
        span = memory.span or first.span
        if isinstance(memory.element, PointerType):
            return Diagnostic(
                f"the array {memory.name} of pointers is indexed at run time",
                span,
                "index it by constants only (unroll the loop), or store offsets in it and use one base pointer",
                code=Code.POINTER_UNRESOLVED,
            )
        if memory.length == 1 and memory.space == "private" and atomic:
            return Diagnostic(
                f"an atomic operation on {memory.name}, a register of a single work-item",
                span,
                "write it as a plain operation, such as x += a: no other work-item sees the variable",
                code=Code.NOT_IN_HARDWARE,
            )
        if memory.length == 1 and memory.space == "private":
            return Diagnostic(
                f"{memory.name} is accessed through a pointer to another type",
                first.span,
                "use as_int, as_float and the like to read a value as another type",
                code=Code.POINTER_UNRESOLVED,
            )
        return None

    def _drop_unread(self, function: Function, addresses: dict[str, list[Op]]) -> None:
        """Remove memories that are never read, with their stores."""
        table = uses(function.body)
        gone: set[Op] = set()
        for name, ops in addresses.items():
            users = [user for op in ops for user, _ in table.get(op.result, [])]
            if all(user.opcode == "store" for user in users):
                gone.update(ops, users)
                del function.memories[name]
        if gone:
            for region in regions(function.body):
                region.ops = [op for op in region.ops if op not in gone]


def _name_owners(function: Function) -> None:
    """Record at each loop which arrays are fresh in each of its iterations, as ``fresh`` operations are removed; of
    those, ``ivdep`` asserts nothing."""
    for loop in walk(function.body):
        if loop.attrs.get(Attr.IVDEP):
            inside = {op.attrs[Attr.MEM] for op in walk(loop.regions[0]) if op.opcode == "fresh"}
            if inside:
                loop.attrs[Attr.ANEW] = tuple(sorted(inside & set(function.memories)))
    names = {op.attrs[Attr.MEM] for op in walk(function.body) if op.opcode == "fresh" and not op.attrs[Attr.SET]}
    for loop in walk(function.body):
        if loop.opcode == "loop":
            mine = tuple(
                sorted(name for name in names if name in function.memories and begins_anew(loop.regions[0], name))
            )
            if mine:
                loop.attrs[Attr.OWN] = mine


def _begin(function: Function, fresh: Op, b: Builder) -> list[Value]:
    """The replacement of a ``fresh``: nothing, or a loop that stores zeros if the program requests them."""
    memory = function.memories.get(fresh.attrs[Attr.MEM])
    if memory is None or not fresh.attrs[Attr.SET]:
        return []

    def clear(count: Value, inner: Builder) -> None:
        place = inner.value("mul", count, inner.const(memory.element.bytes, I64))
        nothing = inner.const(zero(memory.element), memory.element)
        inner.op("store", inner.addr(memory.name, place), nothing, inner.true())

    name = f"{memory.name}_clear"
    counted_loop(memory.elements, f"{memory.name} = 0", b, clear, counter=I64, name=name)
    return []
