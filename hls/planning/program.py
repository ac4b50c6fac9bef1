"""All kernels of a program planned, some of them split into a memory part and a compute part."""

from dataclasses import replace
from enum import Enum

from ..analysis.channels.call_skeleton import CallSkeleton
from ..diag import Code, CompileError, Diagnostic, Span
from ..ir import Attr, Function, MemoryObject, Module, Op
from ..ir.build import reachable
from ..model.operations import logic_cells
from ..options import Options
from ..passes.link.similar_parts import alike
from ..passes.loops.marked_loops import marked_loops
from ..passes.manager import each_kernel
from ..passes.run_stages import copies, legalize, optimize, split
from .copied_buffers import rams_of
from .iterate import Compilation, CompiledKernel, optimize_alone, plan_alone, plan_optimized
from .replicas import PlannedCopies, replica, with_numbers
from .schedule.nest_time import nest_time
from .shared_caches import share_caches
from .turns import loops_that_receive, loops_that_turn
from .worthwhile_copies import outlook, pace
from .worthwhile_split import least_split_time, loads_from_outside

__all__ = ["plan_program"]

#: an automatic split is made if it reduces the time of the schedules to less than this share
WORTH = 0.95
#: values that the channels between parts hold: at least so many where memory answers at once, and on other boards as
#: many as a load unit has under way in the time of so many answers
LEAST_DEPTH, ANSWERS = 16, 4


_PARTS = "a memory part and a compute part"


class Wish(Enum):
    """Who wants a kernel split."""

    PROGRAM = "feed_forward"  #: its attribute: impossible is an error
    ALL = "always"
    IF_FASTER = "auto"  #: also where the program only promises that its loads may run ahead


def plan_program(module: Module, compilation: Compilation) -> tuple[CompiledKernel, ...]:
    """Every stage before hardware generation, for a linked program: its kernels in order, the parts of a kernel one
    after the other. Raises CompileError for a kernel that cannot be built, or not be split although its attribute asks
    for that."""
    passes = compilation.passes()
    module = legalize(module, compilation.board, passes)
    targets = [one for one in module.kernels if one.attrs.get(Attr.SCHEDULER_TARGET_FMAX_MHZ)]
    for kernel in targets:
        _check_target(kernel, compilation)
    compilation.early.note_copies(module)
    copies_planned = PlannedCopies()
    if any(_wish(one, module, compilation.options) for one in module.kernels):
        planned = each_kernel(module.kernels, lambda one: _planned(one, module, compilation, copies_planned))
        return tuple(kernel for kernels in planned for kernel in kernels)
    if targets:
        functions = each_kernel(module.kernels, lambda one: optimize_alone(one.name, module, compilation))
    else:
        functions = list(optimize(module, passes, compilation.early).kernels)
    return tuple(each_kernel(functions, lambda function: _of_program(function, module, compilation, copies_planned)))


def _of_program(
    function: Function, module: Module, compilation: Compilation, copies_planned: PlannedCopies
) -> CompiledKernel:
    """The plan of an optimized kernel: that of an equal copy of a replicated kernel with channels of its own, if there
    is one and nothing was reported of it. Where passes are inspected, every kernel passes them."""
    if not function.attrs.get(Attr.AUTORUN) or compilation.inspection is not None:
        return plan_optimized(function, module, compilation)
    if (planned := copies_planned.like(function)) is not None:
        return planned
    before = len(compilation.warnings), len(compilation.changes)
    planned = plan_optimized(function, module, compilation)
    if (len(compilation.warnings), len(compilation.changes)) == before:
        copies_planned.add(function, planned)
    return planned


def _check_target(kernel: Function, compilation: Compilation) -> None:
    """Warns of a target below the clock at which the kernel will run."""
    target, clock = kernel.attrs[Attr.SCHEDULER_TARGET_FMAX_MHZ], compilation.board.clock.kernel_mhz
    if target < clock:
        compilation.warnings.append(
            Diagnostic(
                f"kernel '{kernel.name}' is scheduled for {target:g} MHz, but the kernel clock is {clock:g} MHz: "
                "its paths may be too long for it",
                kernel.span,
                f"lower the clock of the design with --clock {target:g}, or raise scheduler_target_fmax_mhz",
                "warning",
                code=Code.TARGET_BELOW_CLOCK,
            )
        )


def _wish(kernel: Function, module: Module, options: Options) -> Wish | None:
    if kernel.attrs.get(Attr.FEED_FORWARD) or _marked(kernel, module):
        return Wish.PROGRAM
    if options.feed_forward == "never":
        return Wish.IF_FASTER if kernel.attrs.get(Attr.INDEPENDENT) else None
    return Wish(options.feed_forward)


def _planned(
    kernel: Function, module: Module, compilation: Compilation, copies_planned: PlannedCopies
) -> tuple[CompiledKernel, ...]:
    """The plans of one kernel: one, or those of its parts."""
    asked = kernel.attrs.get(Attr.FEED_FORWARD)
    memory, count = asked if isinstance(asked, tuple) else (1, 1)
    if memory == 0:
        _check_whole(kernel, module)
        return _copied(kernel, count, module, compilation)
    if memory != count:  # one part that serves several in turns is never faster than as many
        compilation.warnings.append(_evened(kernel, memory, count))
        count = max(memory, count)
    wish = _wish(kernel, module, compilation.options)
    if wish is None:
        return (plan_alone(kernel.name, module, compilation),)
    if wish is Wish.IF_FASTER:
        return _fastest(kernel, module, compilation, copies_planned)
    required = wish is Wish.PROGRAM
    divided, undivided = (compilation.of(kernel).apart() for _ in range(2))
    parts, whole = _parts(kernel, module, divided, required, count=count), None
    if parts and (inside := loops_that_receive(parts)):
        whole = plan_alone(kernel.name, module, undivided)
        if turning := inside & loops_that_turn(whole.plan):
            divided = compilation.of(kernel).apart()
            parts = _parts(kernel, module, divided, required, turning, count)
    why = _too_large(parts, compilation) if parts else None
    if why and required:
        raise _no_room(kernel, f"be split into {_PARTS}", why, Code.CANNOT_DECOUPLE)
    if parts and not why:
        compilation.warnings += [*divided.warnings, _shared(kernel, count, True) if count > 1 else _done(kernel)]
        return parts
    whole = whole or plan_alone(kernel.name, module, undivided)
    reasons = [_left(kernel, why)] if why else _stays(divided)
    compilation.warnings += [*undivided.warnings, *reasons]
    return (whole,)


def _fastest(
    kernel: Function, module: Module, compilation: Compilation, copies_planned: PlannedCopies
) -> tuple[CompiledKernel, ...]:
    """The plan of a kernel, or the plans of its parts or copies where these are faster. Parts are planned only where
    they may be, copies only where that is predicted."""
    undivided = compilation.of(kernel).apart()
    if kernel.attrs.get(Attr.AUTORUN):
        whole = _of_program(optimize_alone(kernel.name, module, undivided), module, undivided, copies_planned)
    else:
        whole = plan_alone(kernel.name, module, undivided)
    if not any(one.flattened for one in whole.merged):
        return _faster(kernel, whole, undivided, module, compilation)
    # parts and copies are made before a nest can be one loop; parts need not be, as neither waits for an inner loop
    nest = replace(compilation.of(kernel).apart(), nests_by_test=False)
    apart = nest.apart()
    divided = _faster(kernel, plan_alone(kernel.name, module, apart), apart, module, nest)
    if any(part.function.attrs.get(Attr.LOADS_FOR) for part in divided):
        compilation.warnings += nest.warnings
        compilation.changes += [one for one in nest.changes if one not in compilation.changes]
        return divided
    compilation.warnings += [*undivided.warnings, _left(kernel, "copies or parts would have its nest as two loops")]
    return (whole,)


def _faster(
    kernel: Function, whole: CompiledKernel, undivided: Compilation, module: Module, compilation: Compilation
) -> tuple[CompiledKernel, ...]:
    """The kernel as a ``whole``, of which ``undivided`` has been told, or the plans of its parts or copies where these
    are faster."""
    if not loads_from_outside(whole):
        compilation.warnings += [*undivided.warnings, _left(kernel, "it loads nothing from global memory")]
        return (whole,)
    before, least = nest_time(whole.plan), least_split_time(whole)
    split: tuple[CompiledKernel, ...] = ()
    divided, turning = undivided, frozenset[Span]()
    if least > WORTH * before:
        why = f"its loops take {before:,.0f} cycles by their schedules whole, and {least:,.0f} split at best"
        reasons = [_left(kernel, why)]
    else:
        divided, split, turning = _split_in_turns(kernel, whole, module, compilation)
        slower = _not_worth(whole, split, compilation) if split else None
        split = () if slower else split
        reasons = [_left(kernel, slower)] if slower else _stays(divided)
    tried: list[Diagnostic] = []
    if compilation.options.feed_forward == "auto":
        copied, tried = _copied_if_faster(kernel, whole, split, turning, module, compilation)
        if copied:
            return copied
    if split:
        compilation.warnings += [*divided.warnings, _done(kernel), *tried]
        return split
    compilation.warnings += [*undivided.warnings, *reasons, *tried]
    return (whole,)


def _split_in_turns(
    kernel: Function, whole: CompiledKernel, module: Module, compilation: Compilation
) -> tuple[Compilation, tuple[CompiledKernel, ...], frozenset[Span]]:
    """(what was reported, the plans of the two parts of a kernel or none, the places of the loops in which they receive
    nothing: those whose invocations take turns in the kernel as a ``whole``)."""
    attempt = compilation.of(kernel).apart()
    parts = _parts(kernel, module, attempt, False)
    turning = loops_that_receive(parts) & loops_that_turn(whole.plan)
    if turning:
        attempt = compilation.of(kernel).apart()
        parts = _parts(kernel, module, attempt, False, turning)
    return attempt, parts, turning


def _stays(divided: Compilation) -> list[Diagnostic]:
    """Why loads stay, of what was reported of an attempt to split a kernel."""
    return [one for one in divided.warnings if one.code is Code.LOAD_STAYS]


def _marked(kernel: Function, module: Module) -> list[Op]:
    """The loops that a kernel and the functions that it calls mark with ``feed_forward``."""
    return [loop for one in reachable(module, kernel) for loop in marked_loops(one)]


def _check_whole(kernel: Function, module: Module) -> None:
    """Raises CompileError for a kernel of which copies without memory parts are asked for, and a memory part too."""
    for loop in _marked(kernel, module):
        raise CompileError.at(
            loop.span,
            f"#pragma feed_forward asks for a memory part of kernel {kernel.name}, and its attribute, with memory(0), "
            "for none",
            "remove one of the two, or write memory(N), compute(N)",
            code=Code.ATTRIBUTES_CONTRADICT,
        )


def _parts(
    kernel: Function,
    module: Module,
    compilation: Compilation,
    required: bool,
    turning: frozenset[Span] = frozenset(),
    count: int = 1,
) -> tuple[CompiledKernel, ...]:
    """The plans of the kernel's parts, which receive nothing in loops at the places ``turning``; none if it cannot be
    split, of which the compilation then has a note. With ``required`` that raises CompileError. ``count`` above 1: of
    so many copies that share its iterations."""
    board = compilation.board
    depth = max(LEAST_DEPTH, 1 << (ANSWERS * board.read_latency - 1).bit_length()) if board.read_latency > 1 else 0
    request = depth or LEAST_DEPTH, required, turning, count
    after = split(kernel.name, module, compilation.passes(), compilation.early, *request)
    if len(after.functions) == 1:
        return ()
    names = [name for name in after.functions if name != kernel.name]
    compilation.changes += [replace(one, kernel=part) for one in compilation.changes for part in names]
    skeletons = {one.name: CallSkeleton(one) for one in after.kernels}
    for one in skeletons.values():
        between = {call.place[0] for call in one.calls()} - module.channels.keys()
        if one.loads_for and not one.only(between).mirrors(skeletons[one.loads_for].only(between)):
            _refuse(kernel, required, compilation)
            return ()
    return _plans(after, module, compilation)


def _plans(after: Module, module: Module, compilation: Compilation) -> tuple[CompiledKernel, ...]:
    """The plans of the parts of a kernel of ``module``, each with the channels that it calls and that are not the
    program's."""
    inner = [one for one in after.channels.values() if one.name not in module.channels]
    called = {one.name: {call.place[0] for call in CallSkeleton(one).calls()} for one in after.kernels}
    own = {name: tuple(one for one in inner if one.name in called[name]) for name in after.functions}
    planned: list[CompiledKernel] = []
    for part in after.functions.values():
        planned.append(replace(_planned_once(part, planned, after, inner, compilation), inner=own[part.name]))
    return share_caches([with_numbers(one) for one in planned], compilation.board)


def _planned_once(
    part: Function, before: list[CompiledKernel], after: Module, inner: list[MemoryObject], compilation: Compilation
) -> CompiledKernel:
    """The plan of a part: a copy of the plan of one ``before`` it, if the two are copies of one kernel that differ in
    their number and the channels ``inner`` only. Where passes are inspected, each part passes them."""
    if compilation.inspection is None:
        between = {one.name for one in inner}
        for one in before:
            channels = alike(after.functions[one.function.name], part, between)
            if channels is not None:
                mine = [change for change in compilation.changes if change.kernel == one.function.name]
                compilation.changes += [replace(change, kernel=part.name) for change in mine]
                return replica(one, part, channels)
    return plan_alone(part.name, after, compilation)


def _copied(kernel: Function, count: int, module: Module, compilation: Compilation) -> tuple[CompiledKernel, ...]:
    """The plans of the copies of a kernel that share its iterations. Raises CompileError if they cannot."""
    after = copies(kernel.name, module, compilation.passes(), compilation.early, count)
    others = [name for name in after.functions if name != kernel.name]
    compilation.changes += [replace(one, kernel=part) for one in compilation.changes for part in others]
    parts = _plans(after, module, compilation)
    if why := _too_large(parts, compilation):
        raise _no_room(kernel, "be copied", why, Code.CANNOT_COPY)
    compilation.warnings.append(_shared(kernel, count, False))
    return parts


def _copied_if_faster(
    kernel: Function,
    whole: CompiledKernel,
    split: tuple[CompiledKernel, ...],
    turning: frozenset[Span],
    module: Module,
    compilation: Compilation,
) -> tuple[tuple[CompiledKernel, ...], list[Diagnostic]]:
    """(the plans of as many copies of a kernel as are predicted to be worth their area, or none; notes why there are
    none). A kernel that is faster ``split`` has copies of both parts, which receive nothing in loops at the places
    ``turning``."""
    if kernel.attrs.get(Attr.NDRANGE) or kernel.attrs.get(Attr.AUTORUN):
        return (), []
    view = outlook(whole, split or (whole,), compilation.board, compilation.timing, len(module.kernels))
    count = view.best(WORTH)
    if count == 1:
        return (), [_uncopied(kernel, view.why_not(WORTH))]
    attempt = compilation.of(kernel).apart()
    try:
        if split:
            parts = _parts(kernel, module, attempt, False, turning, count)
            attempt.warnings.append(_shared(kernel, count, True))
        else:
            parts = _copied(kernel, count, module, attempt)
    except CompileError as error:
        return (), [_uncopied(kernel, error.diagnostics[0].message.partition(": ")[2], error.diagnostics[0].span)]
    if not parts:
        return (), [_uncopied(kernel, "its copies cannot be split")]
    slower, before = max(map(pace, parts)), max(map(pace, split or (whole,)))
    if slower > WORTH * count * before:
        why = f"its innermost loop starts an iteration every {before:g} cycles, and every {slower:g} in each of {count}"
        return (), [_uncopied(kernel, f"{why} copies")]
    compilation.warnings += attempt.warnings
    compilation.changes += [one for one in attempt.changes if one not in compilation.changes]
    return parts, []


def _uncopied(kernel: Function, why: str, span: Span | None = None) -> Diagnostic:
    message = f"no copies of kernel {kernel.name} share its iterations: {why}"
    hint = "__attribute__((feed_forward(memory(0), compute(2)))) makes two where that is possible"
    return Diagnostic(message, span or kernel.span, hint, "note", code=Code.FEED_FORWARD)


def _refuse(kernel: Function, required: bool, compilation: Compilation) -> None:
    """Say that the parts may wait for each other; raises that as CompileError if the kernel must be split."""
    reason = "its parts are not known to call their channels in one order, and might wait for each other"
    if required:
        text = f"kernel {kernel.name} cannot be split into a memory part and a compute part: {reason}"
        raise CompileError.at(kernel.span, text, "remove feed_forward", code=Code.CANNOT_DECOUPLE)
    text = f"kernel {kernel.name} is not split into a memory part and a compute part: {reason}"
    compilation.warnings.append(
        Diagnostic(text, kernel.span, "its loads stay in their places", "note", code=Code.LOAD_STAYS)
    )


def _not_worth(whole: CompiledKernel, parts: tuple[CompiledKernel, ...], compilation: Compilation) -> str | None:
    """Why the kernel is better left whole; None where the split gains."""
    before, after = nest_time(whole.plan), max(nest_time(part.plan) for part in parts)
    if after > WORTH * before:
        return f"its loops take {before:,.0f} cycles by their schedules whole, and {after:,.0f} split"
    return _too_large(parts, compilation)


def _too_large(parts: tuple[CompiledKernel, ...], compilation: Compilation) -> str | None:
    """Why the device has no room for the parts of a kernel: their operations, or their arrays, alone take more than all
    of it. None where it may have room."""
    device, timing = compilation.board.device, compilation.timing
    cells = sum(logic_cells(part.function, timing, device) for part in parts)
    if cells > device.logic_cells:
        needed, there = f"operations of its {len(parts)} parts need {cells:,} {device.cell.plural}", device.logic_cells
    elif (rams := sum(map(rams_of, parts))) > device.rams.count > 0:
        needed, there = f"arrays of its {len(parts)} parts need {rams:,} block RAMs", device.rams.count
    else:
        return None
    return f"the {needed}, and the device has {there:,}"


def _no_room(kernel: Function, what: str, why: str, code: Code) -> CompileError:
    fewer = "ask for fewer copies, unroll less, or choose a larger device"
    hint = fewer if code is Code.CANNOT_COPY else "leave it whole"
    return CompileError.at(kernel.span, f"kernel {kernel.name} cannot {what}: {why}", hint, code=code)


def _done(kernel: Function) -> Diagnostic:
    return Diagnostic(
        f"kernel {kernel.name} is split into a memory part, which loads ahead, and a compute part",
        kernel.span,
        "a launch of the kernel starts both",
        "note",
        code=Code.FEED_FORWARD,
    )


def _shared(kernel: Function, count: int, split: bool) -> Diagnostic:
    parts = ", each split into a memory part and a compute part" if split else ""
    message = f"{count} copies of kernel {kernel.name} share the iterations of its outermost loop{parts}"
    hint = "a launch of the kernel starts all of them"
    return Diagnostic(message, kernel.span, hint, "note", code=Code.FEED_FORWARD)


def _evened(kernel: Function, memory: int, count: int) -> Diagnostic:
    most = max(memory, count)
    return Diagnostic(
        f"kernel {kernel.name} gets {most} memory parts and {most} compute parts, where memory({memory}) and "
        f"compute({count}) are asked for: a part that serves several others in turns is never faster than one for each",
        kernel.span,
        f"write memory({most}), compute({most}), or fewer of both to save area",
        "note",
        code=Code.FEED_FORWARD,
    )


def _left(kernel: Function, why: str) -> Diagnostic:
    return Diagnostic(
        f"kernel {kernel.name} is not split into a memory part and a compute part: {why}",
        kernel.span,
        "__attribute__((feed_forward)) splits it all the same",
        "note",
        code=Code.FEED_FORWARD,
    )
