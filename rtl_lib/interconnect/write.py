"""Store units on one side, banks on the other: the write paths."""

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.interconnect.arbiter import RoundRobin
from rtl_lib.library import shared
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import WritePort

__all__ = ["WriteInterconnect"]


@shared
class WriteInterconnect(wiring.Component):
    """Connects ``count`` store units to the banks of an :class:`~rtl_lib.interconnect.address_map.AddressMap`.

    Rules
    -----
    1. A burst goes to the bank that holds its address, with its address within that bank. No burst crosses the
       granule of the map: the store units' ``burst_align`` must divide it.
    2. Each bank takes one burst after the other, round robin over the units that want it, its words right behind its
       request. Bursts follow each other without a gap, so a bank moves one word a cycle, also where each is a burst.
    3. A unit's next burst is taken when the last word of the one before it moves. (Were it taken earlier, two
       units could wait for each other at two banks.)
    4. Acknowledgements return to each unit in the order of its requests, whichever banks they come from.

    Parameters
    ----------
    count : store units
    address_map : where addresses live
    word_bytes, addr_bits, max_burst : of the ports, on both sides
    outstanding : bursts not yet acknowledged for each bank; each unit may have as many at every bank

    Ports
    -----
    units : list of :class:`WritePort`; banks : list of :class:`WritePort`
    """

    def __init__(self, *, count, address_map, word_bytes, addr_bits=64, max_burst=16, outstanding=32):
        if address_map.granule < word_bytes:
            raise ValueError(f"a word of {word_bytes} bytes does not fit the map's granule of {address_map.granule}")
        self.count, self.map, self.outstanding = count, address_map, outstanding
        port = WritePort(word_bytes, addr_bits, max_burst)
        super().__init__({"units": In(port).array(count), "banks": Out(port).array(address_map.banks)})

    def elaborate(self, platform):
        m = Module()
        banks, units = range(self.map.banks), range(self.count)
        wants = [[Signal(name=f"unit{u}_wants_bank{b}") for b in banks] for u in units]
        moves = [Signal(self.count, name=f"bank{b}_moves") for b in banks]  # a word of which unit
        ends = [Signal(self.count, name=f"bank{b}_ends") for b in banks]  # the burst of which unit, this cycle
        paths = [self._requests(m, b, [wants[u][b] for u in units], moves[b], ends[b]) for b in banks]
        acks = [self._acks(m, b, owner) for b, (_, owner) in enumerate(paths)]
        for u in units:
            unit, taken = self.units[u], Cat(grants[u] for grants, _ in paths)
            turns = self._ack_in_order(m, u, taken, [ack[u] for ack in acks])
            busy, ending = Signal(name=f"busy{u}"), Cat(end[u] for end in ends).any()
            bank = self.map.bank_bits(unit.request.payload.addr)
            m.d.sync += busy.eq(taken.any() | (busy & ~ending))
            m.d.comb += [
                unit.request.ready.eq(taken.any()),
                unit.data.ready.eq(Cat(move[u] for move in moves).any()),
            ]
            for b in banks:
                m.d.comb += wants[u][b].eq(unit.request.valid & (bank == b) & (~busy | ending) & turns.ready)
        return m

    def _requests(self, m, b, wants, moves, ends):
        """Requests and words of bank ``b``; returns which unit is taken, and the stream of owners of what it acks."""
        bank = self.banks[b]
        m.submodules[f"arbiter{b}"] = arbiter = RoundRobin(self.count)
        m.submodules[f"requests{b}"] = requests = StreamFifo(bank.request.payload.shape(), 2)
        m.submodules[f"owners{b}"] = owners = StreamFifo(range(self.count), self.outstanding)
        connect(m, requests.o, wiring.flipped(bank.request))

        chosen = Signal.like(requests.i.payload, name=f"chosen{b}")
        active = Signal.like(chosen.words, name=f"left{b}")  # words of the present burst still to move
        free = (active == 0) | ends.any()
        taken = arbiter.any & requests.i.ready & owners.i.ready & free
        with m.Switch(arbiter.grant):
            for u, unit in enumerate(self.units):
                with m.Case(u):
                    m.d.comb += chosen.eq(unit.request.payload)
        m.d.comb += [
            arbiter.requests.eq(Cat(wants)),
            arbiter.take.eq(taken),
            requests.i.valid.eq(taken),
            requests.i.payload.addr.eq(self.map.local_bits(chosen.addr)),
            requests.i.payload.words.eq(chosen.words),
            owners.i.valid.eq(taken),
            owners.i.payload.eq(arbiter.grant),
        ]
        with m.If(taken):
            m.d.sync += active.eq(chosen.words)
        with m.Elif(moves.any()):
            m.d.sync += active.eq(active - 1)
        self._words(m, b, arbiter.grant, taken, active, moves, ends)
        return [taken & (arbiter.grant == u) for u in range(self.count)], owners.o

    def _words(self, m, b, grant, taken, left, moves, ends):
        """Move the words of the present burst of bank ``b`` from the unit that owns it, into a FIFO: so the next burst begins at
        once, while the request of this one is still on its way through the other."""
        owner = Signal.like(grant, name=f"owner{b}")
        m.submodules[f"words{b}"] = words = StreamFifo(self.banks[b].data.payload.shape(), 2)
        connect(m, words.o, wiring.flipped(self.banks[b].data))
        data = words.i
        with m.If(taken):
            m.d.sync += owner.eq(grant)
        with m.Switch(owner):
            for u, unit in enumerate(self.units):
                with m.Case(u):
                    m.d.comb += [data.valid.eq(unit.data.valid & (left != 0)), data.payload.eq(unit.data.payload)]
        moved = data.valid & data.ready
        for u in range(self.count):
            m.d.comb += [
                moves[u].eq(moved & (owner == u)),
                ends[u].eq(moved & (owner == u) & (left == 1)),
            ]

    def _acks(self, m, b, owner):
        """The return path of bank ``b``; returns for each unit a (valid, error) pair."""
        ack = self.banks[b].ack
        m.d.comb += [ack.ready.eq(owner.valid), owner.ready.eq(ack.valid)]
        come = ack.valid & owner.valid
        return [(come & (owner.payload == u), ack.payload.error) for u in range(self.count)]

    def _ack_in_order(self, m, u, taken, acks):
        """Give unit ``u`` its acknowledgements in order; returns the stream that must have room for a new burst."""
        unit = self.units[u]
        bank = self.map.bank_bits(unit.request.payload.addr)
        m.submodules[f"turns{u}"] = turns = StreamFifo(len(bank), self.outstanding * self.map.banks)
        m.d.comb += [
            turns.i.valid.eq(taken.any()),
            turns.i.payload.eq(bank),
            turns.o.ready.eq(unit.ack.valid),
        ]
        for b, (valid, error) in enumerate(acks):
            m.submodules[f"acks{u}_{b}"] = waiting = StreamFifo(unit.ack.payload.shape(), self.outstanding)
            turn = turns.o.valid & (turns.o.payload == b)
            m.d.comb += [
                waiting.i.valid.eq(valid),
                waiting.i.payload.error.eq(error),
                waiting.o.ready.eq(turn),
            ]
            with m.If(turn):
                m.d.comb += [unit.ack.valid.eq(waiting.o.valid), unit.ack.payload.eq(waiting.o.payload)]
        return turns.i
