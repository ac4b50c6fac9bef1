"""Assigns each operation of a region to a level (docs/machine.md: the hardware model).

level(op) is the largest level of its operands. The result of an operation that responds is valid one level later; the
token of a store is valid as soon as the request is pushed. A carried value is read in the first level that uses it, but
never in a later level than the one that writes it: there, the next token would already have overwritten it.
"""

from dataclasses import dataclass
from functools import partial

import networkx as nx

from ...analysis.channels.endpoints import answers_at_once, is_call, passes_values
from ...ir import Attr, Op, Region, TokenType, Value, has, reaches_memory, walk
from ...ir.accesses import PREDICATES
from ...narrow import instance
from ..memory import MemoryPlan
from .serial_section import SerialSection

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
    """Values from outside that the region uses, at any depth, in order of first use, without ``fixed`` ones.

    A loop's request carries them in addition to its operands.
    """
    inside: set[Value] = set()
    found: dict[Value, None] = {}
    _collect(region, fixed, inside, found)
    return tuple(v for v in found if v not in inside)


def _collect(region, fixed, inside, found) -> None:
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
    """Whether the operation's number of cycles is unknown at compile time; for accesses the memory plan tells."""
    if reaches_memory(op):
        return memory.fixed_latency(op) is None
    if op.opcode == "fence":
        return any(a.direction != "load" and a.latency is None for name in op.attrs[Attr.MEMS] for a in memory.of(name))
    return has(op, "region") or has(op, "wait") or is_call(op) and not answers_at_once(op)


def _takes_effect(op: Op) -> bool:
    """Whether the operation cannot be undone; a module of the user only computes."""
    return has(op, "effect") or has(op, "region") or has(op, "wait") and op.opcode != "rtl_wait"


def offers_response(op: Op, memory: MemoryPlan) -> bool:
    """Whether the operation responds by a stream. A posted store, and a write to a channel without a result, do not
    respond."""
    return is_variable(op, memory) and op.opcode != "store" and not (op.opcode == "channel_write" and not op.results)


def is_exceptional(op: Op) -> bool:
    """Whether the operation only takes time in runs in which buffers overlap: no queue is made deeper for it."""
    return op.opcode == "fence" and instance(op.result.type, TokenType).overlap


def join_values(op: Op) -> list[Value]:
    """What the level after an operation that responds needs to know of the request: whether it was made, and the
    results where it was not."""
    if op.opcode == "loop":
        return list(op.operands)
    if op.opcode not in PREDICATES:
        return []  # every token makes a request
    return [op.operands[PREDICATES[op.opcode]]]


#: iterations: more than are in flight between a store to on-chip memory and an access that depends on it
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
    inputs: dict[Op, tuple[Value, ...]]  #: operands, and values that a loop captures
    variable: frozenset[Op]  #: operations of the region with variable latency
    offering: frozenset[Op]  #: those of them that respond
    ring: bool = False  #: carried values travel with the tokens: none are read or written in slot registers


def comes_from_afar(arg: Value) -> bool:
    """Whether a carried value only orders accesses after iterations long past, or after earlier invocations. Tokens
    wait for it, if they ever have to, before a level."""
    return isinstance(arg.type, TokenType) and (arg.type.between or arg.type.distance > AFAR)


def assign_levels(
    region: Region,
    fixed: frozenset[Value],
    memory: MemoryPlan,
    effects_from: int = 0,
    ring: bool = False,
    apart: bool = False,
) -> Levels:
    """Levels for one region. Operations whose results are ``fixed`` are available everywhere and get no level.

    ``effects_from`` is the first level that may hold what cannot be undone: stores, inner loops and fences. The
    continue condition is decided there or later. In a ``ring`` (a barrier loop) carried values enter with each token,
    and leave with it from the last level. ``apart`` puts a serial section into levels of its own.
    """
    body = [op for op in region.ops if not has(op, "terminator") and not any(r in fixed for r in op.results)]
    inputs = {op: (*op.operands, *(v for r in op.regions for v in captures(r, fixed))) for op in body}
    yielded = region.terminator.operands if region.terminator.opcode == "yield" else []
    carried = {} if ring else dict(zip(region.args, yielded[1:], strict=True))
    variable = frozenset(op for op in body if is_variable(op, memory))
    offering = frozenset(op for op in body if offers_response(op, memory))
    floor = {op: effects_from if _takes_effect(op) else 0 for op in body}
    calls = _calls(body)
    near = {arg: v for arg, v in carried.items() if not (effects_from and comes_from_afar(arg))}
    together = _by_port(body, memory)
    edges = _edges(body, inputs, near, offering, calls, _in_one_level(together))
    crowds = _crowds(together, edges)
    assign = partial(_assigned, body, inputs, edges, offering, calls, carried, yielded, crowds)
    values, ops, read, write = assign(floor)
    if any(isinstance(arg.type, TokenType) and r < w for arg, r, w in zip(carried, read, write, strict=True)):
        closer = assign(_late_floor(ops, inputs, floor, variable, set(carried), set(yielded)))
        if _waits_less([isinstance(arg.type, TokenType) for arg in carried], closer[2:], (read, write)):
            values, ops, read, write = closer
        closer = assign(
            _with_writers(ops, floor, variable, dict(zip(carried, zip(read, write, strict=True), strict=True)))
        )
        decided = [found.get(yielded[0], 0) for found in (closer[0], values)]
        if decided[0] <= decided[1] and _waits_less([True] * len(carried), closer[2:], (read, write)):
            values, ops, read, write = closer
    late = {
        arg for arg, r, w in zip(carried, read, write, strict=True) if r < w and not isinstance(arg.type, TokenType)
    }
    if late:
        closer = assign(_beside_users(ops, inputs, floor, variable, late))
        if _waits_less([True] * len(carried), closer[2:], (read, write)):
            values, ops, read, write = closer
    if apart and late:
        section = SerialSection.of(body, inputs, {arg: carried[arg] for arg in carried if arg in late}, yielded[0])
        values, ops, read, write = _apart(section, floor, assign, offering, list(carried), (values, ops, read, write))
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


def _check_meetings(ops: dict[Op, int], offering: frozenset[Op]) -> None:
    """Reject an operation with a response in the level of a barrier: while a group gathers, its response would need
    room for all of the group, which does not exist."""
    for op in offering:
        if op.opcode == "meet" or op.attrs.get(Attr.RING):
            beside = [other for other in offering if other is not op and ops[other] == ops[op]]
            if beside:
                raise AssertionError(f"{op} gathers a group beside {beside[0]}")


def _calls(body: list[Op]) -> list[Op]:
    """Calls on channels, and loops that contain such calls, in program order."""
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
    """The begin of a call on a channel, or of a loop with such calls."""

    op: Op


def _call_edges(calls: list[Op], inputs, offering) -> list[tuple]:
    """Edges that keep channel calls in order: a token whose call waits for another kernel must have made all earlier
    calls, so these are in no later level."""
    edges: list[tuple] = [(v, _At(op), False) for op in calls for v in inputs[op]]
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
    # a carried value that takes over another one is available where that is read
    there = values | dict(zip(carried, read, strict=True))
    return values, ops, read, tuple(max(there.get(v, 0), r) for v, r in zip(carried.values(), read, strict=True))


def _late_floor(
    ops: dict[Op, int], inputs, floor: dict[Op, int], variable: frozenset[Op], carried: set[Value], yielded: set[Value]
) -> dict[Op, int]:
    """Floors that move operations which wait for earlier iterations, and have no variable latency themselves, into the
    level of their first user. Whatever precedes that level, a load perhaps, is then not part of the wait."""
    users: dict[Op, list[Op]] = {}
    floor = dict(floor)
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
    follows: set[Op] = set()  # for the next iteration alone: in the level of what they wait for
    for op in reversed(found):
        needed = [max(ops[user], floor[user]) for user in users.get(op, ()) if user not in follows]
        floor[op] = max(floor[op], min(needed, default=0))
        if not needed:
            follows.add(op)
    return floor


def _with_writers(
    ops: dict[Op, int], floor: dict[Op, int], variable: frozenset[Op], spans: dict[Value, tuple[int, int]]
) -> dict[Op, int]:
    """Floors that move accesses without variable latency that wait for one of an earlier iteration, in a later level,
    into the level of that one, with all that is computed from them: so in a ring buffer that stores what memory
    answers, far behind what it loads."""
    floor = dict(floor)
    for op in ops:
        for value in () if op in variable else op.operands:
            read, write = spans.get(value, (0, 0)) if isinstance(value.type, TokenType) else (0, 0)
            if read < write:
                floor[op] = max(floor[op], write)
    return floor


def _beside_users(
    ops: dict[Op, int], inputs, floor: dict[Op, int], variable: frozenset[Op], late: set[Value]
) -> dict[Op, int]:
    """Floors that move what is computed from values of an earlier iteration, produced in a later level, into the level
    of its first user. There it joins the response of, say, a load of another address, whose latency is then not part of
    the wait."""
    users: dict[Value, list[Op]] = {}
    floor, found, waiting = {op: max(least, ops[op]) for op, least in floor.items()}, [], set(late)
    for op in ops:  # in program order
        for value in inputs[op]:
            users.setdefault(value, []).append(op)
        if op not in variable and not has(op, "effect") and waiting.intersection(inputs[op]):
            waiting.update(op.results)
            found.append(op)
    for op in reversed(found):
        floor[op] = max(floor[op], min((floor[user] for r in op.results for user in users.get(r, ())), default=0))
    return floor


def _apart(section: SerialSection, floor: dict[Op, int], assign, offering: frozenset[Op], carried: list[Value], found):
    """The levels with a serial section apart from what it takes and from what only uses its values; as ``found`` where
    the section decides whether the loop goes on, so that nothing can run ahead of it."""
    values, ops, *_ = found
    if section.decides:
        return found
    floor = {op: max(least, ops[op]) for op, least in floor.items()}
    first = section.first_level(values, ops, offering)
    floor |= {op: max(floor[op], first) for op in section.ops}
    *_, write = assign(floor)
    end = max(level for arg, level in zip(carried, write, strict=True) if arg in section.carried)
    floor |= {op: max(floor[op], end) for op in section.users}
    return assign(floor)


def _waits_less(asked: list[bool], found: tuple, before: tuple) -> bool:
    """Whether fewer levels lie between the read and the write of the carried values in ``asked``, and for none of them
    more."""
    spans = [[w - r for mine, r, w in zip(asked, *points, strict=True) if mine] for points in (found, before)]
    return sum(spans[0]) < sum(spans[1]) and all(now <= then for now, then in zip(*spans, strict=True))


def _by_port(body: list[Op], memory: MemoryPlan) -> list[list[Op]]:
    """The accesses that share a port, and which the schedule keeps from conflicting in one level only."""
    together: dict[tuple, list[Op]] = {}
    for op in body:
        if (crowd := memory.crowd(op)) is not None:
            together.setdefault(crowd, []).append(op)
    return list(together.values())


def _in_one_level(together: list[list[Op]]) -> list[tuple]:
    """Edges in a circle through the stores that share a port: a recurrence may enter at one of them and leave at
    another one."""
    stores = [accesses for accesses in together if any(op.opcode != "load" for op in accesses)]
    return [(a, b, False) for accesses in stores for a, b in zip(accesses, accesses[1:] + accesses[:1], strict=True)]


def _crowds(together: list[list[Op]], edges) -> list[list[Op]]:
    """The accesses that must be in one level with each other, because they share a port. Loads cannot be if one waits
    for what another has released, as after a barrier: each is in one level with those that wait as many times as it
    does."""
    found = []
    for accesses in together:
        if len(accesses) > 1 and all(op.opcode == "load" for op in accesses):
            found += _by_waits(accesses, edges)
        else:
            found.append(accesses)
    return found


def _by_waits(accesses: list[Op], edges) -> list[list[Op]]:
    """The accesses grouped by how many of them precede each, a level apart."""
    # how many accesses precede a value that is available in the level of the last of them, or in a later level
    passed: dict[Op, int] = {}
    waited: dict[Op, int] = {}
    members = set(accesses)
    changed = True
    while changed:  # an access that leads back to itself waits for nothing in between
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
    """Move accesses that share a port into the last level of any of them, by their floors; returns whether that changed
    any."""
    changed = False
    for accesses in crowds:
        last = max(ops[op] for op in accesses)
        for op in accesses:
            changed |= ops[op] < last
            floor[op] = max(floor[op], last)
    return changed


def _edges(body, inputs, carried, offering, calls, joined) -> list[tuple]:
    """(source, what is available no earlier, whether it is a level later): values, operations, and the begin of calls
    (:class:`_At`).

    A carried value counts as available in the level that defines it, so that its next user is in the level of its
    definition and the recurrence stays within one level. That is impossible where the recurrence itself passes a
    variable-latency operation: such a value counts as available from the start, and its slot waits for it. Memory
    tokens come first: a recurrence through them is often exceptional, and must not make the values on it wait. A
    recurrence may also pass the edges ``joined``, between operations of one level.
    """
    # edges go through the operation, as a loop may have hundreds of operands and as many results; they are in order, so
    # that one round propagates levels from the first to the last
    edges = [
        edge
        for op in body
        for edge in (*((v, op, False) for v in inputs[op]), *((op, r, op in offering) for r in op.results))
    ]
    edges += [(value, arg, False) for arg, value in carried.items()]
    edges += _call_edges(calls, inputs, offering)
    for these in ([v for v in carried if isinstance(v.type, TokenType)], carried):
        waiting = _waiting([*edges, *joined])
        edges = [(a, b, wait) for a, b, wait in edges if not (b in these and (a, b) in waiting)]
    return edges


def _value_levels(body, edges, offering, floor, calls) -> dict:
    """The least levels at which values are available, and at which operations, and calls on channels, may begin."""
    levels: dict = {r: floor[op] + (op in offering) for op in body for r in op.results}
    levels |= {_At(op): floor[op] for op in calls}
    changed = True
    while changed:  # the remaining cycles add nothing, so this ends after as many rounds as there are levels
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
