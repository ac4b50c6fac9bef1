"""The work-items of an NDRange kernel become the iterations of one loop."""

from dataclasses import dataclass

from ..ir import BOOL, I32, Builder, Function, Op, Region, Value, walk
from ..ir.clone import clone_function
from ..ir.rewrite import rewrite

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
        if result.attrs.get("ndrange"):
            _Dispatcher(result).run()
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
    end: Value  #: what the first counter would be after its last step


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
            carried = [*((name, I32) for name in digit.names), (f"{digit.names[0]}_ahead", I32),
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

    def _end(self, d: int) -> Value:
        return self.before.value("add", self._argument("global_offset", d), self._argument("global_size", d))

    def _global_digits(self) -> list[_Digit]:
        one = self.before.const(1, I32)
        return [_Digit((f"global_id_{d}",), (self._argument("global_offset", d),), (one,), self._end(d))
                for d in self.dims]

    def _group_digits(self) -> list[_Digit]:
        """First the places in the group, then the groups: (first global id of the group, number of the group)."""
        zero, one = self.before.const(0, I32), self.before.const(1, I32)
        size = {d: self._argument("local_size", d) for d in self.dims}
        inner = [_Digit((f"local_id_{d}",), (zero,), (one,), size[d]) for d in self.dims]
        outer = [_Digit((f"group_start_{d}", f"group_id_{d}"), (self._argument("global_offset", d), zero),
                        (size[d], one), self._end(d)) for d in self.dims]
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
        """Initial values: of every counter, of the first counter two steps ahead, of "this is the digit's last step"."""
        values = []
        for digit in digits:
            ahead, last = self._fresh(digit)
            values += [*digit.starts, ahead, last]
        return values

    def _fresh(self, digit: _Digit) -> tuple[Value, Value]:
        """What a digit that starts again knows: its first counter two steps on, and whether it has a single step."""
        b = self.before
        one = b.value("add", digit.starts[0], digit.steps[0])
        return b.value("add", one, digit.steps[0]), b.value("eq", one, digit.end)

    def _step(self, digits: list[_Digit]):
        """Move the wheels by one and continue unless all came round.

        Whether a wheel is at its last step is a carried bit, found one step ahead from a counter that runs two ahead: so no
        cycle has to hold an addition, a comparison and the carry to the next wheel.
        """
        b, turning, nexts = self.inside, self.inside.true(), []
        arguments = iter(self.inside.region.args)
        for digit in digits:
            now = [next(arguments) for _ in digit.names]
            ahead, last = next(arguments), next(arguments)
            restart_ahead, restart_last = self._fresh(digit)
            moves = [(value, start, b.value("add", value, step))
                     for value, start, step in zip(now, digit.starts, digit.steps, strict=True)]
            moves.append((ahead, restart_ahead, b.value("add", ahead, digit.steps[0])))
            moves.append((last, restart_last, b.value("eq", ahead, digit.end)))
            for value, start, after in moves:
                nexts.append(b.value("select", turning, b.value("select", last, start, after), value))
            turning = b.value("and", turning, last)
        b.op("yield", b.value("xor", turning, b.true()), *nexts)
