"""The data array of the atomic cache: words that operations modify, written back when memory needs them."""

from collections.abc import Sequence

from amaranth import *
from amaranth.hdl import ShapeLike
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from rtl_lib.library import shared
from rtl_lib.lsu.atomic_functions import FUNCTIONS, OPERANDS, atomic_result
from rtl_lib.mem.fifo import StreamFifo
from rtl_lib.mem.ports import response_layout, word_layout
from rtl_lib.mem.ram import Ram

__all__ = ["LANE", "NARROW", "AtomicWords", "operation_layout", "reached"]

LANE, NARROW = 8, 4  # bytes of the widest operand, and of the other one


def operation_layout(word_bytes: int, sources: int) -> data.StructLayout:
    """An operation on a word: bytes before its operand, the function (an index of FUNCTIONS), whether the operand is of
    8 bytes rather than 4, operands, and the number of the requester."""
    return data.StructLayout(
        {
            "offset": exact_log2(word_bytes),
            "function": range(len(FUNCTIONS)),
            "wide": 1,
            "a": 8 * LANE,
            "b": 8 * LANE,
            "source": range(sources),
        }
    )


def reached(count: Value, mark: Value) -> Value:
    """Whether a wrapping count has reached ``mark``; the two are less than half of its range apart."""
    return ~(count - mark)[len(count) - 1]


@shared
class AtomicWords(wiring.Component):
    """Executes one operation after the other, one a cycle, and moves words in and out.

    An operation passes four stages: read its word from a RAM, register it, select its lane, compute and write. Results
    of the operations ahead that are not written yet are forwarded. An operation that finds another word in its place
    takes the next of ``fills``, and the other word is written to memory if it was changed.

    Rules
    -----
    1. Operations execute in order: ``answer`` returns the value before the operation, and whether memory refused to
       read the word.
    2. A changed word is written before it leaves its place, and while ``clean`` is high, in the order in which words
       were first changed. Only the bytes that operations have changed are written, all of 4 or 8 at a time.
    3. While ``hold`` is high no operation begins.
    4. ``gone`` is high when a word that was evicted for another one (``leaves``) is in memory, in their order.
    5. ``settled`` is high while no word differs from memory, and no write is in flight.
    6. ``changed`` is high in the cycle in which an operation changes its word, which "read" does not; ``fresh`` with it
       if its place was not among those to be written; ``cleaned`` when a place reported by ``fresh`` has been written,
       in that order.
    7. ``filled`` is high with the ``answer`` of an operation for which its word was read from memory, ``dirtied`` with
       that of one whose change is the first since memory has the word: each time a word is written, once.

    Parameters
    ----------
    word_bytes, word_bits : of a word, and of its number (words of 4 bytes have operands of 4 bytes only)
    places : of the cache, a power of two
    functions : names of the functions in use; sources : number of requesters
    writes : writes in flight at most; leaving : as of :class:`~rtl_lib.lsu.atomic_lookup.AtomicLookup`

    Ports
    -----
    i : stream of ``{value, word, place, miss, leaves}``; fills : stream of words read
    write : stream of ``{word, data, strobe}``; acked, failed : strobes: a word is in memory, or memory refused it
    refused : strobes, for each source: memory refused a word that it had changed
    sent, arrived : numbers of words sent to memory, and arrived there; both wrap
    """

    def __init__(
        self,
        *,
        word_bytes: int,
        word_bits: int,
        places: int,
        functions: Sequence[str],
        sources: int,
        writes: int = 32,
        leaving: int = 32,
    ) -> None:
        self.word_bytes, self.word_bits, self.places = word_bytes, word_bits, places
        self.functions, self.sources, self.writes, self.most_leaving = tuple(functions), sources, writes, leaving
        self.lane = min(LANE, word_bytes)  #: bytes that are computed at once, and how many parts and lanes there are
        self.halves, self.lanes = self.lane // NARROW, word_bytes // self.lane
        place_bits, count = exact_log2(places), exact_log2(writes) + 2
        self.state = data.StructLayout({"mask": self.halves * self.lanes, "owners": sources, "bad": 1, "listed": 1})
        super().__init__(
            {
                "i": In(
                    stream.Signature(
                        data.StructLayout(
                            {
                                "value": operation_layout(word_bytes, sources),
                                "word": word_bits,
                                "place": place_bits,
                                "miss": 1,
                                "leaves": 1,
                            }
                        )
                    )
                ),
                "fills": In(stream.Signature(response_layout(word_bytes))),
                "write": Out(
                    stream.Signature(data.StructLayout({"word": word_bits, "content": word_layout(word_bytes)}))
                ),
                "acked": In(1),
                "failed": In(1),
                "refused": Out(sources),
                "answer": Out(
                    wiring.Signature(
                        {"valid": Out(1), "source": Out(range(sources)), "data": Out(8 * LANE), "error": Out(1)}
                    )
                ),
                "hold": In(1),
                "clean": In(1),
                "settled": Out(1),
                "gone": Out(1),
                "filled": Out(1),
                "dirtied": Out(1),
                "changed": Out(1),
                "fresh": Out(1),
                "cleaned": Out(1),
                "sent": Out(count),
                "arrived": Out(count),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the RAM of the words, the four stages of an operation, and the forwarding between them."""
        m = Module()
        self._stores(m)
        go = Signal()
        read, kept, now = (self._stage(name) for name in ("read", "kept", "now"))
        self._begin(m, go, read, (read, kept, now))
        with m.If(go):
            for later, earlier in ((kept, read), (now, kept)):
                m.d.sync += [later[name].eq(earlier[name]) for name in later]
        word, state, number = self._keep(m, go)
        lane, before = self._take_lane(m, go, (read, kept, now), word, state)
        self._write_back(m, go, kept, word, state, number)
        self._compute(m, go, now, lane, before)
        self._account(m, (read, kept, now))
        return m

    def _stage(self, name):
        """A pipeline stage: an operation, or (``clean``) a word to be written."""
        members: dict[str, ShapeLike] = {
            "valid": 1,
            "clean": 1,
            "miss": 1,
            "leaves": 1,
            "place": len(self.i.payload.place),
            "word": self.word_bits,
            "value": operation_layout(self.word_bytes, self.sources),
        }
        return {member: Signal(shape, name=f"{name}_{member}") for member, shape in members.items()}

    def _stores(self, m: Module) -> None:
        """Create the memories: words, their state and their numbers; places with changed words, the oldest first; words
        in flight."""
        m.submodules.words = self.words = Ram(width=8 * self.word_bytes, depth=self.places, granularity=8 * self.lane)
        m.submodules.states = self.states = Ram(width=Shape.cast(self.state).width, depth=self.places)
        m.submodules.numbers = self.numbers = Ram(width=self.word_bits, depth=self.places)
        m.submodules.dirty = self.dirty = StreamFifo(exact_log2(self.places), self.places)
        m.submodules.owners = self.owners = StreamFifo(self.sources, self.writes)

    # --- the first stage

    def _begin(self, m: Module, go, read, stages) -> None:
        """The next word to write, or the next operation, unless an operation ahead is about to change word-level state
        that this one reads."""
        self.clearing, self.cleared = Signal(init=1), Signal(exact_log2(self.places))
        cleans, begins, place = Signal(), Signal(), Signal(exact_log2(self.places))
        same, filling = (
            [stage["valid"] & (stage["place"] == place) for stage in stages],
            [stage["valid"] & stage["miss"] for stage in stages],
        )
        free = ~Cat(same).any()
        settled = ~Cat(near & fills for near, fills in zip(same, filling, strict=True)).any()
        m.d.comb += [
            cleans.eq(self.clean & self.dirty.o.valid),
            place.eq(Mux(cleans, self.dirty.o.payload, self.i.payload.place)),
            # a fill is used in two stages, one directly after the other
            begins.eq(
                ~cleans
                & self.i.valid
                & ~self.hold
                & ~self.clearing
                & Mux(self.i.payload.miss, free & ~filling[0], settled)
            ),
            self.dirty.o.ready.eq(go & cleans & free),
            self.i.ready.eq(go & begins),
        ]
        with m.If(go):
            m.d.sync += [
                read["valid"].eq(begins | cleans & free),
                read["clean"].eq(cleans),
                read["miss"].eq(self.i.payload.miss & ~cleans),
                read["leaves"].eq(self.i.payload.leaves & ~cleans),
                read["place"].eq(place),
                read["word"].eq(self.i.payload.word),
                read["value"].eq(self.i.payload.value),
            ]
        for store in (self.words, self.states, self.numbers):
            m.d.comb += [store.read.en.eq(go), store.read.addr.eq(place)]

    # --- the word read

    def _keep(self, m: Module, go):
        word, state, number = Signal(8 * self.word_bytes), Signal(self.state), Signal(self.word_bits)
        with m.If(go):
            m.d.sync += [
                word.eq(self.words.read.data),
                state.eq(self.states.read.data),
                number.eq(self.numbers.read.data),
            ]
        return word, state, number

    def _take_lane(self, m: Module, go, stages, word, state):
        """The lane of the operation, and the state of its word, where the three operations ahead have not changed
        them."""
        read, kept, now = stages
        # signals of the operation in the compute stage
        self.lane_after, self.state_after = Signal(8 * self.lane), Signal(self.state)
        lane, before = Signal(8 * self.lane), Signal(self.state)
        written = [
            now,
            *(
                {
                    name: Signal.like(now[name], name=f"written{k}_{name}")
                    for name in ("valid", "clean", "place", "value")
                }
                for k in range(2)
            ),
        ]
        lanes = [self.lane_after, *(Signal(8 * self.lane, name=f"written{k}_lane") for k in range(2))]
        states = [self.state_after, *(Signal(self.state, name=f"written{k}_state") for k in range(2))]
        mine = Mux(
            kept["miss"],
            self.fills.payload.data.word_select(self._number(kept), 8 * self.lane),
            word.word_select(self._number(kept), 8 * self.lane),
        )
        same = [Signal(name=f"same{k}") for k in range(3)]  # same word as the operation k + 1 ahead
        alike = [Signal(name=f"alike{k}") for k in range(3)]  # the same lane, too
        with m.If(go):
            for k, ahead in enumerate((kept, now, written[1])):
                here = ahead["valid"] & (ahead["place"] == read["place"])
                m.d.sync += [
                    same[k].eq(here),
                    alike[k].eq(here & ~ahead["clean"] & (self._number(ahead) == self._number(read)) & ~read["miss"]),
                ]
            for k in range(2):
                m.d.sync += [written[k + 1][name].eq(written[k][name]) for name in written[1]]
                m.d.sync += [lanes[k + 1].eq(lanes[k]), states[k + 1].eq(states[k])]
            chosen, known = mine, state
            for k in reversed(range(3)):
                chosen, known = Mux(alike[k], lanes[k], chosen), Mux(same[k], states[k], known)
            m.d.sync += [lane.eq(chosen), before.eq(known)]
        return lane, before

    def _number(self, stage):
        return stage["value"].offset[exact_log2(self.lane) :]

    def _write_back(self, m: Module, go, kept, word, state, number) -> None:
        """Write a word back. The pipeline stalls while memory does not accept it, or a word to be filled in has not
        arrived."""
        sends, sent, waits = Signal(), Signal(), Signal()
        content = self.write.payload.content
        m.d.comb += [
            sends.eq(kept["valid"] & (kept["clean"] | kept["miss"]) & state.mask.any()),
            waits.eq(kept["valid"] & kept["miss"] & ~self.fills.valid),
            self.write.valid.eq(sends & ~sent & self.owners.i.ready),
            self.write.payload.word.eq(number),
            content.data.eq(word),
            content.strobe.eq(Cat(bit.replicate(NARROW) for bit in state.mask)),
            self.owners.i.valid.eq(self.write.valid & self.write.ready),
            self.owners.i.payload.eq(state.owners),
            self.owners.o.ready.eq(self.acked),
            self.refused.eq(Mux(self.acked & self.failed, self.owners.o.payload, 0)),
            go.eq(~waits & (~sends | sent | self.owners.i.ready & self.write.ready)),
        ]
        m.d.sync += sent.eq(~go & (sent | self.write.valid & self.write.ready))
        self._tell_gone(m, go & kept["valid"] & kept["leaves"], self.write.valid & self.write.ready)

    def _tell_gone(self, m: Module, left, sends) -> None:
        """A word has gone when all words sent up to the time at which it left its place are in memory."""
        m.submodules.marks = marks = StreamFifo(len(self.sent), self.most_leaving)
        m.d.comb += [
            marks.i.valid.eq(left),
            marks.i.payload.eq(self.sent + sends),
            self.gone.eq(marks.o.valid & reached(self.arrived, marks.o.payload)),
            marks.o.ready.eq(self.gone),
        ]
        m.d.sync += [self.sent.eq(self.sent + sends), self.arrived.eq(self.arrived + self.acked)]

    # --- the compute stage

    def _compute(self, m: Module, go, now, lane, before) -> None:
        value, after = now["value"], self.state_after
        old, new, bits = (self._either_half if self.halves == 2 else self._whole_lane)(m, value, lane)
        works, kept_mask = now["valid"] & ~now["clean"], Mux(now["miss"] | now["clean"], 0, before.mask)
        changes = works & (value.function != FUNCTIONS.index("read"))
        fill = self.fills.payload
        m.d.comb += [
            self.lane_after.eq(Cat(Mux(bits[k], new[k], lane.word_select(k, 8 * NARROW)) for k in range(self.halves))),
            after.mask.eq(kept_mask | Mux(changes, bits << (self._number(now) << (self.halves - 1)), 0)),
            after.owners.eq(Mux(now["miss"] | now["clean"], 0, before.owners) | Mux(changes, 1 << value.source, 0)),
            after.listed.eq(Mux(now["clean"], 0, before.listed | changes)),
            after.bad.eq(Mux(now["miss"], fill.error, before.bad)),
            self.answer.valid.eq(works & go),
            self.answer.source.eq(value.source),
            self.answer.data.eq(old),
            self.answer.error.eq(after.bad),
            self.filled.eq(self.answer.valid & now["miss"]),
            self.dirtied.eq(changes & go & ~kept_mask.any()),
            self.fills.ready.eq(go & now["valid"] & now["miss"]),
            # a place stays listed when its changed word is evicted by an operation that only reads
            self.changed.eq(changes & go),
            self.fresh.eq(changes & go & ~before.listed),
            self.cleaned.eq(now["valid"] & now["clean"] & go),
            self.dirty.i.valid.eq(self.fresh),
            self.dirty.i.payload.eq(now["place"]),
        ]
        self._store(m, go, now, works, after)

    def _either_half(self, m: Module, value, lane):
        """The value before an operation on a lane of 8 bytes or on one half of it, what each half becomes, and a bit
        for each half that it changes."""
        half = value.offset[exact_log2(NARROW)]
        old = Mux(value.wide, lane, lane.word_select(half, 8 * NARROW))
        wide, narrow = (self._result(m, value, old[:bits], bits) for bits in (8 * LANE, 8 * NARROW))
        new = [Mux(value.wide, wide.word_select(k, 8 * NARROW), narrow) for k in range(2)]
        return old, new, Mux(value.wide, 0b11, Mux(half, 0b10, 0b01))

    def _whole_lane(self, m: Module, value, lane):
        """The same for a lane of 4 bytes, which is changed as a whole."""
        return lane, [self._result(m, value, lane, 8 * NARROW)], C(1, 1)

    def _store(self, m: Module, go, now, works, after) -> None:
        fill, number = self.fills.payload.data, self._number(now)
        m.d.comb += [
            self.words.write.addr.eq(now["place"]),
            self.numbers.write.addr.eq(now["place"]),
            self.numbers.write.data.eq(now["word"]),
            self.numbers.write.en.eq(go & now["valid"] & now["miss"]),
            self.states.write.addr.eq(Mux(self.clearing, self.cleared, now["place"])),
            self.states.write.data.eq(Mux(self.clearing, 0, after.as_value())),
            self.states.write.en.eq(self.clearing | go & now["valid"]),
        ]
        for k in range(self.lanes):
            mine = number == k
            m.d.comb += [
                self.words.write.en[k].eq(go & works & (mine | now["miss"])),
                self.words.write.data.word_select(k, 8 * self.lane).eq(
                    Mux(mine, self.lane_after, fill.word_select(k, 8 * self.lane))
                ),
            ]
        with m.If(self.clearing):  # left over from a run before a reset
            m.d.sync += [self.cleared.eq(self.cleared + 1), self.clearing.eq(~self.cleared.all())]

    def _result(self, m: Module, value, old, bits):
        result = Signal(bits, name=f"result{bits}")
        with m.Switch(value.function):
            for name in self.functions:
                with m.Case(FUNCTIONS.index(name)):
                    operands = [value.a[:bits], value.b[:bits]][: OPERANDS.get(name, 1)]
                    m.d.comb += result.eq(atomic_result(name, old, operands))
        return result

    def _account(self, m: Module, stages) -> None:
        empty = ~Cat(stage["valid"] for stage in stages).any()
        m.d.comb += self.settled.eq(empty & self.dirty.empty & self.owners.empty)
