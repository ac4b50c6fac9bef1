"""Builders of tokens through channel calls, and through the loops that contain them."""

from ...ir import TOKEN, Attr, Builder, Op, Region, TokenType, Value
from ...ir.loops import CarriedValue, add_carried

__all__ = ["all_of", "carry", "done_token", "start_token"]


def start_token(region: Region) -> Value:
    """A token at the beginning of the region, valid from the start."""
    start = _op("const", [], region.ops[0], {Attr.VALUE: 0})
    region.ops.insert(0, start)
    return start.result


def done_token(call: Op) -> Value:
    """The token that is there when the call is done."""
    if not call.results or not isinstance(call.results[-1].type, TokenType):
        call.results.append(Value(TOKEN, "", call, len(call.results)))
    return call.results[-1]


def carry(loop: Op, token: Value) -> CarriedValue:
    """A further carried value of the loop with initial value ``token``; the caller sets its next value."""
    return add_carried(loop, token, "order")


def all_of(region: Region, before: Op, tokens: list[Value]) -> Value:
    """A token that is there when all these are, created before an operation of the region."""
    tokens = list(dict.fromkeys(tokens))
    if len(tokens) == 1:
        return tokens[0]
    both = _op("token", tokens, before)
    region.ops.insert(region.ops.index(before), both)
    return both.result


def _op(opcode: str, operands: list[Value], like: Op, attrs=None) -> Op:
    return Builder(Region(), like.span).op(opcode, *operands, result=TOKEN, attrs=attrs)
