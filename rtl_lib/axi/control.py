"""Control of a kernel over AXI4-Lite, 32 bits wide.

====== ========================================= ====== ==========================================================
offset name                                      access meaning
====== ========================================= ====== ==========================================================
0x00   control, bit 0 start                      RW     write 1: start; reads 1 while running
\\      control, bit 1 done                       RW1C   the run has ended; cleared by writing 1 and by a start
\\      control, bit 2 idle                       R      not running, and no work outstanding
\\      control, bit 3 forget                     W1     empty the constant cache: write with the start, where the
\\                                                       host or a kernel may have written constant
\\                                                       memory since the last run
0x04   status                                    R      error bits set since the start of the run: 0 a read, 1 a write
\\                                                       was refused; 2 + k access k was, 31 the later ones
0x08   identification                            R      constant given when the kernel is built
0x0C   interrupt, bit 0 enable                   RW     the interrupt line is done and enable
0x10   cycles, low; 0x14 high                    R      of the current run, or the last: 48 bits, the rest reads 0
0x100  arguments, 8 bytes each, low word first   RW     as many bits as the argument has; the rest reads 0
0x1000 counters, 8 bytes each, low word first    R      as many bits as the counter has; the rest reads 0
====== ========================================= ====== ==========================================================

Reading the low word of cycles or of a counter latches the high word of that moment, which the next read of a high word
returns: read low, then high.
"""

from collections.abc import Mapping, Sequence

from amaranth import *
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from rtl_lib.axi import register_map as at
from rtl_lib.axi.register_map import RegisterMap
from rtl_lib.axi.signature import AxiLiteSignature, Response

__all__ = ["AxiLiteControl"]


class AxiLiteControl(wiring.Component):
    """The registers of the table above, at the addresses of :class:`~rtl_lib.axi.register_map.RegisterMap`.

    Rules
    -----
    1. A start pulses ``start`` for one cycle, clears done, status and cycles, and the kernel is running until ``done``
       pulses. Cycles counts from the cycle after ``start`` to that of ``done``.
    2. Arguments hold while the kernel runs. A write to an argument, or a start, while the kernel runs has no effect and
       is answered with SLVERR; so is an access to an address with no register.
    3. Byte strobes of a write are honoured.
    4. One write and one read are in flight at a time, independently of each other.
    5. The low word of a counter that is ``counted`` elsewhere is read in the cycle in which ``here`` is high; until
       then the read waits. ``here`` is looked at from the second cycle of ``slot`` on, so it may be a register.

    Parameters
    ----------
    arguments, counters : sequences of (name, bits)
    counted : names of the counters whose values come as ``total``; their fields of ``counters`` are not used
    identification : 32-bit constant
    initial : values of arguments after reset, by name; 0 for the others

    Ports
    -----
    bus : :class:`AxiLiteSignature`, the subordinate's side
    forget : one-cycle pulse: caches that outlive a run must be invalidated, as memory may have been written
    start : one-cycle pulse; arguments : struct of all arguments
    done : one-cycle pulse; idle : no work outstanding; error : 32 error bits, each a level or a pulse
    counters : struct of all counters
    slot : number of the counter that is being read; here : ``total`` is the value of that which ``slot`` was in the
           cycle before
    interrupt : level
    """

    def __init__(
        self,
        *,
        arguments: Sequence[tuple[str, int]] = (),
        counters: Sequence[tuple[str, int]] = (),
        counted: Sequence[str] = (),
        identification: int = 0,
        initial: Mapping[str, int] | None = None,
    ) -> None:
        self.map = RegisterMap(tuple(arguments), tuple(counters))
        self.identification, self.counted = identification, frozenset(counted)
        many, widths = len(self.map.counters), [bits for name, bits in self.map.counters if name in self.counted]
        super().__init__(
            {
                "bus": In(AxiLiteSignature(self.map.addr_bits)),
                "start": Out(1),
                "forget": Out(1),
                "arguments": Out(data.StructLayout(dict(self.map.arguments)), init=initial or {}),
                "done": In(1),
                "idle": In(1),
                "error": In(32),
                "counters": In(data.StructLayout(dict(self.map.counters))),
                "slot": Out(range(max(2, many))),
                "here": In(1),
                "total": In(max(widths, default=1)),
                "interrupt": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Build the registers, the cycle counter of a run, and the write and read channels that access them."""
        m = Module()
        running, done, enable = Signal(), Signal(), Signal()
        status, cycles = Signal(32), Signal(at.CYCLE_BITS)
        control = Cat(running, done, ~running & self.idle)
        m.d.comb += self.interrupt.eq(done & enable)

        with m.If(self.done):
            m.d.sync += [running.eq(0), done.eq(running)]
        with m.If(running):
            m.d.sync += [status.eq(status | self.error), cycles.eq(cycles + 1)]
        self._write(m, running, done, enable)
        with m.If(self.start):
            m.d.sync += [status.eq(0), cycles.eq(0)]

        wide = {at.CYCLES: cycles}
        wide |= {self.map.counter(n): self.counters[n] for n, _ in self.map.counters if n not in self.counted}
        narrow = {
            at.CONTROL: control,
            at.STATUS: status,
            at.IDENTIFICATION: C(self.identification, 32),
            at.INTERRUPT: enable,
        }
        for name, _ in self.map.arguments:
            value = Value.cast(self.arguments[name])
            narrow |= {
                self.map.argument(name) + low // 8: value[low : low + 32] for low in range(0, _words(len(value)), 32)
            }
        self._read(m, narrow, wide)
        return m

    def _write(self, m: Module, running, done, enable) -> None:
        """Hold the address until the data has arrived, then execute the write: the data is taken from the bus, and what
        goes to the kernel is a register."""
        aw, w, b = self.bus.aw, self.bus.w, self.bus.b
        addr, word, strobe = Signal.like(aw.addr), w.data, w.strb
        has_addr, act = Signal(), Signal()
        m.d.comb += [aw.ready.eq(~has_addr), w.ready.eq(has_addr & ~b.valid), act.eq(w.valid & w.ready)]
        with m.If(aw.valid & aw.ready):
            m.d.sync += [has_addr.eq(1), addr.eq(aw.addr)]
        with m.If(b.valid & b.ready):
            m.d.sync += b.valid.eq(0)
        m.d.sync += [self.start.eq(0), self.forget.eq(0)]
        with m.If(act):
            m.d.sync += [has_addr.eq(0), b.valid.eq(1), b.resp.eq(Response.SLVERR)]
            bits = Mux(strobe[0], word[:8], 0)  # of the control register
            with m.Switch(addr[2:]):
                with m.Case(at.CONTROL // 4):
                    wants = (bits & at.START).any()
                    m.d.sync += [self.start.eq(wants & ~running), self.forget.eq((bits & at.FORGET).any())]
                    with m.If(wants & ~running):
                        m.d.sync += [running.eq(1), done.eq(0)]
                    with m.If(~(wants & running)):
                        m.d.sync += b.resp.eq(Response.OKAY)
                    with m.If((bits & at.DONE).any() & ~self.done):
                        m.d.sync += done.eq(0)
                with m.Case(at.INTERRUPT // 4):
                    m.d.sync += b.resp.eq(Response.OKAY)
                    with m.If(strobe[0]):
                        m.d.sync += enable.eq(word[0])
                for name, bits_of in self.map.arguments:
                    self._argument(m, name, bits_of, word, strobe, running)

    def _argument(self, m: Module, name, bits, word, strobe, running) -> None:
        """The cases of a write to the words of an argument."""
        value = Value.cast(self.arguments[name])
        for n, low in enumerate(range(0, _words(bits), 32)):
            part = value[low : min(bits, low + 32)]
            with m.Case(self.map.argument(name) // 4 + n), m.If(~running):
                m.d.sync += self.bus.b.resp.eq(Response.OKAY)
                for byte, enable in enumerate(strobe):  # an enable of registers, not a choice for each bit
                    with m.If(enable):
                        m.d.sync += part[8 * byte : 8 * byte + 8].eq(word[8 * byte : 8 * byte + 8])

    def _read(self, m: Module, narrow, wide) -> None:
        """One cycle for the address, one for the data; reading a low word of ``wide`` latches its high word."""
        ar, r = self.bus.ar, self.bus.r
        addr, pending, reading = Signal.like(ar.addr), Signal(), Signal()
        m.d.comb += ar.ready.eq(~reading & ~r.valid)
        with m.If(ar.valid & ar.ready):
            m.d.sync += [addr.eq(ar.addr), pending.eq(1)]
        with m.If(r.valid & r.ready):
            m.d.sync += r.valid.eq(0)
        if self.counted:
            self._read_in_steps(m, addr, pending, reading, narrow, wide)
            return
        high = Signal(max(map(len, wide.values())) - 32)
        m.d.comb += reading.eq(pending)
        with m.If(pending):
            m.d.sync += [pending.eq(0), r.valid.eq(1), r.data.eq(0), r.resp.eq(Response.SLVERR)]
            with m.Switch(addr[2:]):
                for place, value in narrow.items():
                    with m.Case(place // 4):
                        m.d.sync += [r.data.eq(value), r.resp.eq(Response.OKAY)]
                for place, value in wide.items():
                    with m.Case(place // 4):
                        m.d.sync += [r.data.eq(value[:32]), high.eq(value[32:]), r.resp.eq(Response.OKAY)]
                with m.Case(*(place // 4 + 1 for place in wide)):
                    m.d.sync += [r.data.eq(high), r.resp.eq(Response.OKAY)]

    def _read_in_steps(self, m: Module, addr, pending, reading, narrow, wide) -> None:
        """The same with totals, of which each low word latches its high word, too. Comparing the address, choosing a
        word and adding up a total have a cycle each; ``chosen`` and ``word`` follow the address, which stays."""
        r, many = self.bus.r, len(self.map.counters)
        high = Signal(max(*map(len, wide.values()), len(self.total)) - 32)
        number = Signal(len(addr) - 3)  # of a counter
        m.d.comb += [number.eq(addr[3:] - at.COUNTERS // at.SLOT), self.slot.eq(number)]
        is_counter = (addr >= at.COUNTERS) & (number < many)
        behind = Cat(addr[2:] == place // 4 + 1 for place in wide if place < at.COUNTERS).any()
        choices = [(addr[2:] == place // 4, value[:32], value[32:]) for place, value in wide.items()]
        value_of_counter = Cat(hit for (hit, *_), place in zip(choices, wide, strict=True) if place >= at.COUNTERS)
        choices += [(addr[2:] == place // 4, value, C(0, 0)) for place, value in narrow.items()]
        choices += [(behind | is_counter & addr[2], high, C(0, 0))]
        chosen, asks, latches = Signal(len(choices)), Signal(), Signal()
        word, upper, selected, decoded = Signal(32), Signal.like(high), Signal(), Signal()
        m.d.comb += reading.eq(pending | selected | decoded)
        m.d.sync += [
            *(selected.eq(pending), decoded.eq(selected)),
            *(chosen.eq(Cat(hit for hit, *_ in choices)), asks.eq(is_counter & ~addr[2] & ~value_of_counter.any())),
            *(word.eq(_one_of(chosen, [value for _, value, _ in choices])), latches.eq(chosen[: len(wide)].any())),
            upper.eq(_one_of(chosen, [value for *_, value in choices])),
        ]
        with m.If(pending):
            m.d.sync += pending.eq(0)
        with m.If(selected):
            m.d.sync += r.resp.eq(Mux(chosen.any() | asks, Response.OKAY, Response.SLVERR))
        with m.If(decoded & asks & ~self.here):
            m.d.sync += decoded.eq(1)
        with m.Elif(decoded):
            m.d.sync += [r.valid.eq(1), r.data.eq(Mux(asks, self.total[:32], word))]
            with m.If(asks | latches):
                m.d.sync += high.eq(Mux(asks, self.total[32:], upper))


def _one_of(chosen, values):
    """The value whose bit of ``chosen`` is set, or 0. Narrow values come first, so that their gates are as narrow; what
    is 0 anyway has none."""
    found: Value = C(0)
    for bit, value in sorted(zip(chosen, values, strict=True), key=lambda pair: len(pair[1])):
        if len(value) and not (isinstance(value, Const) and value.value == 0):
            found |= Mux(bit, value, 0)
    return found


def _words(bits: int) -> int:
    """The bits of all the words that an argument takes."""
    return -(-bits // (8 * at.SLOT)) * 8 * at.SLOT
