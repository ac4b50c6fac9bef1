"""Names of signals and modules: from the kernel's source where it has one, else from operation and line; unique in a
kernel."""

import re

from ..ir import Attr, Op, Value
from ..planning.memory import MemoryPlan
from ..planning.schedule import RegionPlan

__all__ = ["Names"]


class Names:
    """The names assigned so far. The same object always gets the same name."""

    def __init__(self, memory: MemoryPlan):
        self._memory = memory
        self._given: dict[Value | Op, str] = {}
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}  #: last number appended to each stem

    def value(self, value: Value) -> str:
        """The name of a value's signals."""
        if value not in self._given:
            stem = value.name or (_stem(value.op) if value.op else "arg")
            self._given[value] = self.unique(stem)
        return self._given[value]

    def op(self, op: Op) -> str:
        """The name of an operation's module."""
        if op not in self._given:
            access = self._memory.accesses.get(op)
            line = f"_L{op.span.line}" if op.span else ""
            stem = f"{access.direction}_{access.memory}{line}" if access else _stem(op)
            self._given[op] = self.unique(stem)
        return self._given[op]

    def region(self, plan: RegionPlan) -> str:
        """The name of a loop, or of the kernel's top."""
        return "top" if plan.loop is None else self.op(plan.loop)

    @property
    def given(self) -> dict[str, Value | Op]:
        """The names of the kernel's values and operations, and what each stands for."""
        return {name: one for one, name in self._given.items()}

    def unique(self, stem: str) -> str:
        """A name that nothing else has, made from ``stem``."""
        stem = re.sub(r"\W+", "_", stem)
        name, k = stem, self._last.get(stem, 1)
        while name in self._taken:
            k += 1
            name = f"{stem}_{k}"
        self._taken.add(name)
        self._last[stem] = k
        return name


def _stem(op: Op) -> str:
    label = op.attrs.get(Attr.LABEL, "")
    line = f"_L{op.span.line}" if op.span else ""
    return f"{op.opcode}{'_' + label if label else ''}{line}"
