"""Values that stand for the result of a load which may be off: 0 where it does not execute."""

from dataclasses import dataclass, field

from ...analysis.predicates.relevance import Relevance
from ...ir import Builder, Region, Value
from ...ir.rewrite import constant, resolve
from ...ir.storage import zero

__all__ = ["MaskedValues"]


@dataclass
class MaskedValues:
    """Makes the masks of one function, and drops them where they do not matter: a recurrence would wait for them."""

    masks: list[Value] = field(default_factory=list)

    def under(self, on: Value, value: Value, b: Builder) -> Value:
        """The result of a load with predicate ``on`` from the value at its address."""
        if constant(on) == 1:
            return value
        mask = b.value("select", on, value, b.const(zero(value.type), value.type))
        self.masks.append(mask)
        return mask

    def resolve(self, body: Region, values: dict[Value, Value]) -> None:
        """Replace every use of a key of ``values`` by its value, without masks where they do not matter."""
        resolve(body, values)
        relevance = Relevance(body) if self.masks else None
        for mask in self.masks:
            on, value, _ = mask.op.operands
            # the uses are those of the function with all masks: what one mask hides stays irrelevant without it
            for user, index in relevance.uses_under(mask, on):
                user.operands[index] = value
