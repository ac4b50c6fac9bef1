"""From source text to Verilog, interface and report: the stages in order, and nothing else."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .analysis.channels.call_skeleton import CallSkeleton
from .analysis.channels.deadlock import Verdict, find_deadlocks, gathered, inseparable
from .analysis.channels.kpn_run import Link
from .assumed_sizes import assume_sizes
from .diag import Code, CompileError, Diagnostic
from .frontend import Options as FrontendOptions
from .frontend import Result as Parsed
from .frontend import parse_source, rarely_collected
from .ir import Attr, Function, Module, Op, Value
from .model.area import DesignArea, area_of_modules
from .model.workload import source_hash
from .options import AXI_ADDRESS_BITS, Options
from .passes.inspection import Inspection
from .passes.link.apply_design import apply_design
from .passes.link.place_buffers import as_used
from .passes.lowering.inline import Inline
from .passes.run_stages import link_program
from .planning import Compilation, CompiledKernel, plan_program
from .planning.memory import ChannelPlan, plan_channels
from .planning.schedule import balance_channels
from .recursion import deep_recursion
from .rtl_functions import mark_rtl_functions, with_rtl_files
from .target.board import Board, load_board

if TYPE_CHECKING:  # what builds hardware is imported when it is built: a plan does not wait for it
    from .rtl.interface import SystemInterface

__all__ = [
    "CompiledKernel",
    "Result",
    "channel_depths",
    "compile",
    "compile_module",
    "designed_module",
    "inlined_kernels",
    "network_channels",
    "parsed",
    "parsed_module",
    "plan_area",
    "plan_module",
    "plan_source",
    "plan_text",
    "with_ports",
]

#: recursion limit for hardware generation: an operation requests its operands, and these theirs, with four calls for
#: each
LONGEST_CHAIN = 200_000


@dataclass(frozen=True, eq=False)
class Result:
    """The result of a compilation.

    ``convert`` makes :attr:`verilog`; ``top`` is the top module. ``module`` is the linked IR before optimization,
    which the emulator runs. ``warnings`` are for the user.
    """

    convert: Callable[[], dict[str, str]]
    top: str
    interface: "SystemInterface"
    board: Board
    options: Options
    module: Module
    kernels: tuple[CompiledKernel, ...]
    warnings: tuple[Diagnostic, ...] = field(default=())
    channels: tuple[ChannelPlan, ...] = ()
    networks: tuple[Verdict, ...] = ()  #: deadlock verdicts for kernels connected by channels
    #: for each kernel what the names in its Verilog stand for
    named: dict[str, dict[str, Value | Op]] = field(default_factory=dict)

    @cached_property
    def verilog(self) -> dict[str, str]:
        """The texts by file name. They are made when they are first read, which takes most of the time of a
        compilation: who only asks what a program has does not wait for them."""
        return self.convert()

    @property
    def generated(self) -> dict[str, str]:
        """The Verilog without the files of RTL libraries."""
        foreign = {file.name for one in self.options.libraries for file in one.files}
        return {name: text for name, text in self.verilog.items() if name not in foreign}

    @property
    def foreign(self) -> dict[str, tuple[int, int, int, int]]:
        """The area of the modules of RTL libraries, by their names (:func:`hls.model.area.estimate`)."""
        return {one.module: one.area for one in self.options.libraries}

    def decode(self, kernel: str, values: Mapping[str, int]) -> dict[str, Any]:
        """Statistics of one run of ``kernel`` from its counters' values."""
        from .profile import decode

        layout = next(k.layout for k in self.interface.kernels if k.name == kernel)
        return decode(layout, values)


@dataclass(frozen=True, eq=False)
class Plan:
    """A program that is planned, and not built. ``module`` is what it was linked to, ``networks`` are deadlock verdicts
    for kernels connected by channels."""

    board: Board
    options: Options
    module: Module
    kernels: tuple[CompiledKernel, ...]
    warnings: tuple[Diagnostic, ...]
    channels: tuple[ChannelPlan, ...]
    networks: tuple[Verdict, ...]


def compile(
    source: str,
    board: str | Path | Board = "de5net",
    options: Options | None = None,
    file: str = "kernel.cl",
    inspection: Inspection | None = None,
) -> Result:
    """Compile OpenCL C text for a board; ``inspection`` says what to show of the passes.

    Raises :class:`hls.diag.CompileError`, BoardError for an invalid board file, and :class:`hls.passes.manager.Stopped`
    if ``inspection`` stops the compilation.
    """
    options = options or Options()
    board = board if isinstance(board, Board) else load_board(board)
    front = parsed(source, options, file)
    try:
        module = designed_module(front.module, options, file)
        return compile_module(module, board, options, tuple(front.warnings), inspection)
    except CompileError as error:
        error.sources, error.warnings = front.module.sources, front.warnings
        raise


def compile_module(
    module: Module,
    board: Board,
    options: Options,
    warnings: tuple[Diagnostic, ...] = (),
    inspection: Inspection | None = None,
) -> Result:
    """The stages of :func:`compile` from a module of IR on."""
    from .printed import with_printing
    from .rtl.system import KernelInput, build_system

    with rarely_collected(), deep_recursion():
        plan = _planned(module, board, options, warnings, inspection)
        inputs = [KernelInput(k.function, k.memory, k.plan) for k in plan.kernels]
        with deep_recursion(LONGEST_CHAIN):
            netlist, interface, named = build_system(
                inputs, plan.channels, plan.board, options, plan.board.address_bits
            )
    interface = with_printing(interface, plan.module)

    def convert() -> dict[str, str]:
        with rarely_collected(), deep_recursion(LONGEST_CHAIN):
            return with_rtl_files(netlist(), plan.kernels, options)

    result = Result(
        convert=convert,
        top=interface.top,
        interface=interface,
        board=plan.board,
        options=options,
        module=plan.module,
        kernels=plan.kernels,
        warnings=plan.warnings,
        channels=plan.channels,
        networks=plan.networks,
        named=named,
    )
    if options.libraries:  # their modules may have names of the design's, which is an error of the user
        _ = result.verilog
    return result


def _planned(
    module: Module,
    board: Board,
    options: Options,
    warnings: tuple[Diagnostic, ...],
    inspection: Inspection | None = None,
) -> Plan:
    """Every stage before hardware generation, from the output of the front end on; ``warnings`` come first."""
    _check(options, board)
    fused: list[Diagnostic] = []
    flush, limits = options.denorms_are_zero, options.limits
    module = link_program(module, options.fpc, fused.append, flush, inspection, limits, options.printf)
    board = with_ports(as_used(module, board), options)
    kernels, told = plan_module(module, board, options, inspection)
    channels = network_channels(module, kernels, board, options)
    networks = _networks(kernels, channels)
    found = (*warnings, *dict.fromkeys(fused), *told, *(one.warning for one in networks if one.warning))
    return Plan(board, options, module, kernels, found, channels, networks)


def plan_area(plan: Plan) -> DesignArea:
    """The area of a planned program: what :func:`hls.model.area.estimate` counts in its Verilog, counted in the netlist
    that would be converted to it."""
    from .model.cells import modules_of
    from .rtl.system import TOP, KernelInput, system_netlists

    inputs = [KernelInput(k.function, k.memory, k.plan) for k in plan.kernels]
    board, options = plan.board, plan.options
    with rarely_collected(), deep_recursion(LONGEST_CHAIN):
        texts = system_netlists(inputs, plan.channels, board, options, board.address_bits)
    modules = {name: one for text in texts.values() for name, one in modules_of(text).items()}
    return area_of_modules(modules, TOP, board.device, {one.module: one.area for one in options.libraries})


def parsed(source: str, options: Options, file: str) -> Parsed:
    """What the front end says of OpenCL C text. Raises CompileError."""
    folders = [str(folder) for folder in options.include_dirs]
    found = parse_source(
        source,
        file,
        options.defines,
        folders,
        FrontendOptions(options.single_precision),
        options.include_roots,
        options.models,
    )
    mark_rtl_functions(found.module, options.libraries)
    assume_sizes(found.module, options)
    return found


def parsed_module(source: str, options: Options, file: str) -> Module:
    """The IR of OpenCL C text as the front end leaves it. Raises CompileError."""
    return parsed(source, options, file).module


def plan_source(
    source: str, board: Board, options: Options, file: str
) -> tuple[tuple[CompiledKernel, ...], Mapping[str, str]]:
    """The planned kernels of OpenCL C text, and the texts of all its files by name. Raises CompileError."""
    plan = plan_text(source, board, options, file)
    return plan.kernels, plan.module.sources


def plan_text(source: str, board: Board, options: Options, file: str) -> Plan:
    """The plan of OpenCL C text, with the warnings that :func:`compile` has. Raises CompileError."""
    front = parsed(source, options, file)
    try:
        with rarely_collected(), deep_recursion():
            module = designed_module(front.module, options, file)
            return _planned(module, board, options, tuple(front.warnings))
    except CompileError as error:
        error.sources, error.warnings = front.module.sources, front.warnings
        raise


def inlined_kernels(source: str, options: Options, file: str) -> dict[str, Function]:
    """The kernels of OpenCL C text that a host launches, by name: with their calls inlined, before any optimization.
    Raises CompileError."""
    with rarely_collected(), deep_recursion():
        module = link_program(parsed_module(source, options, file), options.fpc, limits=options.limits)
        inlined = Inline().run(module)
    return {one.name: one for one in inlined.kernels if not one.attrs.get(Attr.AUTORUN)}


def designed_module(module: Module, options: Options, file: str) -> Module:
    """The module with the options' design. Raises CompileError for a design of another program."""
    design = options.design
    if design is None:
        return module
    if source_hash(file, module.sources, {}) != design.source_hash:
        raise CompileError(
            Diagnostic(
                "the design was made for another text of this program",
                hint="tune again, or leave the design out",
                code=Code.DESIGN,
            )
        )
    return apply_design(module, design, file)


def plan_module(
    module: Module, board: Board, options: Options, inspection: Inspection | None = None
) -> tuple[tuple[CompiledKernel, ...], tuple[Diagnostic, ...]]:
    """Every stage before hardware generation, for a linked program: the planned kernels, and warnings."""
    compilation = Compilation(board, options, inspection)
    kernels = plan_program(module, compilation)
    return kernels, tuple(dict.fromkeys(compilation.warnings))


def channel_depths(module: Module, board: Board, options: Options) -> dict[tuple[str, int], int]:
    """The capacity of each channel (by name and index) in hardware, for a linked program. Raises CompileError for a
    channel that cannot be built."""
    with rarely_collected(), deep_recursion():
        board = as_used(module, board)
        kernels, _ = plan_module(module, board, options)
        return {(c.channel, c.index): c.depth for c in network_channels(module, kernels, board, options)}


def network_channels(
    module: Module, kernels: tuple[CompiledKernel, ...], board: Board, options: Options
) -> tuple[ChannelPlan, ...]:
    """The channels of planned kernels, with the depths that are built. Raises CompileError."""
    declared = module.channels | {one.name: one for k in kernels for one in k.inner}
    asked = plan_channels(declared, [k.function for k in kernels], board, options.limits.channel_bits)
    return balance_channels(asked, [k.plan for k in kernels], board.read_latency)


def _networks(kernels: tuple[CompiledKernel, ...], channels: tuple[ChannelPlan, ...]) -> tuple[Verdict, ...]:
    """Deadlock verdicts for kernels connected by channels as built; a value between a call and wires of depth 0 counts
    as one value in the channel. The parts of a kernel cannot wait for each other, and together wait as the kernel did
    before it was split."""
    named = [c for c in channels if not c.carries]
    ends = [((c.channel, c.index), c.name, max(1, c.depth), c.writer, c.reader, c.stream) for c in named]
    links = [
        Link(
            place,
            name,
            room,
            None if stream and stream.direction == "in" else writer,
            None if stream and stream.direction == "out" else reader,
        )
        for place, name, room, writer, reader, stream in ends
    ]
    within = [inseparable(k.function) for k in kernels if Attr.LOADS_FOR in k.function.attrs]
    sent = [c for c in channels if c.carries and c.writer and c.reader]
    for k in kernels:
        copies = [one.function for one in kernels if one.function.attrs.get(Attr.PART_OF) == k.function.name]
        senders = [one for one in copies if Attr.SHARES in one.attrs and any(c.writer == one.name for c in sent)]
        within += [gathered(k.function, senders)] if senders else []
    if not links:
        return tuple(within)
    skeletons = [CallSkeleton(k.function).only({c.channel for c in named}) for k in kernels]
    return (*find_deadlocks(skeletons, links), *within)


def with_ports(board: Board, options: Options) -> Board:
    """The board with the ports to memory, and the order of banks, that the options ask for. Raises CompileError."""
    masters, narrow = options.axi_masters, options.axi_address_bits < max(AXI_ADDRESS_BITS)
    for name, asked in (("--axi-masters", masters > 0), ("--axi-address-bits", narrow)):
        if asked and any(memory.kind == "onchip" for memory in board.memories):
            raise _refused(
                f"{name}: memory of board {board.name} is on the chip, and has no AXI port",
                "leave the option out, or choose a board with memory outside the chip (`sluice boards`)",
            )
    for memory in board.memories if masters else ():
        if len(memory.banks) % masters:
            fitting = [str(n) for n in range(1, len(memory.banks) + 1) if not len(memory.banks) % n]
            raise _refused(
                f"--axi-masters: {masters} does not divide the number of banks of memory {memory.name} of board "
                f"{board.name}, {len(memory.banks)}",
                f"ask for {' or '.join(fitting)}, or leave the option out",
            )
    board = board.behind(masters)
    for memory in board.memories:
        if (most := max(bank.bytes for bank in memory.banks)) > 1 << options.axi_address_bits:
            raise _refused(
                f"--axi-address-bits: an AXI4 manager reaches {most:,} bytes of memory {memory.name} of board "
                f"{board.name}, more than addresses of {options.axi_address_bits} bits can",
                "leave the option out" + (", or give each bank a manager: leave --axi-masters out" if masters else ""),
            )
    for name in options.no_interleaving:
        if named := board.memory_named(name):  # None: the program does not use it
            board = board.with_memory(named.partitioned())
    return board


def _refused(message: str, hint: str) -> CompileError:
    """The error about options that do not suit the board."""
    return CompileError(Diagnostic(message, hint=hint, code=Code.OPTIONS))


def _check(options: Options, board: Board) -> None:
    for name in options.no_interleaving:
        if board.memory_named(name) is None:
            raise _refused(
                f"-no-interleaving: board {board.name} has no memory {name!r}",
                f"it has {', '.join(memory.name for memory in board.memories)}; default is {board.memory.name}",
            )
    if options.control != "wires":
        return
    if board.memory.kind != "onchip":
        raise _refused(
            f"board {board.name} reports memory errors in control registers, so control cannot be plain wires",
            "leave --control at axi-lite, or choose a board with memory on the chip such as ecp5_onchip",
        )
    if options.counters:
        raise _refused(
            "counters are read through control registers, which plain wires have none of",
            "leave --counters out, or --control at axi-lite",
        )
