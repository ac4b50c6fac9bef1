"""Load units on one side, banks on the other: the read paths."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.interconnect.arbiter import RoundRobin
from rtl_lib.library import shared
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import ReadPort

__all__ = ["ReadInterconnect"]


@shared
class ReadInterconnect(wiring.Component):
    """Connects ``count`` load units to the banks of an :class:`~rtl_lib.interconnect.address_map.AddressMap`.

    Each bank has a request path and a return path of its own; nothing is shared by all.

    Rules
    -----
    1. A burst goes to the bank that holds its address, with its address within that bank. No burst crosses the
       granule of the map: the load units' ``burst_align`` must divide it.
    2. Each bank takes one burst a cycle, round robin over the units that want it.
    3. Responses return to each unit in the order of its requests, whichever banks they come from.
    4. With several banks, words that arrive before their turn wait in a FIFO for each unit and bank; their places are
       reserved before the request goes to the bank, so no unit can block the return path of a bank.
    5. Each bank moves one word a cycle as long as its units are in turn.

    Parameters
    ----------
    count : load units
    address_map : where addresses live
    word_bytes, addr_bits, max_burst : of the ports, on both sides
    outstanding : bursts under way for each bank; each unit may have as many at every bank
    reorder_words : words under way for each unit and bank, at least ``max_burst``; unused with one bank

    Ports
    -----
    units : list of :class:`ReadPort`; banks : list of :class:`ReadPort`
    """

    def __init__(self, *, count, address_map, word_bytes, addr_bits=64, max_burst=16, outstanding=32,
                 reorder_words=128):
        if reorder_words < max_burst:
            raise ValueError(f"reorder_words must be at least max_burst, {max_burst}, not {reorder_words!r}")
        if address_map.granule < word_bytes:
            raise ValueError(f"a word of {word_bytes} bytes does not fit the map's granule of {address_map.granule}")
        self.count, self.map, self.outstanding, self.reorder_words = count, address_map, outstanding, reorder_words
        port = ReadPort(word_bytes, addr_bits, max_burst)
        super().__init__({"units": In(port).array(count), "banks": Out(port).array(address_map.banks)})

    def elaborate(self, platform):
        m = Module()
        banks, units = range(self.map.banks), range(self.count)
        wants = [[Signal(name=f"unit{u}_wants_bank{b}") for b in banks] for u in units]
        paths = [self._requests(m, b, [wants[u][b] for u in units]) for b in banks]
        arrivals = [self._returns(m, b, owner) for b, (_, owner) in enumerate(paths)]
        for u in units:
            taken = Cat(grants[u] for grants, _ in paths)
            m.d.comb += self.units[u].request.ready.eq(taken.any())
            back = self._direct if self.map.banks == 1 else self._in_order
            back(m, u, wants[u], taken, [arrival[u] for arrival in arrivals])
        return m

    def _requests(self, m, b, wants):
        """The request path of bank ``b``; returns which unit is taken, and the stream of owners of what will return."""
        bank = self.banks[b]
        m.submodules[f"arbiter{b}"] = arbiter = RoundRobin(self.count)
        m.submodules[f"requests{b}"] = requests = StreamFifo(bank.request.payload.shape(), 2)
        m.submodules[f"owners{b}"] = owners = StreamFifo(range(self.count), self.outstanding)
        connect(m, requests.o, wiring.flipped(bank.request))

        chosen = Signal.like(requests.i.payload, name=f"chosen{b}")
        with m.Switch(arbiter.grant):
            for u, unit in enumerate(self.units):
                with m.Case(u):
                    m.d.comb += chosen.eq(unit.request.payload)
        m.d.comb += [
            arbiter.requests.eq(Cat(wants)),
            arbiter.take.eq(requests.i.ready & owners.i.ready),
            requests.i.valid.eq(arbiter.any & owners.i.ready),
            requests.i.payload.addr.eq(self.map.local_bits(chosen.addr)),
            requests.i.payload.words.eq(chosen.words),
            owners.i.valid.eq(arbiter.any & requests.i.ready),
            owners.i.payload.eq(arbiter.grant),
        ]
        return [arbiter.take & arbiter.any & (arbiter.grant == u) for u in range(self.count)], owners.o

    def _returns(self, m, b, owner):
        """The return path of bank ``b``; returns for each unit whether a word for it is here."""
        response = self.banks[b].response
        m.d.comb += [
            response.ready.eq(owner.valid),
            owner.ready.eq(response.valid & response.payload.last),
        ]
        return [response.valid & owner.valid & (owner.payload == u) for u in range(self.count)]

    def _direct(self, m, u, wants, taken, arrivals):
        """With one bank, what returns is in order."""
        unit = self.units[u]
        m.d.comb += [
            wants[0].eq(unit.request.valid),
            unit.response.valid.eq(arrivals[0]),
            unit.response.payload.eq(self.banks[0].response.payload),
        ]

    def _in_order(self, m, u, wants, taken, arrivals):
        """With several banks, what returns waits for its turn."""
        unit, request = self.units[u], self.units[u].request
        bank = self.map.bank_bits(request.payload.addr)
        m.submodules[f"turns{u}"] = turns = StreamFifo(len(bank), self.outstanding * self.map.banks)
        m.d.comb += [turns.i.valid.eq(taken.any()), turns.i.payload.eq(bank)]
        for b, arrival in enumerate(arrivals):
            m.submodules[f"words{u}_{b}"] = words = StreamFifo(unit.response.payload.shape(), self.reorder_words)
            free = Signal(range(self.reorder_words + 1), init=self.reorder_words, name=f"free{u}_{b}")
            given = turns.o.valid & (turns.o.payload == b) & words.o.valid
            m.d.comb += [
                wants[b].eq(request.valid & (bank == b) & turns.i.ready & (free >= request.payload.words)),
                words.i.valid.eq(arrival),
                words.i.payload.eq(self.banks[b].response.payload),
                words.o.ready.eq(given),
            ]
            m.d.sync += free.eq(free - Mux(taken[b], request.payload.words, 0) + given)
            with m.If(given):
                m.d.comb += [unit.response.valid.eq(1), unit.response.payload.eq(words.o.payload)]
        m.d.comb += turns.o.ready.eq(unit.response.valid & unit.response.payload.last)
