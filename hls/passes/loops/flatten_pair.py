"""Loop flattening of one level: an inner loop and the loop around it become one loop."""

from collections.abc import Callable, Iterable

from ...ir import BOOL, Builder, Op, Region, Type, Value, has, walk
from ...ir.loops import add_carried
from ...ir.rewrite import constant
from ...ir.storage import zero

__all__ = ["MergedPair", "merge_nest"]


def merge_nest(outer: Op, inner: Op, outside: Builder) -> None:
    """Merge ``inner``, an operation of the body of ``outer``, into ``outer``; ``outside`` builds in front of ``outer``.

    Both loops are rotated, in SSA form with `if`, and ``inner`` is the only loop in the body of ``outer``. An iteration
    executes the operations before ``inner`` if it is the first of its invocation, the body of ``inner`` if that runs at
    all, and the operations after ``inner`` if it is the last.
    """
    MergedPair(outer, inner, outside).run()


class MergedPair:
    """An inner loop while it is merged into the loop around it."""

    def __init__(self, outer: Op, inner: Op, outside: Builder) -> None:
        self.outer, self.inner, self.outside = outer, inner, outside
        (self.body,), (self.inner_body,) = outer.regions, inner.regions
        ops = self.body.ops
        at = ops.index(inner)
        self.before, self.after, self.end = ops[:at], ops[at + 1 : -1], ops[-1]
        self.again, *self.nexts = self.end.operands
        self.steady = _steady(self.before, self._repeats)
        self.b = Builder(self.body, outer.span)
        self.shared = self._shared()

    def run(self) -> None:
        """Build the one loop."""
        args, kept, inner_args = self._begin()
        goes_on, reached = self._iteration([now for now, _ in inner_args])
        self._leave_inner(reached)
        again, outer_nexts, inner_nexts = self._last(args, inner_args, goes_on, reached)
        start = self.b.value("xor", goes_on, self.b.true())
        self.b.op("yield", again, *outer_nexts, start, *kept, *inner_nexts)

    def _begin(self) -> tuple[list[Value], list[Value], list[tuple[Value, Value | None]]]:
        """Build what comes before the inner loop, in whose body the current values stand then. Returns the outer loop's
        carried values, the next values of those that are kept from the first iteration, and :meth:`_inner_args`."""
        args = list(self.body.args)
        self._hoist()
        self.start = self._carry("start", self.outside.true())
        self.body.ops = list(self.steady)
        kept = self._first()
        inner_args = self._inner_args()
        self._replace(dict(zip(self.inner_body.args, [now for now, _ in inner_args])), self.inner_body.ops)
        return args, kept, inner_args

    def _leave_inner(self, reached: list[Value]) -> None:
        """Let what follows the inner loop use the values that it has ``reached``."""
        results = dict(zip(self.inner.results, reached))
        self._replace(results, self.after)
        self.again, *self.nexts = [results.get(v, v) for v in (self.again, *self.nexts)]

    def _hoist(self) -> None:
        """Hoist initial values of the inner loop that are invariant in the outer one."""
        wanted = set(self.inner.operands[1:])
        for op in reversed(self.steady):
            if op.results[0] in wanted:
                wanted.update(op.operands)
        own = {v for op in self.before for v in op.results} | set(self.body.args)
        for op in list(self.steady):
            if has(op, "pure") and op.results[0] in wanted and not own.intersection(op.operands):
                self.outside.region.ops.append(op)
                self.steady.remove(op)
                self.before.remove(op)
                own.difference_update(op.results)

    def _carry(self, name: str, init: Value) -> Value:
        """A new carried value with initial value ``init``."""
        return add_carried(self.outer, init, name, result=Value(init.type, name)).arg

    def _unset(self, type: Type) -> Value:
        """An initial value that is never read: the first iteration sets it."""
        return self.outside.const(zero(type), type)

    def _shared(self) -> dict[int, int]:
        """Carried values of ``inner`` whose initial value is a carried value of ``outer`` without another use: the two
        are merged. By index."""
        uses: dict[Value, int] = {}
        for op in walk(self.body):
            for value in op.operands:
                uses[value] = uses.get(value, 0) + 1
        return {
            k: init.index
            for k, init in enumerate(self.inner.operands[1:])
            if init.owner is self.body and uses[init] == 1
        }

    def _repeats(self, op: Op) -> bool:
        """Whether an operation before the inner loop may run in every iteration of it, as it always computes the
        same from equal operands."""
        return has(op, "pure")

    def _behind(self) -> list[Op]:
        """The operations that follow those before the inner loop."""
        return [self.inner, *self.after]

    # --- operations before the inner loop ---

    def _first(self) -> list[Value]:
        """Build the operations that begin an invocation; returns the values to carry to its other iterations."""
        steady = set(self.steady)
        rest = [op for op in self.before if op not in steady]
        if not rest:
            return []
        wanted, pointers = self._wanted(rest)
        kept = [self._carry(v.name, self._unset(v.type)) for v in wanted]
        now = self._choose(self.start, rest, wanted, kept)
        found = dict(zip(wanted, now))
        for op in pointers:
            copy = self.b.op(op.opcode, *(found.get(v, v) for v in op.operands), attrs=op.attrs)
            found[op.result] = copy.result
        self._replace(found, self._behind())
        self.again, *self.nexts = [found.get(v, v) for v in (self.again, *self.nexts)]
        return now

    def _wanted(self, rest: list[Op]) -> tuple[list[Value], list[Op]]:
        """The results of ``rest`` that are used after it, and the pointer operations among them, which must be
        recomputed because pointers cannot be carried."""
        used = {v for op in self._behind() for v in _used(op)} | {self.again, *self.nexts}
        pointers: list[Op] = []
        for op in reversed(rest):
            if has(op, "pointer") and op.results[0] in used:
                pointers.insert(0, op)
                used.update(op.operands)
        return [v for op in rest if op not in pointers for v in op.results if v in used], pointers

    def _choose(self, condition: Value, ops: list[Op], yes: Iterable[Value], no: Iterable[Value]) -> list[Value]:
        """The operations under a condition; returns selected values: ``yes`` if it holds, else ``no``."""
        then, otherwise, yes = Region(ops=list(ops)), Region(), list(yes)
        Builder(then, self.b.span).op("yield", *yes)
        Builder(otherwise, self.b.span).op("yield", *no)
        return self.b.op("if", condition, results=[v.type for v in yes], regions=[then, otherwise]).results

    # --- the inner loop ---

    def _inner_args(self) -> list[tuple[Value, Value | None]]:
        """For each carried value of ``inner``: its value in this iteration, and its initial value in the next
        invocation if that is known in advance."""
        found: list[tuple[Value, Value | None]] = []
        for k, (arg, init) in enumerate(zip(self.inner_body.args, self.inner.operands[1:], strict=True)):
            if k in self.shared:
                found.append((self.body.args[self.shared[k]], None))
            elif not self._is_inside(init):
                found.append((self._carry(arg.name, init), init))
            else:
                old = self._carry(arg.name, self._unset(arg.type))
                found.append((self.b.value("select", self.start, init, old, name=arg.name), None))
        return found

    def _is_inside(self, value: Value) -> bool:
        return value.owner is self.body or value in {v for op in (*self.before, *self.body.ops) for v in op.results}

    def _iteration(self, now: list[Value]) -> tuple[Value, list[Value]]:
        """One iteration of ``inner``, unless it has none: whether it continues, and its next carried values."""
        enable, end = self.inner.operands[0], self.inner_body.terminator
        if constant(enable) == 1:
            self.body.ops += self.inner_body.ops[:-1]
            return end.operands[0], end.operands[1:]
        goes_on, *reached = self._choose(enable, self.inner_body.ops[:-1], end.operands, [self.b.const(0, BOOL), *now])
        return goes_on, reached

    # --- operations after the inner loop ---

    def _last(self, args: list[Value], inner_args, goes_on: Value, reached: list[Value]):
        """Build the operations that end an invocation. Returns whether there is another iteration, and the next carried
        values: of ``outer``, and of ``inner`` (those that are not shared)."""
        held = {j: reached[k] for k, j in self.shared.items()}
        own = [
            (now, again, first)
            for k, ((now, first), again) in enumerate(zip(inner_args, reached))
            if k not in self.shared
        ]
        renewed = [(again, first) for _, again, first in own if first is not None]
        stay = [self.b.true(), *(held.get(j, arg) for j, arg in enumerate(args)), *(again for again, _ in renewed)]
        leave = [self.again, *self.nexts, *(first for _, first in renewed)]
        again, *chosen = self._choose(self.b.value("xor", goes_on, self.b.true()), self.after, leave, stay)
        latest = iter(chosen[len(args) :])
        return again, chosen[: len(args)], [next(latest) if first is not None else after for _, after, first in own]

    def _replace(self, values: dict[Value, Value], ops: Iterable[Op]) -> None:
        for op in walk(Region(ops=list(ops))):
            op.operands = [values.get(v, v) for v in op.operands]


def _steady(ops: list[Op], repeats: Callable[[Op], bool]) -> list[Op]:
    """Operations that may run in every iteration, and are computed from others that may."""
    found, changing = [], set[Value]()
    for op in ops:
        if repeats(op) and not changing.intersection(op.operands):
            found.append(op)
        else:
            changing.update(op.results)
    return found


def _used(op: Op) -> set[Value]:
    return {v for inner in walk(Region(ops=[op])) for v in inner.operands}
