"""Accesses to memory for the report: which source text they are, their pattern, and how well it uses memory words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

from ..analysis.bits.ranges import Range, never_holds, ranges
from ..analysis.memory.strides import STAYS, AccessPattern, Step, access_patterns
from ..diag import Span
from ..ir import Attr, Function, Op, TokenType, Value, is_early
from ..narrow import instance
from ..options import Options
from ..planning.compilation import CompiledKernel
from ..planning.memory import LsuKind
from .identity import LoopIds, numbered
from .model import Access, LocalAccess, Wait

__all__ = ["CONSTANT_STRIDE", "OWN_CACHE_FLUSH", "AccessFacts", "collect_accesses", "expression_at"]

#: the pattern of an access whose stride is the same in every iteration, but known only at run time
CONSTANT_STRIDE = "constant stride"
#: when the words of a unit's own cache are discarded
OWN_CACHE_FLUSH = "when a launch starts"


@dataclass(frozen=True)
class AccessFacts:
    """The accesses of a kernel, and the id of each operation's entry."""

    outside: tuple[Access, ...]
    local: tuple[LocalAccess, ...]
    ids: dict[Op, str]


def collect_accesses(
    kernel: CompiledKernel,
    loops: LoopIds,
    texts: Mapping[str, str],
    options: Options,
    clocks: Mapping[tuple[str, str], float] = MappingProxyType({}),
) -> AccessFacts:
    """In program order; global units with equal figures are one entry with a count. ``texts`` are the sources,
    ``clocks`` those of units (:attr:`hls.target.delay.DelayModel.units`)."""
    name, around = kernel.function.name, _loops_around(kernel, loops)
    outside: dict[tuple, list[Op]] = {}
    for op, a in kernel.memory.outside.items():
        key = (a.direction, a.memory, a.span, a.bytes, a.lsu, a.reason, a.location, around.get(op), is_early(op))
        outside.setdefault(key, []).append(op)
    onchip = [op for op, a in kernel.memory.accesses.items() if a.memory in kernel.memory.onchip]
    accesses = kernel.memory.accesses
    stems = [f"{name}/{kind}/{buffer}" for kind, buffer, *_ in outside]
    stems += [f"{name}/{accesses[op].direction}/{accesses[op].memory}" for op in onchip]
    names = numbered(stems)
    ids = {op: id for id, ops in zip(names, outside.values(), strict=False) for op in ops}
    ids |= dict(zip(onchip, names[len(outside) :], strict=True))
    patterns = access_patterns(kernel.function)
    steps = _Steps(kernel.function)
    waits = _Waits(kernel, ids)
    return AccessFacts(
        tuple(
            replace(
                _outside(accesses[ops[0]], ops, ids, around, steps.of(patterns[ops[0]]), texts, waits, options),
                fmax_mhz=clocks.get((accesses[ops[0]].direction, accesses[ops[0]].lsu)),
            )
            for ops in outside.values()
        ),
        tuple(_local(kernel, op, ids, around, texts) for op in onchip),
        ids,
    )


def _loops_around(kernel: CompiledKernel, loops: LoopIds) -> dict[Op, str]:
    """The id of the innermost loop around each operation."""
    return {op: loops.ids[loop] for loop, plan in kernel.plan.loops.items() if loop in loops.ids for op in plan.place}


class _Steps:
    """The strides of accesses in the order in which hardware executes them: a loop of at most one iteration does not
    count, nor one in which a whole work-group takes turns at barriers, as its neighbours execute between two
    iterations of a work-item."""

    def __init__(self, function: Function) -> None:
        self._function = function

    @cached_property
    def _ranges(self) -> dict[Value, Range]:
        return ranges(self._function)

    def of(self, pattern: AccessPattern) -> tuple[tuple[Op, Step], ...]:
        """The loops that count, innermost first, with the stride in each."""
        steps = pattern.steps
        while len(steps) > 1 and (steps[0][0].attrs.get(Attr.RING) or self._runs_once(steps[0][0])):
            steps = steps[1:]
        return steps

    def _runs_once(self, loop: Op) -> bool:
        """Whether the first iteration, whose condition to go on is known before the loop, is the last one."""
        (body,) = loop.regions
        again = body.terminator.operands[0]
        if again not in body.args:
            return False
        return never_holds(loop.operands[1 + again.index], self._ranges)


def _outside(a, ops: list[Op], ids, around, steps, texts, waits: "_Waits", options: Options) -> Access:
    pattern, stride = _pattern(a, steps)
    used, efficiency = _use(a, pattern, stride)
    cache = a.cache_words * a.word_bytes
    flush = OWN_CACHE_FLUSH if cache else ""
    if a.unit is LsuKind.CONSTANT_LOAD:
        cache, flush = options.const_cache_bytes, "when the host writes memory"
    return Access(
        kind=a.direction,
        buffer=a.memory,
        span=a.span,
        bytes=a.bytes,
        lsu=a.lsu,
        reason=a.reason,
        count=len(ops),
        memory=a.location,
        id=ids[ops[0]],
        loop=around.get(ops[0]),
        expression=expression_at(texts, a.span),
        pattern=pattern,
        stride=stride,
        word_bytes=a.word_bytes,
        used=used,
        efficiency=efficiency,
        cache_bytes=cache,
        flush=flush,
        may_stall=a.latency is None or a.unit.holds_pipeline,
        waits_for=waits.of(ops[0]),
        early=is_early(ops[0]),
    )


def _pattern(a, steps) -> tuple[str, int | None]:
    """(pattern, bytes from one access to the next) in the innermost loop."""
    if not steps:
        return "single", None
    step = steps[0][1]
    if step == STAYS:
        return "invariant", 0
    if step.amount is None:
        return (CONSTANT_STRIDE if step.regular else "data-dependent"), None
    stride = abs(step.amount)
    return ("consecutive" if stride <= a.bytes else f"stride {stride:,} bytes"), step.amount


def _use(a, pattern: str, stride: int | None) -> tuple[int | None, float | None]:
    """(bytes used of each word that is moved, bytes used / bytes moved). A unit keeps the word in use, so accesses less
    than a word apart share it."""
    if pattern == "consecutive":
        return a.word_bytes, 1.0
    cached = a.cache_words or a.unit is LsuKind.CONSTANT_LOAD
    if not stride or cached:  # it depends on data or on hits, or one word serves many iterations
        return None, None
    apart, words = abs(stride), -(-a.bytes // a.word_bytes)
    moved = min(apart, words * a.word_bytes) if apart < a.word_bytes else words * a.word_bytes
    efficiency = min(1.0, a.bytes / moved)
    return round(efficiency * a.word_bytes), efficiency


def _local(kernel: CompiledKernel, op: Op, ids, around, texts) -> LocalAccess:
    a = kernel.memory.accesses[op]
    mask = kernel.memory.onchip[a.memory].mask(op)
    return LocalAccess(
        id=ids[op],
        kind=a.direction,
        memory=a.memory,
        span=a.span,
        expression=expression_at(texts, a.span),
        loop=around.get(op),
        bytes=a.bytes,
        latency=a.latency or 0,
        forwarding=a.forwarding,
        banks=tuple(bank for bank in range(mask.bit_length()) if mask >> bank & 1),
    )


class _Waits:
    """Which accesses an access waits for, by the memory tokens that it consumes."""

    def __init__(self, kernel: CompiledKernel, ids: dict[Op, str]) -> None:
        self.ids = ids
        self.carried = {c.arg: c for plan in kernel.plan.loops.values() for c in plan.carried}
        self.inits = {
            arg: loop.operands[1 + arg.index]
            for loop in kernel.plan.loops
            for arg in loop.regions[0].args
            if 1 + arg.index < len(loop.operands)
        }

    def of(self, op: Op) -> tuple[Wait, ...]:
        found: dict[str, bool] = {}
        left = [(v, False) for v in op.operands if isinstance(v.type, TokenType)]
        seen: set[Value] = set()
        while left:
            value, overlap = left.pop()
            if value in seen:
                continue
            seen.add(value)
            overlap = overlap or instance(value.type, TokenType).overlap
            if value.op is None:
                c = self.carried.get(value)
                left += [(v, overlap) for v in (c.next if c else None, self.inits.get(value)) if v is not None]
            elif value.op in self.ids:
                found[self.ids[value.op]] = found.get(self.ids[value.op], True) and overlap
            elif value.op.opcode == "loop":
                left.append((value.op.regions[0].terminator.operands[1 + value.index], overlap))
            else:
                left += [(v, overlap) for v in value.op.operands if isinstance(v.type, TokenType)]
        return tuple(Wait(id, overlap) for id, overlap in sorted(found.items()))


_NAME = re.compile(r"\*?\s*[A-Za-z_]\w*(?:\s*(?:\.|->)\s*\w+)*")


def expression_at(texts: Mapping[str, str], span: Span | None) -> str:
    """The text of an element that is accessed, as in ``a[i * 16]``: the one that begins at the place or, for an
    assignment, ends before its operator. "" if it is not found in the line."""
    lines = texts.get(span.file, "").splitlines() if span else []
    if span is None or not span.column or not 0 < span.line <= len(lines):
        return ""
    line, at = lines[span.line - 1], span.column - 1
    begin = _NAME.match(line, at)
    if begin:
        return " ".join(line[_start(line, at) : _after_brackets(line, begin.end())].split())
    return _before(line[:at])


def _start(line: str, at: int) -> int:
    """Where the element begins of which a member's name is at the place: before what is left of each ``.`` or ``->``,
    a name and its [...]."""
    while (member := re.search(r"(?:\.|->)\s*$", line[:at])) and (
        name := re.search(r"[A-Za-z_]\w*\s*$", line[: _before_brackets(line[: member.start()])])
    ):
        at = name.start()
    return at


def _after_brackets(line: str, at: int) -> int:
    """The end of all [...] that follow."""
    while at < len(line) and line[at] == "[":
        depth = 0
        for end in range(at, len(line)):
            depth += {"[": 1, "]": -1}.get(line[end], 0)
            if not depth:
                at = end + 1
                break
        else:
            return at
    return at


def _before_brackets(text: str) -> int:
    """The start of all [...] at the end of a text; 0 if a bracket is not opened there."""
    end = len(text)
    while (text := text[:end].rstrip()).endswith("]"):
        end = len(text)
        depth = 0
        for start in range(end - 1, -1, -1):
            depth += {"]": 1, "[": -1}.get(text[start], 0)
            if not depth:
                end = start
                break
        else:
            return 0
    return len(text)


def _before(text: str) -> str:
    """The element at the end of a text."""
    text = text.rstrip(" \t+-*/%&|^<>")
    found = re.search(r"\*?\s*[A-Za-z_][\w.]*$", text[: _before_brackets(text)])
    return " ".join(text[_start(text, found.start()) :].split()) if found else ""
