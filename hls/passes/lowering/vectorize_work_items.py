"""Work-item vectorization (``num_simd_work_items``): neighbours in dimension 0 execute side by side, as lanes."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...analysis.workgroup.uniformity import check_lanes, lane_distances, lane_values, parts
from ...diag import Diagnostic
from ...ir import BOOL, Attr, Builder, Function, IntType, Op, Region, Value, has, walk
from ...ir.accesses import PREDICATES
from ...ir.clone import clone_function
from ...ir.loops import CarriedValue, add_carried
from ...ir.rewrite import constant, set_results
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["VectorizeWorkItems", "lane_name"]


@dataclass(frozen=True)
class VectorizeWorkItems(FunctionPass):
    """SPMD work-item vectorization. Before: a flat kernel without `if` that runs once for every work-item. After, if it
    has ``num_simd_work_items``: it runs once for that many work-items, neighbours in dimension 0; their number is its
    attribute ``lanes``. A query for an id in dimension 0 returns that of the first lane. The size of every group is a
    multiple of the lanes in dimension 0.

    An operation is copied for each lane, in lane order, if it may differ between lanes: it has a varying operand, is an
    atomic operation (which is told its lane), or accesses private memory (of which each lane has a copy). All others
    exist once (uniformity analysis). All lanes run a loop together; if only some lanes enter it, or some leave it
    earlier, predicates inside it disable the others. Barriers, and loops that contain one, are uniform: the first lane
    decides. ``warn`` is told of loops that lanes may leave at different times. Raises CompileError for calls on
    channels.
    """

    warn: Callable[[Diagnostic], None] | None = None

    name = "vectorize-work-items"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.DISPATCHED})

    def run(self, function: Function) -> Function:
        """A copy of ``num_simd_work_items`` lanes; the function itself if one lane is asked for, or it has lanes
        already. Raises CompileError for a kernel that cannot have lanes."""
        lanes = function.attrs.get(Attr.NUM_SIMD_WORK_ITEMS, 1)
        if lanes == 1 or not function.attrs.get(Attr.NDRANGE) or Attr.LANES in function.attrs:
            return function
        check_lanes(function, lanes, self.warn)
        result = clone_function(function)
        _Lanes(result, lanes).run()
        result.attrs[Attr.LANES] = lanes
        return result


class _Lanes:
    """Rebuilds every region. ``values`` maps a value to its copies in each lane, if lanes have copies of it."""

    def __init__(self, function: Function, lanes: int) -> None:
        self.function, self.lanes = function, lanes
        self.varying, self.distances = lane_values(function), lane_distances(function)
        self.values: dict[Value, list[Value]] = {}
        self.used = {value for op in walk(function.body) for value in op.operands}
        #: for each lane whether it executes the current loop; None if all active lanes do
        self.wanted: list[Value] | None = None
        self.private = {m.name for m in function.memories.values() if m.space == "private"}
        self.places = {
            op.result for op in walk(function.body) if op.opcode == "addr" and op.attrs[Attr.MEM] in self.private
        }

    def run(self) -> None:
        self._region(self.function.body)
        for name in self.private:
            memory = self.function.memories.pop(name)
            copies = [lane_name(name, k) for k in range(self.lanes)]
            self.function.memories |= {copy: replace(memory, name=copy) for copy in copies}

    def _region(self, region: Region) -> None:
        before, region.ops = region.ops, []
        for op in before:
            b = Builder(region, op.span)
            if op.opcode == "loop":
                self._loop(op, b)
            elif op.opcode == "work_item" and op.result in self.varying:
                self._id(op, b)
            elif op.opcode == "barrier":
                op.operands = [self._in_lane(v, 0) for v in op.operands]
                region.ops.append(op)
            elif self._is_copied(op):
                self._copy(op, b)
            else:
                if not has(op, "terminator"):
                    op.operands = [self._in_lane(v, 0) for v in op.operands]
                region.ops.append(op)

    def _is_copied(self, op: Op) -> bool:
        """Whether each lane gets a copy. An operation with a uniform result is computed once, even from varying
        operands."""
        return not has(op, "terminator") and (
            op.attrs.get(Attr.MEM) in self.private
            or any(v in self.varying or v in self.places for v in op.results or op.operands)
        )

    def _id(self, op: Op, b: Builder) -> None:
        """The id of each lane, computed from that of the first lane."""
        b.region.ops.append(op)
        type = op.result.type
        others = [b.value("add", op.result, b.const(k, type), name=op.result.name) for k in range(1, self.lanes)]
        self.values[op.result] = [op.result, *others]

    def _copy(self, op: Op, b: Builder) -> None:
        copies = []
        for k in range(self.lanes):
            operands = [self._in_lane(v, k) for v in op.operands]
            place = PREDICATES.get(op.opcode)
            if place is not None and self.wanted is not None:
                operands[place] = _both(operands[place], self.wanted[k], b)
            attrs = dict(op.attrs)
            if attrs.get(Attr.MEM) in self.private:
                attrs[Attr.MEM] = lane_name(attrs[Attr.MEM], k)
            if op.opcode in ("load", "store", "atomic"):
                attrs[Attr.LANE] = k
            new = Op(op.opcode, operands, attrs=attrs, span=op.span)
            set_results(new, [Value(v.type, v.name) for v in op.results])
            b.region.ops.append(new)
            copies.append(new)
        for k, value in enumerate(op.results):
            self.values[value] = [copy.results[k] for copy in copies]

    def _in_lane(self, value: Value, lane: int) -> Value:
        return self.values[value][lane] if value in self.values else value

    # --- loops ---

    def _loop(self, op: Op, b: Builder) -> None:
        """All lanes that enter the loop run it together, until the last of them leaves."""
        outer, (body,), (enable, *inits) = self.wanted, op.regions, op.operands
        differs = enable in self.varying
        if differs:
            own = [self._in_lane(enable, k) for k in range(self.lanes)]
            self.wanted = (
                own if outer is None else [_both(mine, around, b) for mine, around in zip(own, outer, strict=True)]
            )
        args = list(body.args)
        steps = {
            arg: step
            for arg, init, after in zip(args, inits, body.terminator.operands[1:], strict=True)
            if (step := self._step(arg, init, after))
        }
        carried = [arg in self.varying and arg not in steps for arg in args]
        starts = [
            [self._in_lane(v, k) for k in range(self.lanes if many else 1)]
            for v, many in zip(inits, carried, strict=True)
        ]
        results = self._carry(op, body, starts, carried)
        op.operands = [
            _any(present(self.wanted), b) if differs else self._in_lane(enable, 0),
            *(v for each in starts for v in each),
        ]
        begin = Builder(Region(), op.span)
        for arg, step in steps.items():
            self.values[arg] = self._neighbours(arg, step, begin)
        if parts(op, self.varying):
            results = self._part(op, body, args, carried, results, b)
            differs = False  # lanes that do not enter count as having left already
            steps = {}
        else:
            self._region(body)
            self._next(body, carried)
        body.ops[:0] = begin.region.ops
        b.region.ops.append(op)
        for arg, (old, init, new) in zip(args, results, strict=True):
            if old in self.varying:
                self._result(
                    old, init, self._neighbours(new[0], steps[arg], b) if arg in steps else new, b if differs else None
                )
        self.wanted = outer

    def _step(self, arg: Value, init: Value, after: Value) -> int | None:
        """By how much a counter exceeds that of the previous lane, if it steps alike in all lanes: then the difference
        stays the initial one."""
        return self.distances.get(init) if isinstance(arg.type, IntType) and self._counts(after, arg) else None

    def _counts(self, value: Value, arg: Value) -> bool:
        """Whether a value is a counter plus a uniform value, modulo the counter's type."""
        if value is arg or value.op is None or not isinstance(value.type, IntType) or value.type.bits < arg.type.bits:
            return value is arg
        first, *rest = value.op.operands or (value,)
        if value.op.opcode in ("trunc", "sext", "zext"):
            return self._counts(first, arg)
        if value.op.opcode == "add" and self._counts(rest[0], arg):
            return first not in self.varying
        return value.op.opcode in ("add", "sub") and rest[0] not in self.varying and self._counts(first, arg)

    def _neighbours(self, value: Value, step: int, b: Builder) -> list[Value]:
        """The values of all lanes, from that of the first lane."""
        others = [
            b.value("add", value, b.const(k * step % (1 << value.type.bits), value.type), name=value.name)
            for k in range(1, self.lanes)
        ]
        return [value, *others]

    def _carry(self, op: Op, body: Region, starts: list[list[Value]], carried: list[bool]):
        """Give the loop an argument and a result for each start value; returns for each old result: it, its initial
        value, and its values in the lanes."""
        results, new_results, new_args = [], [], []
        for init, arg, old, many, first in zip(op.operands[1:], body.args, op.results, carried, starts, strict=True):
            if many:
                self.values[arg] = [Value(arg.type, arg.name, body) for _ in first]
                mine = [Value(old.type, old.name) for _ in first]
            else:
                mine = [old if old not in self.varying else Value(old.type, old.name)]
            new_args += self.values[arg] if many else [arg]
            new_results += mine
            results.append((old, init, mine if many else mine * self.lanes))
        body.args = new_args
        for k, arg in enumerate(new_args):
            arg.index = k
        set_results(op, new_results)
        return results

    def _next(self, body: Region, carried: list[bool]) -> None:
        """The next carried values: one for each lane if lanes carry a value."""
        end = body.terminator
        again, *nexts = end.operands
        end.operands = [self._in_lane(again, 0)]
        for value, many in zip(nexts, carried, strict=True):
            end.operands += [self._in_lane(value, k) for k in range(self.lanes if many else 1)]

    # --- loops that lanes leave at different times ---

    def _part(self, op: Op, body: Region, args: list[Value], carried: list[bool], results, b: Builder):
        """Build the body: each lane carries whether it is still inside. Once it has left, it keeps its carried values
        that are used after the loop, even those that are uniform in the loop. Unused ones continue until the last lane
        leaves, so that counters of neighbouring lanes keep their distance. Returns ``results`` with the values in the
        lanes."""
        inside = [_add(op, start, "inside") for start in self.wanted or [b.const(1, BOOL)] * self.lanes]
        self.wanted = [each.arg for each in inside]
        kept, found = {}, []
        wanted = [old in self.used for old, _, _ in results]
        for arg, many, wants, (old, init, new) in zip(args, carried, wanted, results, strict=True):
            if wants and not many:
                added = [_add(op, self._in_lane(init, k), old.name) for k in range(self.lanes)]
                kept[arg], new = [each.arg for each in added], [each.result for each in added]
            found.append((old, init, new))
        self._region(body)
        self._leave(body, args, carried, wanted, kept)
        return found

    def _leave(
        self, body: Region, args: list[Value], carried: list[bool], wanted: list[bool], kept: dict[Value, list[Value]]
    ) -> None:
        """The next carried values: a lane that has left keeps its values, if they are ``wanted``, or ``kept`` in
        addition to uniform ones."""
        end = body.ops.pop()
        b = Builder(body, end.span)
        again, *nexts = end.operands
        still = [_both(self._in_lane(again, k), inside, b) for k, inside in enumerate(present(self.wanted))]
        end.operands = [_any(still, b)]
        for arg, value, many, wants in zip(args, nexts, carried, wanted, strict=True):
            if many and wants:
                end.operands += self._unless_left(value, self.values[arg], b)
            else:
                end.operands += [self._in_lane(value, k) for k in range(self.lanes if many else 1)]
        end.operands += still
        for arg, value in zip(args, nexts, strict=True):
            end.operands += self._unless_left(value, kept[arg], b) if arg in kept else []
        body.ops.append(end)

    def _unless_left(self, value: Value, before, b: Builder) -> list[Value]:
        return [
            b.value("select", inside, self._in_lane(value, k), before[k], name=before[k].name)
            for k, inside in enumerate(present(self.wanted))
        ]

    def _result(self, old: Value, init: Value, new: list[Value], b: Builder | None) -> None:
        """The loop's result in each lane; with a builder, only for the lanes that entered the loop."""
        if b is not None:
            new = [
                b.value("select", wants, value, self._in_lane(init, k), name=old.name)
                for k, (wants, value) in enumerate(zip(present(self.wanted), new, strict=True))
            ]
        self.values[old] = new


def _add(loop: Op, start: Value, name: str) -> CarriedValue:
    """A further carried value of the loop; :meth:`_Lanes._leave` yields its next value."""
    return add_carried(loop, start, name, result=Value(start.type, name))


def lane_name(memory: str, lane: int) -> str:
    """The name of a lane's copy of a private memory."""
    return f"{memory}.lane{lane}"


def _both(one: Value, other: Value, b: Builder) -> Value:
    if constant(one) == 1:
        return other
    return b.value("and", one, other)


def _any(conditions: list[Value], b: Builder) -> Value:
    """OR of the conditions, as a tree of minimal depth."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) + 1 >> 1
    return b.value("or", _any(conditions[:half], b), _any(conditions[half:], b))
