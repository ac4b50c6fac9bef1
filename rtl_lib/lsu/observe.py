"""What counters may watch on a load or store unit."""

from amaranth.lib import wiring
from amaranth.lib.wiring import Out

__all__ = ["Observation"]


class Observation(wiring.Signature):
    """One-cycle strobes; nothing in the unit depends on them.

    accepted : an access was taken
    stalled : an access was offered and not taken
    burst : a burst was handed to the memory
    word : a word was moved to or from the memory
    error : the memory answered with an error
    """

    def __init__(self):
        super().__init__({name: Out(1) for name in ("accepted", "stalled", "burst", "word", "error")})
