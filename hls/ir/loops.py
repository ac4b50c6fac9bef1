"""Carried values of a loop: adding one, and dropping others.

A carried value consists of four values at the same index: an operand of the loop (its initial value), an argument of
the body (its value in an iteration), an operand of the body's terminator (its value in the next iteration) and a result
of the loop (its last value). Passes add and remove all four together, with the functions here.
"""

from dataclasses import dataclass

from .nodes import Op, Value
from .rewrite import set_results

__all__ = ["CarriedValue", "add_carried", "keep_carried"]


@dataclass(frozen=True, eq=False)
class CarriedValue:
    """One carried value of a loop: ``arg`` is its value in the body, ``result`` its value after the loop."""

    loop: Op
    arg: Value
    result: Value

    def set_next(self, value: Value) -> None:
        """Set its value in the next iteration; the body must have its terminator."""
        operands = self.loop.regions[0].terminator.operands
        place = 1 + self.arg.index
        if place > len(operands):
            raise ValueError(f"carried value {self.arg.index} gets its next value before the one added before it")
        operands[place : place + 1] = [value]


def add_carried(
    loop: Op, init: Value, name: str = "", *, following: Value | None = None, result: Value | None = None
) -> CarriedValue:
    """A new carried value of ``loop``, after the existing ones: ``init`` at first, ``following`` in later iterations.

    Without ``following``, which often needs the new argument, the loop is incomplete until
    :meth:`CarriedValue.set_next`; that must be called for several new values in the order in which they were added.
    ``name`` names the argument. ``result`` becomes the result of the loop: a value that has users already, or one with
    a name.
    """
    (body,) = loop.regions
    arg = Value(init.type, name, body, len(body.args))
    body.args.append(arg)
    loop.operands.append(init)
    set_results(loop, [*loop.results, result or Value(init.type)])
    added = CarriedValue(loop, arg, loop.results[-1])
    if following is not None:
        added.set_next(following)
    return added


def keep_carried(loop: Op, indices: list[int]) -> None:
    """Drop all carried values of the loop except those of the given indices; the dropped ones must have no other
    use."""
    (body,) = loop.regions
    end = body.terminator
    loop.operands = loop.operands[:1] + [loop.operands[1 + k] for k in indices]
    end.operands = end.operands[:1] + [end.operands[1 + k] for k in indices]
    body.args = [body.args[k] for k in indices]
    for k, value in enumerate(body.args):
        value.index = k
    set_results(loop, [loop.results[k] for k in indices])
