"""From source text to Verilog, interface and report: the stages in order, nothing else."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from .analysis.call_script import Script
from .analysis.deadlock import Verdict, find_deadlocks
from .analysis.token_run import Link
from .banking import When
from .diag import CompileError, Diagnostic
from .frontend import parse_source, uncollected
from .ir import Function, Module, Op
from .ir.accesses import last_of_run
from .memory import ChannelPlan, MemoryPlan, choose_units, plan_channels, plan_memory, share_copies
from .model.area import CELL_NAMES
from .model.operations import logic_cells
from .options import Options
from .passes.copies import GroupCopies
from .passes.dce import DeadCode
from .passes.early_conditions import EarlyConditions
from .passes.hardware import check_hardware
from .passes.late_choices import LateChoices
from .passes.late_operands import LateOperands
from .passes.locations import as_used, place_buffers
from .passes.lookahead import Lookahead
from .passes.loop_sums import LoopSums
from .passes.merged import Merged
from .passes.pipeline import PipelineOptions, deep_recursion, optimize
from .passes.program import link_program
from .passes.read_ahead import without_runs
from .passes.relaxed import BalanceSums
from .passes.silence import without_printf
from .passes.unroll import Unrolled
from .profile import decode
from .rtl.interface import SystemInterface
from .rtl.system import KernelInput, build_system
from .schedule import KernelPlan, OperatorTiming, RegionPlan, balance_channels, plan_kernel
from .schedule.held_up import held_up, relieves
from .target.board import Board, load_board

__all__ = ["CompiledKernel", "Result", "channel_depths", "compile", "compile_module", "plan_module"]


#: how deep the making of hardware goes: an operation asks for its operands, and these for theirs, four calls for each
LONGEST_CHAIN = 200_000


@dataclass(frozen=True, eq=False)
class CompiledKernel:
    """One kernel with the products of each stage, and the loops that were unrolled, or made one with others, on the way."""

    function: Function
    memory: MemoryPlan
    plan: KernelPlan
    unrolled: tuple[Unrolled, ...] = ()
    merged: tuple[Merged, ...] = ()


@dataclass(frozen=True, eq=False)
class Result:
    """What a compilation gives.

    ``verilog`` maps file names to text; ``top`` is the top module. ``module`` is the linked IR before optimization, which the
    emulator runs. ``warnings`` are for the user.
    """

    verilog: dict[str, str]
    top: str
    interface: SystemInterface
    board: Board
    options: Options
    module: Module
    kernels: tuple[CompiledKernel, ...]
    warnings: tuple[Diagnostic, ...] = field(default=())
    channels: tuple[ChannelPlan, ...] = ()
    networks: tuple[Verdict, ...] = ()  #: of kernels that channels join: whether they can wait for each other for ever

    def decode(self, kernel: str, values: dict[str, int]) -> dict:
        """Statistics of one run of ``kernel`` from its counters' values."""
        layout = next(k.layout for k in self.interface.kernels if k.name == kernel)
        return decode(layout, values)


def compile(source: str, board: str | Path | Board = "de5net", options: Options | None = None,
            file: str = "kernel.cl") -> Result:
    """Compile OpenCL C text for a board. Raises :class:`hls.diag.CompileError`, or BoardError for the board's file."""
    options = options or Options()
    board = board if isinstance(board, Board) else load_board(board)
    parsed = parse_source(source, file, options.defines, [str(d) for d in options.include_dirs])
    try:
        return compile_module(parsed.module, board, options, tuple(parsed.warnings))
    except CompileError as error:
        error.sources = parsed.module.sources
        raise


def compile_module(module: Module, board: Board, options: Options, warnings=()) -> Result:
    """The rest of :func:`compile`, from a module of IR."""
    _check(options, board)
    for name in options.no_interleaving:
        board = board.with_memory(board.memory_named(name).partitioned())
    with uncollected(), deep_recursion():
        fused = []
        module = link_program(module, options.fpc, fused.append, options.denorms_are_zero)
        board = as_used(module, board)
        kernels, told = plan_module(module, board, options)
        channels = _channels(module, kernels, board)
        networks = _networks(kernels, channels)
        inputs = [KernelInput(k.function, k.memory, k.plan) for k in kernels]
        with deep_recursion(LONGEST_CHAIN):
            verilog, interface = build_system(inputs, channels, board, options, board.address_bits)
    warnings = (*warnings, *dict.fromkeys(fused), *told, *(one.warning for one in networks if one.warning))
    return Result(verilog, interface.top, interface, board, options, module, kernels, warnings, channels, networks)


def _channels(module: Module, kernels: tuple[CompiledKernel, ...], board: Board) -> tuple[ChannelPlan, ...]:
    """The channels as they are built."""
    asked = plan_channels(module.channels, [k.function for k in kernels], board)
    return balance_channels(asked, [k.plan for k in kernels], board.read_latency)


def channel_depths(module: Module, board: Board, options: Options) -> dict[tuple[str, int], int]:
    """How many values each channel (by name and index) holds as hardware, for a linked program. Raises CompileError for one
    that cannot be hardware."""
    with uncollected(), deep_recursion():
        board = as_used(module, board)
        kernels, _ = plan_module(module, board, options)
        return {(c.channel, c.index): c.depth for c in _channels(module, kernels, board)}


def _networks(kernels: tuple[CompiledKernel, ...], channels: tuple[ChannelPlan, ...]) -> tuple[Verdict, ...]:
    """Kernels joined by channels as they are built; what is on its way between a call and wires of depth 0 counts as one value."""
    ends = [((c.channel, c.index), c.name, max(1, c.depth), c.writer, c.reader, c.stream) for c in channels]
    links = [Link(place, name, room, None if stream and stream.direction == "in" else writer,
                  None if stream and stream.direction == "out" else reader) for place, name, room, writer, reader, stream in ends]
    return find_deadlocks([Script(k.function) for k in kernels], links) if links else ()


def plan_module(module: Module, board: Board, options: Options) -> tuple[tuple[CompiledKernel, ...], tuple[Diagnostic, ...]]:
    """Every stage before hardware is made, for a linked program: the planned kernels, and warnings."""
    timing = OperatorTiming(board.delay_model(), board.address_bits)
    module, told, changed = place_buffers(without_printf(module), board), check_hardware(module), []
    onchip = board.memory.kind == "onchip"
    passes = PipelineOptions(
        address_bits=timing.address_bits, max_access_bytes=_access_bytes(board),
        word_bytes=0 if onchip else board.memory.word_bytes, memory_latency=board.read_latency,
        ram_bytes=board.device.rams.count * board.device.rams.bits // 8, hazards=not onchip,
        fp_relaxed=options.fp_relaxed, model=timing.model, takes=timing.takes, warn=told.append, record=changed.append)
    optimized = optimize(module, passes)
    kernels, warnings = [], []
    for function in optimized.kernels:
        kernel, found = _planned(function, board, options, timing, changed)
        better = _relieved(kernel, module, board, options, timing, passes)
        kernel, found = better or (kernel, found)
        kernels.append(kernel)
        warnings += found
    return tuple(kernels), tuple(dict.fromkeys([*told, *warnings]))


def _relieved(kernel: CompiledKernel, module: Module, board: Board, options: Options, timing: OperatorTiming,
              passes: PipelineOptions) -> tuple[CompiledKernel, list[Diagnostic]] | None:
    """The kernel with those arrays in memories that hold up a loop, and with its warnings; None where that gains nothing."""
    name, arrays = kernel.function.name, held_up(kernel.function, kernel.plan)
    if not arrays or kernel.function.attrs.get("ndrange"):
        return None
    alone = Module({n: f for n, f in module.functions.items() if f.kind != "kernel" or n == name}, module.sources, module.channels)
    told, changed = [], []
    passes = replace(passes, in_memory=frozenset((name, array) for array in arrays), warn=told.append, record=changed.append)
    try:
        (function,) = optimize(alone, passes).kernels
        found, warnings = _planned(function, board, options, timing, changed)
    except CompileError:  # what registers can be, not every memory can
        return None
    return (found, told + warnings) if relieves(found.plan, kernel.plan) else None


def _planned(function: Function, board: Board, options: Options, timing: OperatorTiming, changed) -> tuple[CompiledKernel, list[Diagnostic]]:
    """An optimized kernel with its plans, and the warnings of these."""
    told: list[Diagnostic] = []
    return _plan(function, board, options, timing, changed, told.append), told


def _slower_clock(loop: RegionPlan, wanted: float) -> Diagnostic:
    return Diagnostic(f"#pragma ii {loop.ii} costs the clock: what it leaves no registers for takes about {loop.period:.1f} ns, "
                      f"{1000 / loop.period:.0f} MHz instead of {1000 / wanted:.0f}", loop.loop.span,
                      "ask for a larger interval, or do less between two iterations; simulated runs count cycles, not this clock",
                      "warning")


def _check(options: Options, board: Board):
    for name in options.no_interleaving:
        if board.memory_named(name) is None:
            raise CompileError(Diagnostic(f"-no-interleaving: board {board.name} has no memory {name!r}",
                                          hint=f"it has {', '.join(memory.name for memory in board.memories)}; default is {board.memory.name}"))
    if options.control != "wires":
        return
    if board.memory.kind != "onchip":
        raise CompileError(Diagnostic(
            f"board {board.name} reports memory errors in control registers, so control cannot be plain wires",
            hint="leave --control at axi-lite, or choose a board with memory on the chip such as ecp5_onchip"))
    if options.counters:
        raise CompileError(Diagnostic("counters are read through control registers, which plain wires have none of",
                                       hint="leave --counters out, or --control at axi-lite"))


def _plan(function: Function, board: Board, options: Options, timing: OperatorTiming, changed,
          tell: Callable[[Diagnostic], None] | None = None) -> CompiledKernel:
    if options.fp_relaxed:
        cells = CELL_NAMES[board.device.logic_cell]
        sums = LoopSums(timing.turnaround, lambda alone: logic_cells(alone, timing, board.device), cells, tell)
        late = LateOperands(timing.model, timing.takes, tell)
        function = sums.run(late.run(BalanceSums(tell).run(function)))
    function = GroupCopies(board.read_latency, board.device.rams.count * board.device.rams.bits // 8).run(function)
    function = LateChoices(timing.model).run(Lookahead(timing.model).run(EarlyConditions(timing.model).run(function)))
    return _with_units(DeadCode().run(function), board, options, timing, changed, tell)


def _with_units(function: Function, board: Board, options: Options, timing: OperatorTiming, changed, tell) -> CompiledKernel:
    """The plans of a kernel that no pass changes any more. Loads whose units do not read ahead need not know where their runs end: without that a
    plan of its own."""
    memory = plan_memory(function, board.memory, board.device.rams, board.clock.kernel_mhz)
    plan, memory = _scheduled(function, board, options, timing, memory, tell)
    if tell:
        for loop in plan.loops.values():
            if loop.period > timing.period:
                tell(_slower_clock(loop, timing.period))
    memory = choose_units(function, memory, {loop: region.slots for loop, region in plan.loops.items()}, options.cache_bytes,
                          options.const_cache_bytes)
    unused = {op for op, access in memory.accesses.items() if last_of_run(op) is not None and not access.reads_ahead}
    if unused:
        return _with_units(without_runs(function, unused), board, options, timing, changed, tell)
    mine = dict.fromkeys(one for one in changed if one.kernel == function.name)
    unrolled, merged = (tuple(one for one in mine if isinstance(one, kind)) for kind in (Unrolled, Merged))
    return CompiledKernel(function, memory, plan, unrolled, merged)


def _scheduled(function: Function, board: Board, options: Options, timing: OperatorTiming, memory: MemoryPlan, tell) -> tuple[KernelPlan, MemoryPlan]:
    """The schedule, and the memories with the copies that their loads need in it. Where that breaks a limit, loads take no turns for
    the sake of that limit: a schedule of its own."""
    plan = plan_kernel(function, timing, memory, board.read_latency, options.elastic_depth)
    shared, broken = share_copies(function, memory, _when(plan), [loop for loop, region in plan.loops.items() if region.speculative])
    if not broken:
        return plan, shared
    for one in broken if tell else ():
        tell(one.warning)
    return _scheduled(function, board, options, timing, memory.without_limits({one.memory for one in broken}), tell)


def _when(plan: KernelPlan) -> dict[Op, When]:
    """When each operation takes place."""
    regions = (plan.top, *plan.loops.values())
    return {op: When((region.region, point.level), point.stage, region.levels[point.level].spacing)
            for region in regions for op, point in region.place.items()}


def _access_bytes(board: Board) -> int:
    """The most bytes of one access: a word of the memory; memory on the chip has words as wide as its accesses."""
    return 128 if board.memory.kind == "onchip" else board.memory.word_bytes
