"""What the source asks of a loop in hardware."""

from dataclasses import dataclass

from ...ir import Attr, Op

__all__ = ["Limits"]


@dataclass(frozen=True)
class Limits:
    """What the source wants of a loop at most: running invocations (``slots``), iterations on their way (``tokens``);
    None where it says nothing. ``ahead``: iterations that may be issued before it is known whether there are any."""

    slots: int | None = None
    tokens: int | None = None
    ahead: int | None = None

    @classmethod
    def of(cls, loop: Op | None) -> "Limits":
        attrs = loop.attrs if loop is not None else {}
        if attrs.get(Attr.DISABLE_LOOP_PIPELINING):
            return cls(1, 1, 0)
        tokens = attrs.get(Attr.MAX_CONCURRENCY) or None  # 0: as many as there is room for
        interleaving = attrs.get(Attr.MAX_INTERLEAVING) or None
        return cls(interleaving, tokens, attrs.get(Attr.SPECULATED_ITERATIONS) if tokens is None else 0)
