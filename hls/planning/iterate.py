"""The search between memory plan and schedule.

Each of the two depends on the other: a schedule needs the latencies and ports of the memories, while copies of memories
and units of accesses follow from the schedule. So a kernel is planned, examined, and planned again where the result
suggests something better:

1. memories first, then a schedule with them; loads that are serialized on a port to respect a limit of copies are not
   if the schedule breaks that limit anyway (``_scheduled``), and loads of on-chip global memory watch the stores that
   they wait for if that gains cycles (``_forwarded``);
2. units of accesses next; loads whose units do not read ahead need not know where their runs end, which changes the
   kernel (``_with_units``);
3. then, where the order of accesses to global memory on the chip limits a loop's II, addresses are compared at run
   time, if iterations then start earlier (``_compared``);
4. last, arrays in registers that limit a loop's II are tried as memories, and stay there if iterations then start
   earlier (``_relieved``), and nests that gather what they store, or wait for memory in each row, as one loop
   (``_coalesced``), on the same terms; then the exits of loops that limit their II are delayed by an iteration
   (``_exits_delayed``);
5. with copies of small buffers on the chip, if the kernel waits for these in external memory, and the copies take less
   time (``_copied``); on such copies, the loops of nests are interchanged if that gains cycles again
   (``_interchanged_on_copies``), as ``_interchanged`` does first of all for memory on the chip.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ..diag import Code, CompileError, Diagnostic, Span
from ..ir import Attr, Function, Module, Op, memory_name, walk
from ..ir.accesses import last_of_run
from ..ir.launch import copied_buffers
from ..narrow import present
from ..passes.loops.merged_attributes import Merged
from ..passes.loops.unroll import Unrolled
from ..passes.memory.copy_buffers import Uncopied
from ..passes.run_stages import fit_to_target, has_arrays, lowered, optimize, uncopied, without_stream_bounds
from .banking import When
from .compilation import Compilation, CompiledKernel
from .copied_buffers import (
    LEAST_BYTES,
    SIDE_BY_SIDE,
    Copies,
    CopyAttempt,
    body_time,
    buffers_to_copy,
    cells_fit,
    copied_time,
    rams_fit,
    several_slow_down,
    waited_for_beside_copies,
    worthwhile_bytes,
)
from .delayed_exits import with_delayed_exits
from .gathering_nests import MOST_WORK, marked, only_kernel
from .interchanged_nests import (
    accesses_by_columns,
    interchange_gains,
    interchangeable_nests,
    interchanged_places,
    paces_by_columns,
    suits_large_buffers,
    to_interchange,
)
from .joinable_nests import JoinableNest, joinable_nests, nests_by_test, untried
from .memory import MemoryPlan, choose_units, plan_memory, share_copies
from .schedule import KernelPlan, RegionPlan, plan_kernel
from .schedule.array_bottleneck import held_up, relieves, waited_for
from .schedule.nest_time import nest_time

__all__ = [
    "Compilation",
    "CompiledKernel",
    "optimize_alone",
    "plan_again",
    "plan_alone",
    "plan_function",
    "plan_optimized",
]


def plan_optimized(function: Function, module: Module, compilation: Compilation) -> CompiledKernel:
    """An optimized kernel of a program that is legal for the board, planned in the ways that may suit it, of which the
    best is taken. Raises CompileError for one that cannot be built."""
    compilation = compilation.of(function)
    kernels = module.kernels
    kernel, attempt, module = _interchanged(*_as_written(function, module, compilation), module, compilation)
    kernel, attempt, program = _coalesced(kernel, attempt, module, compilation)
    kernel, attempt = _exits_delayed(kernel, program, compilation) or (kernel, attempt)
    kernel, attempt = _copied(kernel, attempt, program, compilation, len(kernels))
    compilation.warnings += attempt.warnings
    return kernel


def _as_written(function: Function, module: Module, compilation: Compilation) -> tuple[CompiledKernel, Compilation]:
    """The kernel without trying nests as one loop, and what was reported for it."""
    compilation = compilation.of(function)
    attempt = compilation.apart()
    kernel = plan_function(function, attempt)
    for attempted in (_compared, _relieved):
        better = attempted(kernel, module, compilation)
        kernel, attempt = better or (kernel, attempt)
    return kernel, attempt


def _relieved(
    kernel: CompiledKernel, module: Module, compilation: Compilation
) -> tuple[CompiledKernel, Compilation] | None:
    """The kernel with the arrays that limit a loop's II in memories, and what was reported for it; None where that
    gains nothing."""
    name, arrays = kernel.function.name, held_up(kernel.function, kernel.plan)
    if not arrays or kernel.function.attrs.get(Attr.NDRANGE):
        return None
    attempt, alone = replace(compilation, warnings=[], changes=[]), only_kernel(name, module)
    options = attempt.passes(frozenset((name, array) for array in arrays))
    if not has_arrays(alone, options):
        return None
    try:
        (function,) = optimize(alone, options).kernels
        found = plan_function(function, attempt)
    except CompileError:  # not every array that fits registers can be a memory
        return None
    return (found, attempt) if relieves(found.plan, kernel.plan) else None


def _compared(
    kernel: CompiledKernel, module: Module, compilation: Compilation
) -> tuple[CompiledKernel, Compilation] | None:
    """The kernel with comparisons of addresses at run time in global memory on the chip, where an order of accesses
    limits a loop's II, and what was reported for it; None where that gains nothing."""
    names = waited_for(kernel.function, kernel.plan)
    if compilation.board.memory.kind != "onchip" or not names:
        return None
    attempt, alone = replace(compilation, warnings=[], changes=[]), only_kernel(kernel.function.name, module)
    (function,) = optimize(alone, attempt.passes(compared=names), compilation.early).kernels
    found = plan_function(function, attempt)
    return (found, attempt) if nest_time(found.plan, names) < nest_time(kernel.plan) else None


def _interchanged(
    kernel: CompiledKernel, attempt: Compilation, module: Module, compilation: Compilation
) -> tuple[CompiledKernel, Compilation, Module]:
    """The kernel with the loops of its nests interchanged whose inner loop is a recurrence, where that gains cycles,
    what was reported for it, and the program that asks for that. Only on memory on the chip: in external memory a
    column of a matrix takes a burst for each element (see :func:`_interchanged_on_copies`)."""
    onchip, program = compilation.board.memory.kind == "onchip", only_kernel(kernel.function.name, module)
    found = _with_interchange(kernel, program, compilation) if onchip else None
    return found if found and interchange_gains(kernel.plan, found[0].plan) else (kernel, attempt, module)


def _with_interchange(
    kernel: CompiledKernel, program: Module, compilation: Compilation
) -> tuple[CompiledKernel, Compilation, Module] | None:
    """The only kernel of the program, planned as ``kernel``, with the loops of all nests interchanged whose inner loop
    is a recurrence, what was reported for it, and the program that asks for that; None where there is no such nest."""
    name = kernel.function.name
    nests = interchangeable_nests(kernel.function, kernel.plan)
    if not nests:
        return None
    fresh = replace(compilation, warnings=[], changes=[])
    asked = to_interchange(program, {loop.span for loop in nests})
    places = interchanged_places(lowered(asked, replace(fresh, inspection=None).passes()))
    if not places:
        return None
    candidate, fresh = to_interchange(program, places), replace(compilation, warnings=[], changes=[])
    try:
        return *_as_written(optimize_alone(name, candidate, fresh), candidate, fresh), candidate
    except CompileError:  # where the program as written is at a limit
        return None


def _coalesced(
    kernel: CompiledKernel, attempt: Compilation, module: Module, compilation: Compilation
) -> tuple[CompiledKernel, Compilation, Module]:
    """The kernel with each nest that gathers what it stores, or waits for memory in each row, as one loop where that
    gains cycles, what was reported for it, and the program that asks for that. The nests are tried one after the other,
    each once, together with those that gained before it; a note says where ``MOST_WORK`` limits the attempts."""
    program = only_kernel(kernel.function.name, module)
    tried, work = set[tuple[Span | None, str]](), 0
    while left := [one for one in _joinable(kernel, program, compilation) if one.place not in tried]:
        work += sum(1 for _ in walk(kernel.function.body))
        if work > MOST_WORK:
            loops = list(dict.fromkeys(one.loop for one in left))
            compilation.warnings.append(untried(kernel.function.name, loops))
            break
        tried.add(left[0].place)
        same, found = [one for one in left if one.place == left[0].place], _joined(left[0], program, compilation)
        plans = _plans(found[0], found[2], compilation) if found is not None else ()
        if found is not None and any(one.gains(plan) for plan in plans for one in same):
            kernel, attempt, program = found
    return kernel, attempt, program


def _plans(kernel: CompiledKernel, program: Module, compilation: Compilation) -> Iterator[KernelPlan]:
    """The schedule of such a kernel, and that with exits delayed."""
    yield kernel.plan
    if (delayed := _exits_delayed(kernel, program, compilation)) is not None:
        yield delayed[0].plan


def _exits_delayed(
    kernel: CompiledKernel, program: Module, compilation: Compilation
) -> tuple[CompiledKernel, Compilation] | None:
    """The only kernel of the program with the exits of loops delayed by an iteration where they limit the II, and what
    was reported for it; None where that gains nothing. Only on memory on the chip, which has every address: elsewhere a
    load in vain takes the time of memory."""
    onchip = compilation.board.memory.kind == "onchip"
    asked = with_delayed_exits(kernel.function, kernel.plan, program) if onchip else None
    if asked is None:
        return None
    fresh = replace(compilation, warnings=[], changes=[])
    try:
        found, fresh = _as_written(optimize_alone(kernel.function.name, asked, fresh), asked, fresh)
    except CompileError:  # predicates and carried values may need what the loop as written does not
        return None
    return (found, fresh) if nest_time(found.plan) < nest_time(kernel.plan) else None


def _copied(
    kernel: CompiledKernel, attempt: Compilation, program: Module, compilation: Compilation, kernels: int
) -> tuple[CompiledKernel, Compilation]:
    """The only kernel of the program with copies of the buffers that it waits for in external memory, where that gains
    cycles and is not too large in a program of so many ``kernels``, and what was reported for it. Else the kernel that
    says why not."""
    board = compilation.board
    if not compilation.copy_bytes or board.memory.kind == "onchip":
        return kernel, attempt
    names = buffers_to_copy(kernel.function, kernel.plan, board.read_latency)
    if not names:
        return kernel, attempt
    found = _worth_copies(kernel, attempt, names, program, compilation, kernels)
    beside = waited_for_beside_copies(found[0]) - names if found[0].copies.copied else frozenset()
    if beside:
        more = _worth_copies(kernel, found[1], names | beside, program, compilation, kernels)
        if more[0].copies.copied and _time_on_copies(more[0], kernel) < _time_on_copies(found[0], kernel):
            found, names = more, names | beside
    for attempted in (_interchanged_on_copies, _joined_on_copies):
        if (better := attempted(kernel, found, names, program, compilation, kernels)) is not None:
            return better
    return found


def _interchanged_on_copies(
    kernel: CompiledKernel,
    copied: tuple[CompiledKernel, Compilation],
    names: frozenset[str],
    program: Module,
    compilation: Compilation,
    kernels: int,
) -> tuple[CompiledKernel, Compilation] | None:
    """The only kernel of the program with the loops of nests interchanged, and copies of the buffers ``names`` and of
    those that it then accesses by columns. None where that does not gain cycles over the kernel with copies alone, or
    loses some where a buffer is too large, in which launches the ``kernel`` takes a row at a time."""
    board = compilation.board
    found = _with_interchange(copied[0], program, compilation)
    if found is None:
        return None
    turned, _, asked = found
    if not suits_large_buffers(kernel.plan, turned.plan, paces_by_columns(turned.function, board)):
        return None
    columns = {memory_name(op) for op in accesses_by_columns(turned.function, board.memory.word_bytes)}
    both, fresh = _worth_copies(kernel, copied[1], names | columns, asked, compilation, kernels)
    if not both.copies.copied or not columns <= set(both.copies.copied):
        return None
    return (both, fresh) if _time_on_copies(both, kernel) < _time_on_copies(copied[0], kernel) else None


def _joined_on_copies(
    kernel: CompiledKernel,
    copied: tuple[CompiledKernel, Compilation],
    names: frozenset[str],
    program: Module,
    compilation: Compilation,
    kernels: int,
) -> tuple[CompiledKernel, Compilation] | None:
    """The only kernel of the program with those of its nests as one loop by the test of the inner loop that gain cycles
    by it where the kernel works on copies, of the buffers ``names`` and of those that it then waits for. None where no
    nest gains. All are tried together, and once more without those that do not gain."""
    may = copied[0].copies.copied and compilation.nests_by_test
    nests = nests_by_test(copied[0], compilation.board) if may else []
    for _ in range(2):
        asked: Module | None = program if nests else None
        for nest in nests:
            asked = marked(asked, *nest.place) if asked is not None else None
        if asked is None:
            return None
        apart = compilation.apart()
        try:
            without = plan_function(optimize_alone(kernel.function.name, asked, apart), apart)
        except CompileError:  # one loop may need what two do not
            return None
        also = buffers_to_copy(without.function, without.plan, compilation.board.read_latency)
        # an inner loop that runs often takes its time in external memory: there the nest stays
        apart = replace(apart, otherwise=uncopied(kernel.function.name, program, apart.passes(), apart.early))
        both, fresh = _worth_copies(kernel, copied[1], names | also, asked, apart, kernels)
        gaining = [nest for nest in nests if nest.gains(both.plan)]
        if gaining == nests:
            faster = both.copies.copied and _time_on_copies(both, kernel) < _time_on_copies(copied[0], kernel)
            return (both, fresh) if faster else None
        nests = gaining
    return None


def _time_on_copies(found: CompiledKernel, before: CompiledKernel) -> float:
    """The cycles of the loops of a kernel that has the copies which it is worth, if any; of the buffers, as much is
    copied as the kernel ``before`` reaches."""
    most = found.copies.most_bytes if found.copies.copied else 0
    return copied_time(found, before, most) if most else nest_time(found.plan)


def _worth_copies(
    kernel: CompiledKernel,
    attempt: Compilation,
    names: frozenset[str],
    program: Module,
    compilation: Compilation,
    kernels: int,
) -> tuple[CompiledKernel, Compilation]:
    """The only kernel of the program with copies of those of the buffers ``names`` that may have some, where that takes
    fewer cycles than ``kernel`` does, and what was reported for it. Else the kernel that says why not."""
    board, most = compilation.board, compilation.copy_bytes

    def refused(why: Mapping[str, str]) -> tuple[CompiledKernel, Compilation]:
        return replace(kernel, copies=Copies(most, (), tuple(sorted(why.items())))), attempt

    tried, others = list[tuple[CopyAttempt, tuple[CompiledKernel, Compilation]]](), dict[str, str]()
    try:
        for side in ((1, 1), (SIDE_BY_SIDE, SIDE_BY_SIDE), (SIDE_BY_SIDE, 1)):
            if len(set(side)) > 1 and not several_slow_down([one for one, _ in tried], kernel.function):
                break
            found, fresh = _with_copies(kernel.function.name, names, most, side, program, compilation)
            others = {one.buffer: one.why for one in fresh.changes if isinstance(one, Uncopied)}
            copied = frozenset(copied_buffers(found.function))
            if not copied:
                return refused(others)
            worth = worthwhile_bytes(found, kernel, most, board)
            if worth:
                tried.append((CopyAttempt(body_time(found), worth, side, copied), (found, fresh)))
        if not tried:
            return refused(others | dict.fromkeys(copied, "copying it takes longer than waiting, by the schedule"))
        best, (found, fresh) = min(tried, key=lambda one: one[0].rank())
        worth = best.most_bytes
        if (best.copied, worth) != (names, most):  # those of an attempt are not planned twice
            found, fresh = _with_copies(kernel.function.name, best.copied, worth, best.side, program, compilation)
        while worth > LEAST_BYTES and not rams_fit(found, kernel, board.device, kernels):
            worth //= 2
            found, fresh = _with_copies(kernel.function.name, best.copied, worth, best.side, program, compilation)
    except CompileError:  # the body twice may exceed a limit
        return refused(dict.fromkeys(names, "a second body of the kernel would exceed a limit of the compiler"))
    room = rams_fit(found, kernel, board.device, kernels)
    if not room or not cells_fit(found, kernel, compilation.timing, board.device, kernels):
        return refused(others | dict.fromkeys(copied, "the copy and a second body would take too much of the device"))
    return replace(
        found, copies=Copies(worth, tuple(copied_buffers(found.function)), tuple(sorted(others.items())))
    ), fresh


def _with_copies(
    name: str,
    buffers: frozenset[str],
    most_bytes: int,
    side: tuple[int, int],
    program: Module,
    compilation: Compilation,
) -> tuple[CompiledKernel, Compilation]:
    """The only kernel of the program with copies of the buffers that may have some, so many elements ``side`` by side,
    and what was reported for it."""
    options = replace(compilation.options, copy_bytes=most_bytes)
    fresh = replace(compilation, options=options, warnings=[], changes=[], copied=buffers, side_by_side=side)
    return _as_written(optimize_alone(name, program, fresh), program, fresh)


def _joinable(kernel: CompiledKernel, program: Module, compilation: Compilation) -> list[JoinableNest]:
    """The nests that may be faster as one loop, in a way in which they may become one."""
    found, flattened = joinable_nests(kernel, program, compilation.board), {Attr.FLATTEN_BY_TEST, Attr.FLATTEN_BY_END}
    return [one for one in found if compilation.nests_by_test or one.how not in flattened]


def _joined(
    nest: JoinableNest, program: Module, compilation: Compilation
) -> tuple[CompiledKernel, Compilation, Module] | None:
    """The only kernel of the program with the loop and the one inside it as one loop, what was reported for it, and the
    program that asks for that; None if they cannot be one loop."""
    candidate = marked(program, nest.loop.span, nest.how)
    if candidate is None:
        return None
    fresh = replace(compilation, warnings=[], changes=[])
    (name,) = [function.name for function in program.kernels]
    try:
        found, fresh = _as_written(optimize_alone(name, candidate, fresh), candidate, fresh)
    except CompileError:  # one loop may need what two do not, as a sum of their counters
        return None
    joined = any(one.how == "coalesced" and one.into == nest.loop.span for one in found.merged)
    return (found, fresh, candidate) if joined else None


def plan_alone(name: str, module: Module, compilation: Compilation) -> CompiledKernel:
    """One kernel of a program that is legal for the board, planned as in :func:`plan_optimized`. Raises
    CompileError for one that cannot be built."""
    return plan_optimized(optimize_alone(name, module, compilation), module, compilation)


def optimize_alone(name: str, module: Module, compilation: Compilation) -> Function:
    """One kernel of a program that is legal for the board, after the passes. Raises CompileError where they do."""
    compilation = compilation.of(module.functions[name])
    (function,) = optimize(only_kernel(name, module), compilation.passes(), compilation.early).kernels
    return function


def plan_again(function: Function, compilation: Compilation) -> CompiledKernel:
    """The plans of a kernel that has been planned, and fitted to the target, before."""
    return _with_units(function, compilation.of(function))


def plan_function(function: Function, compilation: Compilation) -> CompiledKernel:
    """The final plans of an optimized kernel, without trying arrays that limit a loop's II in memories
    (:func:`plan_optimized` does)."""
    compilation = compilation.of(function)
    return _with_units(fit_to_target(function, compilation.passes()), compilation)


def _with_units(function: Function, compilation: Compilation) -> CompiledKernel:
    """The plans of a kernel after the passes. If units of some loads do not read ahead, the kernel gets a new plan
    without the ends of these loads' runs."""
    board, options, tell = compilation.board, compilation.options, compilation.warnings.append
    memory = plan_memory(function, board.memory, board.device.rams, board.clock.kernel_mhz)
    plan, memory = _scheduled(function, compilation, memory)
    for loop in plan.loops.values():
        if loop.period > compilation.timing.period:
            tell(_slower_clock(loop, compilation.timing.period))
    memory = choose_units(
        function,
        memory,
        {loop: region.slots for loop, region in plan.loops.items()},
        options.cache_bytes,
        options.const_cache_bytes,
    )
    unused = {op for op, access in memory.accesses.items() if last_of_run(op) is not None and not access.reads_ahead}
    if unused:
        return _with_units(without_stream_bounds(function, unused, compilation.passes()), compilation)
    mine = dict.fromkeys(one for one in compilation.changes if one.kernel == function.name)
    unrolled = tuple(one for one in mine if isinstance(one, Unrolled))
    merged = tuple(one for one in mine if isinstance(one, Merged))
    return CompiledKernel(function, memory.with_parts(function, board), plan, unrolled, merged)


def _scheduled(function: Function, compilation: Compilation, memory: MemoryPlan) -> tuple[KernelPlan, MemoryPlan]:
    """The schedule, and the memories with the copies that their loads need in it. Where that breaks a limit of copies,
    loads are not serialized for the sake of that limit, in a schedule of its own."""
    plan, memory = _forwarded(function, compilation, memory)
    shared, broken = share_copies(
        function, memory, _when(plan), [loop for loop, region in plan.loops.items() if region.speculative]
    )
    if not broken:
        return plan, shared
    compilation.warnings += [one.warning for one in broken]
    return _scheduled(function, compilation, memory.without_limits({one.memory for one in broken}))


def _forwarded(function: Function, compilation: Compilation, memory: MemoryPlan) -> tuple[KernelPlan, MemoryPlan]:
    """The schedule, with forwarding loads of on-chip global memory if iterations of a loop then start earlier: such a
    load takes a cycle longer. In a buffer with several stores, loads forward only where that leaves nothing to gain:
    else its addresses may be compared at run time (``_compared``)."""

    def schedule(memory: MemoryPlan) -> KernelPlan:
        return plan_kernel(
            function, compilation.timing, memory, compilation.board.read_latency, compilation.options.elastic_depth
        )

    plan = schedule(memory)
    for several in (True, False):
        watching = memory.with_forwarding(several)
        if watching is None or all(region.ii == 1 for region in plan.loops.values()):
            break
        found = schedule(watching)
        others = watching.watching_one_of_several()
        slow = [region for region in found.loops.values() if region.ii > 1 and any(op in region.place for op in others)]
        if relieves(found, plan) and not slow:
            return found, watching
        if not others:
            break
    return plan, memory


def _when(plan: KernelPlan) -> dict[Op, When]:
    """When each operation executes."""
    regions = (plan.top, *plan.loops.values())
    return {
        op: When((region.region, point.level), point.stage, region.levels[point.level].spacing)
        for region in regions
        for op, point in region.place.items()
    }


def _slower_clock(loop: RegionPlan, wanted: float) -> Diagnostic:
    return Diagnostic(
        f"#pragma ii {loop.ii} lowers fmax: its recurrence has too few registers, and its critical path of about "
        f"{loop.period:.1f} ns allows {1000 / loop.period:.0f} MHz instead of {1000 / wanted:.0f}",
        present(loop.loop).span,
        "use a larger II, or shorten the recurrence; simulated runs count cycles, not this clock",
        "warning",
        code=Code.II_COSTS_CLOCK,
    )
