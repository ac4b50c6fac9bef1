"""Dependence by enumeration: the offsets of accesses in every iteration of a closed loop nest, found by executing it.

Indices of FFTs, sorting networks or interleavers are not affine, but depend only on counters with constant bounds, and
on work-item ids, of which there are finitely many: the operations that compute them are sliced out of the nest, emitted
as Python, and executed once (:mod:`hls.analysis.dependence.address_slice`). Terms that are common to all of them, and
invariant in the nest, are left out.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from math import gcd, prod
from typing import Any

from ...ir import Op, Value, moved_type
from ...narrow import present
from ..affine.affine import Affine, AffineForms, Symbol, WrappedSum
from ..loops.loop_tree import Loop
from .address_slice import Exhausted, PythonEmitter, Row, Slice, value_of

__all__ = ["AddressTraces"]

#: most operations executed for one kernel, a million takes about half a second; and iterations above which a nest is
#: not tried
MOST_STEPS, MOST_ITERATIONS = 2_000_000, 1 << 16
#: most values of a work-item's id that are enumerated: the largest group size
MOST_IDS = 1 << 10

#: the iterations of the loops of a nest, outermost first, and the byte offset there, for all of them
Trace = list[tuple[tuple[int, ...], int]]


class AddressTraces:
    """Computes the distance of iterations that access the same bytes, for accesses to one memory."""

    def __init__(self, forms: AffineForms) -> None:
        self.forms, self.tree, self.left = forms, forms.tree, MOST_STEPS
        self._offsets: dict[Op, Affine | None] = {}
        self._traces: dict[tuple[Loop, Op], Trace | None] = {}

    def least(self, src: Op, dst: Op, loop: Loop | None, same: int, distance: int) -> int | None:
        """The least distance, ``distance`` or more, at which ``dst`` touches what ``src`` did: in iterations of
        ``loop``, with the ``same`` loops outside of it at one iteration; 0 for one iteration of all ``same`` loops
        (``loop`` is None). None if they never conflict; ``distance`` if it cannot be determined."""
        if self._offset(src) is None or self._offset(dst) is None:
            return distance
        if loop is None and self._apart(src, dst):
            return None
        common = self.tree.around(src)
        for depth, top in enumerate(common[: same + (loop is not None)]):
            if top not in self.tree.around(dst):
                break
            if self._outside(top, src) != self._outside(top, dst):
                continue
            first, second = self._trace(top, src), self._trace(top, dst)
            if first is not None and second is not None:
                self.left -= len(first) + len(second)
                return (
                    distance
                    if self.left < 0
                    else _least(
                        first,
                        moved_type(src).bytes,
                        second,
                        moved_type(dst).bytes,
                        same - depth,
                        loop is not None,
                        distance,
                    )
                )
        return distance

    def together(self, accesses: list[Op], modulus: int) -> dict[Op, tuple[int, ...]]:
        """The byte offset of each of the accesses of one region modulo ``modulus``, a power of two, in each combination
        that can occur in an iteration of the loops around them, all in one order; -1 if an access does not execute
        then. Empty if it cannot be determined. Ids of work-items take all their values, in all combinations."""
        if any(self._offset(op) is None for op in accesses):
            return {}
        rows = self._rows({op: _without(present(self._offset(op)), modulus) for op in accesses})
        if not rows:
            return {}
        ways = sorted({tuple(-1 if offset is None else offset % modulus for offset in offsets) for _, offsets in rows})
        return dict(zip(accesses, zip(*ways, strict=True), strict=True))

    def _apart(self, one: Op, other: Op) -> bool:
        """Whether two accesses of one region are known never to touch the same bytes in one iteration."""
        if self.tree.region_of(one) is not self.tree.region_of(other):
            return False
        first, second = present(self._offset(one)), present(self._offset(other))
        both = Affine(
            0, {unknown: factor for unknown, factor in first.terms.items() if second.terms.get(unknown) == factor}
        )
        first, second = first - both, second - both
        if all(
            isinstance(unknown, Loop) or self._ids(value_of(unknown)) is not None
            for form in (first, second)
            for unknown in form.terms
        ):
            return False  # affine in counters and ids: handled without enumeration
        rows = self._rows({one: first, other: second})
        return (
            rows is not None
            and bool(rows)
            and not any(
                a is not None and b is not None and a < b + moved_type(other).bytes and b < a + moved_type(one).bytes
                for _, (a, b) in rows
            )
        )

    def _rows(self, forms: dict[Op, Affine]) -> list[Row] | None:
        """The offsets of accesses of one region in all its executions; None if they cannot be determined."""
        for top in self.tree.around(next(iter(forms))):
            rows = self._run(Slice(self.tree, top, forms, self._ids)) if self.left > 0 else None
            if rows is not None:
                return rows
        return None

    def _ids(self, value: Value) -> range | None:
        """The possible values of a work-item's id, or of another value that differs by work-item; None if there are too
        many, or it is no such value."""
        loop = self.tree.holder(value)
        if loop is None or not loop.parallel:
            return None
        least, most = self.forms.bounds(self.forms.exact(value, False))
        return range(least, most + 1) if most - least < MOST_IDS else None

    def _offset(self, access: Op) -> Affine | None:
        """The access's offset in terms of values alone, without unknowns that count wrapping; None if that is
        impossible."""
        if access not in self._offsets:
            form: Affine | None = self.forms.offset(access)
            while form is not None and (
                counts := [
                    unknown for unknown in form.terms if isinstance(unknown, Symbol) and unknown.wraps is not None
                ]
            ):
                form = form.unwrapped(counts[0])
            self._offsets[access] = form
        return self._offsets[access]

    def _outside(self, top: Loop, access: Op) -> dict[Any, Any]:
        """The terms of an offset that are invariant in ``top``, with their factors."""
        return {
            unknown: factor
            for unknown, factor in present(self._offset(access)).terms.items()
            if not self._changes(top, unknown)
        }

    def _changes(self, top: Loop, unknown: Loop | Symbol | WrappedSum) -> bool:
        loop = unknown if isinstance(unknown, Loop) else self.tree.changing(value_of(unknown))
        return loop is not None and top in loop.path

    def _trace(self, top: Loop, access: Op) -> Trace | None:
        key = top, access
        if key not in self._traces:
            form = present(self._offset(access))
            inside = Affine(
                form.const, {unknown: factor for unknown, factor in form.terms.items() if self._changes(top, unknown)}
            )
            rows = self._run(Slice(self.tree, top, {access: inside})) if self.left > 0 else None
            self._traces[key] = (
                None if rows is None else [(iterations, present(offset)) for iterations, (offset,) in rows]
            )
        return self._traces[key]

    def _run(self, part: Slice) -> list[Row] | None:
        if (
            not part.closed
            or prod(loop.most_trips or 1 for loop in part.path) * prod(map(len, part.free.values())) > MOST_ITERATIONS
        ):
            return None
        try:
            rows, self.left = PythonEmitter(part).run(self.left)
        except Exhausted:
            self.left = 0
            return None
        return rows


def _without(form: Affine, modulus: int) -> Affine:
    """The form without terms that vanish modulo a number."""
    return Affine(form.const, {unknown: factor for unknown, factor in form.terms.items() if factor % modulus})


def _least(
    first: Trace, bytes: int, second: Trace, other_bytes: int, same: int, carried: bool, distance: int
) -> int | None:
    unit = gcd(bytes, other_bytes, *(offset for _, offset in first), *(offset for _, offset in second))
    touched: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for outer, here, place in _places(first, bytes // unit, unit, same, carried):
        touched[outer, place].append(here)  # in ascending order, as the nest is executed
    found: int | None = None
    for outer, here, place in _places(second, other_bytes // unit, unit, same, carried):
        before = touched.get((outer, place))
        if before:
            k = bisect_left(before, here - distance + 1)
            if k and (found is None or here - before[k - 1] < found):
                found = here - before[k - 1]
    return found


def _places(
    trace: Trace, units: int, unit: int, same: int, carried: bool
) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """(the outer loops' iterations, the loop's own or 0, an address) for every access."""
    for iterations, offset in trace:
        here = iterations[same] if carried else 0
        for place in range(offset // unit, offset // unit + units):
            yield iterations[:same], here, place
