"""Control interfaces, by which the host starts kernels and sets arguments: AXI4-Lite registers, or plain wires."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from amaranth import *
from amaranth.hdl._ir import PortDirection  # exported by no public module of Amaranth 0.5
from amaranth.lib import wiring

from rtl_lib.axi.control import AxiLiteControl
from rtl_lib.axi.register_map import RegisterMap
from rtl_lib.axi.signature import flat_ports
from rtl_lib.axi.windows import AxiLiteWindows
from rtl_lib.event_counters import EventCounters
from rtl_lib.library import convert

from ..ir.launch import OVERLAP
from ..profile.layout import COUNTER_BITS
from .interface import WINDOW_BYTES, RegisterInterface

if TYPE_CHECKING:
    from .compute_units import UnitedKernel
    from .kernel import KernelHardware
    from .observe import KernelCounters, UnitCounters
    from .split_kernel import PartCounters, SplitKernel

    #: a kernel as control sees it, however it is built, and its counters
    Hardware = KernelHardware | UnitedKernel | SplitKernel
    Counters = KernelCounters | UnitCounters | PartCounters

__all__ = ["ALONE", "AxiLiteKernels", "WiredKernels", "control_alone"]

WINDOW_BITS = (WINDOW_BYTES - 1).bit_length()
CONTROL_ADDRESS_BITS = 24
ALONE = "control"  #: the module of control registers by themselves


class AxiLiteKernels:
    """A window of registers for each kernel behind one AXI4-Lite port; ``interrupt`` has a bit for each kernel that the
    host starts (these come first)."""

    def __init__(self, m: Module) -> None:
        self.m = m
        self.controls: list[AxiLiteControl] = []
        self.interrupts: list[Value] = []
        #: strobe: the host may have written the contents of constant caches
        self.forget = Signal(name="forget_constants")

    def add(
        self,
        hardware: "Hardware",
        name: str,
        registers: Sequence[tuple[str, int]],
        arguments: Mapping[str, Value],
        counters: "Counters",
    ) -> RegisterMap:
        """Connect the kernel whose module has that name; ``registers`` and ``arguments`` are widths and signals by
        name, ``counters`` its counters."""
        m = self.m
        # those that count events come first: then the number of a register is that of its total
        shown = sorted(zip(counters.registers, counters.built, strict=True), key=lambda pair: pair[1].event is None)
        names = [(c.name, c.bits) for c, _ in shown]
        events = {c.name: one.event for c, one in shown if one.event is not None}
        # a driver that does not know whether buffers overlap does not write the register; accesses then stay in order
        initial = {OVERLAP: 1} if OVERLAP in dict(registers) else {}
        control = AxiLiteControl(arguments=registers, counters=names, counted=tuple(events), initial=initial)
        m.submodules[f"{name}_control"] = control
        m.d.comb += [
            hardware.start.eq(~hardware.busy if hardware.autorun else control.start),
            control.done.eq(hardware.done),
            control.idle.eq(~hardware.busy),
            control.error.eq(hardware.error),
            *(signal.eq(control.arguments[name]) for name, signal in arguments.items()),
            # one assignment: Amaranth visits every bit of a signal for each statement that assigns a part of it
            Value.cast(control.counters).eq(Cat(_of_width(one.value, c.bits) for c, one in shown)),
        ]
        if events:
            m.submodules[f"{name}_counters"] = part = EventCounters(len(events), COUNTER_BITS)
            m.d.comb += [
                part.events.eq(Cat(events.values())),
                part.clear.eq(hardware.start),
                part.slot.eq(control.slot),
                control.here.eq(part.here),
                control.total.eq(part.total),
            ]
        self.controls.append(control)
        if not hardware.autorun:
            self.interrupts.append(control.interrupt)
        return RegisterMap(tuple(registers), tuple(names))

    def ports(self) -> dict[str, Any]:
        """The top-level ports by name."""
        m, interrupt = self.m, Signal(max(1, len(self.interrupts)), name="interrupt")
        windows = AxiLiteWindows([c.map.addr_bits for c in self.controls], WINDOW_BITS, CONTROL_ADDRESS_BITS)
        m.submodules.control_windows = windows
        for window, control in zip(windows.windows, self.controls, strict=True):
            wiring.connect(m, window, control.bus)
        m.d.comb += [interrupt.eq(Cat(self.interrupts)), self.forget.eq(Cat(c.forget for c in self.controls).any())]
        return flat_ports(windows.bus, "s_axil") | {"interrupt": (interrupt, PortDirection.Output)}


def _of_width(value: Value | None, bits: int) -> Value:
    if value is None:
        return C(0, bits)
    return value[:bits] if len(value) >= bits else Cat(value, C(0, bits - len(value)))


class WiredKernels:
    """Ports of each kernel K: ``K_start`` (a cycle high: start), ``K_done`` (high in the last cycle of a run),
    ``K_idle``, and ``K_arg_NAME``, which hold from the start to the end of a run. Counters and stall seeds have no
    wires."""

    def __init__(self, m: Module) -> None:
        self.m = m
        self.wires: dict[str, Any] = {}  # signals, with their directions

    def add(
        self,
        hardware: "Hardware",
        _name: str,
        registers: Sequence[tuple[str, int]],
        arguments: Mapping[str, Value],
        counters: "Counters",
    ) -> RegisterMap:
        """Connect a kernel, as :meth:`AxiLiteKernels.add` does; the map it returns is empty."""
        m, name = self.m, hardware.context.function.name
        if hardware.autorun:
            m.d.comb += hardware.start.eq(~hardware.busy)
            return RegisterMap(tuple(registers), ())
        start, done, idle = (Signal(name=f"{name}_{event}") for event in ("start", "done", "idle"))
        m.d.comb += [hardware.start.eq(start), done.eq(hardware.done), idle.eq(~hardware.busy)]
        self.wires |= {start.name: (start, PortDirection.Input)}
        self.wires |= {s.name: (s, PortDirection.Output) for s in (done, idle)}
        for argument, signal in arguments.items():
            self.wires[f"{name}_arg_{argument}"] = (signal, PortDirection.Input)
        return RegisterMap(tuple(registers), ())

    def ports(self) -> dict[str, Any]:
        """The top-level ports by name."""
        return self.wires


def control_alone(registers: Iterable[RegisterInterface]) -> dict[str, str]:
    """Verilog texts by file name: the module :data:`ALONE`, with the control registers of a kernel as they are without
    counters."""
    asked = [one for one in registers if one.kind in ("argument", "launch")]
    control = AxiLiteControl(arguments=[(one.name, one.fields[0].bits * one.count) for one in asked])
    ports = flat_ports(control, ALONE)
    return convert(control, ALONE, {name: port for name, port in ports.items() if len(port[0])})
