"""A RAM of several banks, each with copies for reading: ports that use different banks never conflict."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from amaranth import *
from amaranth.hdl import Assert
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from rtl_lib.contract import Timing
from rtl_lib.library import shared
from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.ports import require_power_of_two
from rtl_lib.mem.pumped import MOST_WRITES, PumpedRam
from rtl_lib.mem.ram import Ram
from rtl_lib.mem.ram_ports import RamReadSignature, RamWriteSignature

__all__ = ["BankedRam", "PumpedBlock"]


@dataclass(frozen=True)
class PumpedBlock:
    """A block on the double clock that serves ``copies`` of a bank, by their numbers; ``dual``: a true dual-port
    one."""

    bank: int
    copies: tuple[int, ...]
    dual: bool


@shared
class BankedRam(wiring.Component):
    """On-chip memory of a kernel, made of block RAMs with one read and one write port, in the banks of a
    :class:`BankMap`. Double-pumped blocks serve more ports.

    Rules
    -----
    1. A read returns the data written in earlier cycles, not in the same one, :attr:`timing` after its address; it is
       held until the next read by a port of the same copy. With pumped blocks it is valid for one cycle.
    2. Write ports of one write slot (``turns``) that strobe in one bank in one cycle strobe different bytes of one
       word. Different banks are written in parallel. Writes of two slots in one cycle take effect in slot order.
    3. Read ports of one copy that read in one bank in one cycle read one word.
    4. A port uses only the banks it is made for. The user who shares ports guarantees rules 2 to 4.
    5. Contents start as ``init``, then zeros, and survive reset.

    Parameters
    ----------
    map : maps words to banks
    word_bytes, words, addr_bits, init, bytewise, kind : as of :class:`~rtl_lib.mem.replicated.ReplicatedRam`; ``words``
        counts those of all banks
    reads : for each read port the number of its copy, and the banks it may use as a bit mask
    writes : for each write port the banks it may use, as a bit mask
    turns : for each write port its write slot in a pumped block, from 0; empty where there is one slot for all
    pumped : None, or which block serves which copies of which bank: every copy that a bank has is in one block

    Ports
    -----
    reads, writes : arrays of :class:`RamReadSignature` and :class:`RamWriteSignature`, from the RAM's view
    written : for each bank and each write slot a :class:`RamWriteSignature`, what is written there in this cycle by any
        port
    """

    def __init__(
        self,
        *,
        map: BankMap,
        word_bytes: int,
        words: int,
        reads: Sequence[tuple[int, int]],
        writes: Sequence[int],
        addr_bits: int,
        bytewise: bool,
        init: Sequence[int] = (),
        pumped: Any = None,
        kind: str | None = None,
        turns: Sequence[int] = (),
    ) -> None:
        require_power_of_two("word_bytes", word_bytes)
        if words < 1 or words > 1 << addr_bits:
            raise ValueError(f"{words} words cannot be addressed by {addr_bits} bits")
        for mask in (*(mask for _, mask in reads), *writes):
            if not 0 < mask < 1 << map.banks:
                raise ValueError(f"a port for the banks {mask:#b}, of {map.banks}")
        self.turns = tuple(turns) or (0,) * len(writes)
        self.write_turns = 1 + max(self.turns, default=0)
        if len(self.turns) != len(writes) or self.write_turns > (MOST_WRITES if pumped is not None else 1):
            raise ValueError(
                f"{len(writes)} write ports in the turns {self.turns} of "
                f"{'pumped' if pumped is not None else 'usual'} blocks"
            )
        self.map, self.word_bytes, self.words, self.bytewise, self.init = map, word_bytes, words, bytewise, init
        self.copies, self.write_masks, self.pumped, self.kind = reads, writes, pumped, kind
        self.timing = self.timing_of(pumped is not None)
        self.address_bits = max(1, ceil_log2(words), map.reach)
        if self.address_bits > addr_bits:
            raise ValueError(f"banks that bit {self.address_bits - 1} chooses cannot be told apart by {addr_bits} bits")
        super().__init__(
            {
                "reads": In(RamReadSignature(word_bytes, addr_bits)).array(len(reads)),
                "writes": In(RamWriteSignature(word_bytes, addr_bits)).array(len(writes)),
                "written": Out(RamWriteSignature(word_bytes, addr_bits)).array(map.banks, self.write_turns),
            }
        )

    @staticmethod
    def timing_of(pumped: bool) -> Timing:
        """Timing of a read, in blocks on the double clock or in ordinary ones."""
        return PumpedRam.timing if pumped else Ram.timing

    def elaborate(self, platform: object) -> Module:
        """Build the blocks of every bank, and the multiplexers between ports and banks. Simulation (``platform`` is
        None) adds assertions."""
        m = Module()
        self._simulated = platform is None  # the Verilog subset for synthesis has no assertions
        read_banks = [self._bank(m, port.addr, f"read_bank{k}") for k, port in enumerate(self.reads)]
        write_banks = [self._bank(m, port.addr, f"write_bank{k}") for k, port in enumerate(self.writes)]
        outputs: dict[tuple[int, int], Value] = {}
        for bank in range(self.map.banks):
            for turn in range(self.write_turns):
                self._write(m, bank, turn, write_banks)
            copies = dict.fromkeys(copy for copy, mask in self.copies if mask >> bank & 1)
            asked = {copy: self._asked(m, bank, copy, read_banks) for copy in copies}
            outputs |= self._plain(m, bank, asked) if self.pumped is None else self._pumped(m, bank, asked)
        for k, port in enumerate(self.reads):
            self._answer(m, k, port, read_banks[k], outputs)
        return m

    # --- addresses ---

    def _bank(self, m: Module, address, name):
        """A signal with the bank of a word."""
        bank = Signal(len(self.map.bits), name=name)
        number = Cat(address[bit] for bit in reversed(self.map.bits))
        for begin, end in self.map.folded:
            number = number ^ address[begin:end]
        m.d.comb += bank.eq(number if self.map.skew is None else number + address[self.map.skew :])
        return bank

    def _place(self, address):
        """The address of a word within its bank."""
        return Cat(address[bit] for bit in range(self.address_bits) if bit not in self.map.bits)

    # --- writes ---

    def _write(self, m: Module, bank, turn, banks) -> None:
        """Drive the write of a slot of a bank from the ports that may write there."""
        users = [k for k, mask in enumerate(self.write_masks) if mask >> bank & 1 and self.turns[k] == turn]
        written, parts = self.written[bank][turn], []
        for k in users:
            port, strobe = self.writes[k], Signal(self.word_bytes, name=f"strobe{k}_in{bank}")
            inside = port.addr < self.words if self.words < 1 << len(port.addr) else 1
            alone = self.write_masks[k] == 1 << bank
            m.d.comb += strobe.eq(Mux(inside if alone else inside & (banks[k] == bank), port.strobe, 0))
            parts.append((port, strobe))
        m.d.comb += written.strobe.eq(_any(strobe for _, strobe in parts))
        if len(parts) == 1:
            m.d.comb += [written.addr.eq(parts[0][0].addr), written.data.eq(parts[0][0].data)]
            return
        m.d.comb += written.addr.eq(_any(Mux(strobe.any(), port.addr, 0) for port, strobe in parts))
        for byte in range(self.word_bytes):
            m.d.comb += written.data.word_select(byte, 8).eq(
                _any(Mux(strobe[byte], port.data.word_select(byte, 8), 0) for port, strobe in parts)
            )
        if self._simulated:
            for k, (port, strobe) in enumerate(parts):
                for other, beside in parts[:k]:
                    meets = strobe.any() & beside.any() & ((port.addr != other.addr) | (strobe & beside).any())
                    m.d.comb += Assert(~meets, "two write ports of a RAM meet in a bank")

    # --- reads ---

    def _asked(self, m: Module, bank, copy, banks):
        """(whether a copy of a bank is read, the address within it), from the requests of its ports."""
        users = [k for k, (it, mask) in enumerate(self.copies) if it == copy and mask >> bank & 1]
        if len(users) == 1:
            port = self.reads[users[0]]
            return port.en, self._place(port.addr)
        parts = []
        for k in users:
            asks = Signal(name=f"read{k}_in{bank}")
            m.d.comb += asks.eq(self.reads[k].en & (banks[k] == bank if self.copies[k][1] != 1 << bank else 1))
            parts.append((asks, self._place(self.reads[k].addr)))
        if self._simulated:
            for k, (asks, place) in enumerate(parts):
                for beside, other in parts[:k]:
                    m.d.comb += Assert(~(asks & beside & (place != other)), "two read ports of a RAM meet in a bank")
        return _any(asks for asks, _ in parts), _any(Mux(asks, place, 0) for asks, place in parts)

    def _plain(self, m: Module, bank, asked):
        """A block for each copy; returns the output of each."""
        outputs: dict[tuple[int, int], Value] = {}
        for copy, (en, place) in asked.items():
            ram = Ram(**self._shape(bank), writable=len(self.writes) > 0, kind=self.kind)
            m.submodules[f"bank{bank}_copy{copy}"] = ram
            if ram.writable:
                self._drive(m, self.written[bank][0], ram.write)
            m.d.comb += [ram.read.en.eq(en), ram.read.addr.eq(place)]
            outputs[bank, copy] = ram.read.data
        return outputs

    def _pumped(self, m: Module, bank, asked):
        """A block for several copies; returns the output of each copy."""
        outputs: dict[tuple[int, int], Value] = {}
        for number, block in enumerate(block for block in self.pumped if block.bank == bank):
            ram = PumpedRam(
                **self._shape(bank),
                reads=len(block.copies),
                dual=block.dual,
                writes=self.write_turns if len(self.writes) else 0,
            )
            m.submodules[f"bank{bank}_block{number}"] = ram
            for turn, write in enumerate(ram.writes):
                self._drive(m, self.written[bank][turn], write)
            for copy, port in zip(block.copies, ram.reads, strict=True):
                m.d.comb += port.addr.eq(asked[copy][1])
                outputs[bank, copy] = port.data
        return outputs

    def _shape(self, bank):
        return {
            "width": 8 * self.word_bytes,
            "depth": self.map.words(self.words),
            "init": tuple(self._contents(bank)),
            "granularity": 8 if self.bytewise else None,
        }

    def _drive(self, m: Module, written, write) -> None:
        """Write through a block's port the write of a slot of its bank."""
        m.d.comb += [
            write.addr.eq(self._place(written.addr)),
            write.data.eq(written.data),
            write.en.eq(written.strobe if self.bytewise else written.strobe.any()),
        ]

    def _answer(self, m: Module, k, port, bank, outputs) -> None:
        """Return to a port the data that its bank outputs for its last request."""
        copy, mask = self.copies[k]
        able = [n for n in range(self.map.banks) if mask >> n & 1]
        if len(able) == 1:
            m.d.comb += port.data.eq(outputs[able[0], copy])
            return
        chosen = Signal(len(bank), name=f"chosen{k}")
        with m.If(port.en):
            m.d.sync += chosen.eq(bank)
        for stage in range(1, self.timing.latency):
            chosen, before = Signal(len(bank), name=f"chosen{k}_{stage}"), chosen
            m.d.sync += chosen.eq(before)
        with m.Switch(chosen):
            for n in able:
                with m.Case(n):
                    m.d.comb += port.data.eq(outputs[n, copy])

    def _contents(self, bank):
        """The initial words of a bank."""
        places = [0] * self.map.words(self.words)
        for word, value in enumerate(self.init):
            if self.map.bank(word) == bank:
                places[self.map.place(word)] = value
        return places if any(places) else []


def _any(values):
    return reduce(or_, values, C(0, 1))
