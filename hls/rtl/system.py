"""The whole system: kernels, their control, and their connection to global memory."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from amaranth import *
from amaranth.hdl._ir import PortDirection  # exported by no public module of Amaranth 0.5

from rtl_lib.axi.register_map import RegisterMap
from rtl_lib.library import DOUBLE, convert
from rtl_lib.part_netlists import read_netlists
from rtl_lib.stall import salt_of
from rtl_lib.unconverted import perhaps_unconverted

from ..ir import ArrayType, Attr, Function, Op, Parameter, location, moved_type, walk
from ..ir import Value as IrValue
from ..ir.launch import (
    PER_UNIT,
    IndexSpace,
    compute_units,
    group_limit,
    hidden_arguments,
    host_arguments,
    lanes_of,
    launch_value,
    may_be_offset,
    most_dims,
    units_of,
)
from ..narrow import instance, present
from ..options import Options
from ..planning.memory import Access, ChannelPlan, MemoryPlan
from ..planning.schedule import KernelPlan
from ..profile.probe import WORD, ProbeMap
from ..target.board import Board, Memory
from .channels import ChannelWatch, connect_channels
from .compute_units import UnitedKernel, unit_place
from .context import KernelContext
from .control import AxiLiteKernels, WiredKernels
from .global_memory import bursts_of_a_master, connect_axi, connect_ram
from .interface import (
    WINDOW_BYTES,
    ArgumentInterface,
    CounterInterface,
    KernelInterface,
    MemoryInterface,
    PortInterface,
    StreamInterface,
    SystemInterface,
    variable_interface,
)
from .kernel import KernelHardware
from .observe import KernelCounters, UnitCounters
from .registers import describe_registers
from .split_kernel import PartCounters, SplitKernel

__all__ = ["TOP", "KernelInput", "build_system", "module_names", "parts_of", "system_netlists"]

TOP = "sluice_system"


@dataclass(frozen=True)
class KernelInput:
    """A planned kernel."""

    function: Function
    memory: MemoryPlan
    plan: KernelPlan


def build_system(
    kernels: list[KernelInput], channels: tuple[ChannelPlan, ...], board: Board, options: Options, address_bits: int
) -> tuple[Callable[[], dict[str, str]], SystemInterface, dict[str, dict[str, IrValue | Op]]]:
    """What converts the system to Verilog texts by file name, the interface that drivers and simulators need, and for
    each kernel what the names of its signals and modules stand for (those of one compute unit).

    The conversion takes most of the time, and many programs that a host builds are never launched. It can be called
    again, also when an interrupt ended the first call: a netlist is converted once, so another one is made then.
    """
    with perhaps_unconverted() as converted:
        system = _System(kernels, channels, board, options, address_bits)
        connected = system.connected()
    left = [(system.m, connected.ports)]  #: until it is converted

    def verilog() -> dict[str, str]:
        if left:
            converted()
            return convert(left[0][0], TOP, left.pop()[1])
        again = _System(kernels, channels, board, options, address_bits)
        ports = again.connected().ports
        return convert(again.m, TOP, ports)

    return verilog, system.interface(connected), system.named


def system_netlists(
    kernels: list[KernelInput], channels: tuple[ChannelPlan, ...], board: Board, options: Options, address_bits: int
) -> dict[str, str]:
    """The cells of the system that :func:`build_system` converts, by module: of ``TOP``, and of each shared part
    (:func:`rtl_lib.part_netlists.read_netlists`)."""
    system = _System(kernels, channels, board, options, address_bits)
    return read_netlists(system.m, TOP, system.connected().ports)


#: names of other modules in the top module
_INFRASTRUCTURE = re.compile(
    r"control_windows|part|(read|write)_(interconnect|master)\w*|(atomic|constant|shared_cache|channel|stall|gate|io|probe|ram|m_axi|s_axil)\w*|"
    r"arguments|clk|rst|rst_n|interrupt|sync2x\w*|forget\w*"
)


def module_names(kernels: list[str]) -> dict[str, str]:
    """The name of each kernel's module in the top module: the kernel's own, unless that name or the name of its
    registers (NAME_control) or totals (NAME_counters) is taken there by another module or another kernel."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in kernels:
        module = name
        while not _is_free(module, name, taken, kernels):
            module = f"kernel_{module}"
        found[name] = module
        taken |= set(parts_of(module))
    return found


def parts_of(module: str) -> tuple[str, str, str]:
    """The instances in the top module that belong to the kernel whose module has that name: it, its control registers,
    and the totals of its counters."""
    return module, f"{module}_control", f"{module}_counters"


def _is_free(module: str, kernel: str, taken: set[str], kernels: list[str]) -> bool:
    names = set(parts_of(module))
    return not (names & taken or any(map(_INFRASTRUCTURE.fullmatch, names)) or names & set(kernels) - {kernel})


class _Connected(NamedTuple):
    """What a filled top module shows: its ports, its memories on the chip, and the kernels' interfaces."""

    ports: dict
    ram: tuple
    kernels: tuple[KernelInterface, ...]


class _System:
    def __init__(self, kernels, channels, board, options, address_bits) -> None:
        self.channels = {(plan.channel, plan.index): ChannelWatch(plan) for plan in channels}
        # kernels that the host starts come first, and have the first bits of the interrupt
        kernels = sorted(kernels, key=lambda k: bool(k.function.attrs.get(Attr.AUTORUN)))
        self.kernels, self.board, self.options, self.address_bits = kernels, board, options, address_bits
        self.named: dict[str, dict] = {}
        self.names = module_names([kernel.function.name for kernel in kernels])
        self.wholes = [one for one in kernels if Attr.PART_OF not in one.function.attrs]
        self.m = Module()
        self.probed: list[KernelCounters] = []  #: the compute units in the order of their sections of the probe
        self.seed = Signal(32, name="stall_seed") if options.random_stalls else None
        self.onchip = board.memory.kind == "onchip"
        self.counted = ("" if self.onchip else "all") if options.counters is None else options.counters
        self.control = (AxiLiteKernels if options.control == "axi-lite" else WiredKernels)(self.m)

    def connected(self) -> _Connected:
        """Fill the top module."""
        built = [self._kernel(k, index) for index, k in enumerate(self.wholes)]
        hardware = [part for parts, _ in built for part in parts]
        clocks = self._double_clock()
        signals = "t" if self.options.stream_names == "axi" else ""
        streams = connect_channels(self.m, hardware, self.channels.values(), signals)
        if self.onchip:
            ports, ram = connect_ram(hardware)
        else:
            ports, ram = (
                connect_axi(
                    self.m,
                    hardware,
                    self.board.memories,
                    self.address_bits,
                    self.options,
                    instance(self.control, AxiLiteKernels).forget,
                ),
                (),
            )
        reset = self._reset()
        ports = reset | ports | self.control.ports() | streams | clocks | self._probe_port()
        if self.seed is not None:
            ports["stall_seed"] = (self.seed, None)
        return _Connected(ports, ram, tuple(i for _, i in built))

    def interface(self, connected: _Connected) -> SystemInterface:
        """The interface of the filled top module."""
        memory, ports = self.board.memory, connected.ports
        banks = () if self.onchip else tuple(8 * one.word_bytes for one in self.board.memories for _ in one.banks)
        return SystemInterface(
            top=TOP,
            kernels=connected.kernels,
            axi=banks,
            ram=connected.ram,
            address_bits=self.address_bits,
            interleave_bytes=memory.interleave_bytes,
            clock_mhz=self.board.clock.kernel_mhz,
            random_stalls=self.seed is not None,
            control=self.options.control,
            streams=self._streams(),
            double_clock=f"{DOUBLE}_clk" in ports,
            memories=self._memories(),
            probe=self._probe_map(),
            ports=_ports(ports, self.options.reset_active != "high"),
            reset_active=self.options.reset_active,
        )

    def _probe_port(self) -> dict:
        """The output by which a simulator observes the kernels."""
        if not self.options.probe:
            return {}
        sections = Cat(present(one.probe) for one in self.probed)
        levels = Cat(Cat(watch.level, C(0, WORD - len(watch.level))) for watch in self.channels.values())
        probe = Signal(len(sections) + len(levels), name="probe")
        self.m.d.comb += probe.eq(Cat(sections, levels))
        return {"probe": (probe, PortDirection.Output)}

    def _probe_map(self) -> ProbeMap | None:
        if not self.options.probe:
            return None
        units = tuple(present(one.unit) for one in self.probed)
        names = tuple(f"{channel}_{index}" for channel, index in self.channels)
        holders = {(name, end.writes): k for k, one in enumerate(self.probed) for end, name in one.end_channels()}
        ends = tuple((holders.get((name, True), -1), holders.get((name, False), -1)) for name in names)
        return ProbeMap(units, names, ends)

    def _memories(self) -> tuple[MemoryInterface, ...]:
        return tuple(
            MemoryInterface(
                one.name,
                one.base,
                one.bytes,
                one.interleave_bytes,
                len(one.banks),
                bursts_of_a_master(one.read_latency),
            )
            for one in self.board.memories
        )

    def _reset(self) -> dict:
        """The ports of clock and reset, if the reset acts low; Amaranth makes those of one that acts high."""
        if self.options.reset_active == "high":
            return {}
        domain, reset_n = ClockDomain("sync"), Signal(name="rst_n")
        self.m.domains += domain
        self.m.d.comb += domain.rst.eq(~reset_n)
        return {"clk": (domain.clk, PortDirection.Input), "rst_n": (reset_n, PortDirection.Input)}

    def _double_clock(self) -> dict:
        """The port of the clock of twice the frequency, if a memory needs it."""
        if not any(memory.pumped for kernel in self.kernels for memory in kernel.memory.onchip.values()):
            return {}
        double = ClockDomain(DOUBLE, reset_less=True)
        self.m.domains += double
        return {f"{DOUBLE}_clk": (double.clk, PortDirection.Input)}

    def _streams(self) -> tuple[StreamInterface, ...]:
        plans = [watch.plan for watch in self.channels.values() if watch.plan.stream is not None]
        return tuple(
            StreamInterface(present(p.stream).name, present(p.stream).direction, present(p.stream).bits, p.name)
            for p in plans
        )

    def _kernel(self, kernel: KernelInput, index: int):
        """The hardware of a kernel, of all of its parts, and its interface."""
        function = kernel.function
        if Attr.PARTS in function.attrs:
            return self._split(kernel, index)
        registers = _registers(function, self.address_bits)
        arguments: dict[str, Value] = {name: Signal(bits, name=f"arg_{name}") for name, bits in registers}
        if function.attrs.get(Attr.AUTORUN):  # no host sets its arguments: it has the index space that it requires
            registers, arguments = (
                [],
                {name: C(value, bits) for (name, bits), value in zip(registers, _launch(function))},
            )
        units = [self._unit(kernel, arguments, number) for number in range(units_of(function))]
        mhz, probed = self.board.clock.kernel_mhz, self.options.probe
        each = [KernelCounters(unit, mhz, self.counted, probed, self.channels) for unit in units]
        self.probed += each
        path = self.names[function.name]
        for unit, one in zip(units, each, strict=True) if probed else ():
            inside = f".{unit.context.unit_name}" if len(units) > 1 else ""
            one.unit = replace(present(one.unit), path=f"{TOP}.{path}{inside}")
        alone = len(units) == 1
        hardware = units[0] if alone else UnitedKernel(units, arguments)
        counters = each[0] if alone else UnitCounters(each)
        self.m.submodules[self.names[function.name]] = hardware.m
        self.named[function.name] = units[0].context.names.given
        map_ = self.control.add(hardware, self.names[function.name], registers, arguments, counters)
        has_registers = self.options.control == "axi-lite"
        return [hardware], _interface(function, [kernel], index, map_, counters.layout, has_registers)

    def _split(self, kernel: KernelInput, index: int):
        """The same for a kernel of several parts, which share registers and arguments."""
        others = [one for one in self.kernels if one.function.attrs.get(Attr.PART_OF) == kernel.function.name]
        inputs = [kernel, *others]
        registers = list(dict(one for part in inputs for one in _registers(part.function, self.address_bits)).items())
        arguments: dict[str, Value] = {name: Signal(bits, name=f"arg_{name}") for name, bits in registers}
        parts = [self._unit(part, arguments, 0) for part in inputs]
        mhz, probed = self.board.clock.kernel_mhz, self.options.probe
        counted = [KernelCounters(part, mhz, self.counted, probed, self.channels) for part in parts]
        self.probed += counted
        for part, hardware, one in zip(inputs, parts, counted, strict=True):
            path = self.names[part.function.name]
            if probed:
                one.unit = replace(present(one.unit), path=f"{TOP}.{path}")
            self.m.submodules[path] = hardware.m
            self.named[part.function.name] = hardware.context.names.given
        name, counters = self.names[kernel.function.name], PartCounters(counted)
        map_ = self.control.add(SplitKernel(self.m, parts), name, registers, arguments, counters)
        has_registers = self.options.control == "axi-lite"
        return parts, _interface(kernel.function, inputs, index, map_, counters.layout, has_registers)

    def _unit(self, kernel: KernelInput, arguments: dict, number: int) -> KernelHardware:
        """The kernel, or one of its compute units, which knows its number."""
        function, name = kernel.function, ""
        if units_of(function) > 1:
            name = f"{function.name}_{number}"
            place = unit_place(compute_units(function), number)
            hidden = {one: value.type.bits for one, value in hidden_arguments(function).items()}
            arguments = arguments | {
                one: C(place[int(one[-1])], bits) for one, bits in hidden.items() if one.startswith(PER_UNIT)
            }
        return KernelHardware(
            KernelContext(
                function=function,
                plan=kernel.plan,
                memory=kernel.memory,
                address_bits=self.address_bits,
                memories=self._by_location(),
                arguments=arguments,
                seed=self._seed(name or function.name),
                cell=self.board.device.cell,
                ram_faults=self.options.ram_faults,
                unit_name=name,
            )
        )

    def _by_location(self) -> dict[str | None, Memory]:
        return {None: self.board.memory} | {one.name: one for one in self.board.others}

    def _seed(self, name: str) -> Signal | None:
        """The seed of random stalls of one kernel or compute unit: derived from the design's seed outside of the unit,
        so that equal units are equal hardware."""
        if self.seed is None:
            return None
        own = Signal(32, name="seed")
        self.m.d.comb += own.eq(Mux(self.seed == 0, 0, self.seed ^ salt_of(name)))
        return own


def _ports(ports: dict, has_reset: bool) -> tuple[PortInterface, ...]:
    """The ports of the top module. Clock and reset come first; Amaranth adds them by itself, unless they are among
    ``ports``."""
    return (
        *(() if has_reset else (PortInterface("clk", "in", 1), PortInterface("rst", "in", 1))),
        *(
            PortInterface(name, "out" if direction == PortDirection.Output else "in", len(value))
            for name, (value, direction) in ports.items()
        ),
    )


def _registers(function, address_bits: int) -> list[tuple[str, int]]:
    """(name, bits) of every argument register: the kernel's parameters, then launch sizes."""
    scalars = {v: p for v, p in zip(function.args, [p for p in function.params if p.kind == "scalar"], strict=False)}
    bits = {p.name: v.type.bits for v, p in scalars.items()}
    registers = [(p.name, bits.get(p.name, address_bits)) for p in function.params if p.kind != "pipe"]
    launch = hidden_arguments(function)
    return registers + [(name, launch[name].type.bits) for name in host_arguments(function)]


def _launch(function) -> list[int]:
    """The launch arguments of a kernel whose global size equals its group size."""
    group = function.attrs.get(Attr.WORK_GROUP_SIZE) or (1,)
    space = IndexSpace.of(group, group)
    return [launch_value(name, space, True, {}) for name in host_arguments(function)]


def _interface(
    function, parts: Sequence[KernelInput], index, map_: RegisterMap, layout, has_registers: bool
) -> KernelInterface:
    """The interface of a kernel made of ``parts``, of which the first has its name."""
    accesses = [access for part in parts for access in part.memory.outside.items()]
    directions, alignments = _directions(accesses), _alignments(accesses)
    arguments = tuple(
        ArgumentInterface(
            name=p.name,
            kind=p.kind,
            c_type=p.c_type,
            bytes=p.bytes,
            offset=0 if p.kind == "pipe" else map_.argument(p.name),
            direction=directions.get(p.name, "unused") if p.kind == "buffer" else "in",
            limit=_limit(function, p),
            memory=location(function.memories[p.name]) if p.name in function.memories else None,
            alignment=alignments.get(p.name, 1),
            type=p.resolved or p.c_type,
            variable=variable_interface(p),
        )
        for p in function.params
    )
    autorun = bool(function.attrs.get(Attr.AUTORUN))
    hidden = dict.fromkeys(name for part in parts for name in host_arguments(part.function))
    launch = {} if autorun else {name: map_.argument(name) for name in hidden}
    return KernelInterface(
        name=function.name,
        index=index,
        base=index * WINDOW_BYTES,
        arguments=arguments,
        ndrange=bool(function.attrs.get(Attr.NDRANGE)),
        launch=launch,
        counters=tuple(CounterInterface(name, map_.counter(name), bits) for name, bits in map_.counters),
        layout=layout,
        work_group_size=function.attrs.get(Attr.WORK_GROUP_SIZE),
        autorun=autorun,
        most_work_items=group_limit(function, any(op.opcode == "meet" for op in walk(function.body))),
        lanes=lanes_of(function),
        units=units_of(function),
        promised=bool(function.attrs.get(Attr.PROMISED)),
        most_dims=most_dims(function),
        may_be_offset=may_be_offset(function),
        registers=describe_registers(map_, arguments, layout, autorun) if has_registers else (),
    )


def _limit(function: Function, parameter: Parameter) -> int | None:
    """Most bytes of a local memory argument that fit; None if it is not used, and for other arguments."""
    memory = function.memories.get(parameter.name)
    if parameter.kind != "local" or memory is None or memory.length is None:
        return None
    return memory.length * memory.element.bytes // dict(memory.attrs).get(Attr.COPIES, 1)


def _alignments(accesses: Sequence[tuple[Op, Access]]) -> dict[str, int]:
    """For each buffer, the size of its largest access, or of a lane of it: accesses are aligned to their size within
    words."""
    found: dict[str, int] = {}
    for op, access in accesses:
        type = moved_type(op)
        found[access.memory] = max(
            found.get(access.memory, 1), instance(type, ArrayType).element.bytes if access.lanes else type.bytes
        )
    return found


def _directions(accesses: Sequence[tuple[Op, Access]]) -> dict[str, str]:
    found: dict[str, set] = {}
    for _, access in accesses:
        found.setdefault(access.memory, set()).add(access.direction)
    names = {frozenset({"load"}): "in", frozenset({"store"}): "out"}
    return {name: names.get(frozenset(kinds), "inout") for name, kinds in found.items()}
