"""A small hand-written accelerator of these parts: c[i] = a[i] + b[i] over 32-bit integers in two interleaved banks.

``a`` is read by a streaming unit, ``b`` by a coalescing one, ``c`` written by a coalescing one; control is AXI4-Lite.
"""

from amaranth import *
from amaranth.back import verilog
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from rtl_lib.axi.control import AxiLiteControl
from rtl_lib.axi.read_master import AxiReadMaster
from rtl_lib.axi.signature import Axi4ReadSignature, Axi4WriteSignature, AxiLiteSignature, flat_ports
from rtl_lib.axi.write_master import AxiWriteMaster
from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import WriteInterconnect
from rtl_lib.lsu.load import LoadUnit
from rtl_lib.lsu.store import StoreUnit
from rtl_lib.lsu.stream_load import StreamLoadUnit

ACCESS, WORD, ADDR_BITS = 4, 16, 32
MAP = AddressMap.interleaved(2, 1024)
ARGUMENTS = [("a", 32), ("b", 32), ("c", 32), ("n", 32)]
COUNTERS = [("words_read", 32), ("words_written", 32), ("bursts", 32)]


class VectorAdd(wiring.Component):
    def __init__(self):
        self.control = AxiLiteControl(arguments=ARGUMENTS, counters=COUNTERS, identification=0x51)
        super().__init__(
            {
                "bus": In(AxiLiteSignature(self.control.map.addr_bits)),
                "read": Out(Axi4ReadSignature(ADDR_BITS, 8 * WORD)).array(MAP.banks),
                "write": Out(Axi4WriteSignature(ADDR_BITS, 8 * WORD)).array(MAP.banks),
            }
        )

    def verilog(self):
        """Verilog with conventional port names."""
        ports = flat_ports(self.bus, "s_axil")
        for n in range(MAP.banks):
            ports |= flat_ports(self.read[n], f"m_axi{n}") | flat_ports(self.write[n], f"m_axi{n}")
        return verilog.convert(self, name="vector_add", ports=ports, emit_src=False)

    def elaborate(self, platform):
        m = Module()
        unit, bus = {"access_bytes": ACCESS}, {"word_bytes": WORD, "addr_bits": ADDR_BITS}
        m.submodules.control = self.control
        m.submodules.a = a = StreamLoadUnit(**unit, **bus)
        m.submodules.b = b = LoadUnit(**unit, **bus)
        m.submodules.c = c = StoreUnit(**unit, **bus)
        m.submodules.reads = reads = ReadInterconnect(count=2, address_map=MAP, **bus)
        m.submodules.writes = writes = WriteInterconnect(count=1, address_map=MAP, **bus)
        connect(m, flipped(self.bus), self.control.bus)
        connect(m, a.mem, reads.units[0])
        connect(m, b.mem, reads.units[1])
        connect(m, c.mem, writes.units[0])
        errors = self._masters(m, reads, writes)
        m.d.comb += self.control.error.eq(errors)
        self._datapath(m, a, b, c)
        self._count(m, a, b, c)
        return m

    def _masters(self, m, reads, writes):
        errors = []
        for n in range(MAP.banks):
            m.submodules[f"read{n}"] = reader = AxiReadMaster(word_bytes=WORD, addr_bits=ADDR_BITS)
            m.submodules[f"write{n}"] = writer = AxiWriteMaster(word_bytes=WORD, addr_bits=ADDR_BITS)
            connect(m, reads.banks[n], reader.port)
            connect(m, writes.banks[n], writer.port)
            connect(m, reader.axi, flipped(self.read[n]))
            connect(m, writer.axi, flipped(self.write[n]))
            errors += [Value.cast(reader.error), Value.cast(writer.error)]
        return Cat(errors)

    def _datapath(self, m, a, b, c):
        """Addresses of b and c by counters; a token goes when all three sides can move."""
        args, start = self.control.arguments, self.control.start
        to_load, to_store, finishing = Signal(32), Signal(32), Signal()
        move = a.o.valid & b.o.valid & c.i.ready
        m.d.comb += [
            a.start.valid.eq(start),
            a.start.payload.addr.eq(args.a),
            a.start.payload.count.eq(args.n),
            b.flush.eq(start),
            b.i.valid.eq(to_load != 0),
            b.i.payload.eq(args.b + (args.n - to_load) * ACCESS),
            c.i.valid.eq(a.o.valid & b.o.valid),
            c.i.payload.addr.eq(args.c + (args.n - to_store) * ACCESS),
            c.i.payload.data.eq(a.o.payload + b.o.payload),
            a.o.ready.eq(move),
            b.o.ready.eq(move),
            c.fence.request.valid.eq(finishing & (to_store == 0)),
            c.fence.response.ready.eq(1),
            self.control.done.eq(c.fence.response.valid),
            self.control.idle.eq(c.idle),
        ]
        m.d.sync += [to_load.eq(to_load - (b.i.valid & b.i.ready)), to_store.eq(to_store - move)]
        with m.If(c.fence.request.valid & c.fence.request.ready):
            m.d.sync += finishing.eq(0)
        with m.If(start):
            m.d.sync += [to_load.eq(args.n), to_store.eq(args.n), finishing.eq(1)]

    def _count(self, m, a, b, c):
        counters, start = self.control.counters, self.control.start
        steps = {
            "words_read": a.observe.word + b.observe.word,
            "words_written": c.observe.word,
            "bursts": a.observe.burst + b.observe.burst + c.observe.burst,
        }
        for name, step in steps.items():
            count = Signal(32, name=name)
            m.d.sync += count.eq(Mux(start, 0, count + step))
            m.d.comb += counters[name].eq(count)
