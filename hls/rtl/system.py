"""The whole system: kernels, their control windows, the memory interconnect, one AXI4 master per bank."""

from dataclasses import dataclass

from amaranth import *
from amaranth.lib import wiring

from rtl_lib.axi.control import AxiLiteControl
from rtl_lib.axi.read_master import AxiReadMaster
from rtl_lib.axi.register_map import RegisterMap
from rtl_lib.axi.signature import flat_ports
from rtl_lib.axi.windows import AxiLiteWindows
from rtl_lib.axi.write_master import AxiWriteMaster
from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import WriteInterconnect
from rtl_lib.library import convert

from ..ir import Function
from ..memory import MemoryPlan
from ..schedule import KernelPlan
from .context import KernelContext
from .interface import WINDOW_BYTES, ArgumentInterface, CounterInterface, KernelInterface, SystemInterface
from .kernel import KernelHardware
from .observe import KernelCounters

__all__ = ["KernelInput", "build_system"]

TOP = "sluice_system"
WINDOW_BITS = (WINDOW_BYTES - 1).bit_length()
CONTROL_ADDRESS_BITS = 24


@dataclass(frozen=True)
class KernelInput:
    """A planned kernel."""

    function: Function
    memory: MemoryPlan
    plan: KernelPlan


def build_system(kernels: list[KernelInput], board, options, address_bits: int) -> tuple[dict[str, str], SystemInterface]:
    """Verilog texts by file name, and the interface that drivers and simulators need."""
    return _System(kernels, board, options, address_bits).build()


class _System:
    def __init__(self, kernels, board, options, address_bits):
        self.kernels, self.board, self.options, self.address_bits = kernels, board, options, address_bits
        self.m = Module()
        self.seed = Signal(32, name="stall_seed") if options.random_stalls else None
        self.ports = {}
        self.interrupts = []

    def build(self):
        hardware = [self._kernel(k, index) for index, k in enumerate(self.kernels)]
        self._memory([h for h, _ in hardware])
        self._control([control for _, (control, _) in hardware])
        interfaces = tuple(interface for _, (_, interface) in hardware)
        if self.seed is not None:
            self.ports["stall_seed"] = (self.seed, None)
        interrupt = Signal(len(self.kernels), name="interrupt")
        self.m.d.comb += interrupt.eq(Cat(self.interrupts))
        self.ports["interrupt"] = (interrupt, None)
        files = convert(self.m, TOP, self.ports)
        banks = (8 * self.board.memory.word_bytes,) * len(self.board.memory.banks)
        return files, SystemInterface(
            TOP, interfaces, banks, (), self.address_bits, self.board.memory.interleave_bytes,
            self.board.clock.kernel_mhz, self.seed is not None,
        )

    def _kernel(self, kernel: KernelInput, index: int):
        function, memory = kernel.function, self.board.memory
        registers = self._registers(function)
        signals = {name: Signal(bits, name=f"arg_{name}") for name, bits in registers}
        context = KernelContext(function, kernel.plan, kernel.memory, self.address_bits, memory.word_bytes,
                                memory.read_latency, signals, self.seed)
        hardware = KernelHardware(context)
        counters = KernelCounters(hardware, self.board.clock.kernel_mhz)
        self.m.submodules[function.name] = context.m
        names = [(c.name, c.bits) for c in counters.layout.counters]
        control = AxiLiteControl(arguments=registers, counters=names)
        self.m.submodules[f"{function.name}_control"] = control
        self._wire_control(control, hardware, signals, counters)
        return hardware, (control, self._interface(function, kernel, index, registers, names, counters.layout))

    def _registers(self, function) -> list[tuple[str, int]]:
        """(name, bits) of every argument register: the kernel's parameters, then launch sizes."""
        scalars = {v: p for v, p in zip(function.args, [p for p in function.params if p.kind == "scalar"], strict=False)}
        bits = {p.name: v.type.bits for v, p in scalars.items()}
        registers = [(p.name, bits.get(p.name, self.address_bits)) for p in function.params]
        launch = function.attrs.get("launch_args", ())
        return registers + [(name, v.type.bits) for name, v in zip(launch, function.args[len(scalars):], strict=True)]

    def _wire_control(self, control, hardware, signals, counters):
        m = self.m
        m.d.comb += [
            hardware.start.eq(control.start),
            control.done.eq(hardware.done),
            control.idle.eq(~hardware.busy),
            control.error.eq(hardware.error),
            *(signals[name].eq(control.arguments[name]) for name in signals),
            *(control.counters[c.name].eq(v) for c, v in zip(counters.layout.counters, counters.values, strict=True)),
        ]
        self.interrupts.append(control.interrupt)

    def _interface(self, function, kernel, index, registers, counters, layout) -> KernelInterface:
        map_ = RegisterMap(registers, counters)
        directions = _directions(kernel.memory)
        arguments = tuple(
            ArgumentInterface(p.name, p.kind, p.c_type, p.bytes, map_.argument(p.name),
                              directions.get(p.name, "unused") if p.kind == "buffer" else "in")
            for p in function.params
        )
        launch = {name: map_.argument(name) for name in function.attrs.get("launch_args", ())}
        return KernelInterface(
            function.name, index, index * WINDOW_BYTES, arguments, bool(function.attrs.get("ndrange")), launch,
            tuple(CounterInterface(name, map_.counter(name), bits) for name, bits in counters), layout,
            function.attrs.get("work_group_size"),
        )

    def _memory(self, hardware):
        memory = self.board.memory
        mapping = AddressMap.interleaved(len(memory.banks), memory.interleave_bytes)
        reads = [port for h in hardware for port in h.reads]
        writes = [port for h in hardware for port in h.writes]
        common = {"word_bytes": memory.word_bytes, "addr_bits": self.address_bits}
        read = self._interconnect("read", ReadInterconnect, reads, mapping, common)
        write = self._interconnect("write", WriteInterconnect, writes, mapping, common)
        for bank in range(len(memory.banks)):
            self._bank(bank, read, write, memory.word_bytes)

    def _interconnect(self, name, part, units, mapping, common):
        if not units:
            return None
        interconnect = part(count=len(units), address_map=mapping, **common)
        self.m.submodules[f"{name}_interconnect"] = interconnect
        for unit, port in zip(units, interconnect.units, strict=True):
            wiring.connect(self.m, unit, port)
        return interconnect

    def _bank(self, bank, read, write, word_bytes):
        for interconnect, part, name in ((read, AxiReadMaster, "read"), (write, AxiWriteMaster, "write")):
            master = part(word_bytes=word_bytes, addr_bits=64)
            self.m.submodules[f"{name}_master{bank}"] = master
            self.ports |= flat_ports(master.axi, f"m_axi{bank}")
            if interconnect is not None:
                self._connect_wide(interconnect.banks[bank], master.port)

    def _connect_wide(self, source, sink):
        """Connect a bank of the interconnect to a master: only the address is wider there."""
        for path, member, value in source.signature.flatten(source):
            other = sink
            for step in path:
                other = getattr(other, step) if isinstance(step, str) else other[step]
            if member.flow == wiring.Out:
                _assign(self.m, other, value)
            else:
                _assign(self.m, value, other)

    def _control(self, controls):
        windows = AxiLiteWindows([c.map.addr_bits for c in controls], WINDOW_BITS, CONTROL_ADDRESS_BITS)
        self.m.submodules.control_windows = windows
        for window, control in zip(windows.windows, controls, strict=True):
            wiring.connect(self.m, window, control.bus)
        self.ports |= flat_ports(windows.bus, "s_axil")


def _assign(m, target, source):
    if hasattr(target, "addr"):
        m.d.comb += [target.addr.eq(source.addr), target.words.eq(source.words)]
    else:
        m.d.comb += target.eq(source)


def _directions(memory: MemoryPlan) -> dict[str, str]:
    found: dict[str, set] = {}
    for access in memory.accesses.values():
        found.setdefault(access.memory, set()).add(access.direction)
    names = {frozenset({"load"}): "in", frozenset({"store"}): "out"}
    return {name: names.get(frozenset(kinds), "inout") for name, kinds in found.items()}
