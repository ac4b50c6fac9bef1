"""The serial section of a loop: what one iteration passes to the next through operations of variable latency, such as
an inner loop that goes on with the values of its last invocation.

An iteration enters the level of the section when the one before has left the section. So everything in that level, and
in those up to the end of the section, is part of the time between two iterations. What does not depend on the section
belongs into levels before it, in which iterations run ahead (decoupled software pipelining, Ottoni and others 2005);
what only uses its values belongs behind it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ...ir import Op, Value

__all__ = ["SerialSection"]


@dataclass(frozen=True)
class SerialSection:
    """``ops`` are those on a path from a carried value of the section to its next value; ``users`` depend on the
    section, and nothing of it depends on them; ``fed`` are the values that the section takes from elsewhere.
    ``carried`` are the carried values, and ``decides`` says whether it depends on the section that the loop goes on."""

    ops: tuple[Op, ...]
    users: tuple[Op, ...]
    fed: tuple[Value, ...]
    carried: tuple[Value, ...]
    decides: bool

    @classmethod
    def of(
        cls, body: Collection[Op], inputs: Mapping[Op, tuple[Value, ...]], late: Mapping[Value, Value], again: Value
    ) -> "SerialSection":
        """The section of the carried values ``late``, each with its next value, in a body in program order."""
        waiting, behind = set(late), []
        for op in body:
            if not waiting.isdisjoint(inputs[op]):
                waiting.update(op.results)
                behind.append(op)
        leading, ops = set(late.values()), []
        for op in reversed(behind):
            if not leading.isdisjoint(op.results):
                leading.update(inputs[op])
                ops.append(op)
        mine = set(ops)
        fed = dict.fromkeys(v for op in ops for v in inputs[op] if v not in waiting)
        users = tuple(op for op in behind if op not in mine)
        return cls(tuple(reversed(ops)), users, tuple(fed), tuple(late), again in waiting)

    def first_level(self, values: Mapping[Value, int], ops: Mapping[Op, int], offering: Collection[Op]) -> int:
        """The first level in which all that the section takes is there at the entry. Responses are, and what an
        operation of that level computes is not."""
        return max((values.get(v, 0) + (v.op in ops and v.op not in offering) for v in self.fed), default=0)
