"""All passes in order, in named stages, and the reason where the order is not plain. Nothing else lists passes.

``link`` and ``legalize`` transform whole programs, the stages from ``lower`` to ``order`` one kernel at a time; ``target`` fits a kernel to the
delays of the board, and ``units`` follows from the units that were chosen for its accesses.
"""

import sys
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..diag import Diagnostic
from ..ir import Function, Module, Op
from ..target.board import Board
from ..target.delay import DelayModel
from .alone import DropNeedless
from .atomic_loads import AtomicLoads
from .automata import Automata
from .balance import BalanceTrees
from .bins import OwnSums
from .carried import AssumeContinue
from .cases import SeparateCases
from .channel_fences import ChannelFences
from .channels import ChannelOrder
from .coalesce import Coalesce
from .columns import SplitColumns
from .conjunctions import Conjunctions
from .continued import ContinuedLoops
from .copies import GroupCopies
from .cse import CommonSubexpressions
from .dce import DeadCode
from .dead_stores import DeadStores
from .early_conditions import EarlyConditions
from .early_guards import EarlyGuards
from .early_loads import EarlyLoads
from .early_terms import EarlyTerms
from .filled import FilledAnew
from .fit import FitAccesses
from .float_orders import FloatOrders
from .flush import FlushSubnormals
from .fold import Fold
from .forward import Forward
from .fused import FuseTrees
from .granules import Granules
from .heeded import AssumeHeeded
from .hoist import HoistInvariants, InductionProducts
from .ifconvert import IfConvert
from .inline import Inline
from .inner_sums import InnerSums
from .inspection import Inspection
from .known_arrays import KnownArrays
from .late_choices import LateChoices
from .late_operands import LateOperands
from .left_counters import LeftCounters
from .linear_states import LinearStates
from .link.check_legality import CheckLegality
from .link.compute_units import ReplicateAutorun
from .link.pipes import LinkPipes
from .link.place_buffers import PlaceBuffers
from .link.strip_printf import StripPrintf
from .lookahead import Lookahead
from .loop_coalesce import LoopCoalesce
from .loop_fuse import LoopFuse
from .loop_sums import LoopSums
from .manager import Form, FunctionPass, ModulePass, PassManager, Repeat, Stage, each_kernel
from .meeting_promises import MeetingPromises
from .mem2reg import Mem2Reg
from .memory_fences import FencedMemory
from .merge import MergeMemories
from .merged import Merged
from .narrow import Narrow
from .ndrange import NDRange
from .one_at_a_time import OneAtATime
from .order import Order
from .overwritten import Overwritten
from .padded_rows import PaddedRows
from .pointers import ResolvePointers
from .private import OnChipMemories
from .private_copies import PrivateCopies
from .promote import Promote
from .read_ahead import DropStreamBounds, ReadAhead
from .recurrences import ShortenRecurrences
from .relaxed import BalanceSums, GuardedTerms
from .shift_loops import ShiftLoops
from .shift_registers import ShiftRegisters
from .signs import Signs
from .simd import Simd
from .small_loops import SmallLoops
from .sroa import SplitArrays
from .steady_loads import SteadyLoads
from .store_turns import StoreTurns
from .strength import StrengthReduction
from .tables import ConstantTables
from .taken import AssumeTaken
from .trips import RecordTrips
from .unroll import Unroll, Unrolled
from .wheels import Wheels
from .wishes import in_memory

__all__ = ["PipelineOptions", "all_stages", "deep_recursion", "fit_to_target", "kernel_passes", "kernel_stages", "legalize", "link_program", "optimize", "without_stream_bounds"]


@dataclass(frozen=True)
class PipelineOptions:
    """``max_ops`` bounds unrolling; ``address_bits`` is the width of a byte offset into any buffer of the board, and
    ``max_access_bytes`` the most that one access of its memory moves. Accesses are joined up to ``word_bytes`` (0: not at all).

    ``memory_latency``: cycles that global memory takes to answer. ``ram_bytes``: what all block RAMs of the device hold.
    ``hazards``: its accesses take so long that addresses are compared at run time rather than waiting.
    ``fp_relaxed`` lets additions of floats be taken in another order.
    ``in_memory`` names arrays, each with its kernel, that are not to become registers.
    ``model`` says how long operations take, for what is done about loops that become one, and ``takes`` how many ns those do that are no integer logic.
    ``turnaround`` and ``cells`` are what :class:`~.loop_sums.LoopSums` asks of the target, and ``cell_name`` what its logic cells are called.
    ``check`` runs the verifier after every pass; ``inspection`` says what else is shown of the passes.
    ``warn`` gets the warnings, ``record`` every loop that is unrolled or made one with another.
    """

    max_ops: int = 20_000
    address_bits: int = 40
    max_access_bytes: int = 64
    word_bytes: int = 64
    memory_latency: int = 0
    ram_bytes: int = 0
    hazards: bool = False
    fp_relaxed: bool = False
    in_memory: frozenset[tuple[str, str]] = frozenset()
    model: DelayModel | None = None
    takes: Callable[[Op], float] | None = None
    turnaround: Callable[[Op, int], int] | None = None
    cells: Callable[[Function], int] | None = None
    cell_name: str = "logic cells"
    check: bool = False
    inspection: Inspection | None = None
    warn: Callable[[Diagnostic], None] | None = None
    record: Callable[[Unrolled | Merged], None] | None = None


#: cheap, and wanted after whatever makes new constants or leaves things unused
CLEAN = (Fold(), CommonSubexpressions(), DeadCode())
#: the same once `if` has no regions any more: a loop that turns out to have one trip does not bring them back
TIDY = (Fold(flat=True), *CLEAN[1:])


def link_stage(fpc: bool = False, tell: Callable[[Diagnostic], None] | None = None, flush: bool = False) -> Stage:
    """What makes the functions of one text a program, for hardware and emulator alike."""
    return Stage("link", (
        *((ForEachFunction(FlushSubnormals()),) if flush else ()),
        # before helpers become a part of their callers: what stands in one expression is seen
        *((ForEachFunction(FuseTrees(tell)),) if fpc else ()),
        LinkPipes(), ReplicateAutorun(),
    ))


def legalize_stage(board: Board, warn: Callable[[Diagnostic], None] | None = None) -> Stage:
    """What makes a program one that hardware can compute."""
    return Stage("legalize", (CheckLegality(warn), StripPrintf(), PlaceBuffers(board)))


INLINE = Stage("inline", (Inline(),))


def kernel_stages(options: PipelineOptions) -> tuple[Stage, ...]:
    """The passes that a kernel without calls goes through."""
    return (_lower(options), _simplify(options), _loops(options), _scalar(options), _memory(options), _recurrence(options), _order(options))


def kernel_passes(options: PipelineOptions) -> list[FunctionPass | Repeat]:
    """The same, without their stages."""
    return [each for stage in kernel_stages(options) for each in stage.passes]


def _lower(options: PipelineOptions) -> Stage:
    small = SmallLoops(joined=options.word_bytes > 0)
    unroll = Unroll(options.max_ops, small=small, warn=options.warn, record=options.record)
    return Stage("lower", (
        DropNeedless(), FencedMemory(), Mem2Reg(warn=options.warn),
        # pointer variables are values now; what they point at, variables among it, can be promoted after
        ResolvePointers(), *CLEAN, Mem2Reg(warn=options.warn), *CLEAN,
        # before unrolling, which a loop inside may ask for, and while state moves through `if` by itself
        LoopFuse(options.address_bits, options.model, options.warn, options.record), *CLEAN,
        LoopCoalesce(options.model, options.warn, options.record), *CLEAN,
        # while `if` still has regions: guards of copies nest, and a copy not taken costs no select.
        # Outer loops make inner bounds constant, so each round may find more.
        # Loops that only shift an array are one operation from then on, whether marked or not.
        Repeat((ShiftLoops(_recorded(options.record)), unroll, *CLEAN)),
    ))


def _simplify(options: PipelineOptions) -> Stage:
    return Stage("simplify", (
        # only now are indices constants; arrays that stay dynamic become one wide value, but for those that hold nothing but constants
        ShiftRegisters(), *CLEAN, KnownArrays(), ConstantTables(), SplitArrays(), Granules(), SplitColumns(),
        Mem2Reg(warn=options.warn), Mem2Reg(arrays=True, warn=options.warn), OnChipMemories(), *CLEAN,
        # arrays are values by now, and `if` still has regions
        SeparateCases(), *CLEAN,
        # arrays are values by now, so it can be seen what an invocation leaves to the next; and `if` still has regions
        ContinuedLoops(options.model, options.record), *CLEAN,
        # only memories are left; addresses are sums and products in which alignment can be seen
        FitAccesses(options.max_access_bytes), *CLEAN,
        # every access has its size by now, and what is still an array is to be a memory
        MergeMemories(options.warn), *CLEAN,
        # folding may turn a loop of one trip into an `if` again
        Repeat((IfConvert(), *CLEAN)),
    ))


def _loops(options: PipelineOptions) -> Stage:
    return Stage("loops", (
        # conditions are predicates now, of which each lane has its own; conditions of loops still are what the source says
        MeetingPromises(options.warn), Simd(options.warn), *TIDY,
        # bounds that are read from memory are bounds like others from here on
        EarlyLoads(), SteadyLoads(), *TIDY,
        # before loops assume that they go on, which gives the last sum a user of its own
        *((GuardedTerms(), *TIDY) if options.fp_relaxed else ()),
        # while conditions still are what the source says
        RecordTrips(), LeftCounters(), *TIDY,
        AssumeContinue(), *TIDY,
        # late: until here the body of a work-item looks like that of a task, so no pass needs to know both
        NDRange(), *TIDY, AssumeContinue(), *TIDY,
    ))


def _scalar(options: PipelineOptions) -> Stage:
    return Stage("scalar", (
        # while addresses still are sums of as many bits as a pointer has, and all loops of work-items are there
        PaddedRows(), *TIDY,
        # before narrowing, while counters still step by a plain addition
        HoistInvariants(), InductionProducts(), *TIDY,
        # before values of different widths meet in one sum, and again where casts no longer stand between sums
        ShortenRecurrences(), *TIDY, InnerSums(), *TIDY,
        # narrow first: a reciprocal needs twice the width of what it divides, and at most 64 bits;
        # and after: products and sums of shifts again have only the bits that are used
        Narrow(options.address_bits), *TIDY, StrengthReduction(), Wheels(), *TIDY, ShortenRecurrences(), *TIDY, BalanceTrees(),
        Narrow(options.address_bits), *TIDY,
        # states have the bits that they need by now
        Automata(), *TIDY, LinearStates(options.model), *TIDY,
    ))


def _memory(options: PipelineOptions) -> Stage:
    address_bits, hazards = options.address_bits, options.hazards
    return Stage("memory", (
        # behind all that makes addresses simple, and before order is asked for: fewer accesses, fewer questions.
        # Equal loads first: what is computed from them is equal then, too
        AssumeTaken(), *TIDY, Coalesce(0, address_bits), *TIDY,
        # what both sides of an `if` store to one place is one store, always made, whose value the next iteration can take
        Overwritten(address_bits), *TIDY,
        # before neighbours are joined, as a wide access stands for several places; what is not read any more goes
        Promote(address_bits, hazards), *TIDY, Forward(address_bits, hazards), OnChipMemories(), *TIDY,
        # now that loads take what is stored in their iteration, nobody reads what is stored once more
        DeadStores(address_bits), *TIDY,
        AssumeTaken(), AssumeHeeded(), *TIDY, Overwritten(address_bits, hazards), *TIDY,
        Coalesce(options.word_bytes, address_bits), *TIDY,
        # what is still several stores; where memory never waits, order costs nothing
        *((StoreTurns(address_bits), AtomicLoads(address_bits), *TIDY) if hazards else ()),
    ))


def _recurrence(options: PipelineOptions) -> Stage:
    return Stage("recurrence", (
        # elements of memory that loops carry by now are sums like others
        ShortenRecurrences(), *TIDY, BalanceTrees(), LateOperands(options.model), EarlyTerms(options.model), *TIDY,
        Signs(options.model), *TIDY, OwnSums(), *TIDY,
        # guards last: they are joined with comparisons of integers
        FloatOrders(options.model, options.takes), *TIDY, EarlyGuards(options.model), *TIDY,
    ))


def _order(options: PipelineOptions) -> Stage:
    return Stage("order", (
        # of what is still a memory; order and recurrences are those of copies from here on
        FilledAnew(options.address_bits), PrivateCopies(options.memory_latency, options.ram_bytes, options.warn), *TIDY,
        # while recurrences are of data alone, before tokens of order
        OneAtATime(),
        # in program order still, which Order may change
        ChannelFences(), ChannelOrder(),
        # late: it relies on nobody moving accesses after it, and its tokens would hide what the others look for; they make loops wait, too
        Order(options.address_bits, options.hazards), OneAtATime(),
        # what keeps accesses in order also says which of them may be made ahead
        *((ReadAhead(options.word_bytes, options.address_bits),) if options.hazards else ()),
        # last: analyses of counters look for the comparisons that this replaces
        Conjunctions(), CommonSubexpressions(), DeadCode(),
    ))


def target_stage(options: PipelineOptions) -> Stage:
    """What follows from the delays of the target; :class:`PipelineOptions` must have ``model``, and with ``fp_relaxed`` all that it says
    about the target."""
    sums = (BalanceSums(options.warn), LateOperands(options.model, options.takes, options.warn),
            LoopSums(options.turnaround, options.cells, options.cell_name, options.warn)) if options.fp_relaxed else ()
    return Stage("target", (
        *sums, GroupCopies(options.memory_latency, options.ram_bytes),
        EarlyConditions(options.model), Lookahead(options.model), LateChoices(options.model), DeadCode(),
    ))


def units_stage(loads: AbstractSet[Op]) -> Stage:
    """What follows from the units of accesses: ``loads`` have units that do not read ahead."""
    return Stage("units", (DropStreamBounds(loads), DeadCode()))


def all_stages(options: PipelineOptions, board: Board) -> tuple[Stage, ...]:
    """Every stage with every pass that any option asks for; ``options`` must say all about the target."""
    options = replace(options, fp_relaxed=True, hazards=True)
    return (link_stage(True, None, True), legalize_stage(board), INLINE, *kernel_stages(options), target_stage(options), units_stage(frozenset()))


@dataclass(frozen=True)
class ForEachFunction(ModulePass):
    """A function pass over kernels and helpers alike."""

    each: FunctionPass

    @property
    def name(self) -> str:
        """That of the pass."""
        return self.each.name

    def run(self, module: Module) -> Module:
        """The module with every function transformed."""
        return Module({name: self.each.run(f) for name, f in module.functions.items()}, module.sources, module.channels)


def link_program(module: Module, fpc: bool = False, tell: Callable[[Diagnostic], None] | None = None, flush: bool = False,
                 inspection: Inspection | None = None) -> Module:
    """The program as hardware and emulator see it. With ``fpc`` sums are contracted, of which ``tell`` gets a note each; with ``flush``
    subnormal numbers count as zeros. Raises CompileError for pipes and kernels that do not fit together."""
    return PassManager(inspection).run((link_stage(fpc, tell, flush),), module)


def legalize(module: Module, board: Board, options: PipelineOptions) -> Module:
    """A linked program as hardware computes it. Raises CompileError for what the target does not support."""
    return PassManager(options.inspection, forms=(Form.LINKED,)).run((legalize_stage(board, options.warn),), module)


def optimize(module: Module, options: PipelineOptions = PipelineOptions()) -> Module:
    """Kernels ready for scheduling: no calls, `if`, pointers or private memories; only loops are control flow.

    Raises CompileError for a kernel that cannot be built.
    """
    with deep_recursion():
        inlined = PassManager(options.inspection, options.check).run((INLINE,), module)
        functions = each_kernel(inlined.kernels, lambda function: _optimized(function, options))
    return Module({f.name: f for f in functions}, inlined.sources, inlined.channels)


def _optimized(function: Function, options: PipelineOptions) -> Function:
    names = [array for kernel, array in sorted(options.in_memory) if kernel == function.name]
    function = in_memory(function, names) if names else function
    if names and options.inspection:
        options.inspection.again(function)
    return PassManager(options.inspection, options.check, (Form.LINKED, Form.INLINED)).run_function(kernel_stages(options), function)


def fit_to_target(function: Function, options: PipelineOptions) -> Function:
    """An optimized kernel with what the delays of the target ask for."""
    return PassManager(options.inspection, options.check, Form).run_function((target_stage(options),), function)


def without_stream_bounds(function: Function, loads: AbstractSet[Op], options: PipelineOptions) -> Function:
    """The kernel where ``loads`` need not know where their runs end."""
    return PassManager(options.inspection, options.check, Form).run_function((units_stage(loads),), function)


def _recorded(record: Callable[[Unrolled], None] | None):
    """Tell of a shift as of a loop of which no loop is left."""
    if record is None:
        return None
    return lambda kernel, span, moves, asked: record(Unrolled(kernel, span, moves, True, asked))


@contextmanager
def deep_recursion(limit: int = 20_000) -> Iterator[None]:
    """Nested regions, and chains of operations, are walked by recursion; where loops are unrolled they are deeper than Python's default allows."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
