"""Scalar promotion: a loop-invariant memory location is kept in a register while the loop runs."""

from dataclasses import dataclass
from typing import Any

from ...analysis.loops.backward_slice import pure_slice
from ...analysis.loops.loop_tree import Loop
from ...analysis.memory.must_alias import MustAlias
from ...ir import (
    BOOL,
    Builder,
    Function,
    Op,
    Region,
    Value,
    is_access,
    loops_inside_out,
    may_share,
    memory_name,
    moved_type,
    walk,
)
from ...ir.accesses import predicate
from ...ir.clone import clone_function, clone_ops
from ...ir.loops import CarriedValue, add_carried
from ...ir.rewrite import constant, resolve
from ...ir.storage import zero
from ..manager import Form, FunctionPass

__all__ = ["ScalarPromotion"]


@dataclass(frozen=True)
class ScalarPromotion(FunctionPass):
    """Scalar promotion (LLVM LICM: promoteLoopAccessesToScalars). Before: a flat kernel without tokens. After: if a
    loop (innermost loops first) accesses a location at an invariant address, and no other store in the loop may write
    it, its value is carried: loaded before the loop at most once, and, if no other load in the loop may read it, stored
    after the loop.

    No load is executed that the program would not execute, and no byte is written that it would not write. With
    ``hazards``, stores stay in a loop whose next invocation loads what they wrote, as run-time address comparison
    covers only accesses of the same loop: all of that invocation would wait for a store after the loop.
    """

    address_bits: int = 64
    hazards: bool = False
    name = "scalar-promotion"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loops carry the values of locations at invariant addresses."""
        result = clone_function(function)
        places: MustAlias | None = None
        for region, loop in list(loops_inside_out(result.body)):
            if any(op.opcode == "store" for op in loop.regions[0].ops):
                places = places or MustAlias(result, self.address_bits)
                groups = _groups(places, places.tree.loops[loop], self.hazards)
                if groups:
                    _Promotion(region, loop, groups).build()
                    resolve(result.body, {old: new for group in groups for old, new in group.values.items()})
                    places = None  # it describes the function without them
        return result


class _Group:
    """The accesses to one location in a loop's body, in order. ``stays`` says whether stores remain in the loop;
    ``address`` are the operations of the body that compute the address."""

    def __init__(self, members: list[Op], stays: bool, address: list[Op]) -> None:
        self.members, self.stays, self.address = members, stays, address
        self.first = members[0]
        self.type = moved_type(self.first)
        self.values: dict[Value, Value] = {}  #: maps each loaded value to its replacement

    @property
    def begins(self) -> bool:
        """Whether the first access certainly executes in the first iteration, so that the value is available from then
        on."""
        return constant(predicate(self.first)) == 1

    @property
    def surely_stored(self) -> bool:
        return any(op.opcode == "store" and constant(predicate(op)) == 1 for op in self.members)


def _groups(places: MustAlias, loop: Loop, hazards: bool) -> list[_Group]:
    if loop.parallel or not places.undisturbed(loop.body):
        return []
    found: dict[tuple[Any, ...], list[Op]] = {}
    for op in loop.body.ops:
        if places.plain(op) and places.fixed(op, loop):
            form = places.form(op)
            key = memory_name(op), frozenset(form.terms.items()), form.const, moved_type(op)
            found.setdefault(key, []).append(op)
    accesses: dict[str, list[Op]] = {}
    for op in walk(loop.body):
        if is_access(op):
            accesses.setdefault(memory_name(op), []).append(op)
    groups = (_group(places, loop, members, accesses, hazards) for members in found.values())
    return [group for group in groups if group is not None]


def _group(
    places: MustAlias, loop: Loop, members: list[Op], accesses: dict[str, list[Op]], hazards: bool
) -> _Group | None:
    """The group, if its location can be kept in a register; ``accesses`` are all of the loop, by memory."""
    stores = [op for op in members if op.opcode == "store"]
    address = _invariant(members[0].operands[0], loop.body)
    if not stores or address is None:
        return None
    stays = False
    own, memories = set(members), places.function.memories
    here = memories[memory_name(members[0])]
    for other in (op for name, ops in accesses.items() if may_share(here, memories[name]) for op in ops):
        if other not in own and any(places.may_meet(op, other, loop) for op in members):
            if other.opcode == "store":
                return None
            stays = True
    group = _Group(members, stays, address)
    may_stay = group.begins and len(stores) < len(members)
    group.stays |= hazards and may_stay and here.space == "global" and _read_next(places, loop, stores)
    return None if stays and not may_stay else group


def _read_next(places: MustAlias, loop: Loop, stores: list[Op]) -> bool:
    """Whether the next iteration of the outer loop loads in this loop what the stores wrote, and no access after the
    loop in the same iteration touches it."""
    around = loop.parent
    if around is None:
        return False
    inside = set(walk(loop.body))
    others = [op for op in walk(around.body) if is_access(op) and op not in inside]
    if any(fact.loop is None for store in stores for op in others for fact in places.between(store, op)):
        return False
    loads = [op for op in loop.body.ops if op.opcode == "load"]
    return any(
        fact.loop is around.op and fact.src is store
        for store in stores
        for load in loads
        for fact in places.between(store, load)
    )


def _invariant(value: Value, body: Region) -> list[Op] | None:
    """Operations of the body, in order, that compute a value from values defined before the loop; None if that is not
    possible."""
    found = pure_slice([value], body.ops)
    if found is None or not {value, *(v for op in found for v in op.operands)}.isdisjoint(body.args):
        return None
    return found


class _Promotion:
    """Rebuilds a loop with the locations of the groups in carried values."""

    def __init__(self, region: Region, loop: Op, groups: list[_Group]) -> None:
        self.region, self.loop, self.groups = region, loop, groups
        (self.body,) = loop.regions

    def build(self) -> None:
        self.before = Builder(Region(), self.loop.span)
        self.behind = Builder(Region(), self.loop.span)
        kept: dict[Op, _Register] = {}
        for group in self.groups:
            register = _Register(self, group)
            kept |= dict.fromkeys(group.members, register)
        ops, self.body.ops = self.body.ops, []
        end = ops.pop()
        for op in ops:
            if op in kept:
                kept[op].access(op, Builder(self.body, op.span))
            else:
                self.body.ops.append(op)
        for register in dict.fromkeys(kept.values()):
            register.store_behind()
        self.body.ops.append(end)
        for register in dict.fromkeys(kept.values()):
            register.set_next()
        at = self.region.ops.index(self.loop)
        self.region.ops[at : at + 1] = [*self.before.region.ops, self.loop, *self.behind.region.ops]

    def carry(self, init: Value, name: str) -> CarriedValue:
        return add_carried(self.loop, init, name, result=Value(init.type, name))


class _Register:
    """The value of one location while its loop runs, and its state: whether the value is available (``has``), whether
    the loop has stored to it (``written``). None stands for a condition that is certain."""

    def __init__(self, promotion: _Promotion, group: _Group) -> None:
        self.group, self.promotion = group, promotion
        b = promotion.before
        copies: dict[Value, Value] = {}
        b.region.ops += clone_ops(group.address, copies)
        self.pointer = copies.get(group.first.operands[0], group.first.operands[0])
        name = memory_name(group.first)
        self.carried = [promotion.carry(self._initial(b), name)]
        self.value, self.final = self.carried[0].arg, self.carried[0].result
        self.has = self.written = None
        if not group.begins:
            self.carried.append(promotion.carry(b.const(0, BOOL), f"{name}.has"))
            self.has = self.carried[-1].arg
        if not group.stays and not group.surely_stored:
            self.carried.append(promotion.carry(b.const(0, BOOL), f"{name}.written"))
            self.written, self.stored = self.carried[-1].arg, self.carried[-1].result

    def _initial(self, b: Builder) -> Value:
        group = self.group
        if group.begins and group.first.opcode == "load":
            b.span = group.first.span
            return b.value(
                "load",
                self.pointer,
                self.promotion.loop.operands[0],
                result=group.type,
                attrs=group.first.attrs,
                name=group.first.result.name,
            )
        return b.const(zero(group.type), group.type)

    def set_next(self) -> None:
        """Carry the state at the end of an iteration to the next one."""
        now = [v for v in (self.value, self.has, self.written) if v is not None]
        for carried, value in zip(self.carried, now, strict=True):
            carried.set_next(value)

    def access(self, op: Op, b: Builder) -> None:
        on = predicate(op)
        if op.opcode == "load":
            self._load(op, on, b)
        else:
            self.value = _choose(on, op.operands[1], self.value, b)
            if self.written is not None:
                self.written = b.value("or", self.written, on)
            if self.group.stays:
                b.region.ops.append(op)
        if self.has is not None:
            self.has = b.value("or", self.has, on)

    def _load(self, op: Op, on: Value, b: Builder) -> None:
        if self.has is not None:
            missing = b.value("and", on, b.value("xor", self.has, b.true()))
            loaded = b.value(
                "load", op.operands[0], missing, result=op.result.type, attrs=op.attrs, name=op.result.name
            )
            self.value = _choose(missing, loaded, self.value, b)
        self.group.values[op.result] = _choose(on, self.value, b.const(zero(self.group.type), self.group.type), b)

    def store_behind(self) -> None:
        """Store the value after the loop, if the stores in the loop were removed."""
        if not self.group.stays:
            b, last = self.promotion.behind, self.group.members[-1]
            b.span = next(op.span for op in reversed(self.group.members) if op.opcode == "store")
            on = self.promotion.loop.operands[0] if self.written is None else self.stored
            b.op("store", self.pointer, self.final, on, attrs=last.attrs if last.opcode == "store" else {})


def _choose(condition: Value, yes: Value, no: Value, b: Builder) -> Value:
    return yes if constant(condition) == 1 or yes is no else b.value("select", condition, yes, no)
