"""A loop: header, levels, the boundaries after them, exit."""

from .fifo import Fifo
from .header import Exit, Header
from .level import Level
from .operation import Unit
from .spec import AccessSpec, LoopSpec

__all__ = ["Loop", "Row"]


class Row:
    """The operations behind a level, and the bypass that carries the live values past them (None behind the last)."""

    def __init__(self, clock, level, units, name, rules, last):
        self.level, self.units, self.rules = level, units, rules
        self.bypass = None if last else Fifo(clock, level.bypass, f"{name}.bypass", level.latency)

    def _asked(self, token):
        names = [operation.name for operation in self.level.row if operation.joins]
        return [name for name in names if name in token.on or not self.rules.join_skips_off]

    def peek(self):
        """The token with its live values and responses, when all are on offer; or None."""
        head = self.bypass.head()
        if head is None:
            return None
        (token,) = head
        responses = {name: self.units[name].response() for name in self._asked(token)}
        if None in responses.values():
            return None
        token.values.update({operation.name: 0 for operation in self.level.row})
        token.values.update({name: response for name, (response,) in responses.items()})
        return token

    def take(self, token):
        self.bypass.pop()
        for name in self._asked(token):
            self.units[name].take()


class Loop:
    """The machine of one :class:`~.spec.LoopSpec`; as an operation of a row it looks like a unit."""

    def __init__(self, clock, spec, meaning, rules, requests, loops, memory=None):
        """Adds itself and the loops inside it to ``loops``, by name.

        ``requests``: depth of its request FIFO. ``memory`` makes the units of global accesses, where there are any.
        """
        self.clock, self.spec, self.meaning, self.rules, self.memory = clock, spec, meaning, rules, memory
        loops[spec.name] = self
        self.header = Header(clock, spec, requests, lambda request: meaning.initial(spec, request), rules)
        self.exit = Exit(clock, spec, self.header, rules)
        self.carried = {r.name: {} for r in spec.recurrences}  # name -> slot -> value
        self.rows = []
        for k, level in enumerate(spec.levels):
            units = {operation.name: self._unit(operation, loops) for operation in level.row}
            self.rows.append(Row(clock, level, units, f"{spec.name}.{k}", rules, level is spec.levels[-1]))
        self.levels = [Level(self, k) for k in range(len(spec.levels))]

    def _unit(self, operation, loops):
        if isinstance(operation.unit, LoopSpec):
            return Loop(self.clock, operation.unit, self.meaning, self.rules, operation.requests, loops, self.memory)
        if isinstance(operation.unit, AccessSpec):
            return self.memory.unit(operation)
        answer = lambda payload: self.meaning.answer(operation, payload)
        return Unit(self.clock, operation.unit, operation.requests, operation.name, answer)

    @property
    def requests(self):
        return self.header.requests

    def response(self):
        return self.exit.response()

    def take(self):
        return self.exit.take()
