"""The limits that the source sets for a loop in hardware."""

from dataclasses import dataclass

from ...ir import Attr, Op

__all__ = ["LoopLimits"]


@dataclass(frozen=True)
class LoopLimits:
    """Upper limits that the source sets for a loop: running invocations (``slots``) and iterations in flight
    (``tokens``); None where it sets none. ``ahead`` is the number of iterations that may be issued before the continue
    condition is known."""

    slots: int | None = None
    tokens: int | None = None
    ahead: int | None = None

    @classmethod
    def of(cls, loop: Op | None) -> "LoopLimits":
        """The limits that the attributes of a loop set; none for a kernel's top (None)."""
        attrs = loop.attrs if loop is not None else {}
        if attrs.get(Attr.DISABLE_LOOP_PIPELINING):
            return cls(1, 1, 0)
        tokens = attrs.get(Attr.MAX_CONCURRENCY) or None  # 0: as many as fit
        interleaving = attrs.get(Attr.MAX_INTERLEAVING) or None
        return cls(interleaving, tokens, attrs.get(Attr.SPECULATED_ITERATIONS) if tokens is None else 0)
