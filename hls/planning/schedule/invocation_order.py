"""Order between invocations of a loop, for accesses to on-chip memory in the loop's own pipeline.

Tokens of a loop with one slot stay in order across its invocations. So where an access of one invocation must come
after an access of the invocation before, it is enough that the first token of the new invocation enters after the other
access: it need not wait until the loop around knows that the earlier invocation has ended. Where each iteration
depends on those of the earlier invocation up to its own number (a row that each invocation updates), it is enough that
these have passed: an invocation enters right behind a longer one.
"""

from collections.abc import Iterable, Mapping

from ...ir import Op, TokenType, Value
from ...limits import MOST_AHEAD as MOST_INSIDE
from ...narrow import instance, present
from ..memory.token_sources import TOKEN_JOINS, token_sources
from .plan import Carried, Point, Window
from .timing import OperatorTiming

__all__ = ["early", "invocation_windows"]


def invocation_windows(
    k: int,
    carried: Iterable[Carried],
    start: Mapping[Op, Point],
    timing: OperatorTiming,
    shortest: int,
    depth: int,
    decide: Point | None,
) -> tuple[Window, ...]:
    """The windows that tokens of earlier invocations leave before those of the next may enter level ``k``, of ``depth``
    stages. None where they always have: tokens are at least a cycle apart, and of invocations of at least ``shortest``
    tokens so many are between the two that the earlier one has passed in the meantime. Where tokens are dropped inside,
    at the point ``decide`` of a speculative loop, the number that have entered does not say which ones are left: first
    tokens wait until the window is empty."""
    until: dict[int | None, Point] = {}
    for c in carried:
        point = _until(c, start, timing) if c.between and c.read.level == k else None
        if point is None:
            continue
        dropped = decide is not None and k < decide.level <= point.level
        ahead = None if dropped else instance(c.arg.type, TokenType).ahead
        if ahead is None or point.level != k or shortest - 1 - ahead < point.stage:
            until[ahead] = max(until.get(ahead, point), point)
    whole = until.get(None)
    return tuple(
        Window(point, depth if point.level == k else MOST_INSIDE, False, between=True, ahead=ahead)
        for ahead, point in until.items()
        if ahead is None or whole is None or point > whole
    )


def _until(c: Carried, start: Mapping[Op, Point], timing: OperatorTiming) -> Point | None:
    if c.write.level != c.read.level:
        return c.write
    takers = [start[user].stage + early(user, c.arg, timing) for user in start if c.arg in user.operands]
    apart = _done(c.next, start, timing) - min(takers, default=c.read.stage)
    return Point(c.read.level, apart - 1) if apart > 1 else None


def early(user: Op, token: Value, timing: OperatorTiming) -> int:
    """By how many cycles a user may start before the token it consumes is valid. A load that forwards sees stores made
    until its data is valid; one of on-chip global memory, only those of the store that it watches. A store that
    writes in a later turn of a cycle than all stores the token covers is ordered after those of its own cycle."""
    access = timing.memory_plan.accesses.get(user)
    if access is None:
        return 0
    if access.forwarding:
        plan = timing.memory_plan
        seen = access.memory in plan.onchip or token_sources(token) == {plan.watched_store(user)}
        return present(access.latency) if seen else 0
    turn = timing.memory_plan.write_turn(user)
    return int(
        turn is not None
        and turn > 0
        and all(_before(source, access.memory, turn, timing) for source in token_sources(token))
    )


def _before(source: Op, memory: str, turn: int, timing) -> bool:
    """Whether an operation is a store to the memory in a turn before this one."""
    access, other = timing.memory_plan.accesses.get(source), timing.memory_plan.write_turn(source)
    return access is not None and access.memory == memory and other is not None and other < turn


def _done(token: Value, start: Mapping[Op, Point], timing) -> int:
    """The stage in which the producer of the token is done."""
    op = token.op
    if present(op).opcode in TOKEN_JOINS:
        given = [
            v
            for v in present(op).operands
            if v.op in start and (isinstance(v.type, TokenType) or present(op).opcode == "token")
        ]
        return max(_done(v, start, timing) for v in given)
    return start[present(op)].stage + timing.latency(op) + (present(op).opcode in ("store", "atomic"))
