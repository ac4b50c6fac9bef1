"""Scalarized indexed updates: an update of one of a few elements in registers becomes one operation per element."""

from collections.abc import Mapping
from dataclasses import dataclass

from ...analysis.loops.sccs import components
from ...ir import ArrayType, Builder, Function, IntType, Op, Region, Value, loops_inside_out, uses
from ...ir.clone import clone_function
from ...narrow import instance
from ..manager import Form, FunctionPass

__all__ = ["ScalarizeIndexedUpdates"]

#: most elements that get an operation each, and the operations that are worth it
_MOST_ELEMENTS = 8
_PLAIN = frozenset({"add", "sub", "and", "or", "xor"})


@dataclass(frozen=True)
class ScalarizeIndexedUpdates(FunctionPass):
    """Scalarization of indexed updates. Before: flat and narrow. After: ``x[i] += v`` of an array that a loop carries
    in registers, with an ``i`` and a ``v`` off the recurrence, is ``x[k] = i == k ? x[k] + v : x[k]`` for each element.

    The comparisons are then off the recurrence: it contains no dynamic extract and no dynamic insert.
    """

    name = "scalarize-indexed-updates"
    requires = frozenset({Form.NARROW})

    def run(self, function: Function) -> Function:
        """A copy in which updates of carried arrays are selects for each element."""
        result = clone_function(function)
        for _, loop in loops_inside_out(result.body):
            _treat(loop.regions[0])
        return result


def _treat(body: Region) -> None:
    together, used = components(body), uses(body)
    found = {op: update for op in body.ops if (update := _update(op, together, used)) is not None}
    before, body.ops = body.ops, []
    now: dict[Value, Value] = {}
    for op in before:
        op.operands = [now.get(v, v) for v in op.operands]
        if op in found:
            array = found[op].array
            now[op.result] = found[op].of_each(now.get(array, array), Builder(body, op.span))
        else:
            body.ops.append(op)


@dataclass(frozen=True)
class _Update:
    """``array[index]`` becomes an operation of itself and ``value``, if ``condition``."""

    op: Op  #: computes the element
    array: Value
    index: Value
    value: Value
    condition: Value | None

    def of_each(self, array: Value, b: Builder) -> Value:
        return b.value("array", *(self._element(array, k, b) for k in range(instance(array.type, ArrayType).length)))

    def _element(self, array: Value, k: int, b: Builder) -> Value:
        number = b.const(k, self.index.type)
        here = b.value("eq", self.index, number)
        if self.condition is not None:
            here = b.value("and", here, self.condition)
        old = b.value("extract", array, number)
        first = self.op.operands[0] is not self.value
        new = b.value(self.op.opcode, *((old, self.value) if first else (self.value, old)))
        return b.value("select", here, new, old)


def _update(op: Op, together: dict[Value, int], used: Mapping[Value, list[tuple[Op, int]]]) -> _Update | None:
    """The update that an ``insert`` into its array operand performs, including a select between its result and that
    array that is its only use."""
    if op.opcode == "select" and _is_choice(op, together):
        condition, made, _ = op.operands
        return _inserted(made.defining_op, together, condition)
    if op.opcode != "insert" or op.result not in together:
        return None
    users = [user for user, _ in used.get(op.result, ())]
    return _inserted(op, together, None) if len(users) != 1 or not _is_choice(users[0], together) else None


def _is_choice(op: Op, together: dict[Value, int]) -> bool:
    """Whether it selects, by a condition off the recurrence, between an array with one element replaced and the array
    before."""
    if op.opcode != "select" or op.result not in together or op.operands[0] in together:
        return False
    _, made, other = op.operands
    return made.op is not None and made.op.opcode == "insert" and made.op.operands[0] is other


def _inserted(insert: Op, together: dict[Value, int], condition: Value | None) -> _Update | None:
    array, index, value = insert.operands
    few = instance(array.type, ArrayType).length <= min(_MOST_ELEMENTS, 1 << index.type.bits) and isinstance(
        instance(array.type, ArrayType).element, IntType
    )
    if not few or index in together or value.op is None or value.op.opcode not in _PLAIN:
        return None
    old = [v for v in value.op.operands if v in together]
    if len(old) != 1 or old[0].op is None or old[0].op.opcode != "extract" or old[0].op.operands != [array, index]:
        return None
    return _Update(value.op, array, index, value.op.operands[value.op.operands[0] is old[0]], condition)
