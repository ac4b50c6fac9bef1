"""Work-items that are neighbours in dimension 0 go through the kernel side by side."""

from dataclasses import dataclass, replace

from ..analysis.uniform import check_lanes, lane_values
from ..ir import Builder, Function, Op, Region, Value, has, walk
from ..ir.accesses import PREDICATES
from ..ir.clone import clone_function
from ..ir.launch import LANES
from ..ir.rewrite import constant, set_results

__all__ = ["Simd", "lane_name"]


@dataclass(frozen=True)
class Simd:
    """Before: a flat kernel without `if` that is run once for every work-item. After, if it has ``num_simd_work_items``: one that
    is run once for so many work-items that are neighbours in dimension 0; their number is its attribute ``lanes``. A query for an id
    in dimension 0 is answered for the first of them. The size of every group is a multiple of them there.

    What may differ between neighbours has a copy for each lane, one behind the other: an operation that takes what differs, an
    atomic operation, an access of a private memory, which each lane has one of. All else is there once. Loops are run by all
    lanes together; where only some lanes want one, predicates inside it keep the others out. Of barriers, and loops with one inside, all
    lanes want the same, which the first one says. Raises CompileError for loops
    that lanes may leave at different times.
    """

    name = "simd"

    def run(self, function: Function) -> Function:
        lanes = function.attrs.get("num_simd_work_items", 1)
        if lanes == 1 or not function.attrs.get("ndrange") or LANES in function.attrs:
            return function
        check_lanes(function, lanes)
        result = clone_function(function)
        _Lanes(result, lanes).run()
        result.attrs[LANES] = lanes
        return result


class _Lanes:
    """Builds every region anew. ``values`` holds what takes the place of a value in each lane, where lanes have copies of it."""

    def __init__(self, function: Function, lanes: int):
        self.function, self.lanes = function, lanes
        self.varying = lane_values(function)
        self.values: dict[Value, list[Value]] = {}
        #: in each lane whether it wants the loop that is being built; None where all want it that are there at all
        self.wanted: list[Value] | None = None
        self.private = {m.name for m in function.memories.values() if m.space == "private"}
        self.places = {op.result for op in walk(function.body) if op.opcode == "addr" and op.attrs["mem"] in self.private}

    def run(self):
        self._region(self.function.body)
        for name in self.private:
            memory = self.function.memories.pop(name)
            copies = [lane_name(name, k) for k in range(self.lanes)]
            self.function.memories |= {copy: replace(memory, name=copy) for copy in copies}

    def _region(self, region: Region):
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
        """What gives the same in all lanes is computed once, be it from what differs."""
        return not has(op, "terminator") and (
            op.attrs.get("mem") in self.private or any(v in self.varying or v in self.places for v in op.results or op.operands))

    def _id(self, op: Op, b: Builder):
        """The id of each lane, from that of the first one."""
        b.region.ops.append(op)
        type = op.result.type
        others = [b.value("add", op.result, b.const(k, type), name=op.result.name) for k in range(1, self.lanes)]
        self.values[op.result] = [op.result, *others]

    def _copy(self, op: Op, b: Builder):
        copies = []
        for k in range(self.lanes):
            operands = [self._in_lane(v, k) for v in op.operands]
            place = PREDICATES.get(op.opcode)
            if place is not None and self.wanted is not None:
                operands[place] = _both(operands[place], self.wanted[k], b)
            attrs = dict(op.attrs)
            if attrs.get("mem") in self.private:
                attrs["mem"] = lane_name(attrs["mem"], k)
            new = Op(op.opcode, operands, attrs=attrs, span=op.span)
            set_results(new, [Value(v.type, v.name) for v in op.results])
            b.region.ops.append(new)
            copies.append(new)
        for k, value in enumerate(op.results):
            self.values[value] = [copy.results[k] for copy in copies]

    def _in_lane(self, value: Value, lane: int) -> Value:
        return self.values[value][lane] if value in self.values else value

    # --- loops ---

    def _loop(self, op: Op, b: Builder):
        """All lanes go round together, those that want it."""
        outer, (body,), (enable, *inits) = self.wanted, op.regions, op.operands
        differs = enable in self.varying
        if differs:
            own = [self._in_lane(enable, k) for k in range(self.lanes)]
            self.wanted = own if outer is None else [_both(mine, around, b) for mine, around in zip(own, outer, strict=True)]
        carried = [arg in self.varying for arg in body.args]
        starts = [[self._in_lane(v, k) for k in range(self.lanes if many else 1)] for v, many in zip(inits, carried, strict=True)]
        results = self._carry(op, body, starts, carried)
        op.operands = [_any(self.wanted, b) if differs else self._in_lane(enable, 0), *(v for each in starts for v in each)]
        self._region(body)
        self._next(body, carried)
        b.region.ops.append(op)
        for old, init, new in results:
            if old in self.varying:
                self._result(old, init, new, b if differs else None)
        self.wanted = outer

    def _carry(self, op: Op, body: Region, starts: list[list[Value]], carried: list[bool]):
        """Give the loop an argument and a result for each start; returns of each old result: it, its start, what it is in the lanes."""
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

    def _next(self, body: Region, carried: list[bool]):
        """The next values: where lanes carry a value, one for each of them."""
        end = body.terminator
        again, *nexts = end.operands
        end.operands = [self._in_lane(again, 0)]
        for value, many in zip(nexts, carried, strict=True):
            end.operands += [self._in_lane(value, k) for k in range(self.lanes)] if many else [value]

    def _result(self, old: Value, init: Value, new: list[Value], b: Builder | None):
        """What the loop leaves in each lane; with a builder, only in those that wanted the loop."""
        if b is not None:
            new = [b.value("select", wants, value, self._in_lane(init, k), name=old.name)
                   for k, (wants, value) in enumerate(zip(self.wanted, new, strict=True))]
        self.values[old] = new


def lane_name(memory: str, lane: int) -> str:
    """The memory that a lane has for a private one."""
    return f"{memory}.lane{lane}"


def _both(one: Value, other: Value, b: Builder) -> Value:
    if constant(one) == 1:
        return other
    return b.value("and", one, other)


def _any(conditions: list[Value], b: Builder) -> Value:
    """Whether one of them holds, in as few steps as can be."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) + 1 >> 1
    return b.value("or", _any(conditions[:half], b), _any(conditions[half:], b))
