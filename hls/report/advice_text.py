"""Advice as a sentence, with its measured result."""

from .model import Loop, WouldBe

__all__ = ["outcome", "say_advice"]


def say_advice(found: tuple[WouldBe, ...], loop: Loop) -> str:
    """All changes, the best first; "" if nothing helps."""
    sentences = [f"{one.change}: {outcome(one, loop)}" for one in found]
    return "; or ".join([*sentences[:1], *(f"{text[0].lower()}{text[1:]}" for text in sentences[1:])])


def outcome(one: WouldBe, loop: Loop) -> str:
    """The figures after a change, for a reader who knows those of the loop before it."""
    words = f"II {one.ii}"
    if one.interleaving > 1:
        words += f", {one.interleaving} invocations interleaved"
    if one.interval is not None and (one.interval != one.ii or one.interleaving > 1):
        words += ", an iteration every cycle" if one.interval == 1 else f", {_number(one.interval)} cycles an iteration"
    if one.fmax_mhz and loop.path and one.fmax_mhz < loop.path.fmax_mhz:
        words += f", fmax {one.fmax_mhz:g} MHz"
    return f"{words} at best" if one.at_best else words


def _number(cycles: float) -> str:
    return f"{cycles:,.0f}" if cycles == int(cycles) else f"{cycles:.3g}"
