"""Which operations a token stands for."""

from ...ir import Op, Region, TokenType, Value
from ...narrow import instance

__all__ = ["TOKEN_JOINS", "token_sources"]

#: operations that make one token of several
TOKEN_JOINS = frozenset({"fence", "token"})


def token_sources(token: Value) -> set[Op]:
    """The operations a token covers: those that are done when it is valid, in this or an earlier iteration. Operations
    the token already covered on loop entry need no re-check."""
    found: set[Op] = set()
    seen, todo = set(), [token]
    while todo:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        op = value.op
        if op is None:  # carried by the loop
            end = instance(value.owner, Region).terminator
            found.update(() if end.opcode == "yield" else [end])
            todo += end.operands[1 + value.index : 2 + value.index] if end.opcode == "yield" else []
        elif op.opcode in TOKEN_JOINS:
            todo += [v for v in op.operands if isinstance(v.type, TokenType)]
            found.update([op] if any(_is_answer(op, v) for v in op.operands) else ())
        else:
            found.add(op)
    return found


def _is_answer(join: Op, operand: Value) -> bool:
    """Whether a join waits for a value, such as that of a load, in addition to tokens. A non-token operand of a fence
    is its condition."""
    return join.opcode == "token" and not isinstance(operand.type, TokenType)
