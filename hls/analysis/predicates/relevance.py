"""Relevance of values: the conditions under which anything depends on a value."""

from ...ir import BOOL, Op, Region, Value, has, is_early, uses, walk
from ...ir.accesses import PREDICATES
from .implication import follows, implied

__all__ = ["Relevance"]

#: most uses that are followed from one value
MOST_FOLLOWED = 64
#: the truth value of the first condition with which the second one matters
_DECIDING = {"and": True, "or": False}


class Relevance:
    """Which conditions hold wherever something depends on a value, in one flat function that does not change
    meanwhile. A value matters to an arm of a ``select`` only where that arm is chosen, as the second operand of an
    ``and`` or ``or`` of conditions only where the first does not decide, to an access only where that is made, and to a
    carried value that is not used after the loop only where the loop continues."""

    def __init__(self, body: Region) -> None:
        self.used = uses(body)
        self.loops = {op.regions[0].terminator: op for op in walk(body) if op.opcode == "loop"}

    def uses_under(self, value: Value, condition: Value) -> list[tuple[Op, int]]:
        """The uses of the value through which nothing depends on it where the condition is false; without those for
        which it would take too long to find out."""
        return [use for use in self.used.get(value, ()) if self._only_under(use, condition)]

    def _only_under(self, use: tuple[Op, int], condition: Value) -> bool:
        work: list[tuple[Op, int, dict[Value, bool]]] = [(*use, {})]
        for _ in range(MOST_FOLLOWED):
            if not work:
                return True
            user, index, facts = work.pop()
            guard = self._guard(user, index)
            known = facts | implied(*guard) if guard is not None else facts
            if user.opcode == "check" or follows(condition, known):
                continue
            if not has(user, "pure"):
                return False
            work += [(*use, known) for result in user.results for use in self.used.get(result, ())]
        return not work

    def _guard(self, user: Op, index: int) -> tuple[Value, bool] | None:
        """A condition, and the truth value that it has wherever the operand matters to this user; None if there is
        none."""
        if user.opcode == "select" and index > 0:
            return user.operands[0], index == 1
        if user.opcode in _DECIDING and index == 1 and user.operands[1].type == BOOL:
            # not the first by the second as well, or two values that are off would each count as hidden by the other
            return user.operands[0], _DECIDING[user.opcode]
        if user.opcode in ("load", "store") and index != PREDICATES[user.opcode]:
            return self._wanted(user), True
        if user in self.loops and index > 0 and self.loops[user].results[index - 1] not in self.used:
            return user.operands[0], True
        return None

    def _wanted(self, access: Op) -> Value:
        """The condition under which the program makes the access."""
        checks = self.used.get(access.result, ()) if is_early(access) else ()
        return next(
            (op.operands[1] for op, _ in checks if op.opcode == "check"), access.operands[PREDICATES[access.opcode]]
        )
