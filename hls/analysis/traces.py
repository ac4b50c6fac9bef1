"""Where accesses go in every iteration of a nest that needs nothing from outside, found by running it.

Indices of fast Fourier transforms, of sorting networks, of interleavers are no sums of counters, but counters with constant ends decide
them: what computes them is taken out of the nest, written as Python, and run once. What is added to all of them, and is the same in the
whole nest, is left out.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import gcd, prod

from ..ir import OPS, Op, Region, Value, moved_type
from ..ir.as_python import expression
from ..ir.rewrite import constant
from .affine import Affine, AffineForms, Symbol, Whole
from .loops import Loop, LoopTree

__all__ = ["Traces"]

#: operations that are run for one kernel, a million takes half a second or so; and iterations of a nest that is not even tried
MOST_STEPS, MOST_ITERATIONS = 2_000_000, 1 << 16
#: loops inside each other; Python takes 20
MOST_DEPTH = 16

#: iterations of the loops of a nest, the outermost first, and the byte offset there, for all of them
Trace = list[tuple[tuple[int, ...], int]]


class Traces:
    """Answers how far apart iterations are that touch the same bytes, for accesses of one memory."""

    def __init__(self, forms: AffineForms):
        self.forms, self.tree, self.left = forms, forms.tree, MOST_STEPS
        self._offsets: dict[Op, Affine | None] = {}
        self._traces: dict[tuple[Loop, Op], Trace | None] = {}

    def least(self, src: Op, dst: Op, loop: Loop | None, same: int, distance: int) -> int | None:
        """The least distance, ``distance`` or more, at which ``dst`` touches what ``src`` did: of iterations of ``loop``, with the ``same``
        loops outside of it at one iteration; 0 for one iteration of all ``same`` loops (``loop`` is None). None where they never meet;
        ``distance`` where nobody can tell."""
        if self._offset(src) is None or self._offset(dst) is None:
            return distance
        common = self.tree.around(src)
        for depth, top in enumerate(common[:same + (loop is not None)]):
            if top not in self.tree.around(dst):
                break
            if self._outside(top, src) != self._outside(top, dst):
                continue
            first, second = self._trace(top, src), self._trace(top, dst)
            if first is not None and second is not None:
                self.left -= len(first) + len(second)
                return distance if self.left < 0 else _least(first, moved_type(src).bytes, second, moved_type(dst).bytes, same - depth, loop is not None, distance)
        return distance

    def together(self, accesses: list[Op], modulus: int) -> dict[Op, tuple[int, ...]]:
        """The byte offset of each of the accesses of one region in each iteration of the loops around them, all in one order, but for what is
        added from outside of these loops, a multiple of ``modulus``. Empty where nobody can tell."""
        if any(self._offset(op) is None for op in accesses):
            return {}
        for top in self.tree.around(accesses[0]):
            if any(factor % modulus for op in accesses for factor in self._outside(top, op).values()):
                continue
            traces = {op: self._trace(top, op) for op in accesses}
            if None in traces.values() or len({tuple(iterations for iterations, _ in trace) for trace in traces.values()}) > 1:
                continue
            return {op: tuple(offset for _, offset in trace) for op, trace in traces.items()}
        return {}

    def _offset(self, access: Op) -> Affine | None:
        """The access's offset in terms of values alone, none of which counts how often a sum wraps; None where that cannot be."""
        if access not in self._offsets:
            form: Affine | None = self.forms.offset(access)
            while form is not None and (counts := [unknown for unknown in form.terms if isinstance(unknown, Symbol) and unknown.wraps is not None]):
                form = form.unwrapped(counts[0])
            self._offsets[access] = form
        return self._offsets[access]

    def _outside(self, top: Loop, access: Op) -> dict:
        """What an offset is made of that is the same in all of ``top``, with its factors."""
        return {unknown: factor for unknown, factor in self._offset(access).terms.items() if not self._changes(top, unknown)}

    def _changes(self, top: Loop, unknown: Loop | Symbol | Whole) -> bool:
        loop = unknown if isinstance(unknown, Loop) else self.tree.changing(_value(unknown))
        return loop is not None and top in loop.path

    def _trace(self, top: Loop, access: Op) -> Trace | None:
        key = top, access
        if key not in self._traces:
            form = self._offset(access)
            inside = Affine(form.const, {unknown: factor for unknown, factor in form.terms.items() if self._changes(top, unknown)})
            self._traces[key] = self._run(_Slice(self.tree, top, access, inside)) if self.left > 0 else None
        return self._traces[key]

    def _run(self, part: "_Slice") -> Trace | None:
        if not part.closed or prod(loop.most_trips or 1 for loop in part.path) > MOST_ITERATIONS:
            return None
        trace: Trace = []
        try:
            self.left = _Writer(part).run(trace, self.left)
        except _Exhausted:
            self.left = 0
            return None
        return trace


class _Exhausted(Exception):
    """A nest has more iterations than are worth running."""


def _least(first: Trace, bytes: int, second: Trace, other_bytes: int, same: int, carried: bool, distance: int) -> int | None:
    unit = gcd(bytes, other_bytes, *(offset for _, offset in first), *(offset for _, offset in second))
    touched: defaultdict[tuple, list[int]] = defaultdict(list)
    for (outer, here, place) in _places(first, bytes // unit, unit, same, carried):
        touched[outer, place].append(here)  # in rising order, as the nest is run
    found: int | None = None
    for (outer, here, place) in _places(second, other_bytes // unit, unit, same, carried):
        before = touched.get((outer, place))
        if before:
            k = bisect_left(before, here - distance + 1)
            if k and (found is None or here - before[k - 1] < found):
                found = here - before[k - 1]
    return found


def _places(trace: Trace, units: int, unit: int, same: int, carried: bool) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """(the outer loops' iterations, the loop's own or 0, a place) for all that is touched."""
    for iterations, offset in trace:
        here = iterations[same] if carried else 0
        for place in range(offset // unit, offset // unit + units):
            yield iterations[:same], here, place


class _Slice:
    """What decides the ``form`` of an access's offset inside the loop ``top``: values, and control of loops. ``closed`` says that it needs
    nothing that ``top`` does not compute from constants.

    A loop around the access may be taken to go on longer, and to be entered more often, than it does, where something else decides that, too.
    """

    def __init__(self, tree: LoopTree, top: Loop, access: Op, form: Affine):
        self.tree, self.top, self.access, self.form = tree, top, access, form
        self.path = tree.around(access)[tree.around(access).index(top):]
        self.values: set[Value] = set()
        self.again: dict[Loop, list[Value]] = {}
        self.enabled: set[Loop] = set()
        self.exact: set[Loop] = set()  #: of which values of the last iteration are needed
        self.closed = self._close()

    def _close(self) -> bool:
        if not self._need(_value(unknown) for unknown in self.form.terms if not isinstance(unknown, Loop)):
            return False
        decided: set[tuple[Loop, bool]] = set()
        while left := [loop for loop in (*self.path, *self.exact) if (loop, loop in self.exact) not in decided]:
            for loop in left:
                decided.add((loop, loop in self.exact))
                if not self._control(loop):
                    return False
        return max(len(loop.path) for loop in self.again) - len(self.top.path) < MOST_DEPTH

    def inside(self, op: Op) -> bool:
        """Whether the operation stands in ``top``, and not before it."""
        return self.top in self.tree.around(op)

    def _control(self, loop: Loop) -> bool:
        wanted = [loop.again] if loop in self.exact else _conjuncts(loop.again)
        self.again[loop] = [value for value in wanted if self._need([value])]
        enabled = loop is self.top or self._need([loop.op.operands[0]])
        if enabled and loop is not self.top:
            self.enabled.add(loop)
        return bool(self.again[loop]) and (enabled or loop not in self.exact)

    def _need(self, values: Iterable[Value]) -> bool:
        """Add values with all that they are computed from; adds nothing and returns False where they need more than there is."""
        todo, seen, exact = list(values), set(), set()
        while todo:
            value = todo.pop()
            if value in seen or value in self.values:
                continue
            seen.add(value)
            needed = self._from(value, exact)
            if needed is None:
                return False
            todo += needed
        self.values |= seen
        self.exact |= exact
        return True

    def _from(self, value: Value, exact: set[Loop]) -> list[Value] | None:
        """What a value is computed from, None where that is unknown here."""
        op = value.op
        if op is not None and op.opcode == "const":
            return []
        if op is None:
            loop = self.tree.holder(value)
            if loop is None or self.top not in loop.path:
                return None
            return [loop.following(value), loop.op.operands[1 + value.index]]
        if op.opcode == "loop" and self.inside(op):
            loop = self.tree.loops[op]
            exact.add(loop)
            return [loop.body.terminator.operands[1 + value.index], op.operands[1 + value.index]]
        return list(op.operands) if OPS[op.opcode].meaning is not None else None


def _value(unknown: Symbol | Whole) -> Value:
    return unknown.symbol.value if isinstance(unknown, Whole) else unknown.value


def _conjuncts(condition: Value) -> list[Value]:
    if condition.op is not None and condition.op.opcode == "and":
        return [part for operand in condition.op.operands for part in _conjuncts(operand)]
    return [condition]


class _Writer:
    """Writes a slice as Python."""

    def __init__(self, part: _Slice):
        self.part, self.env, self.lines = part, {"Exhausted": _Exhausted}, []
        self.names: dict[Value, str] = {}

    def run(self, trace: Trace, steps: int) -> int:
        """Append to the trace what happens; returns how many of the steps are left. Raises _Exhausted where these are too few."""
        self._line(0, "def run(trace, steps):")
        for value in self.part.values:
            if value.op is not None and (value.op.opcode == "const" or not self.part.inside(value.op)):
                self._before(value)
        self._loop(self.part.top, 1, ())
        self._line(1, "return steps")
        exec(compile("\n".join(self.lines), "<trace>", "exec"), self.env)  # noqa: S102 - the text is our own
        return self.env["run"](trace, steps)

    def _before(self, value: Value):
        """A constant, or what is computed from constants in front of the nest."""
        if value in self.names:
            return
        number = constant(value)
        if number is not None:
            self._line(1, f"{self._name(value)} = {self._bind(tuple(number) if isinstance(number, list) else number)}")
            return
        for operand in value.op.operands:
            self._before(operand)
        self._line(1, f"{self._name(value)} = {expression(value.op, [self._name(v) for v in value.op.operands], self._bind)}")

    def _loop(self, loop: Loop, depth: int, counters: tuple[str, ...]):
        """The loop, with the variables that count iterations of the loops around it."""
        part, counter = self.part, f"n{len(self.lines)}"
        args = [arg for arg in loop.body.args if arg in part.values]
        results = [result for result in loop.op.results if result in part.values]
        self._assign(depth, results, [loop.op.operands[1 + result.index] for result in results])
        if loop in part.enabled:
            self._line(depth, f"if {self._name(loop.op.operands[0])}:")
            depth += 1
        self._assign(depth, args, [loop.op.operands[1 + arg.index] for arg in args])
        self._line(depth, f"{counter} = 0")
        self._line(depth, "while True:")
        self._region(loop.body, depth + 1, (*counters, counter))
        self._line(depth + 1, f"steps -= {1 + sum(op.results[0] in part.values for op in loop.body.ops if len(op.results) == 1)}")
        self._line(depth + 1, "if steps < 0: raise Exhausted")
        self._line(depth + 1, f"goes_on = {' and '.join(map(self._name, part.again[loop]))}")
        self._assign(depth + 1, results, [loop.body.terminator.operands[1 + result.index] for result in results])
        self._line(depth + 1, "if not goes_on: break")
        self._assign(depth + 1, args, [loop.following(arg) for arg in args])
        self._line(depth + 1, f"{counter} += 1")

    def _region(self, region: Region, depth: int, counters: tuple[str, ...]):
        part = self.part
        for op in region.ops[:-1]:
            if op is part.access:
                self._line(depth, f"trace.append((({', '.join(counters)},), {self._offset(dict(zip(part.path, counters)))}))")
            elif op.opcode == "loop":
                if part.tree.loops[op] in part.again:
                    self._loop(part.tree.loops[op], depth, counters)
            elif len(op.results) == 1 and op.result in part.values and op.opcode != "const":
                self._line(depth, f"{self._name(op.result)} = {expression(op, [self._name(v) for v in op.operands], self._bind)}")

    def _offset(self, counters: dict[Loop, str]) -> str:
        terms = [str(self.part.form.const)]
        for unknown, factor in self.part.form.terms.items():
            if isinstance(unknown, Loop):
                terms.append(f"{counters[unknown]} * {factor}")
                continue
            value, name = _value(unknown), self._name(_value(unknown))
            sign = 1 << value.type.bits - 1
            is_signed = (unknown.symbol if isinstance(unknown, Whole) else unknown).signed
            terms.append(f"(({name} ^ {sign}) - {sign}) * {factor}" if is_signed else f"{name} * {factor}")
        return " + ".join(terms)

    def _assign(self, depth: int, targets: list[Value], sources: list[Value]):
        if targets:
            self._line(depth, f"{', '.join(map(self._name, targets))} = {', '.join(map(self._name, sources))}")

    def _line(self, depth: int, text: str):
        self.lines.append(" " * depth + text)

    def _name(self, value: Value) -> str:
        return self.names.setdefault(value, f"v{len(self.names)}")

    def _bind(self, thing) -> str:
        name = f"k{len(self.env)}"
        self.env[name] = thing
        return name
