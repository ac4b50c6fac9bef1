"""A carried window of loaded elements: those at an index and ahead of it."""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ...ir import BOOL, Attr, Builder, Function, IntType, Op, Region, Type, Value, uses
from ...ir.accesses import PREDICATES
from ...ir.clone import clone_ops
from ...ir.loops import CarriedValue, add_carried
from ...ir.storage import zero
from ...narrow import instance
from ..memory.masked_values import MaskedValues
from .step_tree import Choice, Steps, leaves
from .stepping_index import SteppingIndex
from .streams import Streams

__all__ = ["CarriedElement", "ElementWindow", "load_early"]


#: a load at the index, with the parts of its condition that are the same in all iterations, and with the others
_Parted = tuple[Op, list[Value], list[Value]]


def load_early(function: Function, indices: list[SteppingIndex]) -> None:
    """Let the loads at the indices wait for nothing else, in place: loads of one address become one, which is made
    early, under those parts of their conditions that are the same in all iterations. Where a load was off by the other
    parts, 0 replaces the value if anything depends on it. Where the program makes a load, a ``check`` has the bit that
    says whether it failed, which can be carried like what is loaded."""
    masked = MaskedValues()
    values: dict[Value, Value] = {}
    for each in indices:
        (body,) = each.loop.regions
        groups: dict[tuple[Value, Type], list[_Parted]] = {}
        for parted in each.loads():
            load = parted[0]
            groups.setdefault((load.operands[0], load.result.type), []).append(parted)
        for group in groups.values():
            values |= _one_load(body, group, masked)
    masked.resolve(function.body, values)


def _one_load(body: Region, group: list[_Parted], masked: MaskedValues) -> dict[Value, Value]:
    """One early load for those of a group, and what replaces each of them."""
    first = group[0][0]
    common = [part for part in group[0][1] if all(part in fixed for _, fixed, _ in group)]
    b = Builder(Region(), first.span)
    loaded = b.value(
        "load",
        first.operands[0],
        _all_of(common, b),
        result=first.result.type,
        attrs={**first.attrs, Attr.EARLY: True},
        name=first.result.name,
    )
    failed = b.value("failed", loaded)
    body.ops[(at := body.ops.index(first)) : at] = b.region.ops
    values = {}
    for load, fixed, others in group:
        b = Builder(Region(), load.span)
        on = _all_of([part for part in fixed if part not in common] + others, b)
        b.op("check", failed, on)
        values[load.result] = masked.under(on, loaded, b)
        at = body.ops.index(load)
        body.ops[at : at + 1] = b.region.ops
    return values


def _all_of(conditions: list[Value], b: Builder) -> Value:
    """Their conjunction."""
    return functools.reduce(lambda one, other: b.value("and", one, other), conditions) if conditions else b.true()


@dataclass(eq=False)
class ElementWindow:
    """What a loop carries for an index: the known values that others use (``taken``), and those that may be next.

    With i(t) the index of iteration t, and f(i) a taken value: the loop carries f(i(t)), and f at some places from the
    index of ``late`` iterations ago, i(t - late). Further places are loaded, at addresses that have been known for so
    long. The next value is that at i(t - late) + d(t) + s(t): d(t), the sum of the last steps, is carried and chooses
    among the places while the step s(t) is computed. Distances are counted in the direction of the index, in units of
    ``unit``. The loads of further places are loads of ``streams``, if there are any.

    With ``ahead``, f is carried at all indices that the next iteration can have as well: what an iteration chooses
    from is in registers then. All places are by the longest step further ahead.
    """

    index: SteppingIndex
    late: int
    streams: Streams | None = None
    ahead: bool = False

    @cached_property
    def taken(self) -> list[Value]:
        """The values that depend on a load at the index and are used by what is not known with the index."""
        users = uses(self.index.loop.regions[0])
        known = self.index.known
        ends = (value for value in known if value in self.index.loaded)
        return [v for v in ends if any(not op.results or op.results[0] not in known for op, _ in users.get(v, ()))]

    @cached_property
    def parts(self) -> list[Op]:
        """The operations that compute the taken values from the index."""
        needed, found = set(self.taken), []
        for value, op in reversed(self.index.known.items()):
            if value in needed:
                found.append(op)
                needed.update(op.operands)
        return found[::-1]

    @cached_property
    def lengths(self) -> frozenset[int]:
        """The steps."""
        return frozenset(leaves(self.index.steps))

    @cached_property
    def unit(self) -> int:
        """The greatest distance of which all steps are multiples; negative if the index falls."""
        return math.gcd(*self.lengths) * (1 if max(self.lengths) > 0 else -1)

    @cached_property
    def least(self) -> int:
        """The shortest step."""
        return min(step // self.unit for step in self.lengths)

    @cached_property
    def most(self) -> int:
        """The longest step."""
        return max(step // self.unit for step in self.lengths)

    @property
    def sums(self) -> range:
        """Of ``late`` steps."""
        return range(self.late * self.least, self.late * self.most + 1)

    @property
    def offsets(self) -> range:
        """The distances from the index at which the taken values are carried."""
        return range(self.most + 1 if self.ahead else 1)

    @property
    def carried(self) -> range:
        """The places from the earlier index that are carried."""
        return range((self.late + 1) * self.least, self.sums.stop + self.offsets[-1]) if self.late else range(0)

    @property
    def loaded(self) -> range:
        """The places from the earlier index that are loaded."""
        end = (self.late + 1) * self.most + self.offsets[-1] + 1
        return range(max(self.sums.stop + self.offsets[-1], (self.late + 1) * self.least), end)

    @property
    def size(self) -> int:
        """Operations that compute values of all places, before the loop and in it; ahead, that compute them or move
        them on."""
        if self.ahead:
            return len(self.parts) * (len(self.offsets) + len(self.loaded)) + len(self.taken) * len(self.carried)
        return len(self.parts) * (1 + len(self.carried) + len(self.loaded))

    def build(self, region: Region) -> "dict[Value, CarriedElement]":
        """Carry the window through the loop, an operation of ``region``; maps the taken values to what is carried for
        them."""
        return _Building(self, region).build()


@dataclass(frozen=True, eq=False)
class CarriedElement:
    """A taken value as carried: now, and after each of the ``steps`` of its index that are carried, too. What replaces
    the taken value is that after no step; ``first`` are the values before the loop."""

    steps: Steps
    after: Mapping[int, Value]
    first: Mapping[int, Value]

    @property
    def now(self) -> Value:
        """In this iteration."""
        return self.after[0]


class _Building:
    """Builds a window into the loop of its index, an operation of ``region``. Carried are the taken values (``now``)
    and the ``places``; if the window is late, also the ``earlier`` index, the ``sum`` of the steps since, and these
    ``steps``, each less the least one; ahead, also the ``way`` that the earlier index goes next."""

    def __init__(self, window: ElementWindow, region: Region) -> None:
        self.window, self.loop, self.region = window, window.index.loop, region
        (self.body,) = self.loop.regions

    def build(self) -> dict[Value, CarriedElement]:
        """Carry all; maps the taken values to those carried."""
        window = self.window
        self._begin()
        end = self.body.ops.pop()
        b = Builder(self.body, self.loop.span)
        places = {key: one.arg for key, one in self.places.items()}
        places |= {} if window.late else {key: one.arg for key, one in self.now.items()}
        earlier = self.earlier.arg if window.late else window.index.index
        for place in window.loaded:
            places |= {(place, v): value for v, value in self._at(earlier, place, b).items()}
        following = [(one, self._stepped(self._after(*key, places, b), b)) for key, one in self.now.items()]
        following += [(one, self._moved_on(*key, places, b)) for key, one in self.places.items()]
        if window.late:
            following += self._earlier_moved(b)
            following += self._sum_after(b)
            step = self._stepped(lambda step: self._over(step, self.step_type, b), b)
            following += zip(self.steps, [step, *(one.arg for one in self.steps[:-1])], strict=True)
        self.body.ops.append(end)
        for one, value in following:
            one.set_next(value)
        found: dict[Value, CarriedElement] = {}
        for v in window.taken:
            distances = {offset: offset * window.unit for offset in window.offsets}
            after = {step: self.now[offset, v].arg for offset, step in distances.items()}
            first = {step: self.first[offset, v] for offset, step in distances.items()}
            found[v] = CarriedElement(window.index.steps, after, first)
        return found

    def _begin(self) -> None:
        """Add the carried values. At first they are as if all steps before the loop had been the longest one: then the
        places before the last one are behind the index, where the loop never gets, and have any value."""
        window, loop = self.window, self.loop
        before = Region()
        b = Builder(before, loop.span)
        first, on = loop.operands[1 + window.index.index.index], loop.operands[0]
        now = {(offset, v): x for offset in window.offsets for v, x in self._at(first, offset, b, on).items()}
        last = window.sums.stop - 1
        places = {
            (place, v): now[place - last, v] if place >= last else b.const(zero(v.type), v.type)
            for place in window.carried
            for v in window.taken
        }
        earlier = self._moved(first, -window.late * window.most, b)
        step = self._over(window.most, self.step_type, b)
        sum = b.const(len(window.sums) - 1, self.sum_type)
        self.first = now
        self.now = {(offset, v): add_carried(loop, x, v.name) for (offset, v), x in now.items()}
        self.places = {key: add_carried(loop, x, key[1].name) for key, x in places.items()}
        if window.late:
            name = window.index.index.name  # of all of them: reports know them as the variable that they stand for
            self.earlier = add_carried(loop, earlier, name)
            if window.ahead:
                self.way = add_carried(loop, self._way(window.most, b), name)
                bits = [b.const(k == len(window.sums) - 1, BOOL) for k in range(len(window.sums))]
                self.sums = [add_carried(loop, bit, name) for bit in bits]
            self.sum = add_carried(loop, sum, name)
            self.steps = [add_carried(loop, step, name) for _ in range(window.late)]
        at = self.region.ops.index(loop)
        self.region.ops[at:at] = before.ops

    @property
    def step_type(self) -> IntType:
        """Of a step, less the least one."""
        return IntType(max(1, (self.window.most - self.window.least).bit_length()))

    @property
    def sum_type(self) -> IntType:
        """Of the sum of all steps of the window."""
        return IntType(max(1, (len(self.window.sums) - 1).bit_length()))

    def _earlier_moved(self, b: Builder) -> list[tuple[CarriedValue, Value]]:
        """What follows the earlier index. Ahead, it has to be one sum in an iteration: what the index moves on by is
        selected in the iteration before, and carried."""
        window, earlier = self.window, self.earlier
        if not window.ahead:
            return [(earlier, self._mux_of_steps(lambda step: self._moved(earlier.arg, step, b), b))]
        moves = b.value("zext", self.way.arg, result=earlier.arg.type)
        moved = b.value("add" if window.unit > 0 else "sub", earlier.arg, moves)
        steps = range(window.least, window.most + 1)
        if window.late == 1:
            way = self._stepped(lambda step: self._way(step, b), b)
        else:
            way = _mux(self.steps[-2].arg, [self._way(step, b) for step in steps], b)
        return [(earlier, moved), (self.way, way)]

    def _way(self, step: int, b: Builder) -> Value:
        """By how much a step moves the index, without its sign."""
        unit = abs(self.window.unit)
        return b.const(step * unit, IntType((self.window.most * unit).bit_length()))

    def _moved(self, index: Value, distance: int, b: Builder) -> Value:
        moved = distance * self.window.unit
        return b.value("add", index, b.const(moved, index.type)) if moved else index

    def _at(self, index: Value, distance: int, b: Builder, on: Value | None = None) -> dict[Value, Value]:
        """The taken values at a distance from an index, loaded where ``on`` is true."""
        window = self.window
        copies = {window.index.index: self._moved(index, distance, b)}
        for part, op in zip(window.parts, clone_ops(window.parts, copies), strict=True):
            if on is not None and op.opcode == "load":
                at = PREDICATES["load"]
                op.operands[at] = b.value("and", op.operands[at], on)
            elif op.opcode == "load" and window.streams is not None:
                op.attrs[Attr.STEPPING] = window.streams.moved(window.index, part)
            b.region.ops.append(op)
        return {v: copies[v] for v in window.taken}

    def _stepped(self, after: Callable[[int], Value], b: Builder) -> Value:
        """What follows, if ``after`` gives what follows a step: selected like the next index."""
        found = {step: after(step // self.window.unit) for step in self.window.lengths}
        return _selected(self.window.index.steps, found, b)

    def _after(self, offset: int, v: Value, places: "_Places", b: Builder) -> Callable[[int], Value]:
        """Gives the taken value at an offset from the index after a step: one that is carried, or the sum of the steps
        before it chooses the place."""

        def chosen(step: int) -> Value:
            if (self.window.ahead or not self.window.late) and (offset + step, v) in self.now:
                return self.now[offset + step, v].arg
            choices = [places[distance + offset + step, v] for distance in self.window.sums]
            if not self.window.late:
                return choices[0]
            if self.window.ahead:
                return b.value("extract", b.value("array", *choices), self.sum.arg) if len(choices) > 1 else choices[0]
            return _mux(self.sum.arg, choices, b)

        return chosen

    def _moved_on(self, place: int, v: Value, places: "_Places", b: Builder) -> Value:
        """What is at a place when the earlier index has made the step that followed it."""
        return self._mux_of_steps(lambda step: places[place + step, v], b)

    def _mux_of_steps(self, after: Callable[[int], Value], b: Builder) -> Value:
        """What follows, if ``after`` gives what follows the step that the earlier index makes."""
        steps = range(self.window.least, self.window.most + 1)
        return _mux(self.steps[-1].arg, [after(step) for step in steps], b)

    def _over(self, step: int, type: IntType, b: Builder) -> Value:
        return b.const(step - self.window.least, type)

    def _sum_after(self, b: Builder) -> list[tuple[CarriedValue, Value]]:
        """What follows the sum after the next step: the oldest one leaves it. Ahead, a bit for each of its values is
        carried, too, from which it follows without an addition."""
        if not self.window.ahead:
            return [(self.sum, self._stepped(lambda step: self._summed(step, b), b))]
        count = len(self.sums)

        def among(chosen: Sequence[int]) -> Value:
            """Whether the next sum is one of these."""
            return self._stepped(
                lambda step: self._mux_of_steps(
                    lambda old: _any([self.sums[k].arg for each in chosen if 0 <= (k := each - step + old) < count], b),
                    b,
                ),
                b,
            )

        places = range(self.sum_type.bits)
        found = [among([k for k in range(count) if k >> place & 1]) for place in places]
        number = found[0]
        if len(found) > 1:
            moved = [
                b.value("shl", b.value("zext", bit, result=self.sum_type), b.const(place, self.sum_type))
                for place, bit in zip(places, found, strict=True)
            ]
            number = functools.reduce(lambda one, other: b.value("or", one, other), moved)
        return [*((one, among([k])) for k, one in enumerate(self.sums)), (self.sum, number)]

    def _summed(self, step: int, b: Builder) -> Value:
        """The sum after this step, by an addition."""
        return self._mux_of_steps(lambda old: b.value("add", self.sum.arg, b.const(step - old, self.sum_type)), b)


#: values by their place and the taken value that they are like
_Places = dict[tuple[int, Value], Value]


def _selected(steps: Steps, values: Mapping[int, Value], b: Builder) -> Value:
    """The value of the step that is made."""
    if isinstance(steps, Choice):
        one, other = (_selected(each, values, b) for each in (steps.one, steps.other))
        return one if one is other else b.value("select", steps.condition, one, other)
    return values[steps]


def _any(bits: list[Value], b: Builder) -> Value:
    """Whether one of the bits is set, by a balanced tree."""
    while len(bits) > 1:
        pairs = [bits[k : k + 2] for k in range(0, len(bits), 2)]
        bits = [b.value("or", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return bits[0] if bits else b.const(0, BOOL)


def _mux(number: Value, choices: Sequence[Value], b: Builder) -> Value:
    """The choice with this number, by a tree of selects over the bits of the number."""
    type = instance(number.type, IntType)
    for bit in range(type.bits):
        if len(choices) == 1:
            break
        moved = b.value("lshr", number, b.const(bit, type)) if bit else number
        chosen = b.value("trunc", moved, result=BOOL) if type != BOOL else number
        pairs = [choices[k : k + 2] for k in range(0, len(choices), 2)]
        choices = [pair[0] if len(pair) == 1 else b.value("select", chosen, pair[1], pair[0]) for pair in pairs]
    return choices[0]
