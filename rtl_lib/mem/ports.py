"""The interface between a load-store unit and the memory system: bursts of whole words.

An address is a byte address, aligned to the word. A burst is ``words`` consecutive words, 1 to ``max_burst``.

Rules of a read port
--------------------
1. Each request is answered by ``words`` responses, in the order of the requests; ``last`` marks the last of a burst.
2. The requester always accepts a response: it reserves the space before it sends the request.

Rules of a write port
---------------------
3. The words of a burst come on ``data`` in the order of the requests. They are all available when the request is
   offered, so a burst never stalls half way. A receiver takes data only for requests it has accepted.
4. Each request is answered by one ``ack``, in the order of the requests, which is always accepted.

``error`` says that the memory refused the access.
"""

from collections.abc import Mapping
from typing import Any

from amaranth import Value
from amaranth.hdl import C, Cat
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Member, Out
from amaranth.utils import exact_log2

__all__ = [
    "Fence",
    "ReadPort",
    "WritePort",
    "aligned_burst_layout",
    "burst_layout",
    "byte_address",
    "require_power_of_two",
    "response_layout",
    "store_layout",
    "without_zeros",
    "word_layout",
]


def require_power_of_two(name: str, value: int, low: int = 1, high: int | None = None) -> int:
    """Return ``value`` or raise ValueError, naming the parameter, unless it is a power of two in the range."""
    if not isinstance(value, int) or value < 1 or value & (value - 1):
        raise ValueError(f"{name} must be a power of two, not {value!r}")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be {low} to {high or 'any'}, not {value}")
    return value


def burst_layout(addr_bits: int, max_burst: int) -> data.StructLayout:
    """A request: byte address of the first word, number of words."""
    return data.StructLayout({"addr": addr_bits, "words": range(max_burst + 1)})


def aligned_burst_layout(word_bytes: int, addr_bits: int, max_burst: int) -> data.StructLayout:
    """A request as it is stored: the number of its first word, as the bits below it are 0, and the number of words."""
    return data.StructLayout({"word": addr_bits - exact_log2(word_bytes), "words": range(max_burst + 1)})


def without_zeros(burst: Any, word_bytes: int) -> Value:
    """A request of :func:`burst_layout` as one of :func:`aligned_burst_layout`."""
    return Cat(burst.addr[exact_log2(word_bytes) :], burst.words)


def byte_address(burst: Any, word_bytes: int) -> Value:
    """The byte address of a request of :func:`aligned_burst_layout`."""
    return Cat(C(0, exact_log2(word_bytes)), burst.word)


def response_layout(word_bytes: int) -> data.StructLayout:
    """One word read: its data, whether the memory refused it, whether it is the last of its burst."""
    return data.StructLayout({"data": 8 * word_bytes, "error": 1, "last": 1})


def word_layout(word_bytes: int) -> data.StructLayout:
    """One word to write: its data, a strobe for each byte."""
    return data.StructLayout({"data": 8 * word_bytes, "strobe": word_bytes})


def store_layout(addr_bits: int, access_bytes: int, strobes: int = 0) -> data.StructLayout:
    """A store: byte address and data, and ``strobes`` strobe bits if any."""
    strobe = {"strobe": strobes} if strobes else {}
    return data.StructLayout({"addr": addr_bits, "data": 8 * access_bytes, **strobe})


class Fence(wiring.Signature):
    """``request``, answered by ``response`` when the stores before it are in memory."""

    def __init__(self) -> None:
        super().__init__({"request": Out(stream.Signature(0)), "response": In(stream.Signature(0))})


class _Port(wiring.Signature):
    def __init__(self, word_bytes: int, addr_bits: int, max_burst: int, members: Mapping[str, Member]) -> None:
        require_power_of_two("word_bytes", word_bytes)
        if not 1 <= max_burst <= 256:
            raise ValueError(f"max_burst must be 1 to 256 words, not {max_burst!r}")
        if addr_bits <= exact_log2(word_bytes):
            raise ValueError(f"addr_bits must exceed the {exact_log2(word_bytes)} bits within a word, not {addr_bits}")
        self.word_bytes, self.addr_bits, self.max_burst = word_bytes, addr_bits, max_burst
        request = Out(stream.Signature(burst_layout(addr_bits, max_burst)))
        super().__init__({"request": request, **members})


class ReadPort(_Port):
    """Read requests out, ``{data, error, last}`` responses in, from the requester's view."""

    def __init__(self, word_bytes: int, addr_bits: int, max_burst: int) -> None:
        response = In(stream.Signature(response_layout(word_bytes)))
        super().__init__(word_bytes, addr_bits, max_burst, {"response": response})


class WritePort(_Port):
    """Write requests and ``{data, strobe}`` words out, ``{error}`` acknowledgements in, from the requester's view."""

    def __init__(self, word_bytes: int, addr_bits: int, max_burst: int) -> None:
        super().__init__(
            word_bytes,
            addr_bits,
            max_burst,
            {
                "data": Out(stream.Signature(word_layout(word_bytes))),
                "ack": In(stream.Signature(data.StructLayout({"error": 1}))),
            },
        )
