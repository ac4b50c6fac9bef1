"""Collects the report from the products of a compilation."""

from ..ir import Op
from ..schedule import RegionPlan
from .model import Access, Bottleneck, Kernel, Loop, Report, Share

__all__ = ["collect"]

_WORDS = {
    "add": "integer add", "sub": "integer subtract", "mul": "integer multiply", "fadd": "floating-point add",
    "fsub": "floating-point subtract", "fmul": "floating-point multiply", "fdiv": "floating-point divide",
    "sdiv": "integer divide", "udiv": "integer divide", "srem": "integer remainder", "urem": "integer remainder",
    "select": "select", "slt": "compare", "sle": "compare", "ult": "compare", "ule": "compare", "eq": "compare",
    "ne": "compare", "load": "load", "store": "store", "loop": "inner loop",
}


def collect(result, source: str) -> Report:
    """The report of one compilation (:class:`hls.driver.Result`)."""
    kernels = tuple(_kernel(kernel) for kernel in result.kernels)
    return Report(source, result.board.name, result.board.clock.kernel_mhz, kernels, messages=tuple(result.warnings))


def _kernel(kernel) -> Kernel:
    function = kernel.function
    accesses = tuple(
        Access(a.direction, a.memory, a.span, a.bytes, a.unit, a.reason) for a in kernel.memory.accesses.values()
    )
    loops = tuple(_loop(kernel, op) for op in function.body.ops if op.opcode == "loop")
    return Kernel(function.name, function.span, bool(function.attrs.get("ndrange")), loops, accesses)


def _loop(kernel, op: Op) -> Loop:
    plan: RegionPlan = kernel.plan.loops[op]
    children = tuple(_loop(kernel, inner) for inner in plan.region.ops if inner.opcode == "loop")
    waits = plan.slots == 1 and plan.ii > 1 and not op.attrs.get("interleave", True)
    return Loop(
        op.attrs.get("label", ""), op.span, plan.ii, min(plan.slots, plan.ii), plan.slots, plan.latency, len(plan.levels),
        op.attrs.get("trip_count"), op.attrs.get("form") == "ndrange", _bottleneck(plan),
        "iterations of different invocations access the same memory" if waits else "", None, children,
    )


def _bottleneck(plan: RegionPlan) -> Bottleneck | None:
    """What sets the II: the scheduled recurrence, or a condition or value that waits for memory or an inner loop."""
    if plan.ii == 1:
        return None
    found = plan.bottleneck
    if found is None or found.ii < plan.ii:
        return _late(plan)
    shares = [(_operation(step.src), step.cycles) for step in found.steps if isinstance(step.src, Op)]
    whole = sum(cycles for _, cycles in shares) or 1
    parts = tuple(Share(_say(op), op.span, cycles / whole) for op, cycles in shares if cycles)
    carried = next((step.src for step in found.steps if isinstance(step.src, tuple) and step.src[0] == "read"), None)
    if carried is None:
        return Bottleneck("condition", "continue condition", plan.loop.span, None, found.cycles, found.distance, parts)
    arg = plan.region.args[carried[1]]
    name = arg.name or "a carried value"
    return Bottleneck("data", name, plan.loop.span, None, found.cycles, found.distance, parts)


def _operation(key) -> Op:
    return key


def _late(plan: RegionPlan) -> Bottleneck:
    crossing = [c for c in plan.carried if c.write.level > c.read.level]
    if crossing:
        worst = max(crossing, key=lambda c: c.write)
        return Bottleneck("data", worst.arg.name or "a carried value", plan.loop.span, None, plan.ii)
    return Bottleneck("condition", "continue condition", plan.loop.span, None, plan.ii)


def _say(op: Op) -> str:
    words = _WORDS.get(op.opcode, op.opcode)
    return f"{words} of {op.results[0].name}" if op.results and op.results[0].name else words
