"""Delay lines of a loop's carried values: values of some iterations ago, for tokens that follow one another closely."""

from dataclasses import dataclass

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

__all__ = ["History", "Tap"]


@dataclass(frozen=True)
class Tap:
    """A reader of the value of ``steps`` iterations ago.

    At most ``most`` tokens are between the stage of the read and that of the write; they have not written theirs yet.
    """

    steps: int
    most: int

    def __post_init__(self) -> None:
        if not 0 <= self.most < self.steps:
            raise ValueError(f"with {self.most} tokens ahead the value of {self.steps} iterations ago may not be there")


class History(wiring.Component):
    """The last values that a loop's tokens computed, newest first, and the value that each tap reads.

    A tap reads before the tokens ahead of it have written: the value of ``steps`` iterations ago is then the one
    written ``steps - ahead`` writes ago, or an initial value if its own invocation has had fewer tokens.

    Rules
    -----
    1. A write is never refused and is visible one cycle later. The last ``depth`` values are kept.
    2. A write with ``first`` begins an invocation: the values before its value are ``initial[0]``, of one iteration
       ago, ``initial[1]``, of two, and so on.
    3. ``taps[k].value`` is (combinational) the value of ``steps`` iterations ago for a token with ``ahead`` tokens
       before it which have not written yet. With ``begins`` these ``ahead`` tokens are all that its invocation has had
       so far; the value is then read from ``taps[k].initial``, laid out as ``initial`` is, if ``ahead`` is less than
       ``steps``, which it always is.

    Parameters
    ----------
    width : bits of a value
    depth : values kept, at least the steps of every tap
    taps : instances of :class:`Tap`
    """

    def __init__(self, width: int, depth: int, taps: tuple[Tap, ...]) -> None:
        if any(not 1 <= tap.steps <= depth for tap in taps):
            raise ValueError(
                f"{depth} values are kept, a tap asks for one of {max(t.steps for t in taps)} iterations ago"
            )
        self.depth, self.taps = depth, taps
        values = data.ArrayLayout(width, depth)
        super().__init__(
            {
                "write": In(
                    wiring.Signature({"valid": Out(1), "first": Out(1), "value": Out(width), "initial": Out(values)})
                ),
                **{
                    f"tap{k}": In(
                        wiring.Signature(
                            {
                                "ahead": Out(range(tap.most + 1)),
                                "begins": Out(1),
                                "initial": Out(data.ArrayLayout(width, tap.steps)),
                                "value": In(width),
                            }
                        )
                    )
                    for k, tap in enumerate(taps)
                },
            }
        )

    def tap(self, k: int) -> Signal:
        """The interface of tap ``k``."""
        return getattr(self, f"tap{k}")

    def elaborate(self, platform: object) -> Module:
        """Build a shift register of the values written, and a multiplexer for each tap."""
        m = Module()
        kept = [Signal(len(self.write.value), name=f"ago_{k + 1}", reset_less=True) for k in range(self.depth)]
        with m.If(self.write.valid):
            m.d.sync += kept[0].eq(self.write.value)
            for k in range(1, self.depth):
                m.d.sync += kept[k].eq(Mux(self.write.first, self.write.initial[k - 1], kept[k - 1]))
        for k, tap in enumerate(self.taps):
            port = self.tap(k)
            choices = range(tap.steps - 1, tap.steps - 2 - tap.most, -1)
            written = Array([kept[c] for c in choices])[port.ahead]
            initial = Array([port.initial[c] for c in choices])[port.ahead]
            m.d.comb += port.value.eq(Mux(port.begins, initial, written))
        return m
