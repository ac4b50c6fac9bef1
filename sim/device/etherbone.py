"""Accesses of a board's bus by Etherbone, as LiteEth's core has it: a packet is a datagram with one record, which
writes words from an address on, or reads words; a write is not answered."""

import time
from collections.abc import Sequence

import numpy as np

from . import line
from .bus import Words
from .datagrams import Datagrams
from .line import DeviceError

__all__ = ["Etherbone"]

#: of a packet: the protocol's mark, its version, and words and addresses of 32 bits
HEAD = bytes((0x4E, 0x6F, 0x10, 0x44, 0, 0, 0, 0))
ALL_BYTES = 0x0F
RECORD = 4  #: bytes of a record's head
WORD = 4
#: words of a packet, at most; LiteEth stores a packet as a whole, and soc.py gives it room for two
MOST = 120
#: seconds until a packet that is not answered is sent again; twice as long each time
WAIT = 0.1
#: how often a packet of writes is sent that did not arrive
TRIES = 8
COUNTED = 1 << 32


class Etherbone:
    """The bus behind ``link``. ``written`` is the address of a word in which the board counts the words that were
    written by Etherbone: after each packet it shows whether that has arrived, so that a lost one is sent again, and
    none takes effect twice."""

    def __init__(self, link: Datagrams, written: int) -> None:
        self._link, self._written = link, written
        self._count = 0  #: of words, as the board has it
        self._tag = 0  #: of the last packet that reads: an answer carries it back

    @property
    def place(self) -> str:
        """The board's host name or address."""
        return self._link.place

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._link.closed

    def close(self) -> None:
        """Close the link; safe to call twice."""
        self._link.close()

    def settle(self) -> None:
        """Take the board's count, from which that of this program goes on."""
        self._count = int(self.read(self._written)[0])

    def read(self, address: int, words: int = 1) -> Words:
        """The words from that address on; asked for again when a packet was lost."""
        return np.concatenate(
            [self._read(address + WORD * first, min(MOST, words - first)) for first in range(0, words, MOST)]
        )

    def write(self, address: int, words: Sequence[int] | Words) -> None:
        """Write words from that address on, each once."""
        self.fill(address, np.asarray(words, np.uint32))

    def fill(self, address: int, words: Words) -> None:
        """Write words, packet after packet."""
        for first in range(0, len(words), MOST):
            self._write(address + WORD * first, words[first : first + MOST])

    def _write(self, address: int, words: Words) -> None:
        """Write the words of one packet."""
        packet = HEAD + bytes((0, ALL_BYTES, len(words), 0)) + address.to_bytes(WORD, "big") + _bytes_of(words)
        for _ in range(TRIES):
            self._link.send(packet)
            more = (int(self._read(self._written, 1)[0]) - self._count) % COUNTED
            if more == len(words):
                self._count = (self._count + more) % COUNTED
                return
            if more:
                raise DeviceError(
                    f"the board at {self.place} was written {more} words instead of {len(words)}: another program uses "
                    "it, or the network delivers packets twice; begin again, alone"
                )
        raise DeviceError(f"the network has lost {TRIES} packets to the board at {self.place}, one after the other")

    def _read(self, address: int, words: int) -> Words:
        """The words of one packet."""
        self._tag = (self._tag + 1) % COUNTED
        places = np.arange(address, address + WORD * words, WORD, dtype=np.uint32)
        packet = HEAD + bytes((0, ALL_BYTES, 0, words)) + self._tag.to_bytes(WORD, "big") + _bytes_of(places)
        begin, wait = time.monotonic(), WAIT
        while (left := begin + line.SILENCE - time.monotonic()) > 0:
            self._link.send(packet)
            if (found := self._answer(words, min(wait, left))) is not None:
                return found
            wait *= 2
        raise DeviceError(
            f"the board at {self.place} does not answer within {line.SILENCE:g} s; check cable, power and address, and "
            "load the bitstream"
        )

    def _answer(self, words: int, seconds: float) -> Words | None:
        """The words of the packet that answers the last one, if it comes within that time; others are dropped."""
        end = time.monotonic() + seconds
        while (packet := self._link.receive(max(0.0, end - time.monotonic()))) is not None:
            begin = len(HEAD) + RECORD + WORD
            record = packet[len(HEAD) : begin]
            ours = packet[:2] == HEAD[:2] and record[2:3] == bytes((words,))
            if ours and record[RECORD:] == self._tag.to_bytes(WORD, "big") and len(packet) >= begin + WORD * words:
                return np.frombuffer(packet, ">u4", words, begin).astype(np.uint32)
        return None


def _bytes_of(words: Words) -> bytes:
    return words.astype(">u4").tobytes()
