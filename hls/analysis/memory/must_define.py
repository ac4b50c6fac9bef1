"""Whether each place that an iteration of a loop reads was written earlier in the same iteration: then nothing of an
array is left for the next.

A store counts for what it writes for certain: its condition is always true, and each loop around it that the load is
not in runs as often as its one comparison of a counter says. The load counts for all it might read. Both are sets of
bytes in terms of what the two share: counters of the loops around both, and values that are the same for both.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import islpy as isl

from ...ir import BOOL, Op, Value, moved_type, predicate
from ...ir.rewrite import constant
from ..affine.affine import Affine, AffineForms, Symbol
from ..affine.iteration_domain import Domains
from ..loops.loop_tree import Loop

__all__ = ["MustDefine"]

#: isl gives up on a question after so many steps; the answer is then no
MOST_STEPS = 200_000


class MustDefine:
    """Answers questions about the accesses of a flat kernel; ``forms`` are its offsets."""

    def __init__(self, forms: AffineForms):
        self.forms, self.tree, self.domains = forms, forms.tree, Domains(forms)
        self.context = isl.Context()
        self.context.set_max_operations(MOST_STEPS)

    def begins_anew(self, loop: Loop, loads: Iterable[Op], stores: Iterable[Op]) -> bool:
        """Whether every load reads only what stores of the same iteration of the loop, which is around all of them,
        wrote before."""
        stores = list(stores)
        return all(self._covered(loop, load, stores) for load in loads)

    def _covered(self, loop: Loop, load: Op, stores: list[Op]) -> bool:
        together: dict[tuple[Loop, ...], list[Op]] = {}
        for store in stores:
            common = tuple(a for a, b in zip(self.tree.around(load), self.tree.around(store)) if a is b)
            if loop in common and self._precedes(common[-1], store, load):
                together.setdefault(common, []).append(store)
        return any(self._covers(set(common), load, group) for common, group in together.items())

    def _precedes(self, innermost: Loop, store: Op, load: Op) -> bool:
        """Whether, within one iteration of the innermost loop around both, all of the store comes before all of the
        load."""
        order = {op: k for k, op in enumerate(innermost.body.ops)}
        first, second = (order[self._inside(innermost, op)] for op in (store, load))
        return first < second

    def _inside(self, loop: Loop, op: Op) -> Op:
        """The operation of the loop's body that is or holds ``op``."""
        around = self.tree.around(op)
        inner = around[around.index(loop) + 1 :]
        return inner[0].op if inner else op

    def _covers(self, shared: set[Loop], load: Op, stores: list[Op]) -> bool:
        sides = [self._written(shared, store) for store in stores]
        written = [side for side in sides if side is not None]
        if not written:
            return False
        read = self._read(shared, load)
        names = sorted(read.shared.union(*(side.shared for side in written)))
        try:
            left = isl.Set.read_from_str(self.context, read.text(names))
            right = [isl.Set.read_from_str(self.context, side.text(names)) for side in written]
            union = right[0]
            for one in right[1:]:
                union = union.union(one)
            return left.is_subset(union)
        except isl.Error:  # too hard
            return False
        finally:
            self.context.reset_operations()

    def _read(self, shared: set[Loop], load: Op) -> "_Bytes":
        """All that the load might read: no index leaves its array."""
        found = _Bytes(self, shared, load)
        memory = self.forms.memory(load)
        if memory.length is not None:
            found.terms.append(f"0 <= a < {memory.length * memory.element.bytes}")
        for condition in self.domains.of(load):
            facts = [f"{found.sum(form)} >= 0" for form in condition.forms]
            if facts and condition.unless_first is not None:
                facts = [f"({found.name(condition.unless_first)} = 0 or ({' and '.join(facts)}))"]
            found.terms += facts
        return found

    def _written(self, shared: set[Loop], store: Op) -> "_Bytes | None":
        """What the store writes for certain; None where nothing is."""
        found = _Bytes(self, shared, store)
        if constant(predicate(store)) != 1:
            return None
        for loop in self.tree.around(store):
            if loop in shared:
                continue
            limits = self._trips(loop)
            if limits is None:
                return None
            enabled, again = limits
            found.terms += [f"{found.sum(form)} >= 0" for form in enabled]
            # the comparison at the end of the iteration before; it held in all before that, as it only gets less
            before = [f"{found.sum(form + Affine(-form.terms.get(loop, 0)))} >= 0" for form in again]
            found.terms += [f"{found.name(loop)} >= 0", f"({found.name(loop)} = 0 or ({' and '.join(before)}))"]
        unknown = any(isinstance(one, Symbol) for one in found.own)
        return None if unknown else found

    def _trips(self, loop: Loop) -> tuple[list[Affine], list[Affine]] | None:
        """(when the loop is entered, when it goes on), exactly, as sums that are not negative; None where that is not
        known."""
        enabled, again = self._exactly(loop.op.operands[0]), self._exactly(loop.again)
        if enabled is None or not again:
            return None
        falling = all(
            form.terms.get(loop, 0) <= 0 and not any(self._changes(s.value, loop) for s in form.symbols())
            for form in again
        )
        return (enabled, again) if falling else None

    def _changes(self, value: Value, loop: Loop) -> bool:
        home = self.tree.changing(value)
        return home is not None and loop in home.path

    def _exactly(self, condition: Value) -> list[Affine] | None:
        """Sums that are not negative exactly when the condition is true; None where there are none."""
        if constant(condition) is not None:
            return [] if constant(condition) == 1 else None
        if (
            condition.type != BOOL
            or condition.op is None
            or condition.op.opcode not in ("slt", "sle", "ult", "ule", "eq")
        ):
            return None
        return list(self.domains.facts(condition))


@dataclass
class _Bytes:
    """The bytes that an access touches, as text for isl; ``own`` unknowns are its own, ``shared`` are names of those of
    both."""

    coverage: MustDefine
    common: set[Loop]
    access: Op
    terms: list[str] = field(default_factory=list)
    names: dict = field(default_factory=dict)
    own: set = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    limits: list[str] = field(default_factory=list)

    def __post_init__(self):
        place, size = self.sum(self.coverage.forms.offset(self.access)), moved_type(self.access).bytes
        self.terms.append(f"{place} <= a < {place} + {size}")

    def name(self, unknown: Loop | Symbol) -> str:
        if unknown not in self.names:
            if self._is_shared(unknown):
                self.names[unknown] = (
                    f"p{id(unknown)}" if isinstance(unknown, Loop) else f"p{id(unknown.value)}_{int(unknown.signed)}"
                )
                self.shared.add(self.names[unknown])
            else:
                self.names[unknown] = f"x{len(self.names)}"
                self.own.add(unknown)
            if isinstance(unknown, Symbol):
                value = self.names[unknown]
                if unknown.wraps is not None:
                    value = f"{1 << unknown.value.type.bits}*{value} + {self.sum(unknown.wraps)}"
                self.limits.append(f"{unknown.low} <= {value} <= {unknown.high}")
        return self.names[unknown]

    def _is_shared(self, unknown: Loop | Symbol) -> bool:
        """Whether it is the same for both accesses. How often something wraps is nothing that two accesses share."""
        if isinstance(unknown, Loop):
            return unknown in self.common
        home = self.coverage.tree.changing(unknown.value)
        return unknown.wraps is None and (home is None or home in self.common)

    def sum(self, form: Affine) -> str:
        return " + ".join(
            [str(form.const), *(f"{factor}*{self.name(unknown)}" for unknown, factor in form.terms.items())]
        )

    def text(self, parameters: list[str]) -> str:
        """The set of bytes, by the values of the parameters."""
        inner = [name for name in self.names.values() if name not in self.shared]
        unknowns = f"exists {', '.join(inner)} : " if inner else ""
        return f"[{', '.join(parameters)}] -> {{ [a] : {unknowns}{' and '.join([*self.terms, *self.limits])} }}"
