"""Order between invocations of a loop, for accesses of memory on the chip that stand in it: in its pipeline, not around it.

Tokens of a loop of one slot are in order across its invocations. So where an access of one invocation must come after another's
of the invocation before, it is enough that the first token of the new one enters behind it: nobody has to wait until the
loop around hears that the one before has ended.
"""

from collections.abc import Iterable, Mapping

from ..ir import Op, TokenType, Value
from .plan import Carried, Point

__all__ = ["forwards", "passed_first"]

_JOINS = frozenset({"fence", "token"})


def passed_first(k: int, carried: Iterable[Carried], start: Mapping[Op, Point], timing) -> Point | None:
    """The point that tokens of earlier invocations must have passed when the first one of the next enters level ``k``; None where
    they always have, since tokens are at least a cycle apart."""
    found = [point for c in carried if c.between and c.read.level == k and (point := _until(c, start, timing)) is not None]
    return max(found, default=None)


def _until(c: Carried, start: Mapping[Op, Point], timing) -> Point | None:
    if c.write.level != c.read.level:
        return c.write
    takers = [start[user].stage + forwards(user, timing) for user in start if c.arg in user.operands]
    apart = _done(c.next, start, timing) - min(takers, default=c.read.stage)
    return Point(c.read.level, apart - 1) if apart > 1 else None


def forwards(user: Op, timing) -> int:
    """Cycles that a token may come late: a load that forwards sees what is stored until its data is there."""
    access = timing.memory.accesses.get(user)
    return access.latency if access is not None and access.forwarding else 0


def _done(token: Value, start: Mapping[Op, Point], timing) -> int:
    """The stage in which what gives the token is done."""
    op = token.op
    if op.opcode in _JOINS:
        given = [v for v in op.operands if v.op in start and (isinstance(v.type, TokenType) or op.opcode == "token")]
        return max(_done(v, start, timing) for v in given)
    return start[op].stage + timing.latency(op) + (op.opcode in ("store", "atomic"))
