"""One cache for the same load of all copies of a kernel that share its iterations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from ..analysis.channels.endpoints import is_call
from ..analysis.memory.strides import access_patterns
from ..ir import Attr, Function, Op, memory_name, walk
from ..ir.accesses import is_fenced, reads_anew
from ..narrow import present
from ..target.board import Board
from .iterate import CompiledKernel
from .memory import Access, LsuKind, returns_to_words, shared_cache

__all__ = ["share_caches"]

#: identifies a load in all copies of a kernel: buffer, location, place in the source, size, and a number among loads
#: with equal values of these
_Key = tuple[object, ...]


def share_caches(copies: Sequence[CompiledKernel], board: Board) -> tuple[CompiledKernel, ...]:
    """The parts of a kernel; where they are copies that share its iterations, or parts of such copies, with one cache
    for each load that has a cache in several of them.

    Copies read the same graph, table or vector: with a cache for each, every word comes from memory once for each copy.
    A load that goes through words of its own, in several invocations of its loop at a time, has none to share.
    Only loads of buffers which no copy writes, and that no fence of theirs invalidates, share a cache: these forget
    what they hold at the start of a launch only, which is that of all copies. A cache that the program asks for, with
    its size, stays as it is.
    """
    if Attr.SHARES not in copies[0].function.attrs:
        return tuple(copies)
    written = {name for one in copies for name in _written(one.function)}
    found: dict[_Key, list[tuple[int, Access]]] = {}
    for number, one in enumerate(copies):
        for key, access in _cached(one, written):
            found.setdefault(key, []).append((number, access))
    chosen: list[dict[Op, Access]] = [{} for _ in copies]
    names = Counter[str]()
    for shared in found.values():
        if len(shared) == 1:
            continue
        first = shared[0][1]
        stem = f"{copies[0].function.name}.{first.memory}"
        name = f"{stem}.{names[stem]}"
        names[stem] += 1
        for number, access in shared:
            chosen[number][access.op] = _sharing(access, name, [one for _, one in shared], board)
    return tuple(
        replace(one, memory=replace(one.memory, accesses={**one.memory.accesses, **new})) if new else one
        for one, new in zip(copies, chosen, strict=True)
    )


def _sharing(access: Access, name: str, all_: Sequence[Access], board: Board) -> Access:
    """The load with a port to the cache of that name, which serves ``all_`` these loads."""
    memory = present(board.memory_named(access.location))
    words = max(one.cache_words for one in all_)
    reason = f"{access.reason}; one cache for {len(all_)} copies of the kernel"
    found = replace(access, unit=LsuKind.SHARED_LOAD, reason=reason, cache_words=words)
    return replace(found, shared=shared_cache(found, name, len(all_), memory)).with_unit(memory)


def _cached(kernel: CompiledKernel, written: set[str]) -> list[tuple[_Key, Access]]:
    """The loads of a copy that may share a cache with those of others, in program order."""
    function, seen = kernel.function, Counter[_Key]()
    found: list[tuple[_Key, Access]] = []
    forgotten, patterns = _forgotten(function), access_patterns(function)
    for op, access in kernel.memory.accesses.items():
        if access.unit is not LsuKind.CACHED_LOAD or access.lanes or Attr.UNIT in op.attrs:
            continue
        if not returns_to_words(access, patterns[op].steps):
            continue
        if access.memory in written | forgotten:
            continue
        if is_fenced(function.memories[access.memory]) or reads_anew(op, function):
            continue
        key = (access.memory, access.location, access.span, access.bytes)
        found.append(((*key, seen[key]), access))
        seen[key] += 1
    return found


def _written(function: Function) -> set[str]:
    return {memory_name(op) for op in walk(function.body) if op.opcode in ("store", "atomic")}


def _forgotten(function: Function) -> set[str]:
    """The memories whose cached words some operation invalidates."""
    ordered = [op for op in walk(function.body) if op.opcode in ("fence", "meet") or is_call(op)]
    return {name for op in ordered for name in op.attrs.get(Attr.FLUSH, ())}
