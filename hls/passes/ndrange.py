"""The work-items of an NDRange kernel become the iterations of one loop."""

from dataclasses import dataclass

from ..ir import BOOL, I32, Builder, Function, Op, Region, Value, walk
from ..ir.clone import clone_function
from ..ir.rewrite import rewrite
from .program import repeat_for_ever

__all__ = ["NDRange"]

_IDS = ("global_id", "local_id", "group_id")


@dataclass(frozen=True)
class NDRange:
    """Before: a flat kernel that is run once for every work-item. After: one that is run once for every launch.

    A kernel with the attribute ``ndrange`` becomes one loop with attributes ``form="ndrange"`` and ``parallel``.
    What it needs to know about the launch are arguments of 32 bits, appended to ``args`` and named in order in the
    attribute ``launch_args`` (see ``hls.ir.launch``); the host keeps every size, offset, end and count below 2**32. The loop
    carries the ids that the body uses, counting like an odometer: over the global range, x fastest, if only global
    ids are used, else group by group. Dimensions the kernel does not look at are counted together, as repetitions.
    In other kernels the queries become those of a single work-item.
    """

    name = "ndrange"

    def run(self, function: Function) -> Function:
        if "launch_args" in function.attrs:
            return function
        result = clone_function(function)
        rewrite(result.body, _only_unit)
        if result.attrs.get("ndrange"):
            _Dispatcher(result).run()
            if result.attrs.get("autorun"):
                repeat_for_ever(result)
        else:
            rewrite(result.body, _single)
        return result


def _single(op: Op, b: Builder):
    if op.opcode != "work_item":
        return None
    number = 0 if op.attrs["fn"] in (*_IDS, "global_offset") else 1
    return [b.const(number, op.result.type)]


@dataclass(frozen=True)
class _Digit:
    """One wheel of the odometer: counters that step together; after the first one's last step all start again."""

    names: tuple[str, ...]
    starts: tuple[Value, ...]
    steps: tuple[Value, ...]
    count: Value  #: how many steps a round has, at least 1


class _Dispatcher:
    """Builds the loop; ``before`` stands in front of it, ``inside`` in its body."""

    def __init__(self, function: Function):
        self.function = function
        self.queries = {(op.attrs["fn"], op.attrs.get("dim", 0)) for op in walk(function.body)
                        if op.opcode == "work_item"}
        self.dims = [d for d in range(3) if any((fn, d) in self.queries for fn in _IDS)]
        self.by_group = any(fn in ("local_id", "group_id") for fn, _ in self.queries)
        self.arguments: dict[str, Value] = {}
        self.work = Region(ops=function.body.ops)
        function.body.ops = []
        self.before = Builder(function.body, function.span)
        self.inside = Builder(Region(), function.span)

    def run(self):
        digits = [*(self._group_digits() if self.by_group else self._global_digits()), *self._repeats()]
        body = self.inside.region
        for digit in digits:
            carried = [*((name, I32) for name in digit.names), (f"{digit.names[0]}_left", I32),
                       (f"{digit.names[0]}_last", BOOL)]
            body.args += [Value(t, name, body, len(body.args) + k) for k, (name, t) in enumerate(carried)]
        self._work()
        self._step(digits)
        starts = self._initial(digits)
        attrs = {"label": "work-items", "form": "ndrange", "parallel": True, "unroll": 1}
        self.before.op("loop", self.before.true(), *starts, results=[v.type for v in starts], regions=[body], attrs=attrs)
        self.before.op("return")
        self.function.attrs["launch_args"] = tuple(self.arguments)
        self.function.args += self.arguments.values()

    # what the launch says

    def _argument(self, name: str, *dims: int) -> Value:
        required = self.function.attrs.get("work_group_size")
        if name == "local_size" and required:
            return self.before.const((*required, 1, 1)[dims[0]], I32)
        full = "_".join([name, *["".join(map(str, dims))] * bool(dims)])
        if full not in self.arguments:
            self.arguments[full] = Value(I32, full, self.function.body, len(self.function.args) + len(self.arguments))
        return self.arguments[full]

    # the wheels

    def _global_digits(self) -> list[_Digit]:
        one = self.before.const(1, I32)
        return [_Digit((f"global_id_{d}",), (self._argument("global_offset", d),), (one,),
                       self._argument("global_size", d))
                for d in self.dims]

    def _group_digits(self) -> list[_Digit]:
        """First the places in the group, then the groups: (first global id of the group, number of the group)."""
        zero, one = self.before.const(0, I32), self.before.const(1, I32)
        size = {d: self._argument("local_size", d) for d in self.dims}
        inner = [_Digit((f"local_id_{d}",), (zero,), (one,), size[d]) for d in self.dims]
        outer = [_Digit((f"group_start_{d}", f"group_id_{d}"), (self._argument("global_offset", d), zero),
                        (size[d], one), self._argument("num_groups", d)) for d in self.dims]
        return inner + outer

    def _repeats(self) -> list[_Digit]:
        """Work-items that differ only in dimensions nobody asks for."""
        others = [d for d in range(3) if d not in self.dims]
        zero, one = self.before.const(0, I32), self.before.const(1, I32)
        return [_Digit(("repeat",), (zero,), (one,), self._argument("global_count", *others))] if others else []

    # the body

    def _work(self):
        """The kernel's operations, with counters for its queries."""
        counters = {value.name: value for value in self.inside.region.args}
        known: dict[tuple[str, int], Value] = {}

        def visit(op: Op, b: Builder):
            if op.opcode != "work_item":
                return None
            key = op.attrs["fn"], op.attrs.get("dim", 0)
            if key not in known:
                known[key] = self._answer(*key, counters)
            value, wanted = known[key], op.result.type
            return [value if wanted == I32 else b.value("zext", value, result=wanted)]

        rewrite(self.work, visit)
        self.inside.region.ops += self.work.ops[:-1]

    def _answer(self, fn: str, dim: int, counters: dict[str, Value]) -> Value:
        if fn == "global_id" and self.by_group:
            return self.inside.value("add", counters[f"group_start_{dim}"], counters[f"local_id_{dim}"],
                                     name=f"global_id_{dim}")
        if fn in _IDS:
            return counters[f"{fn}_{dim}"]
        return self._argument(fn) if fn == "work_dim" else self._argument(fn, dim)

    def _initial(self, digits: list[_Digit]) -> list[Value]:
        """Initial values: of every counter, of the steps left in the round, of "this is the digit's last step"."""
        return [value for digit in digits for value in (*digit.starts, digit.count, self._single_step(digit))]

    def _single_step(self, digit: _Digit) -> Value:
        return self.before.value("eq", digit.count, self.before.const(1, I32))

    def _step(self, digits: list[_Digit]):
        """Move the wheels by one and continue unless all came round.

        Whether a wheel is at its last step is a carried bit, found one step ahead from a counter that runs down to a
        constant: so no cycle has to hold an addition, a comparison and the carry to the next wheel.
        """
        b, turning, nexts = self.inside, self.inside.true(), []
        arguments = iter(self.inside.region.args)
        for digit in digits:
            now = [next(arguments) for _ in digit.names]
            left, last = next(arguments), next(arguments)
            restart = b.value("and", turning, last)
            moves = b.value("and", turning, b.value("xor", last, b.true()))
            after = [(value, start, b.value("add", value, step))
                     for value, start, step in zip(now, digit.starts, digit.steps, strict=True)]
            after.append((left, digit.count, b.value("sub", left, b.const(1, I32))))
            after.append((last, self._single_step(digit), b.value("eq", left, b.const(2, I32))))
            for value, start, moved in after:
                # the choice between staying and restarting is made beside the addition, not behind it
                nexts.append(b.value("select", moves, moved, b.value("select", restart, start, value)))
            turning = restart
        b.op("yield", b.value("xor", turning, b.true()), *nexts)


def _only_unit(op: Op, b: Builder) -> list[Value] | None:
    """There is one compute unit: its number is 0."""
    if op.opcode != "work_item" or op.attrs["fn"] != "compute_id":
        return None
    return [b.const(0, op.result.type)]
