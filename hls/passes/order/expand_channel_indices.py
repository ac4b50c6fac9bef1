"""A call on a channel that is chosen at run time becomes one call on each channel that it may be."""

from dataclasses import dataclass

from ...analysis.bits.possible_values import PossibleValues
from ...analysis.channels.endpoints import is_call
from ...diag import Code, CompileError
from ...ir import Attr, Builder, Function, Op, Value, walk
from ...ir.clone import clone_function
from ...ir.concurrent import outside_channels
from ...ir.rewrite import constant, rewrite
from ...ir.storage import zero
from ...ir.values import signed
from ...limits import MOST_CHOSEN
from ..manager import Form, FunctionPass

__all__ = ["ExpandChannelIndices"]


@dataclass(frozen=True)
class ExpandChannelIndices(FunctionPass):
    """Before: a flat kernel. After: the index of every call is a constant.

    The call is made on the channel whose number the index is; those on the others are switched off, as calls in a
    branch that is not taken are. On which channels there are calls at all follows from the numbers that the index can
    be. If it is none of the array, no call is made, and what is read is of no meaning.
    """

    name = "expand-channel-indices"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """Raises CompileError for an index that is never one of its array."""
        if all(constant(op.operands[0]) is not None for op in walk(function.body) if is_call(op)):
            return function
        result = clone_function(function)
        possible = PossibleValues(result)

        def visit(op: Op, b: Builder) -> list[Value] | None:
            if not is_call(op) or constant(op.operands[0]) is not None:
                return None
            return _expanded(op, _places(op, possible), b)

        rewrite(result.body, visit)
        return result


def _places(call: Op, possible: PossibleValues) -> list[int]:
    """The channels of the array that the call may be made on, by their numbers."""
    length, numbers = call.attrs.get(Attr.CHANNEL_COUNT, 1), possible.of(call.operands[0])
    inside = list(range(length)) if numbers is None else sorted(x for x in numbers if x < length)
    if len(inside) > MOST_CHOSEN:
        raise CompileError.at(
            call.span,
            f"'{call.attrs[Attr.CHANNEL]}': this call may be one on any of {len(inside):,} channels, each of which is "
            "hardware of its own; "
            f"the limit is {MOST_CHOSEN:,}",
            "make the array smaller, or the index one of few numbers, such as i % 8",
            code=Code.BUDGET,
        )
    if numbers and not inside:
        raise CompileError.at(
            call.span,
            f"'{call.attrs[Attr.CHANNEL]}': {outside_channels(signed(min(numbers), 64), length)}",
            "check the index: this call is never one on a channel of the array",
            code=Code.CHANNEL_INDEX,
        )
    return inside


@dataclass(frozen=True)
class _Outcome:
    """Whether one of some calls was ``made``, and the ``results`` of that one."""

    made: Value
    results: tuple[Value, ...]


def _expanded(call: Op, places: list[int], b: Builder) -> list[Value]:
    index, pred, *rest = call.operands
    outcomes = [
        _one(call, k, b.value("and", pred, b.value("eq", index, b.const(k, index.type))), rest, b) for k in places
    ]
    while len(outcomes) > 1:
        pairs = zip(outcomes[::2], outcomes[1::2])
        outcomes = [_either(first, second, b) for first, second in pairs] + outcomes[len(outcomes) & ~1 :]
    return list(outcomes[0].results) if outcomes else [b.const(zero(v.type), v.type) for v in call.results]


def _one(call: Op, place: int, on: Value, rest: list[Value], b: Builder) -> _Outcome:
    """The call on one of the channels. Its answer, whether it was done, holds only where it was made."""
    made = b.op(
        call.opcode,
        b.const(place, call.operands[0].type),
        on,
        *rest,
        results=[v.type for v in call.results],
        attrs=call.attrs | {Attr.CHOSEN: True},
    )
    results = made.results if call.attrs[Attr.BLOCKING] else [*made.results[:-1], b.value("and", on, made.results[-1])]
    return _Outcome(on, tuple(results))


def _either(first: _Outcome, second: _Outcome, b: Builder) -> _Outcome:
    results = tuple(b.value("select", first.made, x, y) for x, y in zip(first.results, second.results))
    return _Outcome(b.value("or", first.made, second.made), results)
