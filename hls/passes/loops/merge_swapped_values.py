"""Merging of carried values that loops exchange: the second is computed from the first."""

from dataclasses import dataclass

from ...ir import Builder, Function, IntType, Op, Region, Value, loops_inside_out, walk
from ...ir.clone import clone_function
from ...ir.rewrite import constant, resolve
from ...narrow import present
from ..manager import Form, FunctionPass

__all__ = ["MergeSwappedValues"]


@dataclass(frozen=True)
class MergeSwappedValues(FunctionPass):
    """Canonicalization of periodic variables of period two (Wolfe 1992, flip-flop variables). Before: a flat kernel.
    After: of two integers that a loop exchanges in each iteration, and that begin as constants, the second is the
    exclusive or of the first and a constant.

    Two pointers that are exchanged after each pass over two buffers are such values: which buffer each of them points
    to, and the offset in it. Comparisons with constants are those of the first value then, so that it is known that
    both never point to the same buffer; and of two equal offsets nothing is left.
    """

    name = "merge-swapped-values"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which no loop exchanges two integers that begin as constants."""
        result = clone_function(function)
        for region, loop in list(loops_inside_out(result.body)):
            for first, second in _swapped(loop):
                _merge(result, region, loop, first, second)
        return result


def _swapped(loop: Op) -> list[tuple[int, int]]:
    """The numbers of the carried values that the loop exchanges, in pairs."""
    (body,) = loop.regions
    inits, following = loop.operands[1:], body.terminator.operands[1:]
    place = {arg: k for k, arg in enumerate(body.args)}
    found = []
    for k, (arg, init) in enumerate(zip(body.args, inits, strict=True)):
        other = place.get(following[k], k)
        if other <= k or following[other] is not arg or not isinstance(arg.type, IntType):
            continue
        if constant(init) is not None and constant(inits[other]) is not None:
            found.append((k, other))
    return found


def _merge(function: Function, region: Region, loop: Op, first: int, second: int) -> None:
    (body,) = loop.regions
    kept, dropped = body.args[first], body.args[second]
    mask = present(constant(loop.operands[1 + first])) ^ present(constant(loop.operands[1 + second]))
    inside, behind = (Builder(Region(), loop.span) for _ in range(2))
    other = _differs(inside, kept, mask)
    values = {dropped: other, loop.results[second]: _differs(behind, loop.results[first], mask)}
    _compare_first(body, dropped, kept, mask, inside)
    resolve(function.body, values)
    body.terminator.operands[1 + second] = dropped  # it has no use any more
    body.ops[:0] = inside.region.ops
    at = region.ops.index(loop) + 1
    region.ops[at:at] = behind.region.ops


def _differs(b: Builder, value: Value, mask: int) -> Value:
    return b.value("xor", value, b.const(mask, value.type), result=value.type)


def _compare_first(body: Region, dropped: Value, kept: Value, mask: int, b: Builder) -> None:
    """Let comparisons of the second value with constants compare the first one."""
    for op in walk(body):
        if op.opcode in ("eq", "ne") and dropped in op.operands:
            (with_,) = [v for v in op.operands if v is not dropped] or [dropped]
            limit = constant(with_)
            if limit is not None:
                op.operands = [kept, b.const(limit ^ mask, kept.type)]
