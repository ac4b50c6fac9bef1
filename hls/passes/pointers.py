"""Every access gets an address of its own: a memory object and a byte offset."""

from dataclasses import dataclass

from ..diag import CompileError
from ..ir import I64, PTR, Builder, Function, IntType, Op, Region, Value, walk
from ..ir.clone import clone_function
from ..ir.rewrite import set_results

__all__ = ["ResolvePointers"]

_WHICH = IntType(8)  # the number of a memory among those a pointer may point into


@dataclass(frozen=True)
class ResolvePointers:
    """Before: pointers are values that go through selects, `if` results and carried values (mem2reg has run).

    After: the pointer of every load and store is an ``addr`` that only it uses, and no other value is a pointer. A
    pointer became its offset (i64) and, where it may point into several memories, the number of the memory; an access
    through such a pointer became one predicated access for each memory.
    """

    name = "pointers"

    def run(self, function: Function) -> Function:
        """Raises CompileError for an access whose memory cannot be known, and for pointers kept in memory."""
        result = clone_function(function)
        _Resolver(result).region(result.body)
        return result


class _Roots:
    """Which memories each pointer may point into: the smallest sets closed under the flow of values."""

    def __init__(self, function: Function):
        self.sets: dict[Value, set[str]] = {}
        self.order = list(function.memories)
        ops = [op for op in walk(function.body) if _moves_pointers(op)]
        while sum(self._flow(op) for op in ops):
            pass

    def __getitem__(self, value: Value) -> list[str]:
        return sorted(self.sets.get(value, ()), key=self.order.index)

    def _flow(self, op: Op) -> int:
        """How many sets the operation made grow."""
        if op.opcode == "addr":
            return self._join(op.result, {op.attrs["mem"]})
        if op.opcode == "if":
            ends = [region.terminator.operands for region in op.regions]
            return sum(self._join(v, self._of(end[k])) for end in ends for k, v in enumerate(op.results))
        if op.opcode == "loop":
            (body,) = op.regions
            sources = zip(op.operands[1:], body.terminator.operands[1:], strict=True)
            return sum(self._join(target, self._of(init) | self._of(after))
                       for k, (init, after) in enumerate(sources) for target in (op.results[k], body.args[k]))
        return sum(self._join(v, set().union(*map(self._of, op.operands))) for v in op.results)

    def _of(self, value: Value) -> set[str]:
        return self.sets.get(value, set()) if value.type == PTR else set()

    def _join(self, value: Value, more: set[str]) -> bool:
        if value.type != PTR or more <= self.sets.get(value, set()):
            return False
        self.sets.setdefault(value, set()).update(more)
        return True


def _moves_pointers(op: Op) -> bool:
    return op.opcode in ("addr", "ptradd", "select", "if", "loop")


class _Resolver:
    """A pointer is split into (offset, which); ``roots`` holds the memories each may point into."""

    def __init__(self, function: Function):
        self.roots = _Roots(function)
        self.split: dict[Value, tuple[Value, Value | None]] = {}

    def region(self, region: Region):
        before, region.ops = region.ops, []
        for op in before:
            handler = getattr(self, f"_on_{op.opcode}", _keep)
            handler(op, Builder(region, op.span))

    def _on_addr(self, op, b):
        (offset,) = op.operands
        offset = b.value("zext", offset, result=I64) if offset.type.bits < 64 else offset
        self.split[op.result] = (offset, None)

    def _on_ptradd(self, op, b):
        pointer, distance = op.operands
        if distance.type.bits < 64:
            distance = b.value("sext", distance, result=I64)
        offset, which = self.split[pointer]
        self.split[op.result] = (b.value("add", offset, distance, name=op.result.name), which)

    def _on_ptroffset(self, op, b):
        offset, _ = self.split[op.operands[0]]
        set_results(b.op("add", offset, b.const(0, I64)), [op.result])

    def _on_ptreq(self, op, b):
        """The same place in the same memory; two buffers are two memories."""
        pair = op.operands
        same = b.value("eq", *(self.split[p][0] for p in pair))
        roots = sorted({name for p in pair for name in self.roots[p]}, key=self.roots.order.index)
        numbers = [self._number(p, roots, b) for p in pair]
        set_results(b.op("and", same, b.value("eq", *numbers)), [op.result])

    def _on_const(self, op, b):
        if op.result.type == PTR:
            self.split[op.result] = (b.const(0, I64), None)
        else:
            _keep(op, b)

    def _on_select(self, op, b):
        if op.result.type != PTR:
            return _keep(op, b)
        condition, *arms = op.operands
        offsets = [self.split[arm][0] for arm in arms]
        which = None
        if self._many(op.result):
            which = b.value("select", condition, *(self._which(arm, op.result, b) for arm in arms))
        self.split[op.result] = (b.value("select", condition, *offsets), which)
        return None

    def _many(self, value: Value) -> bool:
        return len(self.roots[value]) > 1

    def _which(self, value: Value, target: Value, b: Builder) -> Value:
        """The root of ``value``, counted among those of ``target``."""
        return self._number(value, self.roots[target], b)

    def _number(self, value: Value, wanted: list[str], b: Builder) -> Value:
        """The root of ``value``, counted among those ``wanted``."""
        own = self.roots[value]
        if len(own) <= 1:
            return b.const(wanted.index(own[0]) if own else 0, _WHICH)
        which = self.split[value][1]
        if own == wanted:
            return which
        found = b.const(0, _WHICH)
        for k, root in enumerate(own):
            here = b.value("eq", which, b.const(k, _WHICH))
            found = b.value("select", here, b.const(wanted.index(root), _WHICH), found)
        return found

    # control flow: a pointer becomes one or two integers

    def _parts(self, value: Value, target: Value, b: Builder) -> list[Value]:
        if value.type != PTR:
            return [value]
        offset = self.split[value][0]
        return [offset, self._which(value, target, b)] if self._many(target) else [offset]

    def _split_value(self, value: Value) -> list[Value]:
        """New values for one that is defined by control flow."""
        if value.type != PTR:
            return [value]
        offset, which = Value(I64, value.name), Value(_WHICH, value.name) if self._many(value) else None
        self.split[value] = (offset, which)
        return [offset, which] if which is not None else [offset]

    def _on_if(self, op, b):
        for inner in op.regions:
            self.region(inner)
            self._end(inner, op.results, 0)
        set_results(op, [part for value in op.results for part in self._split_value(value)])
        b.region.ops.append(op)

    def _on_loop(self, op, b):
        results, (body,) = op.results, op.regions
        inits = [part for v, target in zip(op.operands[1:], results) for part in self._parts(v, target, b)]
        op.operands = [op.operands[0], *inits]
        body.args = [part for value in body.args for part in self._split_value(value)]
        for k, value in enumerate(body.args):
            value.owner, value.index = body, k
        self.region(body)
        self._end(body, results, 1)
        set_results(op, [part for value in results for part in self._split_value(value)])
        b.region.ops.append(op)

    def _end(self, region: Region, results: list[Value], first: int):
        """Split what the terminator yields, operand ``first`` and after, as its targets are."""
        end = region.ops.pop()
        b = Builder(region, end.span)
        parts = [part for v, target in zip(end.operands[first:], results) for part in self._parts(v, target, b)]
        end.operands = end.operands[:first] + parts
        region.ops.append(end)

    # accesses

    def _on_load(self, op, b):
        pointer, pred = op.operands
        _refuse_pointer(op, op.result)
        loads = [(here, b.value("load", b.addr(root, self.split[pointer][0]), here, result=op.result.type, attrs=op.attrs))
                 for root, here in self._places(op, pointer, pred, b)]
        _, value = loads[-1]
        for here, other in reversed(loads[:-1]):
            value = b.value("select", here, other, value)
        set_results(value.op, [op.result])  # its users need not change

    def _on_store(self, op, b):
        pointer, value, pred = op.operands
        _refuse_pointer(op, value)
        for root, here in self._places(op, pointer, pred, b):
            b.op("store", b.addr(root, self.split[pointer][0]), value, here, attrs=op.attrs)

    def _on_atomic(self, op, b):
        pointer, pred, *rest = op.operands
        type = op.result.type
        done = [(here, b.value("atomic", b.addr(root, self.split[pointer][0]), here, *rest, result=type, attrs=op.attrs))
                for root, here in self._places(op, pointer, pred, b)]
        _, value = done[-1]
        for here, other in reversed(done[:-1]):
            value = b.value("select", here, other, value)
        set_results(value.op, [op.result])

    def _places(self, op, pointer, pred, b) -> list[tuple[str, Value]]:
        """(memory, predicate) of every memory the access may go to."""
        roots = self.roots[pointer]
        if not roots:
            raise CompileError.at(op.span, "it cannot be told at compile time which object this pointer points to",
                                  "set the pointer from a kernel argument or an array before it is used")
        which = self.split[pointer][1]
        if which is None:
            return [(roots[0], pred)]
        return [(root, b.value("and", pred, b.value("eq", which, b.const(k, _WHICH)))) for k, root in enumerate(roots)]


def _keep(op: Op, b: Builder):
    b.region.ops.append(op)


def _refuse_pointer(op: Op, value: Value):
    if value.type == PTR:
        raise CompileError.at(op.span, "pointers in arrays and pointers to pointers are not built",
                              "use an index into one buffer instead")
