"""Polyhedral distance queries for isl: at which distance do two accesses touch the same byte?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import Protocol

import islpy as isl

from ...ir import Op, moved_type
from ..affine.affine import Affine, AffineForms, Symbol
from ..affine.delinearize import InRow
from ..affine.iteration_domain import Condition, Domains
from ..induction.periodic import PeriodicSequence
from ..loops.loop_tree import Loop, LoopTree

__all__ = ["Count", "DistanceQuery", "Lanes", "Outline", "least_of", "size_of"]


#: the iteration counter of a loop, for "src" or for "dst"
Count = tuple[Loop, str]


def size_of(access: Op) -> int:
    """Bytes from the first to the last one that the access may touch."""
    return moved_type(access).bytes


@dataclass(frozen=True)
class Lanes:
    """Bytes ``low`` to ``high`` - 1 of an access, touched only if all of ``forms`` are at least 0."""

    low: int
    high: int
    forms: tuple[Affine, ...]


class Asker(Protocol):
    """The facts about accesses and loops of a function that a query needs."""

    forms: AffineForms
    tree: LoopTree
    domains: Domains
    witness: dict[object, int]  #: numbers of free unknowns at the conflicts that were found last by trial

    def lanes_of(self, access: Op) -> tuple[Lanes, ...]:
        """The bytes that a masked access touches, and under which conditions; empty for accesses without a mask."""


class Outline:
    """Everything that a :class:`DistanceQuery` uses of one of its accesses, except the constant part of its offset.
    Unknowns of the ``same`` outermost loops, which both accesses share, stand for themselves; others are numbered, each
    with the facts about it."""

    def __init__(self, tester: Asker, access: Op, loop: Loop | None, same: int) -> None:
        self.tree, self.shared = tester.tree, set(tester.tree.around(access)[:same])
        self.numbers: dict = {}
        offset = tester.forms.offset(access)
        self.whole = (
            self._form(Affine(0, offset.terms)),
            size_of(access),
            None if loop is None else self._number(loop),
            tuple(
                (
                    tuple(map(self._form, condition.forms)),
                    condition.unless_first and self._number(condition.unless_first),
                )
                for condition in tester.domains.of(access)
            ),
            tuple((lanes.low, lanes.high, tuple(map(self._form, lanes.forms))) for lanes in tester.lanes_of(access)),
        )

    def _form(self, form: Affine) -> tuple:
        return form.const, *((self._number(unknown), factor) for unknown, factor in form.terms.items())

    def _number(self, unknown) -> tuple:
        home = unknown if isinstance(unknown, Loop) else self.tree.changing(unknown.value)
        is_shared = home is None or home in self.shared
        if unknown in self.numbers:
            return unknown if is_shared else self.numbers[unknown], ()
        number = self.numbers[unknown] = len(self.numbers)
        return unknown if is_shared else number, self._known(unknown)

    def _known(self, unknown) -> tuple:
        if isinstance(unknown, Loop):
            return ("loop",)
        wraps = unknown.wraps and (unknown.value.type.bits, self._form(unknown.wraps))
        course = unknown.course and (unknown.course.const, unknown.course.digits, self._number(unknown.course.loop))
        quotient = unknown.quotient and (
            unknown.quotient[0].divisor,
            unknown.quotient[0].to_zero,
            self._form(unknown.quotient[1]),
        )
        pace = unknown.pace and (self._form(unknown.pace[0]), self._number(unknown.pace[1]), *unknown.pace[2:])
        return unknown.low, unknown.high, wraps, course, quotient, pace


class DistanceQuery:
    """At which distance do two accesses conflict? The outermost ``same`` loops are at one iteration for both."""

    def __init__(
        self, tester: Asker, src: Op, dst: Op, loop: Loop | None, same: int, rows: tuple[InRow, InRow] | None = None
    ) -> None:
        self.tester, self.src, self.dst, self.loop, self.rows = tester, src, dst, loop, rows
        self.shared = set(tester.tree.around(src)[:same])
        self.names: dict = {}  #: of unknowns that both share, and of (unknown, side)
        self.limits: dict[str, str] = {}  #: constraints on each name
        self.distance = self._between(
            *(rows[k].column if rows else tester.forms.offset(op) for k, op in enumerate((src, dst)))
        )
        self.row_distance = self._between(rows[0].row, rows[1].row) if rows else {}

    def _between(self, src: Affine, dst: Affine) -> dict:
        """dst - src as factors of names; the constant has the name 1."""
        total = self._named(dst, "dst")
        for name, factor in self._named(src, "src").items():
            total[name] = total.get(name, 0) - factor
        return {name: factor for name, factor in total.items() if factor or name == 1}

    def _named(self, form: Affine, side: str) -> dict:
        return {1: form.const} | {self._name(unknown, side): factor for unknown, factor in form.terms.items()}

    def _name(self, unknown, side: str) -> str:
        home = unknown if isinstance(unknown, Loop) else self.tester.tree.changing(unknown.value)
        key = unknown if home is None or home in self.shared else (unknown, side)
        if key not in self.names:
            self.names[key] = name = f"x{len(self.names)}"
            if isinstance(unknown, Symbol):
                self.limits[name] = f"{unknown.low} <= {self._value(unknown, name, side)} <= {unknown.high}"
                if unknown.course is not None:
                    self.limits[name] = f"{name} = {_at(unknown.course, self._name(unknown.course.loop, side))}"
                elif unknown.quotient is not None:
                    found, dividend = unknown.quotient
                    self.limits[name] += f" and {found.text(name, _sum(self._named(dividend, side)))}"
                elif unknown.pace is not None:
                    first, loop, low, high = unknown.pace
                    count, begin = self._name(loop, side), _sum(self._named(first, side))
                    self.limits[name] += f" and {low}*{count} <= {name} - ({begin}) <= {high}*{count} and {count} >= 0"
        return self.names[key]

    def _value(self, symbol: Symbol, name: str, side: str) -> str:
        if symbol.wraps is None:
            return name
        return f"{1 << symbol.value.type.bits}*{name} + {_sum(self._named(symbol.wraps, side))}"

    @property
    def known(self) -> bool:
        """Whether the offsets contain, besides iteration counters, only values that both share. (To be read before
        `text`.)"""
        return not any(
            isinstance(key, tuple) and isinstance(key[0], Symbol) and key[0].wraps is None and key[0].course is None
            for key in self.names
        )

    @property
    def apart(self) -> bool:
        """Whether divisibility alone excludes a conflict, whatever the unknowns are."""
        step = gcd(*(factor for name, factor in self.distance.items() if name != 1))
        low, high = 1 - size_of(self.dst), size_of(self.src) - 1  # of dst - src in a conflict
        least = self.distance[1] - high
        # is there a multiple of step in [-high + const, -low + const]?
        most = self.distance[1] - low
        return not (least <= 0 <= most) if step == 0 else most // step * step < least

    @property
    def text(self) -> str:
        """The query for isl: the set of distances d."""
        return self.text_where(())

    def text_where(self, earlier: Iterable[tuple[Count, Count]]) -> str:
        """The query for isl: the set of distances d at which, of each pair of counters, the first one is less."""
        terms = self._conflict()
        terms += [f"{self._name(*one)} < {self._name(*other)}" for one, other in earlier]
        if self.loop is None:
            terms.append("d = 0")
        else:
            terms += [f"d = {self._name(self.loop, 'dst')} - {self._name(self.loop, 'src')}", "d >= 1"]
        return self._set([*terms, *self.limits.values()])

    def apart_by(self, weights: Mapping[Loop, int]) -> str:
        """The query for isl: the set of differences d between the iteration counters of ``dst`` and ``src``, summed
        with a weight for each loop, over all conflicts from one iteration of the query's loop to a later one."""
        terms = self._conflict()
        difference = [
            f"{weight}*({self._name(loop, 'dst')} - {self._name(loop, 'src')})" for loop, weight in weights.items()
        ]
        terms += [
            f"d = {' + '.join(difference)}",
            f"{self._name(self.loop, 'dst')} - {self._name(self.loop, 'src')} >= 1",
        ]
        return self._set([*terms, *self.limits.values()])

    def _conflict(self) -> list[str]:
        """The constraints under which both accesses execute and touch one byte."""
        terms = [self._meeting()]
        if self.row_distance:
            terms.append(f"{_sum(self.row_distance)} = 0")
        for side, access in (("src", self.src), ("dst", self.dst)):
            terms += [c for condition in self.tester.domains.of(access) for c in self._condition(condition, side)]
        return terms

    def _meeting(self) -> str:
        """The constraint that the accesses have a byte in common."""
        if not any(map(self.tester.lanes_of, (self.src, self.dst))):
            return f"{1 - size_of(self.dst)} <= {_sum(self.distance)} <= {size_of(self.src) - 1}"
        return f"{_sum(self.distance)} + {self._byte('dst')} - {self._byte('src')} = 0"

    def _byte(self, side: str) -> str:
        """The name of some byte that the access touches, counted from its first one."""
        access = self.src if side == "src" else self.dst
        name = self.names[("byte", side)] = f"b_{side}"
        lanes = self.tester.lanes_of(access) or (Lanes(0, size_of(access), ()),)
        each = (
            " and ".join(
                [f"{one.low} <= {name} < {one.high}", *(f"{_sum(self._named(form, side))} >= 0" for form in one.forms)]
            )
            for one in lanes
        )
        self.limits[name] = f"({' or '.join(f'({one})' for one in each)})"
        return name

    def outside(self, place: InRow) -> str:
        """The query whether the access, which is source and destination, ever leaves its row: a set, empty if not."""
        left, right = place.column, place.pitch - place.column - Affine(1)
        byte = self._byte("dst")
        terms = [
            f"({_sum(self._named(left, 'dst'))} + {byte} < 0 or {_sum(self._named(right, 'dst'))} - {byte} < 0)",
            "d = 0",
        ]
        terms += [c for condition in self.tester.domains.of(self.dst) for c in self._condition(condition, "dst")]
        return self._set([*terms, *self.limits.values()])

    def _set(self, terms: list[str]) -> str:
        unknowns = f"exists {', '.join(self.names.values())} : " if self.names else ""
        return f"{{ [d] : {unknowns}{' and '.join(dict.fromkeys(terms))} }}"

    def _condition(self, condition: Condition, side: str) -> list[str]:
        facts = [f"{_sum(self._named(form, side))} >= 0" for form in condition.forms]
        if condition.unless_first is None or not facts:
            return facts
        return [f"({self._name(condition.unless_first, side)} = 0 or ({' and '.join(facts)}))"]


def least_of(found: isl.Set, bound: int) -> int | None:
    """The least element of a set of numbers of at least ``bound``. Most sets contain the bound itself, and testing one
    point is many times faster than computing the least element."""
    if not found.fix_val(isl.dim_type.set, 0, isl.Val.int_from_si(found.get_ctx(), bound)).is_empty():
        return bound
    return None if found.is_empty() else found.dim_min_val(0).to_python()


def _at(course: PeriodicSequence, count: str) -> str:
    """The value of a periodic sequence at the iteration counter of this name."""
    return " + ".join(
        [str(course.const), *(f"{d.factor}*(floor({count}/{d.divide}) mod {d.modulus})" for d in course.digits)]
    )


def _sum(terms: dict) -> str:
    return " + ".join(str(factor) if name == 1 else f"{factor}*{name}" for name, factor in terms.items())
