"""Collects the report from the products of a compilation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ..diag import Code, Diagnostic
from ..ir import Attr, MemoryObject, Module
from ..ir.launch import is_part, lanes_of, units_of, whole_of
from ..model.area import NOTHING, DesignArea, Resources, capacity, estimate
from ..model.prediction import Prediction
from ..options import Options
from ..planning import Compilation
from ..planning.compilation import CompiledKernel
from ..planning.schedule import OperatorTiming, ways
from ..planning.what_if import WhatIf
from ..target.board import Device
from .about import about, sources_named, written_attributes
from .accesses import collect_accesses
from .area import KernelNames, area_by_line, area_tree, counters_of, leaves, operators_of
from .channels import collect_channels
from .compiled import Compiled
from .copies import CopyGroup, group_copies
from .identity import LoopIds
from .loops import collect_loops
from .memories import collect_memories
from .model import BufferCopy, Channel, Depth, Kernel, KernelCopies, Network, Report, Stop, Way
from .performance_warnings import performance_warnings, told_once
from .phrasing import copies, declared, reader_of
from .predicted import with_predictions
from .private_arrays import collect_privates
from .ranking import ranked, verdict, weighed
from .schedule import collect_schedule, collect_variables
from .sentences import worded
from .shared_area import SharedUsers, lines_of_caches

__all__ = ["collect", "collect_kernel"]

#: Deadlock verdict of the report, by the result of the analysis.
_DEADLOCK = {"proved": "impossible", "certain": "certain", "possible": "possible", "undecided": "unknown"}


def collect(result: Compiled, source: str, command: str = "", predictions: Sequence[Prediction] = ()) -> Report:
    """The report of one compilation (:class:`hls.driver.Result`) of the file ``source``; ``command`` is the command
    line that started it, ``predictions`` are those of launches, which the report shows beside loops."""
    from ..rtl.system import module_names, parts_of  # not for a plan alone

    device = result.board.device
    area = estimate(result.generated, result.top, device, result.foreign)
    groups = group_copies(result.kernels)
    entries = {name: group.names[0] for group in groups for name in group.names}
    modules = module_names(list(result.interface.layouts))
    built = [_entry(result, group, area, modules, predictions) for group in groups]
    mine = {part for module in modules.values() for part in parts_of(module)}
    found = leaves(area, [names for _, names in built])
    channels = collect_channels(result.channels, entries)
    caches = lines_of_caches(access for kernel in result.kernels for access in kernel.memory.accesses.values())
    users = SharedUsers(tuple(kernel for kernel, _ in built), channels, result.board, caches)
    report = Report(
        source=source,
        board=result.board.name,
        clock_mhz=result.board.clock.kernel_mhz,
        kernels=tuple(kernel for kernel, _ in built),
        shared=sum((used for name, used in area.parts.items() if name not in mine), area.rest),
        device=capacity(device),
        logic_cell=device.cell.plural,
        messages=tuple(result.warnings),
        channels=channels,
        networks=tuple(_network(verdict, channels) for verdict in result.networks),
        info=about(result, command),
        area=area_tree(found, result.top),
        lines=area_by_line(found, users),
        counters=counters_of(found),
    )
    report = replace(
        report,
        kernels=tuple(
            replace(
                kernel,
                counters=counters_of(found, kernel.name),
                operators=operators_of(found, kernel.name, declared(result.module, kernel.part_of or kernel.name)),
            )
            for kernel in report.kernels
        ),
    )
    known = any(kernel.span is not None and kernel.span.file == source for kernel in report.kernels)
    with reader_of(source if known else None):
        kernels = tuple(
            replace(kernel, verdict=verdict(kernel, report), loops=worded(kernel.loops)) for kernel in report.kernels
        )
        kernels = told_once(
            replace(kernel, messages=(*kernel.messages, *performance_warnings(kernel, report.logic_cell)))
            for kernel in kernels
        )
        report = replace(report, kernels=kernels, bottlenecks=ranked(report))
    return replace(report, sources=sources_named(report, result.module.sources))


def _entry(
    result: Compiled, group: CopyGroup, area: DesignArea, modules: dict[str, str], predictions: Sequence[Prediction]
) -> tuple[Kernel, KernelNames]:
    """The report of equal kernels, and what is needed to find their area."""
    from ..rtl.system import parts_of

    first, board = group.kernels[0], result.board
    parts = [part for name in group.names for part in parts_of(modules[name])]
    what_if = WhatIf(result.module, Compilation(board, result.options))
    timing = what_if.compilation.of(first.function).timing.planned(first.memory)
    kernel, loops = _collect(first, result.module, board.read_latency, _sum(area, parts), timing, what_if)
    interface = next(one for one in result.interface.kernels if one.name == whole_of(first.function))
    kernel = replace(
        kernel,
        most_work_items=interface.most_work_items,
        copies=KernelCopies(len(group.names), group.names, group.differs) if len(group.names) > 1 else None,
    )
    # equal kernels have their loops in the same order; one that the compiler made of no loop of the source has no entry
    ids = [loops.ids.get(op, "") for op in first.plan.loops]
    kernel = with_predictions(kernel, ids, (one for one in predictions if one.kernel in group.names))
    names = KernelNames(
        name=kernel.name,
        function=first.function,
        instances=tuple(modules[name] for name in group.names),
        named=result.named[kernel.name],
        loops=loops,
        counter_shares=_counter_shares(interface, area.parts.get(parts[1], NOTHING), board.device),
    )
    return kernel, names


def _counter_shares(interface, control: Resources, device: Device) -> tuple[float, float]:
    """What counters have of the logic and registers of a kernel's ``control`` registers, which have more words to
    choose from, and more stages, with counters: what they take more than without."""
    from ..rtl.control import ALONE, control_alone  # not for a plan alone

    if not interface.counters:
        return 0.0, 0.0
    alone = estimate(control_alone(interface.registers), ALONE, device).total
    pairs = ((control.logic, alone.logic), (control.registers, alone.registers))
    logic, registers = (max(0.0, 1 - without / counted) if counted else 0.0 for counted, without in pairs)
    return logic, registers


def _network(verdict, channels: Iterable[Channel]) -> Network:
    circle = tuple(
        Stop(wait.kernel, wait.link.name, wait.call.writes, wait.other, wait.call.span) for wait in verdict.circle
    )
    depths = tuple(Depth(one.channel, one.depth) for one in verdict.depths)
    inside = dict.fromkeys(one.name for one in channels if {one.writer, one.reader} <= set(verdict.kernels))
    kind = _DEADLOCK[verdict.kind]
    return Network(verdict.kernels, kind, verdict.reason, verdict.span, circle, depths, tuple(inside))


def _sum(area: DesignArea, names: Iterable[str]) -> Resources:
    return sum((area.parts[name] for name in names if name in area.parts), NOTHING)


def collect_kernel(
    kernel: CompiledKernel,
    module: Module,
    memory_latency: int,
    resources: Resources = NOTHING,
    timing: OperatorTiming | None = None,
    what_if: WhatIf | None = None,
) -> Kernel:
    """The report of one planned kernel (:class:`hls.driver.CompiledKernel`); ``module`` is the IR before optimization,
    ``timing`` the model it was scheduled with. ``what_if`` tries changes of the kernel, for advice."""
    return _collect(kernel, module, memory_latency, resources, timing, what_if)[0]


def _collect(
    kernel: CompiledKernel, module: Module, memory_latency: int, resources, timing, what_if
) -> tuple[Kernel, LoopIds]:
    """The same, with the ids of its loops."""
    function = kernel.function
    options = what_if.compilation.options if what_if else Options()
    if is_part(function):  # what is tried are changes of whole kernels
        what_if = None
    loops = collect_loops(kernel, module, memory_latency, timing, what_if)
    attrs, source = module.functions[whole_of(function)].attrs, declared(module, whole_of(function))
    accesses = collect_accesses(kernel, loops, module.sources, options, timing.model.units if timing else {})
    found = Kernel(
        name=function.name,
        span=function.span,
        ndrange=bool(function.attrs.get(Attr.NDRANGE)),
        loops=weighed(loops.loops),
        accesses=accesses.outside,
        privates=collect_privates(kernel, module),
        resources=resources,
        reason=function.attrs.get(Attr.REASON, ""),
        lanes=lanes_of(function),
        units=units_of(function),
        memories=collect_memories(kernel, module, accesses.ids),
        ways=tuple(
            Way(_name(one.source, module), _name(one.target, module), one.cycles)
            for one in ways(kernel.plan, memory_latency)
        ),
        messages=_untried(kernel, what_if),
        required_size=attrs.get(Attr.WORK_GROUP_SIZE),
        max_dims=attrs.get(Attr.MAX_GLOBAL_WORK_DIM),
        autorun=bool(attrs.get(Attr.AUTORUN)),
        promised=bool(function.attrs.get(Attr.PROMISED)),
        attributes=written_attributes(attrs),
        target_mhz=attrs.get(Attr.SCHEDULER_TARGET_FMAX_MHZ),
        buffer_copies=_buffer_copies(kernel, source),
        local_accesses=accesses.local,
        variables=collect_variables(kernel, loops, source),
        schedule=collect_schedule(kernel, loops, accesses.ids, source | copies(function), memory_latency),
        part_of=function.attrs.get(Attr.PART_OF),
        loads_for=function.attrs.get(Attr.LOADS_FOR),
        parts=function.attrs.get(Attr.PARTS, ()),
        shares=function.attrs.get(Attr.SHARES, 1),
    )
    return found, loops


def _buffer_copies(kernel: CompiledKernel, source: Mapping[str, MemoryObject]) -> tuple[BufferCopy, ...]:
    """What became of the buffers that a kernel waits for."""
    copies = kernel.copies
    found = {name: BufferCopy(name, None, copies.most_bytes) for name in copies.copied}
    found |= {name: BufferCopy(name, None, 0, why) for name, why in copies.others}
    return tuple(replace(one, span=source[name].span if name in source else None) for name, one in found.items())


def _untried(kernel: CompiledKernel, what_if: WhatIf | None) -> tuple[Diagnostic, ...]:
    """A note if a limit kept changes from being tried for the advice."""
    reason = what_if.untried.get(kernel.function.name) if what_if else None
    if reason is None:
        return ()
    text = f"not every change was tried for advice: {reason}"
    hint = "put the kernel into a file of its own, or make it smaller, for advice about all its loops"
    return (Diagnostic(text, kernel.function.span, hint, "note", code=Code.ADVICE_LIMITED),)


def _name(end, module: Module) -> str:
    return end.text(module.channels[end.channel].length if end.channel in module.channels else None)
