"""The pass pipeline: named stages, and the reason for every ordering that is not obvious. Passes are listed only here.

``link`` and ``legalize`` transform whole programs, the stages from ``lower`` to ``order`` one kernel at a time;
``target`` adapts a kernel to the delays of the board, and ``units`` runs after load-store units have been chosen.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any

from ..diag import Diagnostic
from ..ir import Op
from ..limits import DEFAULT_LIMITS, Limits
from ..narrow import instance, present
from ..target.board import Board
from .float.contract_float_trees import ContractFloatTrees
from .float.expand_float_reductions import ExpandFloatReductions
from .float.flush_denormals import FlushDenormals
from .float.guard_operands import GuardOperands
from .float.reassociate_float_sums import ReassociateFloatSums
from .float.sink_select_into_addend import SinkSelectIntoAddend
from .for_each_function import ForEachFunction
from .link.check_legality import CheckLegality
from .link.copy_kernel import CopyKernel
from .link.decouple import Decouple
from .link.link_pipes import LinkPipes
from .link.link_printf import LinkPrintf
from .link.lower_printf import LowerPrintf
from .link.place_buffers import PlaceBuffers
from .link.replicate_autorun import ReplicateAutorun
from .link.strip_printf import StripPrintf
from .loops.annotate_trip_counts import AnnotateTripCounts
from .loops.coalesce_loops import CoalesceLoops
from .loops.final_value_replacement import FinalValueReplacement
from .loops.flatten_carried_nests import FlattenCarriedNests
from .loops.fuse_loops import FuseLoops
from .loops.infer_loop_bounds import InferLoopBounds
from .loops.interchange_loops import InterchangeLoops
from .loops.loop_invariant_code_motion import LoopInvariantCodeMotion
from .loops.mark_non_interleaved import MarkNonInterleaved
from .loops.merge_swapped_values import MergeSwappedValues
from .loops.recognize_shift_idiom import RecognizeShiftIdiom
from .loops.reduce_induction_divisions import ReduceInductionDivisions
from .loops.reduce_induction_products import ReduceInductionProducts
from .loops.unroll import Unroll, fully_unrolled
from .loops.unroll_policy import AutoUnrollPolicy
from .lowering.drop_inbounds import DropInbounds
from .lowering.form_work_item_loop import FormWorkItemLoop
from .lowering.if_conversion import IfConversion
from .lowering.inline import Inline
from .lowering.lower_pointers import LowerPointers
from .lowering.simplify_single_work_item import SimplifySingleWorkItem
from .lowering.vectorize_work_items import VectorizeWorkItems
from .lowering.wait_for_modules import WaitForModules
from .manager import FunctionPass, Repeat, Stage
from .memory.annotate_stream_bounds import AnnotateStreamBounds
from .memory.carry_selected_elements import CarrySelectedElements
from .memory.coalesce_accesses import CoalesceAccesses
from .memory.constify_arrays import ConstifyArrays
from .memory.dead_store_elimination import DeadStoreElimination
from .memory.drop_stream_bounds import DropStreamBounds
from .memory.forward_stores import ForwardStores
from .memory.hoist_loads import HoistLoads
from .memory.legalize_accesses import LegalizeAccesses
from .memory.limit_accesses import LimitAccesses
from .memory.loads_to_atomic_reads import LoadsToAtomicReads
from .memory.lower_constant_tables import LowerConstantTables
from .memory.lower_private_memories import LowerPrivateMemories
from .memory.lower_shift_registers import LowerShiftRegisters
from .memory.mark_privatizable import MarkPrivatizable
from .memory.mem2reg import Mem2Reg
from .memory.merge_memories import MergeMemories
from .memory.multi_buffer import BufferOwner, MultiBuffer
from .memory.pad_array_rows import PadArrayRows
from .memory.partition_columns import PartitionColumns
from .memory.promote_rows import PromoteRows
from .memory.redundant_load_elimination import RedundantLoadElimination
from .memory.scalar_promotion import ScalarPromotion
from .memory.serialize_stores import SerializeStores
from .memory.sink_stores import SinkStores
from .memory.split_scalars import SplitScalars
from .memory.sroa import Sroa
from .memory.within_arrays import WithinArrays
from .order.check_barrier_convergence import CheckBarrierConvergence
from .order.expand_channel_indices import ExpandChannelIndices
from .order.forward_in_flight_stores import ForwardInFlightStores
from .order.insert_memory_tokens import InsertMemoryTokens
from .order.limit_barriers import LimitBarriers
from .order.lower_channel_fences import LowerChannelFences
from .order.mark_fenced_memory import MarkFencedMemory
from .order.order_channel_calls import OrderChannelCalls
from .pipeline_options import PipelineOptions
from .recurrence.absorb_guards import AbsorbGuards
from .recurrence.compare_by_sign import CompareBySign
from .recurrence.delay_exits import DelayExits
from .recurrence.distribute_over_selects import DistributeOverSelects
from .recurrence.flatten_linear_states import FlattenLinearStates
from .recurrence.float_min_max_as_integer import FloatMinMaxAsInteger
from .recurrence.hoist_first_loads import HoistFirstLoads
from .recurrence.look_ahead_control import LookAheadControl
from .recurrence.look_ahead_loads import LookAheadLoads
from .recurrence.merge_wrap_around_selects import MergeWrapAroundSelects
from .recurrence.privatize_reductions import PrivatizeReductions
from .recurrence.recurrence_height_reduction import RecurrenceHeightReduction
from .recurrence.restructure_muxes import RestructureMuxes
from .recurrence.retime_adders import RetimeAdders
from .recurrence.retime_comparisons import RetimeComparisons
from .recurrence.scalarize_indexed_updates import ScalarizeIndexedUpdates
from .recurrence.sink_inserts import SinkInserts
from .recurrence.specialize_states import SpecializeStates
from .recurrence.speculate_loads import SpeculateLoads
from .recurrence.timing_driven_reassociation import TimingDrivenReassociation
from .recurrence.tree_height_reduction import TreeHeightReduction
from .scalar.bitwidth_narrowing import BitwidthNarrowing
from .scalar.common_subexpression_elimination import CommonSubexpressionElimination
from .scalar.conditional_specialization import ConditionalSpecialization, FactSource
from .scalar.constant_folding import ConstantFolding
from .scalar.dead_code_elimination import DeadCodeElimination
from .scalar.divide_aligned_sums import DivideAlignedSums
from .scalar.merge_range_checks import MergeRangeChecks
from .scalar.strength_reduction import StrengthReduction

__all__ = [
    "copy_stages",
    "decouple_stage",
    "inline_stage",
    "kernel_passes",
    "kernel_stages",
    "legalize_stage",
    "link_stage",
    "stages_around_split",
    "target_stage",
    "units_stage",
]


#: cheap; runs after every pass that may create constants or dead operations
CLEAN = (ConstantFolding(), CommonSubexpressionElimination(), DeadCodeElimination())
#: the same after if-conversion: folding a loop of one trip must not bring `if` regions back
TIDY = (ConstantFolding(flat=True), *CLEAN[1:])


def link_stage(
    fpc: bool = False,
    tell: Callable[[Diagnostic], None] | None = None,
    flush: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    prints: bool = False,
) -> Stage:
    """Makes the functions of one source text a program, for hardware and emulator alike; with ``prints`` hardware has
    a channel for what a kernel prints."""
    return Stage(
        "link",
        (
            *((ForEachFunction(FlushDenormals()),) if flush else ()),
            # before inlining, which would hide which operations stand in one expression
            *((ForEachFunction(ContractFloatTrees(tell)),) if fpc else ()),
            LinkPipes(),
            ReplicateAutorun(limits.operations, limits.units, limits.copies),
            *((LinkPrintf(),) if prints else ()),
        ),
    )


def legalize_stage(board: Board, warn: Callable[[Diagnostic], None] | None = None) -> Stage:
    """Checks that hardware supports the program, and removes what only the emulator does."""
    return Stage("legalize", (CheckLegality(warn), StripPrintf(), PlaceBuffers(board)))


def inline_stage(options: PipelineOptions) -> Stage:
    """Inlines helpers into kernels."""
    return Stage("inline", (Inline(options.max_inlined), LowerPrintf()))


def kernel_stages(options: PipelineOptions) -> tuple[Stage, ...]:
    """The stages for a kernel without calls."""
    return (
        _lower(options),
        _simplify(options),
        _loops(options),
        _scalar(options),
        _memory(options),
        _recurrence(options),
        _order(options),
    )


def stages_around_split(options: PipelineOptions) -> tuple[tuple[Stage, ...], tuple[Stage, ...]]:
    """The stages for a kernel without calls: those for the whole kernel, and those that each of its parts passes for
    itself where it is split."""
    stages = kernel_stages(options)
    place = [stage.name for stage in stages].index("memory")
    return stages[:place], stages[place:]


def kernel_passes(options: PipelineOptions) -> list[FunctionPass | Repeat]:
    """The passes of :func:`kernel_stages` in one list."""
    passes = [each for stage in kernel_stages(options) for each in stage.passes]
    return [each if isinstance(each, Repeat) else instance(each, FunctionPass) for each in passes]


def _lower(options: PipelineOptions) -> Stage:
    small = AutoUnrollPolicy(floats=options.unrolled_floats)
    unroll = Unroll(options.max_ops, small=small, warn=options.warn, record=options.record)
    return Stage(
        "lower",
        (
            SimplifySingleWorkItem(),
            MarkFencedMemory(),
            Mem2Reg(warn=options.warn),
            # pointer variables are SSA values now; the variables that they point to can be promoted after this
            LowerPointers(),
            InferLoopBounds(),  # while subscripts are apart from each other
            DropInbounds(),
            *CLEAN,
            Mem2Reg(warn=options.warn),
            *CLEAN,
            # before unrolling, as a loop inside may be marked `unroll`; and while `if` regions still carry state
            FuseLoops(options.address_bits, options.timing, options.warn, options.record),
            *CLEAN,
            # before coalescing, which makes one loop of two
            InterchangeLoops(options.address_bits, options.record),
            *CLEAN,
            CoalesceLoops(options.timing, options.warn, options.record),
            *CLEAN,
            # while `if` still has regions: guards of copies nest, and a copy not taken costs no select.
            # Unrolling an outer loop makes inner bounds constant, so each round may find more.
            # A loop that only shifts an array becomes one operation, whether it is marked or not.
            Repeat((RecognizeShiftIdiom(fully_unrolled(options.record)), unroll, *CLEAN)),
            LimitBarriers(options.max_barriers),  # the earliest place where all barriers are known
        ),
    )


def _simplify(options: PipelineOptions) -> Stage:
    return Stage(
        "simplify",
        (
            # after unrolling: indices are constant; an array with others becomes one wide value, or holds constants
            LowerShiftRegisters(max_ops=options.max_ops),
            *CLEAN,
            ConstifyArrays(),
            LowerConstantTables(),
            Sroa(),
            SplitScalars(),
            PartitionColumns(),
            Mem2Reg(warn=options.warn),
            Mem2Reg(arrays=True, warn=options.warn),
            LowerPrivateMemories(),
            *CLEAN,
            # arrays are SSA values now, and `if` still has regions
            ConditionalSpecialization(FactSource.BRANCHES),
            *CLEAN,
            # for the same reasons: arrays show the state that one invocation passes to the next
            FlattenCarriedNests(options.timing, options.record),
            *CLEAN,
            # the remaining accesses are to memories; alignment can be derived from addresses as sums and products
            LegalizeAccesses(options.max_access_bytes),
            *CLEAN,
            # access sizes are final, and an array that still exists becomes a memory
            MergeMemories(options.warn),
            *CLEAN,
            Repeat((IfConversion(), *CLEAN)),  # folding may turn a loop of one trip into an `if` again
        ),
    )


def _loops(options: PipelineOptions) -> Stage:
    return Stage(
        "loops",
        (
            # after if-conversion: each lane has predicates of its own; loop conditions are still those of the source
            CheckBarrierConvergence(options.warn),
            VectorizeWorkItems(options.warn),
            *TIDY,
            # before the first pass that asks which accesses may be to one buffer
            MergeSwappedValues(),
            # after unrolling, and before equal addresses are looked for
            DivideAlignedSums(),
            *TIDY,
            # early: what follows is chosen for each body by itself
            *((options.copy_buffers, *TIDY) if options.copied != frozenset() else ()),
            # invariant loads leave loops first, so that loop bounds read from memory are invariant for the passes below
            HoistLoads(),
            # the elements that become carried values may be loaded already
            CarrySelectedElements(),
            RedundantLoadElimination(),
            *TIDY,
            # before ConditionalSpecialization splits exit values off, which gives the last sum a second user
            *((SinkSelectIntoAddend(), *TIDY) if options.fp_relaxed else ()),
            # while loop conditions are still those of the source
            AnnotateTripCounts(),
            FinalValueReplacement(),
            *TIDY,
            ConditionalSpecialization(FactSource.BACKEDGES),
            *TIDY,
            FormWorkItemLoop(),  # late: the passes above need not distinguish a work-item from the kernel
            *TIDY,
            ConditionalSpecialization(FactSource.BACKEDGES),
            *TIDY,
            # after all passes that make indices constant; before narrowing, and while ids have known ranges
            ExpandChannelIndices(),
            *TIDY,
        ),
    )


def _scalar(options: PipelineOptions) -> Stage:
    return Stage(
        "scalar",
        (
            # while addresses are sums as wide as a pointer, and after all work-item loops have been formed
            PadArrayRows(),
            *TIDY,
            # before narrowing, while counters step by a plain addition
            LoopInvariantCodeMotion(),
            ReduceInductionProducts(),
            ReduceInductionDivisions(),
            *TIDY,
            # before narrowing mixes widths in one sum, and again once no casts separate sums
            RecurrenceHeightReduction(),
            *TIDY,
            PrivatizeReductions(),
            *TIDY,
            # narrow first: division by a reciprocal needs twice the width of the dividend, and at most 64 bits; and
            # again afterwards, so that products and sums of shifts keep only the bits that are used
            BitwidthNarrowing(options.address_bits),
            *TIDY,
            StrengthReduction(),
            MergeWrapAroundSelects(),
            *TIDY,
            RecurrenceHeightReduction(),
            *TIDY,
            TreeHeightReduction(options.timing),
            BitwidthNarrowing(options.address_bits),
            *TIDY,
            # after narrowing: states have their final widths
            SpecializeStates(),
            *TIDY,
            FlattenLinearStates(options.timing),
            *TIDY,
        ),
    )


def decouple_stage(options: PipelineOptions, **request: Any) -> Stage:
    """Splits kernels, those for which that is asked for (:func:`split`); ``request`` are fields of the pass."""
    # addresses have their final widths, and no load is made early or coalesced with others yet: each part gets that
    return Stage("decouple", (Decouple(options.address_bits, warn=options.warn, **request),))


def copy_stages(options: PipelineOptions, **request: Any) -> tuple[Stage, Stage]:
    """Copies kernels that are asked for (:func:`copies`; ``request`` are fields of the pass); then narrows each."""
    copy = CopyKernel(options.address_bits, floats=options.fp_relaxed, warn=options.warn, **request)
    narrow = (*TIDY, BitwidthNarrowing(options.address_bits), *TIDY)
    return Stage("copy-kernel", (copy,)), Stage("borders", (*narrow, StrengthReduction(), *narrow))


def _memory(options: PipelineOptions) -> Stage:
    address_bits, hazards = options.address_bits, options.hazards
    return Stage(
        "memory",
        (
            # loads of one address still differ in their conditions only, and addresses have their widths
            LookAheadLoads(options.timing, options.memory_latency, options.stepping_latency, options.word_bytes),
            WithinArrays(LookAheadLoads(options.timing, options.timing.ram_latency if options.timing else 0)),
            *TIDY,
            # after addresses have been simplified, and before InsertMemoryTokens, which tests all pairs of accesses.
            # Equal loads are merged first, so that what is computed from them becomes equal, too
            ConditionalSpecialization(FactSource.ACCESSES),
            *TIDY,
            CoalesceAccesses(0, address_bits),
            *TIDY,
            # stores to one address on both sides of an `if` become one, whose value the next iteration can be given
            SinkStores(address_bits),
            *TIDY,
            # before ScalarPromotion, which promotes one element of the remaining memory
            *((PromoteRows(options.memory_latency, address_bits), *TIDY) if hazards else ()),
            # before coalescing, as a wide access covers several addresses; loads without users are removed
            ScalarPromotion(address_bits, hazards),
            *TIDY,
            PrivatizeReductions(),  # promoted elements are sums like others
            ForwardStores(address_bits, hazards),
            LowerPrivateMemories(),
            *TIDY,
            # loads take the values stored in their iteration now, so stores that are overwritten are dead
            DeadStoreElimination(address_bits),
            *TIDY,
            RedundantLoadElimination(),  # again: recurrences that passed through memory pass through values now
            *TIDY,
            ConditionalSpecialization(FactSource.ACCESSES),
            ConditionalSpecialization(FactSource.GUARDS),
            *TIDY,
            SinkStores(address_bits, hazards),
            *TIDY,
            CoalesceAccesses(options.word_bytes, address_bits),
            *TIDY,
            # the stores that could not be merged; not needed where memory never stalls, as order costs nothing there
            *((SerializeStores(address_bits), LoadsToAtomicReads(address_bits), *TIDY) if hazards else ()),
            # after the passes that move, combine or replace loads, and before those that shorten recurrences
            SpeculateLoads(through_memory=not hazards, compared=options.compared),
            WithinArrays(SpeculateLoads(through_memory=True)),
            *TIDY,
        ),
    )


def _recurrence(options: PipelineOptions) -> Stage:
    return Stage(
        "recurrence",
        (
            SinkInserts(options.timing),
            # elements of memory that became carried values are sums like others; then the load of the first may go
            GuardOperands(options.timing),
            *TIDY,
            RecurrenceHeightReduction(),
            *TIDY,
            HoistFirstLoads(options.timing, options.address_bits),
            *TIDY,
            TreeHeightReduction(options.timing),
            TimingDrivenReassociation(options.timing),
            RetimeAdders(options.timing),
            *TIDY,
            CompareBySign(options.timing),
            *TIDY,
            ScalarizeIndexedUpdates(),
            *TIDY,
            # AbsorbGuards behind it: it merges guards with integer comparisons
            FloatMinMaxAsInteger(options.timing),
            *TIDY,
            AbsorbGuards(options.timing),
            *TIDY,
            # last, as it hides the forms that the others know; the sums that it leaves are retimed at once
            DistributeOverSelects(options.timing),
            RetimeAdders(options.timing),
            *TIDY,
        ),
    )


def _order(options: PipelineOptions) -> Stage:
    return Stage(
        "order",
        (
            # after all that asks when loops end, and before what orders the accesses of their iterations
            DelayExits(),
            # before the first pass that tests all pairs of accesses for dependence, and after accesses are coalesced
            LimitAccesses(options.max_accesses, options.max_array_accesses),
            # of arrays that stay memories; from here on order and recurrences concern their private copies
            MarkPrivatizable(options.address_bits),
            MultiBuffer(BufferOwner.ITERATIONS, options.memory_latency, options.ram_bytes, options.warn),
            *TIDY,
            # before memory tokens exist, while recurrences consist of data only
            MarkNonInterleaved(),
            LowerChannelFences(),  # while calls are in program order, which InsertMemoryTokens may change
            OrderChannelCalls(),
            # after all passes that move pure operations, and before barriers are ordered
            WaitForModules(),
            # late: its tokens would hide what others look for. Loops wait for tokens, too, so they are marked again
            InsertMemoryTokens(options.address_bits, options.hazards, options.compared),
            # uses the comparisons that the tokens stand for
            ForwardInFlightStores(options.slots),
            MarkNonInterleaved(),
            # after InsertMemoryTokens: the tokens also show which accesses may be issued ahead
            *((AnnotateStreamBounds(options.word_bytes, options.address_bits),) if options.hazards else ()),
            # last: analyses of counters look for the comparisons that this pass replaces
            MergeRangeChecks(),
            CommonSubexpressionElimination(),
            DeadCodeElimination(),
        ),
    )


def target_stage(options: PipelineOptions) -> Stage:
    """Passes that depend on the target's delays; options have ``timing``, and ``cells`` with ``fp_relaxed``."""
    sums = (
        (
            ReassociateFloatSums(options.warn),
            TimingDrivenReassociation(options.timing, True, options.warn),
            ExpandFloatReductions(present(options.timing), present(options.cells), options.cell_name, options.warn),
        )
        if options.fp_relaxed
        else ()
    )
    return Stage(
        "target",
        (
            *sums,
            MultiBuffer(BufferOwner.GROUPS, options.memory_latency, options.ram_bytes),
            RetimeComparisons(present(options.timing)),
            LookAheadControl(present(options.timing)),
            RestructureMuxes(present(options.timing)),
            DeadCodeElimination(),
        ),
    )


def units_stage(loads: AbstractSet[Op] | None) -> Stage:
    """Passes that run once load-store units are chosen: ``loads`` (None: all) have units that do not read ahead."""
    return Stage("units", (DropStreamBounds(loads), DeadCodeElimination()))
