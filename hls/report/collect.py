"""Collects the report from the products of a compilation."""

from collections import Counter
from dataclasses import replace

from ..diag import Code, Diagnostic
from ..ir import Attr, Module
from ..ir.launch import lanes_of, units_of
from ..model.area import CELL_NAMES, NOTHING, DesignArea, Resources, capacity, estimate
from ..planning import Compilation
from ..planning.schedule import OperatorTiming, ways
from ..planning.what_if import WhatIf
from ..rtl.system import module_names
from .loops import collect_loops
from .memories import collect_memories
from .model import Access, Channel, Depth, Kernel, Network, Report, Stop, Way
from .private_arrays import collect_privates

__all__ = ["collect", "collect_kernel"]

#: Deadlock verdict of the report, by the result of the analysis.
_DEADLOCK = {"proved": "impossible", "certain": "certain", "possible": "possible", "undecided": "unknown"}


def collect(result, source: str) -> Report:
    """The report of one compilation (:class:`hls.driver.Result`) of the file ``source``."""
    device = result.board.device
    area = estimate(result.verilog, result.top, device)
    latency = result.board.read_latency
    timing = OperatorTiming.of(result.board)
    what_if = WhatIf(result.module, Compilation(result.board, result.options))
    modules = module_names([kernel.name for kernel in result.interface.kernels])
    kernels = tuple(
        collect_kernel(
            kernel,
            result.module,
            latency,
            _sum(area, _parts(modules[kernel.function.name])),
            timing.planned(kernel.memory),
            what_if,
        )
        for kernel in result.kernels
    )
    mine = {name for module in modules.values() for name in _parts(module)}
    shared = sum((used for name, used in area.parts.items() if name not in mine), area.rest)
    return Report(
        source=source,
        board=result.board.name,
        clock_mhz=result.board.clock.kernel_mhz,
        kernels=kernels,
        shared=shared,
        device=capacity(device),
        logic_cell=CELL_NAMES[device.logic_cell],
        messages=tuple(result.warnings),
        channels=_channels(result.channels),
        networks=tuple(_network(verdict) for verdict in result.networks),
    )


def _network(verdict) -> Network:
    circle = tuple(
        Stop(wait.kernel, wait.link.name, wait.call.writes, wait.other, wait.call.span) for wait in verdict.circle
    )
    depths = tuple(Depth(one.channel, one.depth) for one in verdict.depths)
    return Network(verdict.kernels, _DEADLOCK[verdict.kind], verdict.reason, verdict.span, circle, depths)


def _channels(plans) -> tuple[Channel, ...]:
    """In program order; channels of an array with equal figures are one entry with a count."""
    found: dict[tuple, list] = {}
    for plan in plans:
        alike = (
            plan.channel,
            plan.bits,
            plan.requested,
            plan.depth,
            plan.storage,
            plan.reason,
            plan.writer,
            plan.reader,
        )
        found.setdefault(alike, []).append(plan)
    return tuple(
        Channel(
            name=first.name if len(same) == 1 else first.channel,
            span=first.span,
            bits=first.bits,
            requested=first.requested,
            depth=first.depth,
            storage=first.storage,
            reason=first.reason,
            writer=first.writer,
            write_span=first.write_span,
            reader=first.reader,
            read_span=first.read_span,
            count=len(same),
        )
        for same in found.values()
        for first in same[:1]
    )


def _parts(module: str) -> tuple[str, str]:
    """The instances in the top module that belong to the kernel whose module has that name."""
    return module, f"{module}_control"


def _sum(area: DesignArea, names: tuple[str, ...]) -> Resources:
    return sum((area.parts[name] for name in names if name in area.parts), NOTHING)


def collect_kernel(
    kernel,
    module: Module,
    memory_latency: int,
    resources: Resources = NOTHING,
    timing: OperatorTiming | None = None,
    what_if: WhatIf | None = None,
) -> Kernel:
    """The report of one planned kernel (:class:`hls.driver.CompiledKernel`); ``module`` is the IR before optimization,
    ``timing`` the model it was scheduled with. ``what_if`` tries changes of the kernel, for advice."""
    function = kernel.function
    loops = collect_loops(kernel, module, memory_latency, timing, what_if)
    return Kernel(
        name=function.name,
        span=function.span,
        ndrange=bool(function.attrs.get(Attr.NDRANGE)),
        loops=loops,
        accesses=_accesses(kernel),
        privates=collect_privates(kernel, module),
        resources=resources,
        reason=function.attrs.get(Attr.REASON, ""),
        lanes=lanes_of(function),
        units=units_of(function),
        memories=collect_memories(kernel, module),
        ways=tuple(
            Way(_name(one.source, module), _name(one.target, module), one.cycles)
            for one in ways(kernel.plan, memory_latency)
        ),
        messages=_untried(kernel, what_if),
    )


def _untried(kernel, what_if: WhatIf | None) -> tuple[Diagnostic, ...]:
    """A note if a limit kept changes from being tried for the advice."""
    reason = what_if.untried.get(kernel.function.name) if what_if else None
    if reason is None:
        return ()
    text = f"not every change was tried for advice: {reason}"
    hint = "put the kernel into a file of its own, or make it smaller, for advice about all its loops"
    return (Diagnostic(text, kernel.function.span, hint, "note", code=Code.ADVICE_LIMITED),)


def _name(end, module: Module) -> str:
    return end.text(module.channels[end.channel].length if end.channel in module.channels else None)


def _accesses(kernel) -> tuple[Access, ...]:
    """In program order; units with equal figures are one entry with a count."""
    found = Counter(
        Access(a.direction, a.memory, a.span, a.bytes, a.lsu, a.reason, memory=a.location)
        for a in kernel.memory.outside.values()
    )
    return tuple(replace(access, count=count) for access, count in found.items())
