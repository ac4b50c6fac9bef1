"""What the plan of a program says of its lines: hints inside the text, and a line above each kernel."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..diag import Span
from ..report.facts.channels import Channel
from ..report.facts.loops import Loop, Share, every
from ..report.facts.memories import Access, Memory, Private
from ..report.model import Kernel

__all__ = ["Hint", "Lens", "hints", "lenses"]


@dataclass(frozen=True)
class Hint:
    """A short ``label`` about the place ``span``, and the ``tooltip`` that explains it. ``subject`` says what it is
    about: "loop" or "measured" (it stands at the end of the line), "access" (before the place), "memory" or "channel"
    (behind it)."""

    span: Span
    subject: str
    label: str
    tooltip: str = ""


@dataclass(frozen=True)
class Lens:
    """A line above a kernel."""

    span: Span
    title: str


def hints(kernels: Iterable[Kernel], channels: Iterable[Channel], file: str) -> tuple[Hint, ...]:
    """The hints at places in ``file``, in the order of the text. Where several kernels or copies say the same of a
    place, as of a function that two of them call, it is said once."""
    kernels = tuple(kernels)
    found = [
        *(_loop(loop, loop.span) for kernel in kernels for loop in every(kernel.loops) if loop.span),
        *(_access(one, one.span) for kernel in kernels for one in kernel.accesses if one.span),
        *(_memory(one, one.span) for kernel in kernels for one in kernel.memories if one.span),
        *(_private(one, one.span) for kernel in kernels for one in _not_memories(kernel) if one.span),
        *(_channel(one, one.span) for one in channels if one.span),
    ]
    here = (one for one in found if one.span.file == file)
    return tuple(sorted(dict.fromkeys(here), key=lambda one: (one.span, one.subject, one.label)))


def lenses(kernels: Iterable[Kernel], file: str) -> tuple[Lens, ...]:
    """A line for each kernel of ``file``: its loops, and the slowest of them."""
    return tuple(
        Lens(kernel.span, kernel.verdict.partition(": ")[2])
        for kernel in kernels
        if kernel.span is not None and kernel.span.file == file
    )


def _loop(loop: Loop, span: Span) -> Hint:
    if not loop.ii:  # unrolled, merged into another one, or gone
        return Hint(span, "loop", loop.verdict, loop.sentence)
    words = [f"II {loop.ii}"]
    if loop.interleaving > 1:
        words.append(f"{loop.interleaving} interleaved")
    words.append(f"latency {loop.latency}")
    return Hint(span, "loop", " · ".join(words), "\n\n".join(_because(loop)))


def _because(loop: Loop) -> Iterator[str]:
    """The paragraphs that explain a loop's II: what it is, what limits it with the shares, and what else delays it."""
    yield loop.sentence
    cause = loop.bottleneck
    if cause is not None:
        yield cause.sentence
        if cause.shares:
            yield "\n".join(f"- {_share(one)}" for one in cause.shares)
    if loop.one_at_a_time:
        yield loop.one_at_a_time
    if loop.advice:
        yield loop.advice


def _share(share: Share) -> str:
    line = f" (line {share.span.line})" if share.span else ""
    return f"{share.share:.0%} {share.operation}{line}"


def _access(access: Access, span: Span) -> Hint:
    times = f" ×{access.count}" if access.count > 1 else ""
    facts = [f"{access.kind} of {access.buffer}: {access.reason}"]
    if access.pattern:
        facts.append(f"addresses: {access.pattern}")
    if access.efficiency is not None:
        facts.append(f"uses {access.efficiency:.0%} of the bytes that it moves")
    return Hint(span, "access", f"{access.lsu}{times}", "\n\n".join(facts))


def _memory(memory: Memory, span: Span) -> Hint:
    banks = "1 bank" if memory.banks == 1 else f"{memory.banks} banks"
    copies = f" ×{memory.copies}" if memory.copies > 1 else ""
    facts = [
        f"{memory.requested} bytes declared, {memory.implemented} built in {memory.blocks} block RAMs: {memory.rating}",
        memory.banked,
        memory.advice,
    ]
    return Hint(span, "memory", banks + copies, "\n\n".join(filter(None, facts)))


def _private(private: Private, span: Span) -> Hint:
    label = private.place.partition(";")[0]  # what follows is said in the tooltip
    return Hint(span, "memory", label, f"{private.name}, {private.bits} bits: {private.place}")


def _not_memories(kernel: Kernel) -> Iterator[Private]:
    """The arrays that are not also described as a memory."""
    memories = {one.span for one in kernel.memories}
    return (one for one in kernel.privates if one.span not in memories)


def _channel(channel: Channel, span: Span) -> Hint:
    asked = "none in the source" if channel.requested is None else f"{channel.requested} in the source"
    ends = f"{channel.writer} to {channel.reader}, {channel.bits} bits, in {channel.storage}"
    why = f"depth: {asked}{f'; {channel.reason}' if channel.reason else ''}"
    return Hint(span, "channel", f"depth {channel.depth}", f"{ends}\n\n{why}")
