"""All passes in order, and the reason where the order is not plain."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..diag import Diagnostic
from ..ir import Function, Module, Op, print_function
from ..ir.same import same_function
from ..ir.verifier import verify
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
from .cse import CommonSubexpressions
from .dce import DeadCode
from .dead_stores import DeadStores
from .early_guards import EarlyGuards
from .early_loads import EarlyLoads
from .early_terms import EarlyTerms
from .filled import FilledAnew
from .fit import FitAccesses
from .float_orders import FloatOrders
from .fold import Fold
from .forward import Forward
from .granules import Granules
from .heeded import AssumeHeeded
from .hoist import HoistInvariants, InductionProducts
from .ifconvert import IfConvert
from .inline import Inline
from .inner_sums import InnerSums
from .known_arrays import KnownArrays
from .late_operands import LateOperands
from .left_counters import LeftCounters
from .linear_states import LinearStates
from .loop_coalesce import LoopCoalesce
from .loop_fuse import LoopFuse
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
from .read_ahead import ReadAhead
from .recurrences import ShortenRecurrences
from .relaxed import GuardedTerms
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

__all__ = ["Pass", "PipelineOptions", "Repeat", "deep_recursion", "kernel_pipeline", "optimize"]


class Pass(Protocol):
    """A transformation of one function; the input stays as it was."""

    name: str

    def run(self, function: Function) -> Function: ...


@dataclass(frozen=True)
class PipelineOptions:
    """``max_ops`` bounds unrolling; ``address_bits`` is the width of a byte offset into any buffer of the board, and
    ``max_access_bytes`` the most that one access of its memory moves. Accesses are joined up to ``word_bytes`` (0: not at all).

    ``memory_latency``: cycles that global memory takes to answer. ``ram_bytes``: what all block RAMs of the device hold.
    ``hazards``: its accesses take so long that addresses are compared at run time rather than waiting.
    ``fp_relaxed`` lets additions of floats be taken in another order.
    ``in_memory`` names arrays, each with its kernel, that are not to become registers.
    ``model`` says how long operations take, for what is done about loops that become one, and ``takes`` how many ns those do that are no integer logic.
    ``dump`` is a folder for the IR after every pass (None: none); ``check`` runs the verifier after every pass;
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
    dump: Path | None = None
    check: bool = False
    warn: Callable[[Diagnostic], None] | None = None
    record: Callable[[Unrolled | Merged], None] | None = None


@dataclass(frozen=True)
class Repeat:
    """Runs passes in turn until none changes anything."""

    passes: tuple[Pass, ...]
    max_rounds: int = 8

    @property
    def name(self):
        return "repeat " + " ".join(p.name for p in self.passes)

    def run(self, function: Function) -> Function:
        settled = _Settled(self.passes)
        for _ in range(self.max_rounds):
            before = settled.version
            for each in self.passes:
                function = settled.run(each, function)
            if settled.version == before:
                break
        return function


class _Settled:
    """Runs passes, but for those of ``known`` not where one would change nothing as it did before. Most passes find nothing to do, so this
    is most of the work for those that run again and again."""

    def __init__(self, known: tuple[Pass, ...]):
        self.version = 0  #: of the function that goes through the passes: how often it changed
        self._settled: list[tuple[Pass, int]] = [(each, -1) for each in known]  #: the version that each last left as it was

    def run(self, each: Pass, function: Function) -> Function:
        """What the pass makes of the function, which is what :meth:`run` returned before."""
        if any(one is each and version == self.version for one, version in self._settled):
            return function
        after = each.run(function)
        if same_function(function, after):
            self._settled = [(one, self.version if one is each else version) for one, version in self._settled]
        else:
            self.version += 1
        return after


#: cheap, and wanted after whatever makes new constants or leaves things unused
CLEAN = (Fold(), CommonSubexpressions(), DeadCode())
#: the same once `if` has no regions any more: a loop that turns out to have one trip does not bring them back
TIDY = (Fold(flat=True), *CLEAN[1:])


def kernel_pipeline(options: PipelineOptions) -> list[Pass]:
    """The passes that a kernel without calls goes through."""
    small = SmallLoops(joined=options.word_bytes > 0)
    return [
        DropNeedless(), FencedMemory(), Mem2Reg(warn=options.warn),
        # pointer variables are values now; what they point at, variables among it, can be promoted after
        ResolvePointers(), *CLEAN, Mem2Reg(warn=options.warn), *CLEAN,
        # before unrolling, which a loop inside may ask for, and while state moves through `if` by itself
        LoopFuse(options.address_bits, options.model, options.warn, options.record), *CLEAN,
        LoopCoalesce(options.model, options.warn, options.record), *CLEAN,
        # while `if` still has regions: guards of copies nest, and a copy not taken costs no select.
        # Outer loops make inner bounds constant, so each round may find more.
        # Loops that only shift an array are one operation from then on, whether marked or not.
        Repeat((ShiftLoops(_recorded(options.record)), Unroll(options.max_ops, small=small, warn=options.warn, record=options.record), *CLEAN)),
        # only now are indices constants; arrays that stay dynamic become one wide value, but for those that hold nothing but constants
        ShiftRegisters(), *CLEAN, KnownArrays(), ConstantTables(), SplitArrays(), Granules(), SplitColumns(), Mem2Reg(warn=options.warn), Mem2Reg(arrays=True, warn=options.warn), OnChipMemories(), *CLEAN,
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
        # behind all that makes addresses simple, and before order is asked for: fewer accesses, fewer questions.
        # Equal loads first: what is computed from them is equal then, too
        AssumeTaken(), *TIDY, Coalesce(0, options.address_bits), *TIDY,
        # what both sides of an `if` store to one place is one store, always made, whose value the next iteration can take
        Overwritten(options.address_bits), *TIDY,
        # before neighbours are joined, as a wide access stands for several places; what is not read any more goes
        Promote(options.address_bits, options.hazards), *TIDY, Forward(options.address_bits, options.hazards), OnChipMemories(), *TIDY,
        # now that loads take what is stored in their iteration, nobody reads what is stored once more
        DeadStores(options.address_bits), *TIDY,
        AssumeTaken(), AssumeHeeded(), *TIDY, Overwritten(options.address_bits, options.hazards), *TIDY,
        Coalesce(options.word_bytes, options.address_bits), *TIDY,
        # what is still several stores; where memory never waits, order costs nothing
        *((StoreTurns(options.address_bits), AtomicLoads(options.address_bits), *TIDY) if options.hazards else ()),
        # elements of memory that loops carry by now are sums like others
        ShortenRecurrences(), *TIDY, BalanceTrees(), LateOperands(options.model), EarlyTerms(options.model), *TIDY, Signs(options.model), *TIDY, OwnSums(), *TIDY,
        # guards last: they are joined with comparisons of integers
        FloatOrders(options.model, options.takes), *TIDY, EarlyGuards(options.model), *TIDY,
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
    ]


def optimize(module: Module, options: PipelineOptions = PipelineOptions()) -> Module:
    """Kernels ready for scheduling: no calls, `if`, pointers or private memories; only loops are control flow.

    Raises CompileError for a kernel that cannot be built.
    """
    with deep_recursion():
        inlined = Inline().run(module)
        functions = {f.name: _run(f, options) for f in inlined.kernels}
    return Module(functions, inlined.sources, inlined.channels)


def _run(function: Function, options: PipelineOptions) -> Function:
    names = [array for kernel, array in sorted(options.in_memory) if kernel == function.name]
    function = in_memory(function, names) if names else function
    dump, settled = _Dump(options.dump, function), _Settled((*CLEAN, TIDY[0]))
    for each in kernel_pipeline(options):
        before, function = function, settled.run(each, function)
        if options.check and function is not before:
            verify(function)
        dump.after(each, function)
    return function


def _recorded(record: Callable[[Unrolled], None] | None):
    """Tell of a shift as of a loop of which no loop is left."""
    if record is None:
        return None
    return lambda kernel, span, moves, asked: record(Unrolled(kernel, span, moves, True, asked))


class _Dump:
    """Writes ``KERNEL/NN-pass.ir``; a pass that changed nothing leaves ``NN-pass.unchanged``, which is empty."""

    def __init__(self, folder: Path | None, function: Function):
        self.folder = folder / function.name if folder is not None else None
        self.count, self.text = 0, None
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write("inlined", function)

    def after(self, each: Pass, function: Function):
        if self.folder is not None:
            self._write(each.name.replace(" ", "-"), function)

    def _write(self, name: str, function: Function):
        text = print_function(function)
        suffix = "ir" if text != self.text else "unchanged"
        (self.folder / f"{self.count:02d}-{name}.{suffix}").write_text(text if suffix == "ir" else "")
        self.count, self.text = self.count + 1, text


@contextmanager
def deep_recursion(limit: int = 20_000) -> Iterator[None]:
    """Nested regions, and chains of operations, are walked by recursion; where loops are unrolled they are deeper than Python's default allows."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, before))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
