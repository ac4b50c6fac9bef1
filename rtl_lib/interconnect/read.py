"""Read interconnect: connects load units to memory banks."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.funnel import Funnel
from rtl_lib.interconnect.request_slots import RequestSlots
from rtl_lib.library import shared
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort, aligned_burst_layout, byte_address, without_zeros

__all__ = ["ReadInterconnect"]


@shared
class ReadInterconnect(wiring.Component):
    """Connects ``count`` load units to the banks of an :class:`~rtl_lib.interconnect.address_map.AddressMap`.

    Each bank has a request path and a return path of its own; nothing is shared by all.

    Rules
    -----
    1. A burst goes to the bank that holds its address, with its address within that bank. No burst crosses the
       granule of the map: the load units' ``burst_align`` must divide it.
    2. Each bank accepts one burst a cycle, arbitrated round-robin among the units that request it, by
       :class:`~rtl_lib.interconnect.funnel.Funnel`.
    3. Responses return to each unit in the order of its requests, whichever banks they come from.
    4. With several banks, words that arrive out of order wait in a FIFO for each unit and bank; their entries are
       reserved as a burst is taken, before it is sent to the bank, so no unit can block the return path of a bank.
    5. Each bank moves one word a cycle as long as its words are next in the order of their units.
    6. A burst passes a register before it requests its bank, and reaches the bank two cycles after it was selected.

    Parameters
    ----------
    count : load units
    address_map : maps addresses to banks
    word_bytes, addr_bits, max_burst : of the ports, on both sides
    outstanding : bursts in flight for each bank; each unit may have as many at every bank
    reorder_words : words in flight for each unit and bank, at least twice ``max_burst``; unused with one bank

    Ports
    -----
    units : list of :class:`ReadPort`; banks : list of :class:`ReadPort`
    """

    def __init__(
        self,
        *,
        count: int,
        address_map: AddressMap,
        word_bytes: int,
        addr_bits: int = 64,
        max_burst: int = 16,
        outstanding: int = 32,
        reorder_words: int = 128,
    ) -> None:
        if reorder_words < 2 * max_burst:
            raise ValueError(f"reorder_words must be at least two bursts of {max_burst}, not {reorder_words!r}")
        if address_map.granule < word_bytes:
            raise ValueError(f"a word of {word_bytes} bytes does not fit the map's granule of {address_map.granule}")
        self.count, self.map, self.outstanding, self.reorder_words, self.max_burst = (
            count,
            address_map,
            outstanding,
            reorder_words,
            max_burst,
        )
        self.word_bytes, self._burst = word_bytes, aligned_burst_layout(word_bytes, addr_bits, max_burst)
        port = ReadPort(word_bytes, addr_bits, max_burst)
        super().__init__({"units": In(port).array(count), "banks": Out(port).array(address_map.banks)})

    def elaborate(self, platform: object) -> Module:
        """Build two registers of requests for each unit, and a request path and a return path for each bank."""
        m = Module()
        asking = [RequestSlots(len(self._bank(unit)), self._burst) for unit in self.units]
        late = [each.late for each in asking]
        paths = [self._requests(m, b, [each.o for each in asking], late) for b in range(self.map.banks)]
        arrivals = [self._returns(m, b, owner) for b, (_, owner) in enumerate(paths)]
        back = self._direct if self.map.banks == 1 else self._in_order
        for u, unit in enumerate(self.units):
            m.submodules[f"asking{u}"] = each = asking[u]
            m.d.comb += [
                each.i.payload.late.eq(without_zeros(unit.request.payload, self.word_bytes)),
                each.i.payload.shown.eq(self._bank(unit)),
                each.o.ready.eq(Cat(taken[u] for taken, _ in paths).any()),
            ]
            back(m, u, each.i, [arrival[u] for arrival in arrivals])
        return m

    def _bank(self, unit):
        return self.map.bank_bits(unit.request.payload.addr)

    def _requests(self, m: Module, b, asking, late):
        """The request path of bank ``b``; returns which units' bursts are taken, and a stream of the units that the
        responses belong to."""
        request = self.banks[b].request
        m.submodules[f"funnel{b}"] = funnel = Funnel(self._burst, self.count)
        m.submodules[f"owners{b}"] = owners = StreamFifo(range(self.count), self.outstanding)
        burst, owner = funnel.o.payload.value, funnel.o.payload.source
        m.d.comb += [
            funnel.asks.eq(Cat(each.valid & (each.payload == b) for each in asking)),
            *(value.eq(each) for value, each in zip(funnel.values, late, strict=True)),
            request.valid.eq(funnel.o.valid & owners.i.ready),
            request.payload.addr.eq(self.map.local_bits(byte_address(burst, self.word_bytes))),
            request.payload.words.eq(burst.words),
            owners.i.valid.eq(funnel.o.valid & request.ready),
            owners.i.payload.eq(owner),
            funnel.o.ready.eq(request.ready & owners.i.ready),
        ]
        return funnel.taken, owners.o

    def _returns(self, m: Module, b, owner):
        """The return path of bank ``b``; returns for each unit whether a word for it has arrived."""
        response = self.banks[b].response
        m.d.comb += [response.ready.eq(owner.valid), owner.ready.eq(response.valid & response.payload.last)]
        return [response.valid & owner.valid & (owner.payload == u) for u in range(self.count)]

    def _direct(self, m: Module, u, asking, arrivals) -> None:
        """With one bank, responses arrive in order."""
        unit = self.units[u]
        m.d.comb += [
            asking.valid.eq(unit.request.valid),
            unit.request.ready.eq(asking.ready),
            unit.response.valid.eq(arrivals[0]),
            unit.response.payload.eq(self.banks[0].response.payload),
        ]

    def _in_order(self, m: Module, u, asking, arrivals) -> None:
        """With several banks, responses are reordered. A burst reserves its position in the order and the entries of
        its words before it requests the bank, so the check for room does not wait for the arbitration among units."""
        unit, request, bank = self.units[u], self.units[u].request, self._bank(self.units[u])
        m.submodules[f"turns{u}"] = turns = StreamFifo(len(bank), self.outstanding * self.map.banks)
        taken, room = Signal(name=f"taken{u}"), Signal(name=f"room{u}")
        for b, arrival in enumerate(arrivals):
            m.submodules[f"words{u}_{b}"] = words = StreamFifo(unit.response.payload.shape(), self.reorder_words)
            free = Signal(range(self.reorder_words + 1), init=self.reorder_words, name=f"free{u}_{b}")
            turn, given = turns.o.payload == b, Signal(name=f"given{u}_{b}")
            m.d.comb += [
                words.i.valid.eq(arrival),
                words.i.payload.eq(self.banks[b].response.payload),
                given.eq(turns.o.valid & turn & words.o.valid),
                words.o.ready.eq(given),
            ]
            fits = Signal(init=1, name=f"fits{u}_{b}")  # any burst, even after one that is taken in this cycle
            m.d.sync += [
                free.eq(free - Mux(taken & (bank == b), request.payload.words, 0) + given),
                fits.eq(free >= 2 * self.max_burst),
            ]
            with m.If(bank == b):
                m.d.comb += room.eq(fits)
            with m.If(turn):
                m.d.comb += [unit.response.valid.eq(given), unit.response.payload.eq(words.o.payload)]
        m.d.comb += [
            request.ready.eq(asking.ready & turns.i.ready & room),
            taken.eq(request.valid & request.ready),
            asking.valid.eq(request.valid & turns.i.ready & room),
            turns.i.valid.eq(taken),
            turns.i.payload.eq(bank),
            turns.o.ready.eq(unit.response.valid & unit.response.payload.last),
        ]
