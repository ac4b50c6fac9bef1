"""Write interconnect: connects store units to memory banks."""

from dataclasses import dataclass

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.funnel import Funnel
from rtl_lib.library import shared
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import WritePort, aligned_burst_layout, byte_address, without_zeros
from rtl_lib.mem.request_fifo import RequestFifo
from rtl_lib.steps import count, reached

__all__ = ["AHEAD", "WriteInterconnect"]


#: Words that a unit may still have to move when its next burst is taken: as many as the cycles until that can begin.
#: One less than a power of two, so that the bits above it tell whether there are more.
AHEAD = (1 << 2) - 1


@dataclass(frozen=True)
class _Path:
    """Signals between the units and one bank, with a bit for each unit: it ``asks`` and is ``taken``; its burst is
    next in the order of its own words (``turns``) and ``begins``; a word ``moves``, and with it a burst ``ends``.
    ``owner`` is the unit whose burst is moving, which has ``left`` words left."""

    asks: Signal
    taken: Signal
    turns: Signal
    begins: Signal
    moves: Signal
    ends: Signal
    owner: Signal
    left: Signal

    @classmethod
    def of(cls, bank, count: int, max_burst: int):
        def of_units(what: str) -> Signal:
            return Signal(count, name=f"bank{bank}_{what}")

        return cls(
            asks=of_units("asks"),
            taken=of_units("taken"),
            turns=of_units("turns"),
            begins=of_units("begins"),
            moves=of_units("moves"),
            ends=of_units("ends"),
            owner=Signal(range(count), name=f"owner{bank}"),
            left=Signal(range(max_burst + 1), name=f"left{bank}"),
        )


@shared
class WriteInterconnect(wiring.Component):
    """Connects ``count`` store units to the banks of an :class:`~rtl_lib.interconnect.address_map.AddressMap`.

    Rules
    -----
    1. A burst goes to the bank that holds its address, with its address within that bank. No burst crosses the
       granule of the map: the store units' ``burst_align`` must divide it.
    2. Each bank accepts one burst after the other, arbitrated round-robin among the units that request it, by
       :class:`~rtl_lib.interconnect.funnel.Funnel`; its words follow its request at once. Bursts follow each other
       without a gap, so a bank moves one word a cycle, even if each burst is a single word.
    3. A unit's next burst is taken when no more than :data:`AHEAD` of its words have not moved, which hides the cycles
       of arbitration and selection. So while a unit waits, each other one is taken once at most, or for that many
       single words. Two units cannot deadlock on two banks: banks move bursts in the order in which they were
       taken, as units offer their words, so of all bursts the one taken first can always move.
    4. Acknowledgements return to each unit in the order of its requests, whichever banks they come from.
    5. A single unit at a single bank is connected to it without a register. So a bank must take no word before it has
       taken its burst, and may take the next burst with the last word of the one before.

    Parameters
    ----------
    count : store units
    address_map : maps addresses to banks
    word_bytes, addr_bits, max_burst : of the ports, on both sides
    outstanding : bursts not yet acknowledged for each bank; each unit may have as many at every bank, counted with
        several banks until it has the acknowledgement

    Ports
    -----
    units : list of :class:`WritePort`; banks : list of :class:`WritePort`
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
    ) -> None:
        if address_map.granule < word_bytes:
            raise ValueError(f"a word of {word_bytes} bytes does not fit the map's granule of {address_map.granule}")
        self.count, self.map, self.outstanding, self.max_burst = count, address_map, outstanding, max_burst
        self.word_bytes, self._burst = word_bytes, aligned_burst_layout(word_bytes, addr_bits, max_burst)
        port = WritePort(word_bytes, addr_bits, max_burst)
        super().__init__({"units": In(port).array(count), "banks": Out(port).array(address_map.banks)})

    def elaborate(self, platform: object) -> Module:
        """Build a request path, the queue of the units that own its bursts, and a data path for each bank."""
        m = Module()
        if self.count == self.map.banks == 1:
            self._pass_through(m, self.units[0], self.banks[0])
            return m
        banks = range(self.map.banks)
        # the requests of the cycle before
        late = [Signal(self._burst, name=f"late{u}") for u in range(self.count)]
        paths = [_Path.of(b, self.count, self.max_burst) for b in banks]
        owners = [self._requests(m, b, path, late) for b, path in enumerate(paths)]
        for b, path in enumerate(paths):
            self._words(m, b, path)
        acks = [self._acks(m, b, owner) for b, owner in enumerate(owners)]
        for u, unit in enumerate(self.units):
            taken, begins, moved, ends = (
                Cat(getattr(path, what)[u] for path in paths).any() for what in ("taken", "begins", "moves", "ends")
            )
            bank = self.map.bank_bits(unit.request.payload.addr)
            back = self._ack_directly if self.map.banks == 1 else self._ack_in_order
            rooms = back(m, u, taken, [ack[u] for ack in acks])
            may = self._near_its_turn(m, u, taken, moved)
            next_bank, idle = self._next_to_begin(m, u, taken, bank, begins, ends)
            m.d.sync += late[u].eq(without_zeros(unit.request.payload, self.word_bytes))
            m.d.comb += [
                unit.request.ready.eq(taken),
                unit.data.ready.eq(moved),
                *(path.asks[u].eq(unit.request.valid & (bank == b) & may & rooms[b]) for b, path in enumerate(paths)),
                *(path.turns[u].eq((next_bank == b) & idle) for b, path in enumerate(paths)),
            ]
        return m

    def _pass_through(self, m: Module, unit, bank) -> None:
        """Connect a unit to a bank that no other unit uses: the bank keeps the order of requests, words and
        acknowledgements by itself."""
        connect(m, wiring.flipped(unit.data), wiring.flipped(bank.data))
        connect(m, wiring.flipped(bank.ack), wiring.flipped(unit.ack))
        m.d.comb += [
            bank.request.valid.eq(unit.request.valid),
            unit.request.ready.eq(bank.request.ready),
            bank.request.payload.addr.eq(self.map.local_bits(unit.request.payload.addr)),
            bank.request.payload.words.eq(unit.request.payload.words),
        ]

    def _near_its_turn(self, m: Module, u, taken, moved):
        """Whether unit ``u`` has so few words left to move that its next burst may be taken."""
        words = self.units[u].request.payload.words
        ahead = Signal(range(AHEAD + self.max_burst + 1), name=f"ahead{u}")  # words that were taken and have not moved
        m.d.sync += ahead.eq(ahead + Mux(taken, words, 0) - moved)
        # whether ahead <= AHEAD, without a carry chain before the arbiter
        return ~ahead[AHEAD.bit_length() :].any()

    def _next_to_begin(self, m: Module, u, taken, bank, begins, ends):
        """The bank at which unit ``u``'s next burst begins, and whether it may begin now: the words of the burst before
        it have moved, in this cycle or earlier."""
        busy = Signal(name=f"busy{u}")
        m.d.sync += busy.eq(begins | (busy & ~ends))
        if self.map.banks == 1:
            return C(0), ~busy | ends
        m.submodules[f"order{u}"] = order = StreamFifo(len(bank), AHEAD + 1)
        m.d.comb += [order.i.valid.eq(taken), order.i.payload.eq(bank), order.o.ready.eq(begins)]
        return order.o.payload, ~busy | ends

    def _requests(self, m: Module, b, path, late):
        """The request path of bank ``b``, up to the burst whose words move; returns a stream of the units that its
        acknowledgements belong to."""
        request = self.banks[b].request
        m.submodules[f"funnel{b}"] = funnel = Funnel(self._burst, self.count)
        m.submodules[f"requests{b}"] = requests = RequestFifo(
            self.word_bytes, len(request.payload.addr), self.max_burst
        )
        m.submodules[f"owners{b}"] = owners = StreamFifo(range(self.count), self.outstanding)
        connect(m, requests.o, wiring.flipped(request))
        burst, source = funnel.o.payload.value, funnel.o.payload.source
        whose = Cat(source == u for u in range(self.count))
        free = (path.left == 0) | path.ends.any()
        begins = funnel.o.valid & requests.i.ready & owners.i.ready & free & (path.turns & whose).any()
        m.d.comb += [
            funnel.asks.eq(path.asks),
            *(value.eq(each) for value, each in zip(funnel.values, late, strict=True)),
            path.taken.eq(funnel.taken),
            path.begins.eq(Mux(begins, whose, 0)),
            funnel.o.ready.eq(begins),
            requests.i.valid.eq(begins),
            requests.i.payload.addr.eq(self.map.local_bits(byte_address(burst, self.word_bytes))),
            requests.i.payload.words.eq(burst.words),
            owners.i.valid.eq(begins),
            owners.i.payload.eq(source),
        ]
        with m.If(begins):
            m.d.sync += [path.left.eq(burst.words), path.owner.eq(source)]
        with m.Elif(path.moves.any()):
            m.d.sync += path.left.eq(path.left - 1)
        return owners.o

    def _words(self, m: Module, b, path) -> None:
        """Move the words of the current burst of bank ``b`` from the unit that owns it into a FIFO: so the next burst
        begins at once, while the request of this one is still in the FIFO of requests."""
        m.submodules[f"words{b}"] = words = StreamFifo(self.banks[b].data.payload.shape(), 2)
        connect(m, words.o, wiring.flipped(self.banks[b].data))
        data = words.i
        with m.Switch(path.owner):
            for u, unit in enumerate(self.units):
                with m.Case(u):
                    m.d.comb += [data.valid.eq(unit.data.valid & (path.left != 0)), data.payload.eq(unit.data.payload)]
        moved = data.valid & data.ready
        for u in range(self.count):
            m.d.comb += [
                path.moves[u].eq(moved & (path.owner == u)),
                path.ends[u].eq(moved & (path.owner == u) & (path.left == 1)),
            ]

    def _acks(self, m: Module, b, owner):
        """The return path of bank ``b``; returns for each unit a (valid, error) pair."""
        ack = self.banks[b].ack
        m.d.comb += [ack.ready.eq(owner.valid), owner.ready.eq(ack.valid)]
        come = ack.valid & owner.valid
        return [(come & (owner.payload == u), ack.payload.error) for u in range(self.count)]

    def _ack_directly(self, m: Module, u, taken, acks):
        """Give unit ``u`` the acknowledgements of the only bank, which come in order, from registers; returns a 1, as
        there is always room for that of a new burst."""
        ack, [(valid, error)] = self.units[u].ack, acks
        m.d.sync += [ack.valid.eq(valid), ack.payload.error.eq(error)]
        return [C(1)]

    def _ack_in_order(self, m: Module, u, taken, acks):
        """Give unit ``u`` its acknowledgements in order; returns for each bank whether there is room for that of a new
        burst. While one bank is late those of another one wait here, and the bank may be asked for more meanwhile: so
        a unit's bursts at a bank count until their turn has come, not until the bank has acknowledged them."""
        unit, rooms = self.units[u], []
        bank = self.map.bank_bits(unit.request.payload.addr)
        m.submodules[f"turns{u}"] = turns = StreamFifo(len(bank), self.outstanding * self.map.banks)
        m.d.comb += [turns.i.valid.eq(taken), turns.i.payload.eq(bank), turns.o.ready.eq(unit.ack.valid)]
        for b, (valid, error) in enumerate(acks):
            m.submodules[f"acks{u}_{b}"] = waiting = StreamFifo(unit.ack.payload.shape(), self.outstanding)
            turn = turns.o.valid & (turns.o.payload == b)
            m.d.comb += [waiting.i.valid.eq(valid), waiting.i.payload.error.eq(error), waiting.o.ready.eq(turn)]
            with m.If(turn):
                m.d.comb += [unit.ack.valid.eq(waiting.o.valid), unit.ack.payload.eq(waiting.o.payload)]
            there = Signal(range(self.outstanding + 1), name=f"there{u}_{b}")
            count(m, there, taken & (bank == b), turn & waiting.o.valid)
            rooms.append(~reached(there, self.outstanding))
        return rooms
