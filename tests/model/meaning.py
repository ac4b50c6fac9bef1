"""The values that the tokens of a nest compute, and its sequential reference."""

from typing import Protocol

from .spec import LoopSpec

__all__ = ["Counted", "Meaning", "reference"]


class Meaning(Protocol):
    """The functions of a nest.

    ``values`` holds what a token carries at the point of the call: ``request``, each recurrence under its
    name from its use on and under ``next <name>`` from its definition on, and the responses of earlier rows
    under the operations' names (0 where the operation was off). No function may have effects, except ``answer``.
    """

    def initial(self, loop, request) -> dict: ...  # recurrence name -> value of the first iteration

    def define(self, loop, recurrence, values): ...

    def on(self, loop, operation, values) -> bool: ...

    def request(self, loop, operation, values): ...

    def continues(self, loop, values) -> bool: ...

    def result(self, loop, values): ...

    def answer(self, operation, payload): ...


class Counted:
    """Counted loops without data, for cycles only.

    Every loop has a recurrence ``index``; the request of an invocation is the tuple of the indices around it.
    """

    def __init__(self, trips, on=lambda operation, indices: True):
        """``trips(loop name, outer indices)``: iterations, 0 included; ``on(operation name, indices)``: predicates."""
        self.trips, self.active = trips, on

    def initial(self, loop, request):
        return {r.name: 0 for r in loop.recurrences}

    def define(self, loop, recurrence, values):
        return values[recurrence.name] + 1 if recurrence.name == "index" else 0

    def on(self, loop, operation, values):
        indices = self.request(loop, operation, values)
        runs = not isinstance(operation.unit, LoopSpec) or self.trips(operation.unit.name, indices) > 0
        return runs and self.active(operation.name, indices)

    def request(self, loop, operation, values):
        return (*values["request"], values["index"])

    def continues(self, loop, values):
        return values["next index"] < self.trips(loop.name, values["request"])

    def result(self, loop, values):
        return values["next index"]

    def answer(self, operation, payload):
        return 0


def reference(loop, meaning, request):
    """The result of one invocation, computed one iteration after the other."""
    carried = meaning.initial(loop, request)
    while True:
        values, going = {"request": request, **carried}, True
        for k, level in enumerate(loop.levels):
            asked = []
            for point in [(k, stage) for stage in range(level.depth)]:
                for r in loop.recurrences:
                    if r.define == point:
                        values[f"next {r.name}"] = meaning.define(loop, r, values)
                asked += _asked(loop, meaning, level, point, values)
                if point == loop.continues:
                    going = meaning.continues(loop, values)
            for operation in level.row:
                values[operation.name] = 0
            for operation, payload in asked:
                inner = isinstance(operation.unit, LoopSpec)
                values[operation.name] = (
                    reference(operation.unit, meaning, payload) if inner else meaning.answer(operation, payload)
                )
        if not going:
            return meaning.result(loop, values)
        carried = {r.name: values[f"next {r.name}"] for r in loop.recurrences}


def _asked(loop, meaning, level, point, values):
    return [
        (operation, meaning.request(loop, operation, values))
        for operation in level.row
        if operation.stage == point[1] and meaning.on(loop, operation, values)
    ]
