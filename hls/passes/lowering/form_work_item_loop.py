"""Work-item loop formation: the work-items of an NDRange kernel become the iterations of one loop."""

from dataclasses import dataclass
from math import prod

from ...analysis.channels.endpoints import is_call
from ...ir import BOOL, I32, Attr, Builder, Function, InterleaveReason, IntType, Op, Region, Type, Value, walk
from ...ir.clone import clone_function
from ...ir.launch import PER_GROUP, compute_units, group_limit, lanes_of, may_be_offset, units_of
from ...ir.rewrite import constant, rewrite
from ..link.autorun import repeat_for_ever
from ..manager import Form, FunctionPass

__all__ = ["FormWorkItemLoop"]

#: most odometer digits whose carry chain fits into a cycle together with the loop's own control
MOST_WHEELS = 2
_IDS = ("global_id", "local_id", "group_id")


@dataclass(frozen=True)
class FormWorkItemLoop(FunctionPass):
    """Work-item loop formation (as in PoCL). Before: a flat kernel that runs once for every work-item; all work-items
    of a group reach its barriers equally often. After: a kernel that runs once for every launch.

    A kernel with the attribute ``ndrange`` becomes one loop with attributes ``form="ndrange"`` and ``parallel``. What
    it needs to know about the launch are arguments of 32 bits, appended to ``args`` and named in order in the attribute
    ``launch_args`` (see ``hls.ir.launch``); the host keeps every size, offset, end and count below 2**32. The loop
    carries the ids that the body uses, counting like an odometer: over the global range, x fastest, if only global ids
    are used, else group by group. Dimensions that the kernel does not query are counted together, as repetitions. In
    other kernels the queries become those of a single work-item. If one run of the body stands for several neighbouring
    work-items (``lanes``), dimension 0 counts in steps of these.

    If work-items of a group synchronize at barriers or share memory, each group is one sequence of consecutive
    iterations: a ``barrier`` becomes a ``meet``, which is told the last iteration of the group, and one ``group`` names
    the memories that are copied for each group; another ``group`` serves channel calls.

    With ``num_compute_units`` the kernel gets the attribute ``units`` and runs once for every group of a launch: the
    loop counts the work-items of one group, and values that differ between groups and between units are hidden
    arguments as well.
    """

    name = "form-work-item-loop"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})
    provides = frozenset({Form.DISPATCHED})

    def run(self, function: Function) -> Function:
        """A copy with a loop over work-items and hidden launch arguments; the function itself if it has them
        already."""
        if Attr.LAUNCH_ARGS in function.attrs:
            return function
        result = clone_function(function)
        units = prod(compute_units(result))
        if result.attrs.get(Attr.NDRANGE) and not result.attrs.get(Attr.AUTORUN) and units > 1:
            result.attrs[Attr.UNITS] = units
        else:
            rewrite(result.body, _only_unit)
        if result.attrs.get(Attr.NDRANGE):
            _Dispatcher(result).run()
            if result.attrs.get(Attr.AUTORUN):
                repeat_for_ever(result)
        else:
            rewrite(result.body, _single)
        return result


def _single(op: Op, b: Builder) -> list[Value] | None:
    if op.opcode != "work_item":
        return None
    number = 0 if op.attrs[Attr.FN] in (*_IDS, "global_offset") else 1
    return [b.const(number, op.result.type)]


@dataclass(frozen=True)
class _Digit:
    """One digit of the odometer: counters that step together; when the first wraps after its last step, all restart."""

    names: tuple[str, ...]
    starts: tuple[Value, ...]
    steps: tuple[Value, ...]
    count: Value  #: steps of a round, at least 1


class _Dispatcher:
    """Builds the loop; ``before`` is the region in front of it, ``inside`` its body."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.queries = {
            (op.attrs[Attr.FN], op.attrs.get(Attr.DIM, 0)) for op in walk(function.body) if op.opcode == "work_item"
        }
        self.shared = tuple(m.name for m in function.memories.values() if m.space == "local")
        meets = any(op.opcode == "barrier" for op in walk(function.body))
        self.together = bool(self.shared) or meets
        self.limit = group_limit(function, meets)
        self.calls = meets and any(is_call(op) for op in walk(function.body))
        self.lanes, self.alone = lanes_of(function), units_of(function) > 1
        self.dims = [d for d in range(3) if any((fn, d) in self.queries for fn in _IDS) or d == 0 and self.lanes > 1]
        self.by_group = self.together or self.alone or any(fn in ("local_id", "group_id") for fn, _ in self.queries)
        self.arguments: dict[str, Value] = {}
        self.work = Region(ops=function.body.ops)
        function.body.ops = []
        self.before = Builder(function.body, function.span)
        self.inside = Builder(Region(), function.span)

    def run(self) -> None:
        digits = [*(self._group_digits() if self.by_group else self._global_digits()), *self._repeats()]
        body = self.inside.region
        for digit in digits:
            carried = [
                *((name, I32) for name in digit.names),
                (f"{digit.names[0]}_left", I32),
                (f"{digit.names[0]}_last", BOOL),
            ]
            self._carry(*carried)
        self.counted = len(digits) > MOST_WHEELS
        if self.counted:
            self._carry(("items_left", I32), ("items_last", BOOL))
        if self.together:
            self._carry(("group_first", BOOL))
            self.last = self._last_of_group()
        if self.shared:
            self.inside.op("group", body.args[-1], self.last, attrs={Attr.MEMS: self.shared, Attr.COPIES: 1})
        if self.calls:
            self.inside.op("group", body.args[-1], self.last, attrs={Attr.MEMS: (), Attr.COPIES: 1, Attr.CALLS: True})
        if self.alone and self.shared:
            self._argument("group_turn")
        self._work()
        self._step(digits)
        if self.alone:
            self._ask_for_groups()
        starts = self._initial(digits)
        attrs = {Attr.LABEL: "work-items", Attr.FORM: "ndrange", Attr.PARALLEL: True, Attr.UNROLL: 1}
        own = tuple(sorted(m.name for m in self.function.memories.values() if m.space == "private"))
        if own:
            attrs[Attr.OWN] = own
        if self.alone and self.together:
            attrs |= {Attr.INTERLEAVE: False, Attr.INTERLEAVE_REASON: InterleaveReason.GROUP}
        self.before.op(
            "loop", self.before.true(), *starts, results=[v.type for v in starts], regions=[body], attrs=attrs
        )
        self.before.op("return")
        for op in walk(body):
            if op.opcode == "loop" and any(inner.opcode == "meet" for inner in walk(op.regions[0])):
                op.attrs[Attr.RING] = True  # the work-items of a group execute its iterations together
        self.function.attrs[Attr.LAUNCH_ARGS] = tuple(self.arguments)
        self.function.args += self.arguments.values()

    def _carry(self, *names: tuple[str, Type]) -> None:
        """Append carried values to the loop, by name and type."""
        args = self.inside.region.args
        for name, type in names:
            args.append(Value(type, name, self.inside.region, len(args)))

    # launch arguments

    def _argument(self, name: str, *dims: int) -> Value:
        required = self.function.attrs.get(Attr.WORK_GROUP_SIZE)
        if name in ("local_size", "local_count") and required:
            return self.before.const(prod((*required, 1, 1)[d] for d in dims), I32)
        if name == "global_offset" and not may_be_offset(self.function):
            return self.before.const(0, I32)
        full = "_".join([name, *["".join(map(str, dims))] * bool(dims)])
        if full not in self.arguments:
            self.arguments[full] = Value(I32, full, self.function.body, len(self.function.args) + len(self.arguments))
        return self.arguments[full]

    def _runs(self, name: str, *dims: int) -> Value:
        """The number of runs of the body for a size of the launch: one run covers all lanes."""
        size, lanes = self._argument(name, *dims), self.lanes if 0 in dims else 1
        if lanes == 1:
            return size
        known = constant(size)
        if known is not None:
            return self.before.const(known // lanes, I32)
        return self.before.value("lshr", size, self.before.const(lanes.bit_length() - 1, I32))

    def _stride(self, dim: int) -> Value:
        return self.before.const(self.lanes if dim == 0 else 1, I32)

    # the odometer digits

    def _global_digits(self) -> list[_Digit]:
        return [
            _Digit(
                (f"global_id_{d}",),
                (self._argument("global_offset", d),),
                (self._stride(d),),
                self._runs("global_size", d),
            )
            for d in self.dims
        ]

    def _group_digits(self) -> list[_Digit]:
        """First the ids inside a group, then the groups: (first global id of the group, number of the group). If groups
        must stay together, both count the dimensions that are not queried as well."""
        zero, one = self.before.const(0, I32), self.before.const(1, I32)
        size = {d: self._argument("local_size", d) for d in self.dims}
        inner = [
            _Digit((f"local_id_{d}",), (zero,), (self._stride(d),), self._runs("local_size", d)) for d in self.dims
        ]
        if self.alone:
            return self._places(inner)
        outer = [
            _Digit(
                (f"group_start_{d}", f"group_id_{d}"),
                (self._argument("global_offset", d), zero),
                (size[d], one),
                self._argument("num_groups", d),
            )
            for d in self.dims
        ]
        others = [d for d in range(3) if d not in self.dims]
        if self.together and others:
            inner.append(_Digit(("local_id_others",), (zero,), (one,), self._argument("local_count", *others)))
            outer.append(_Digit(("group_id_others",), (zero,), (one,), self._argument("group_count", *others)))
        return [d for d in inner if constant(d.count) != 1] + outer  # a group of one work-item needs no digit

    def _places(self, inner: list[_Digit]) -> list[_Digit]:
        """The digits of the work-items of one group; ``inner`` counts the dimensions that are queried."""
        zero, one = self.before.const(0, I32), self.before.const(1, I32)
        others = [d for d in range(3) if d not in self.dims]
        if others:
            inner = [*inner, _Digit(("local_id_others",), (zero,), (one,), self._argument("local_count", *others))]
        return [d for d in inner if constant(d.count) != 1] or inner[:1]

    def _ask_for_groups(self) -> None:
        """Add the arguments from which groups are counted, if the body does not use them itself."""
        for name in [n for n in self.arguments if n.startswith(PER_GROUP) and n[-1].isdigit()]:
            for fn in ("num_groups", "local_size", "global_offset"):
                self._argument(fn, int(name[-1]))
        self._argument("group_count", 0, 1, 2)

    def _repeats(self) -> list[_Digit]:
        """Work-items that differ only in dimensions that are not queried."""
        others = [d for d in range(3) if d not in self.dims and not self.together and not self.alone]
        zero, one = self.before.const(0, I32), self.before.const(1, I32)
        return [_Digit(("repeat",), (zero,), (one,), self._argument("global_count", *others))] if others else []

    def _last_of_group(self) -> Value:
        """Whether every digit inside the group is at its last step."""
        return self._all(
            [
                value
                for value in self.inside.region.args
                if value.name.startswith("local_id") and value.name.endswith("_last")
            ]
        )

    def _all(self, conditions: list[Value]) -> Value:
        """AND of the conditions, as a tree of minimal depth."""
        if len(conditions) < 2:
            return conditions[0] if conditions else self.inside.true()
        half = len(conditions) + 1 >> 1
        return self.inside.value("and", self._all(conditions[:half]), self._all(conditions[half:]))

    # the body

    def _work(self) -> None:
        """The kernel's operations, with counters in place of its queries."""
        counters = {value.name: value for value in self.inside.region.args}
        known: dict[tuple[str, int], Value] = {}

        def visit(op: Op, b: Builder) -> list[Value] | None:
            if op.opcode == "barrier":
                b.op("meet", *(op.operands or [b.true()]), self.last, attrs={Attr.MEMS: (), Attr.FLUSH: ()})
                return []
            if op.opcode != "work_item":
                return None
            key = op.attrs[Attr.FN], op.attrs.get(Attr.DIM, 0)
            if key not in known:
                known[key] = self._answer(*key, counters)
            value, wanted = known[key], op.result.type
            return [value if wanted == I32 else b.value("zext", value, result=wanted)]

        rewrite(self.work, visit)
        self.inside.region.ops += self.work.ops[:-1]

    def _answer(self, fn: str, dim: int, counters: dict[str, Value]) -> Value:
        if fn == "global_id" and self.by_group:
            start = self._argument("group_start", dim) if self.alone else counters[f"group_start_{dim}"]
            return self.inside.value("add", start, self._answer("local_id", dim, counters), name=f"global_id_{dim}")
        if fn in _IDS and not (fn == "group_id" and self.alone):
            name = f"{fn}_{dim}"
            id = counters[name] if name in counters else self.inside.const(0, I32)
            return self._within_group(id) if fn == "local_id" and name in counters else id
        return self._argument(fn) if fn == "work_dim" else self._argument(fn, dim)

    def _within_group(self, id: Value) -> Value:
        """The id truncated to the bits that the largest group needs, so that addresses computed from it are narrow.
        This fixes the largest group size as an attribute of the kernel, even if its barriers are removed later."""
        if self.limit is None or Attr.WORK_GROUP_SIZE in self.function.attrs:
            return id
        self.function.attrs.setdefault(Attr.MAX_WORK_GROUP_SIZE, self.limit)
        narrow = IntType(min(I32.bits, max(1, (self.limit - 1).bit_length())))
        return self.inside.value("zext", self.inside.value("trunc", id, result=narrow), result=I32)

    def _initial(self, digits: list[_Digit]) -> list[Value]:
        """Initial values: of every counter, of the steps left in the round, of "this is the digit's last step"."""
        starts = [value for digit in digits for value in (*digit.starts, digit.count, self._is_one(digit.count))]
        if self.counted:
            items = self._runs("local_count" if self.alone else "global_count", 0, 1, 2)
            starts += [items, self._is_one(items)]
        return starts + [self.before.true()] * self.together

    def _is_one(self, count: Value) -> Value:
        return self.before.value("eq", count, self.before.const(1, I32))

    def _within(self, moved: Value, start: Value, step: Value, count: Value) -> Value:
        """A stepped counter, masked to the bits it needs if these are known: nothing else shows later passes its
        range."""
        first, by, times = (constant(value) for value in (start, step, count))
        if first != 0 or by is None or times is None or by * times < 2:
            return moved
        return self.inside.value("and", moved, self.inside.const((1 << (by * times - 1).bit_length()) - 1, moved.type))

    def _step(self, digits: list[_Digit]) -> None:
        """Step the digits by one and continue unless all wrapped around.

        Whether a digit is at its last step is a carried bit, computed one step ahead from a counter that runs down to a
        constant: so no cycle contains an addition, a comparison and the carry to the next digit. With more than two
        digits the remaining work-items are counted in the same manner, as the carry through all digits would take too
        long.
        """
        b, nexts, arguments = self.inside, [], iter(self.inside.region.args)
        wheels = [([next(arguments) for _ in digit.names], next(arguments), next(arguments)) for digit in digits]
        turning = b.true()
        for number, (digit, (now, left, last)) in enumerate(zip(digits, wheels, strict=True)):
            restart = self._all([wheel[2] for wheel in wheels[: number + 1]])
            moves = b.value("and", turning, b.value("xor", last, b.true()))
            after = [
                (value, start, self._within(b.value("add", value, step), start, step, digit.count))
                for value, start, step in zip(now, digit.starts, digit.steps, strict=True)
            ]
            after.append((left, digit.count, b.value("sub", left, b.const(1, I32))))
            after.append((last, self._is_one(digit.count), b.value("eq", left, b.const(2, I32))))
            for value, start, moved in after:
                # select between staying and restarting in parallel with the addition, not after it
                nexts.append(b.value("select", moves, moved, b.value("select", restart, start, value)))
            turning = restart
        if self.counted:
            left, turning = next(arguments), next(arguments)
            nexts += [b.value("sub", left, b.const(1, I32)), b.value("eq", left, b.const(2, I32))]
        if self.together:
            nexts.append(self.last)
        b.op("yield", b.value("xor", turning, b.true()), *nexts)


def _only_unit(op: Op, b: Builder) -> list[Value] | None:
    """Replace the compute unit's number by 0: there is only one unit."""
    if op.opcode != "work_item" or op.attrs[Attr.FN] != "compute_id":
        return None
    return [b.const(0, op.result.type)]
