"""Must-define analysis for privatization: whether each location that an iteration of a loop reads was written earlier
in the same iteration, so that no contents of an array are live into the next.

A store counts for the bytes it certainly writes: its predicate is always true, and each loop around it that does not
contain the load has the exact trip count given by its comparisons of a counter, all of which hold. The load counts for
all bytes it might read. Both are sets of bytes in terms of what the two share: counters of the loops around both, and
values that are equal for both.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import islpy as isl

from ...ir import BOOL, Op, Value, moved_type, predicate
from ...ir.rewrite import constant
from ..affine.affine import Affine, AffineForms, Symbol
from ..affine.iteration_domain import Domains
from ..loops.loop_tree import Loop

__all__ = ["MustDefine"]

#: steps after which isl gives up on a query; the answer is then no
MOST_STEPS = 200_000


class MustDefine:
    """Tests accesses of a flat kernel; ``forms`` are its offsets."""

    def __init__(self, forms: AffineForms) -> None:
        self.forms, self.tree, self.domains = forms, forms.tree, Domains(forms)
        self.context = isl.Context()
        self.context.set_max_operations(MOST_STEPS)

    def begins_anew(self, loop: Loop, loads: Iterable[Op], stores: Iterable[Op]) -> bool:
        """Whether every load reads only what stores wrote earlier in the same iteration of the loop, which contains all
        of them."""
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
        """Whether, within one iteration of the innermost loop around both, the store executes completely before the
        load."""
        order = {op: k for k, op in enumerate(innermost.body.ops)}
        first, second = (order[self._inside(innermost, op)] for op in (store, load))
        return first < second

    def _inside(self, loop: Loop, op: Op) -> Op:
        """The operation of the loop's body that is or contains ``op``."""
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
        except isl.Error:  # gave up
            return False
        finally:
            self.context.reset_operations()

    def _read(self, shared: set[Loop], load: Op) -> "_Bytes":
        """All bytes that the load might read; no index leaves its array."""
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
        """The bytes that the store certainly writes; None if there are none."""
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
            # the comparison at the end of the previous iteration; it held in all earlier ones, as the form only
            # decreases
            before = [f"{found.sum(form + Affine(-form.terms.get(loop, 0)))} >= 0" for form in again]
            found.terms += [f"{found.name(loop)} >= 0", f"({found.name(loop)} = 0 or ({' and '.join(before)}))"]
        unknown = any(isinstance(one, Symbol) for one in found.own)
        return None if unknown else found

    def _trips(self, loop: Loop) -> tuple[list[Affine], list[Affine]] | None:
        """(enable condition, continue condition), exactly, as non-negative affine forms; None if unknown."""
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
        """Affine forms that are non-negative exactly if the condition is true; None if there are none."""
        if constant(condition) is not None:
            return [] if constant(condition) == 1 else None
        if condition.op is None or condition.type != BOOL:
            return None
        if condition.op.opcode == "and":
            parts = [self._exactly(part) for part in condition.op.operands]
            return [form for part in parts for form in part or ()] if all(part is not None for part in parts) else None
        if condition.op.opcode not in ("slt", "sle", "ult", "ule", "eq"):
            return None
        return list(self.domains.facts(condition))


@dataclass
class _Bytes:
    """The bytes that an access touches, as text for isl; ``own`` are unknowns of this access alone, ``shared`` the
    names of those common to both."""

    coverage: MustDefine
    common: set[Loop]
    access: Op
    terms: list[str] = field(default_factory=list)
    names: dict[Any, Any] = field(default_factory=dict)
    own: set[Any] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    limits: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
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
        """Whether it is equal for both accesses. Unknowns that count wrapping are never shared."""
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
