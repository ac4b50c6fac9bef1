"""Known trailing zeros: the power of two that each value is a multiple of; a counter from 0 in steps of 16 has four."""

from ...ir import Function, IntType, Op, Region, Value, walk
from ...ir.rewrite import constant

__all__ = ["TrailingZeros"]

#: trailing zeros of a value that is 0
ALL = 64


class TrailingZeros:
    """Known trailing zeros of the integers of a flat kernel: the greatest fixed point over its loops."""

    def __init__(self, function: Function) -> None:
        self._known: dict[Value, int] = {}
        loops = [op for op in walk(function.body) if op.opcode == "loop"]
        before = None
        while before != self._known:  # starts with the most for carried values, and only decreases
            before = dict(self._known)
            self._region(function.body)
            for loop in loops:
                for k, arg in enumerate(loop.regions[0].args):
                    following = loop.regions[0].terminator.operands[1 + k]
                    self._known[arg] = min(self.of(loop.operands[1 + k]), self.of(following))

    def of(self, value: Value) -> int:
        """The number of trailing zero bits of the value."""
        number = constant(value) if isinstance(value.type, IntType) else None
        if number is not None:
            return (number & -number).bit_length() - 1 if number else ALL
        return self._known.get(value, 0)

    def _region(self, region: Region) -> None:
        for op in region.ops:
            if op.opcode == "loop":
                (body,) = op.regions
                for arg in body.args:
                    self._known.setdefault(arg, ALL)
                self._region(body)
                self._known.update(
                    (r, self.of(v)) for r, v in zip(op.results, body.terminator.operands[1:], strict=True)
                )
                for result, init in zip(op.results, op.operands[1:], strict=True):  # for a loop that does not run
                    self._known[result] = min(self._known[result], self.of(init))
            elif len(op.results) == 1 and isinstance(op.result.type, IntType):
                self._known[op.result] = self._result(op)

    def _result(self, op: Op) -> int:
        zeros = [self.of(v) for v in op.operands]
        if op.opcode in ("add", "sub", "or", "xor"):
            return min(zeros)
        if op.opcode == "and":
            return max(zeros)
        if op.opcode == "mul":
            return min(ALL, sum(zeros))
        if op.opcode == "select":
            return min(zeros[1:])
        if op.opcode in ("zext", "sext", "trunc"):
            return zeros[0]
        count = constant(op.operands[1]) if op.opcode == "shl" else None
        return min(ALL, zeros[0] + count) if count is not None else 0
