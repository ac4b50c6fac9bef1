"""Which level of its region each operation belongs to (DESIGN: the hardware model).

level(op) is the largest level of its operands; the result of an operation that answers is one level later (a store is
done, as far as its token goes, when it is pushed). A carried value is read in the first level that uses it, but never
later than the level that writes it: behind that, the next token would already have overwritten it.
"""

from dataclasses import dataclass
from functools import partial

import networkx as nx

from ...analysis.channels.endpoints import answers_at_once, is_call, passes_values
from ...ir import Attr, Op, Region, TokenType, Value, has, reaches_memory, walk
from ...ir.accesses import PREDICATES
from ..memory import MemoryPlan

__all__ = [
    "Levels",
    "assign_levels",
    "captures",
    "comes_from_afar",
    "is_exceptional",
    "is_variable",
    "join_values",
    "offers_response",
]


def captures(region: Region, fixed: frozenset[Value]) -> tuple[Value, ...]:
    """Values from outside that the region uses, at any depth, in order of first use; ``fixed`` ones excepted.

    A loop's request carries them beside its operands.
    """
    inside: set[Value] = set()
    found: dict[Value, None] = {}
    _collect(region, fixed, inside, found)
    return tuple(v for v in found if v not in inside)


def _collect(region, fixed, inside, found):
    inside.update(region.args)
    for op in region.ops:
        inside.update(op.results)
        if any(r in fixed for r in op.results):
            continue
        for value in op.operands:
            if value not in fixed:
                found.setdefault(value)
        for inner in op.regions:
            _collect(inner, fixed, inside, found)


def is_variable(op: Op, memory: MemoryPlan) -> bool:
    """Whether the operation takes a number of cycles nobody knows beforehand; of accesses the plan knows."""
    if reaches_memory(op):
        return memory.fixed_latency(op) is None
    if op.opcode == "fence":
        return any(a.direction != "load" and a.latency is None for name in op.attrs[Attr.MEMS] for a in memory.of(name))
    return has(op, "region") or has(op, "wait") or is_call(op) and not answers_at_once(op)


def offers_response(op: Op, memory: MemoryPlan) -> bool:
    """Whether the operation answers by a stream (a posted store, or write to a channel, does not answer at all)."""
    return is_variable(op, memory) and op.opcode != "store" and not (op.opcode == "channel_write" and not op.results)


def is_exceptional(op: Op) -> bool:
    """Whether the operation only takes time in runs in which buffers overlap: nothing is made larger for it."""
    return op.opcode == "fence" and op.result.type.overlap


def join_values(op: Op) -> list[Value]:
    """What the level behind an operation that answers needs to know of the request: whether it was made, and what the
    results are where it was not."""
    if op.opcode == "loop":
        return list(op.operands)
    if op.opcode not in PREDICATES:
        return []  # every token asks
    return [op.operands[PREDICATES[op.opcode]]]


#: iterations: more than are under way between an array on the chip and what is stored in it
AFAR = 16


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Levels of a region's operations and values, and of the reads and writes of its carried values."""

    count: int
    op: dict[Op, int]
    value: dict[Value, int]
    read: tuple[int, ...]
    write: tuple[int, ...]
    decide: int
    inputs: dict[Op, tuple[Value, ...]]  #: operands, and what a loop captures
    variable: frozenset[Op]  #: operations of the region that take nobody knows how long
    offering: frozenset[Op]  #: those of them that answer
    ring: bool = False  #: carried values travel with the tokens: none are read or written here


def comes_from_afar(arg: Value) -> bool:
    """Whether a carried value only says that iterations long past, or earlier invocations, are done: tokens wait for
    that, if they ever have to, in front of a level."""
    return isinstance(arg.type, TokenType) and (arg.type.between or arg.type.distance > AFAR)


def assign_levels(
    region: Region, fixed: frozenset[Value], memory: MemoryPlan, effects_from: int = 0, ring: bool = False
) -> Levels:
    """Levels for one region. Operations whose results are ``fixed`` are everywhere available and get none.

    ``effects_from`` is the first level that may hold stores, inner loops and fences: what cannot be taken back; the
    decision whether to go on falls there, or later. In a ``ring`` what is carried comes in with each token, and goes on
    from the last level.
    """
    body = [op for op in region.ops if not has(op, "terminator") and not any(r in fixed for r in op.results)]
    inputs = {op: (*op.operands, *(v for r in op.regions for v in captures(r, fixed))) for op in body}
    yielded = region.terminator.operands if region.terminator.opcode == "yield" else []
    carried = {} if ring else dict(zip(region.args, yielded[1:], strict=True))
    variable = frozenset(op for op in body if is_variable(op, memory))
    offering = frozenset(op for op in body if offers_response(op, memory))
    floor = {op: effects_from if has(op, "effect") or has(op, "region") or has(op, "wait") else 0 for op in body}
    calls = _calls(body)
    near = {arg: v for arg, v in carried.items() if not (effects_from and comes_from_afar(arg))}
    edges = _edges(body, inputs, near, offering, calls)
    assign = partial(_assigned, body, inputs, edges, offering, calls, carried, yielded, _crowds(body, edges, memory))
    values, ops, read, write = assign(floor)
    if any(isinstance(arg.type, TokenType) and r < w for arg, r, w in zip(carried, read, write, strict=True)):
        closer = assign(_late_floor(ops, inputs, floor, variable, set(carried), set(yielded)))
        if _waits_less([isinstance(arg.type, TokenType) for arg in carried], closer[2:], (read, write)):
            values, ops, read, write = closer
    late = {
        arg for arg, r, w in zip(carried, read, write, strict=True) if r < w and not isinstance(arg.type, TokenType)
    }
    if late:
        closer = assign(_beside_users(ops, inputs, floor, variable, late))
        if _waits_less([True] * len(carried), closer[2:], (read, write)):
            values, ops, read, write = closer
    decide = max(values.get(yielded[0], 0), effects_from) if yielded else 0
    values |= zip(carried, read, strict=True)
    _check_meetings(ops, offering)
    joined = [level + 1 for op, level in ops.items() if op in offering]
    return Levels(
        count=1 + max([decide, *ops.values(), *joined]),
        op=ops,
        value=values,
        read=read,
        write=write,
        decide=decide,
        inputs=inputs,
        variable=variable,
        offering=offering,
        ring=ring,
    )


def _check_meetings(ops: dict[Op, int], offering: frozenset[Op]):
    """While a group gathers, an operation beside it that has answered would need room for all of the group: there is
    none."""
    for op in offering:
        if op.opcode == "meet" or op.attrs.get(Attr.RING):
            beside = [other for other in offering if other is not op and ops[other] == ops[op]]
            if beside:
                raise AssertionError(f"{op} gathers a group beside {beside[0]}")


def _calls(body: list[Op]) -> list[Op]:
    """Calls on channels, and loops with such calls inside, in the order of the program."""
    found = [
        (min(x.attrs[Attr.ORDER] for x in walk(Region(ops=[op])) if is_call(x)), op) for op in body if passes_values(op)
    ]
    return [op for _, op in sorted(found, key=lambda pair: pair[0])]


def _levels(body, inputs, edges, offering, floor, calls) -> tuple[dict[Value, int], dict[Op, int]]:
    levels = _value_levels(body, edges, offering, floor, calls)
    ops = {op: max([floor[op], levels.get(_At(op), 0), *(levels.get(v, 0) for v in inputs[op])]) for op in body}
    return {v: level for v, level in levels.items() if isinstance(v, Value)}, ops


@dataclass(frozen=True)
class _At:
    """Where a call on a channel, or a loop with such calls, begins."""

    op: Op


def _call_edges(calls: list[Op], inputs, offering) -> list[tuple]:
    """A token whose call waits for another kernel must have made all calls before it: these are in no later level."""
    edges = [(v, _At(op), False) for op in calls for v in inputs[op]]
    edges += [(_At(op), r, op in offering) for op in calls for r in op.results]
    waits = [op for op in calls if op in offering and op.attrs.get(Attr.BLOCKING, True)]
    return edges + [(_At(first), _At(op), False) for op in waits for first in calls[: calls.index(op)]]


def _assigned(body, inputs, edges, offering, calls, carried, yielded, crowds, floor) -> tuple[dict, dict, tuple, tuple]:
    """(levels of values, of operations, and where each carried value is read, and written), none below its floor."""
    floor = dict(floor)
    values, ops = _levels(body, inputs, edges, offering, floor, calls)
    while _raise_accesses(ops, floor, crowds):
        values, ops = _levels(body, inputs, edges, offering, floor, calls)
        if max(ops.values()) > len(body):
            raise AssertionError("accesses that share a port, and are to stand in one level, depend on each other")
    read = _read_levels(ops, inputs, values, carried, yielded)
    # one that takes over another's value has it where that is read
    there = values | dict(zip(carried, read, strict=True))
    return values, ops, read, tuple(max(there.get(v, 0), r) for v, r in zip(carried.values(), read, strict=True))


def _late_floor(
    ops: dict[Op, int], inputs, floor: dict[Op, int], variable: frozenset[Op], carried: set[Value], yielded: set[Value]
) -> dict[Op, int]:
    """Floors that put what waits for earlier iterations, and never waits by itself, beside the first that needs it:
    what lies before that, a load perhaps, is no part of the wait then."""
    floor, users = dict(floor), {}
    for op in ops:
        for value in inputs[op]:
            if value.op in ops:
                users.setdefault(value.op, []).append(op)
    waiting, found = {arg for arg in carried if isinstance(arg.type, TokenType)}, []
    for op in ops:  # in program order
        if op not in variable and waiting.intersection(op.operands):
            waiting.update(r for r in op.results if isinstance(r.type, TokenType))
            if not any(r in yielded and not isinstance(r.type, TokenType) for r in op.results):
                found.append(op)
    follows: set[Op] = set()  # for the next iteration alone: where what they wait for is
    for op in reversed(found):
        needed = [max(ops[user], floor[user]) for user in users.get(op, ()) if user not in follows]
        floor[op] = max(floor[op], min(needed, default=0))
        if not needed:
            follows.add(op)
    return floor


def _beside_users(
    ops: dict[Op, int], inputs, floor: dict[Op, int], variable: frozenset[Op], late: set[Value]
) -> dict[Op, int]:
    """Floors that put what is computed from values of an earlier iteration, which come from a later level, beside the
    first that needs it: a load of another place, whose answer it meets there, is no part of the wait for them then."""
    floor, users, found, waiting = {op: max(least, ops[op]) for op, least in floor.items()}, {}, [], set(late)
    for op in ops:  # in program order
        for value in inputs[op]:
            users.setdefault(value, []).append(op)
        if op not in variable and not has(op, "effect") and waiting.intersection(inputs[op]):
            waiting.update(op.results)
            found.append(op)
    for op in reversed(found):
        floor[op] = max(floor[op], min((floor[user] for r in op.results for user in users.get(r, ())), default=0))
    return floor


def _waits_less(asked: list[bool], found: tuple, before: tuple) -> bool:
    """Whether fewer levels lie between where the carried values asked for are read and where they are given, and for
    none more."""
    spans = [[w - r for mine, r, w in zip(asked, *points, strict=True) if mine] for points in (found, before)]
    return sum(spans[0]) < sum(spans[1]) and all(now <= then for now, then in zip(*spans, strict=True))


def _crowds(body: list[Op], edges, memory: MemoryPlan) -> list[list[Op]]:
    """The accesses that are to be in one level with each other, as they share a port. Loads of which one waits for what
    another has let go on, as behind a barrier, cannot be: they are in one level with those that wait as often as they
    do."""
    together: dict[tuple, list[Op]] = {}
    for op in body:
        if (crowd := memory.crowd(op)) is not None:
            together.setdefault(crowd, []).append(op)
    found = []
    for accesses in together.values():
        if len(accesses) > 1 and all(op.opcode == "load" for op in accesses):
            found += _by_waits(accesses, edges)
        else:
            found.append(accesses)
    return found


def _by_waits(accesses: list[Op], edges) -> list[list[Op]]:
    """The accesses by how many of them, each a level later, come before them."""
    # of what is there beside the last of the accesses before it, and levels behind it
    members, passed, waited = set(accesses), {}, {}
    changed = True
    while changed:  # what leads back to itself waits for nothing on the way
        changed = False
        for a, b, wait in edges:
            here = passed.get(a, 0)
            later = max(waited.get(a, 0), here if wait else 0)
            here = max(0 if wait else here, later + 1 if b in members else 0)
            if later > waited.get(b, 0) or here > passed.get(b, 0):
                waited[b], passed[b] = max(later, waited.get(b, 0)), max(here, passed.get(b, 0))
                changed = True
    return [[op for op in accesses if waited.get(op, 0) == n] for n in sorted({waited.get(op, 0) for op in accesses})]


def _raise_accesses(ops: dict[Op, int], floor: dict[Op, int], crowds: list[list[Op]]) -> bool:
    """Put accesses that share a port into the last level of any of them, by their floors; whether that changed any."""
    changed = False
    for accesses in crowds:
        last = max(ops[op] for op in accesses)
        for op in accesses:
            changed |= ops[op] < last
            floor[op] = max(floor[op], last)
    return changed


def _edges(body, inputs, carried, offering, calls) -> list[tuple]:
    """(source, what is there no sooner, whether it is a level later): values, operations, and where calls begin
    (:class:`_At`).

    A carried value counts as there in the level that defines it, so that its next user sits beside its definition and
    the recurrence stays within one level. That cannot be where the recurrence itself passes a variable-latency
    operation: such a value is taken as there from the start, and its slot waits for it. Tokens are looked at first: a
    recurrence through them is often the exception, and must not draw the values it passes into waiting.
    """
    # by way of the operation, as a loop may have hundreds of operands, and as many results; in order, so that one round
    # takes levels from the first to the last
    edges = [
        edge
        for op in body
        for edge in (*((v, op, False) for v in inputs[op]), *((op, r, op in offering) for r in op.results))
    ]
    edges += [(value, arg, False) for arg, value in carried.items()]
    edges += _call_edges(calls, inputs, offering)
    for these in ([v for v in carried if isinstance(v.type, TokenType)], carried):
        waiting = _waiting(edges)
        edges = [(a, b, wait) for a, b, wait in edges if not (b in these and (a, b) in waiting)]
    return edges


def _value_levels(body, edges, offering, floor, calls) -> dict:
    """The least levels at which values are there, and at which operations, and calls on channels, may begin."""
    levels: dict = {r: floor[op] + (op in offering) for op in body for r in op.results}
    levels |= {_At(op): floor[op] for op in calls}
    changed = True
    while changed:  # cycles that remain add nothing, so this ends after as many rounds as there are levels
        changed = False
        for a, b, wait in edges:
            least = levels.get(a, 0) + wait
            if least > levels.get(b, 0):
                levels[b], changed = least, True
    return levels


def _waiting(edges) -> set[tuple]:
    """Edges inside a recurrence that passes a variable-latency operation."""
    graph = nx.DiGraph((a, b) for a, b, _ in edges)
    component = {v: k for k, part in enumerate(nx.strongly_connected_components(graph)) for v in part}
    slow = {component[a] for a, b, wait in edges if wait and component[a] == component[b]}
    return {(a, b) for a, b, _ in edges if component[a] == component[b] and component[a] in slow}


def _read_levels(ops, inputs, values, carried, yielded) -> tuple[int, ...]:
    """The fixed point of: read no later than the first user, and no later than the value's own definition."""
    far = 1 << 30
    used = {arg: far for arg in carried}
    for op, level in ops.items():
        for v in inputs[op]:
            if v in used:
                used[v] = min(used[v], level)
    if yielded and yielded[0] in used:
        used[yielded[0]] = 0
    changed = True
    while changed:
        changed = False
        for arg, value in carried.items():
            defined = used[value] if value in used else values.get(value, far)
            if defined < used[arg]:
                used[arg], changed = defined, True
    return tuple(0 if used[arg] == far else used[arg] for arg in carried)
