"""Carried values of a loop: a new one, and which ones are kept.

A carried value is four things in one place each: an operand of the loop (what it is at first), an argument of the body
(what it is in an iteration), an operand of the body's terminator (what it is in the next one) and a result of the loop
(what it was last). Passes add and remove all four together, with the functions here.
"""

from dataclasses import dataclass

from .nodes import Op, Value
from .rewrite import set_results

__all__ = ["CarriedValue", "add_carried", "keep_carried"]


@dataclass(frozen=True, eq=False)
class CarriedValue:
    """One carried value of a loop: ``arg`` stands for it in the body, ``result`` behind the loop."""

    loop: Op
    arg: Value
    result: Value

    def set_next(self, value: Value) -> None:
        """Let it be ``value`` in the next iteration; the body must have its terminator."""
        operands = self.loop.regions[0].terminator.operands
        place = 1 + self.arg.index
        if place > len(operands):
            raise ValueError(f"carried value {self.arg.index} gets its next value before the one added before it")
        operands[place : place + 1] = [value]


def add_carried(
    loop: Op, init: Value, name: str = "", *, following: Value | None = None, result: Value | None = None
) -> CarriedValue:
    """A new carried value of ``loop``, behind those that it has: ``init`` at first, ``following`` in later iterations.

    Without ``following``, which often needs the new argument, the loop is incomplete until
    :meth:`CarriedValue.set_next`; several new ones get theirs in the order in which they were added. ``name`` names the
    argument. ``result`` becomes the result of the loop: a value that has users already, or one with a name.
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
    """Drop all carried values of the loop but those of the given indices; the dropped ones must have no other use."""
    (body,) = loop.regions
    end = body.terminator
    loop.operands = loop.operands[:1] + [loop.operands[1 + k] for k in indices]
    end.operands = end.operands[:1] + [end.operands[1 + k] for k in indices]
    body.args = [body.args[k] for k in indices]
    for k, value in enumerate(body.args):
        value.index = k
    set_results(loop, [loop.results[k] for k in indices])
