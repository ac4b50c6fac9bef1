"""Chooses the load-store unit that suits each access pattern."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ...analysis.channels.endpoints import is_call
from ...analysis.induction.bounded_step import moves_on
from ...analysis.induction.trip_count import count_trips
from ...analysis.memory.strides import STAYS, Step, access_patterns
from ...analysis.predicates.implication import implied
from ...ir import Attr, Function, Op, TokenType, Value, walk
from ...ir.accesses import CACHED, PIPELINED, PREFETCHING, is_fenced, last_of_run, predicate
from ...narrow import instance, present
from ...passes.memory.work_item_runs import row_of
from .lsu import Access, LsuKind
from .plan import MemoryPlan

__all__ = ["choose_units", "returns_to_words"]

#: least words of a cached unit: this is the depth of the larger targets' block RAMs at full width, so fewer words cost
#: the same
CACHE_WORDS = 512
MOST_CACHE_WORDS = 2048
#: words that a store unit joins stores to at a time: each is compared with every store
MOST_GATHERED = 32


def choose_units(
    function: Function,
    plan: MemoryPlan,
    slots: Mapping[Op, int],
    cache_bytes: int | None = None,
    const_cache_bytes: int = 0,
) -> MemoryPlan:
    """The plan with a cache for every waiting load that returns to words it has left, a small unit for accesses that
    execute once per run, and the units that the program requests.

    ``slots`` gives the interleaved invocations of each loop. Every unit keeps the word in use, except for volatile
    memory, so a load whose accesses are consecutive needs no cache for that. ``cache_bytes`` is the size of the caches
    that the program does not specify: 0 for none, None for the size that each needs. Loads of ``__constant`` buffers
    share a cache of ``const_cache_bytes``; with 0 they are like others.
    """
    patterns = access_patterns(function)
    chosen = {
        op: _choose(access, patterns[op].steps, slots, function, const_cache_bytes)
        for op, access in plan.accesses.items()
    }
    chosen = {op: _acknowledged(access, function) for op, access in chosen.items()}
    if cache_bytes is not None:
        chosen = {op: _resized(access, cache_bytes) for op, access in chosen.items()}
    return replace(plan, accesses=chosen)


def _resized(access: Access, cache_bytes: int) -> Access:
    """An access with the cache size that the user set for all caches."""
    if not access.cache_words or Attr.UNIT in access.op.attrs:
        return access
    if not cache_bytes:
        return replace(access, unit=LsuKind.LOAD, cache_words=0, reason=f"{access.reason}; caches are disabled")
    return replace(
        access,
        cache_words=_size(cache_bytes // access.word_bytes),
        reason=f"{access.reason}; {cache_bytes:,} bytes requested",
    )


def _as_asked(access: Access, steps, slots: Mapping[Op, int], function: Function) -> Access:
    """The unit that the program requests, if it can serve the access."""
    kind, size = access.op.attrs[Attr.UNIT]
    compared = access.op.attrs.get(Attr.HAZARDS) or any(
        token.op is not None and token.op.opcode == "hazard" for token in access.op.operands[2:]
    )
    why_not = _why_not(kind, access, compared, function)
    if why_not:
        return replace(access, reason=f"{kind} requested, but {why_not}")
    if kind == CACHED:
        return replace(
            access,
            unit=LsuKind.CACHED_LOAD,
            reason=f"requested, with {size:,} bytes of cache",
            cache_words=_size(size // access.word_bytes),
        )
    if kind == PREFETCHING and _reads_ahead(access, steps, slots):
        return _ahead(access, steps, "prefetching requested: reads words ahead in bursts")
    if kind == PREFETCHING:
        return replace(
            access,
            reason="prefetching requested, but its addresses are not known to be consecutive; the unit has enough "
            "requests in flight to hide the latency of memory",
        )
    return replace(access, unit=_small(access) if kind == PIPELINED else access.unit, reason="requested")


def _small(access: Access) -> LsuKind:
    """The unit of an access that is not coalesced and caches nothing."""
    return LsuKind.PIPELINED_LOAD if access.direction == "load" else LsuKind.PIPELINED_STORE


def _why_not(kind: str, access: Access, compared: bool, function: Function) -> str:
    """Why a requested unit cannot serve the access; empty if it can."""
    if kind == PIPELINED and access.lanes:
        return "its bytes may cross two memory words"
    if kind == PIPELINED and compared and access.direction == "store":
        return "a hazard unit compares loads with it and needs its acknowledgement"
    if kind == CACHED and compared:
        return "a hazard unit compares it with earlier stores, whose values it must see"
    if kind == CACHED and function.memories[access.memory].volatile:
        return "the memory is volatile"
    return ""


@dataclass(frozen=True)
class _Reuse:
    """The iterations of ``loop`` return to words that were left after reading ``words`` others (None: unknown)."""

    loop: Op
    words: int | None
    reason: str

    def is_kept(self, memory: str) -> bool:
        """Whether the words are still in a cache of the memory then."""
        return not _is_flushed(self.loop, memory) and (self.words is None or self.words <= MOST_CACHE_WORDS // 2)

    def lost(self, memory: str) -> str:
        """Why they are not."""
        if _is_flushed(self.loop, memory):
            return f"no cache: stores in loop {_label(self.loop)} may change any cached word"
        return f"{self.reason}, but only after {self.words} other words"


def _choose(access: Access, steps, slots: Mapping[Op, int], function: Function, const_cache_bytes: int) -> Access:
    if access.latency is not None or access.direction == "atomic":
        return access
    if steps:
        step = steps[0][1]
        access = replace(access, scattered=_is_scattered(step, access.word_bytes), to_a_word=_to_a_word(step, access))
    if Attr.UNIT in access.op.attrs:
        return _as_asked(access, steps, slots, function)
    if access.direction == "store":
        return _choose_store(access, steps, slots)
    constant = Attr.CONSTANT_MEMORY in dict(function.memories[access.memory].attrs)
    if constant and const_cache_bytes and steps and not access.lanes:
        return replace(
            access,
            unit=LsuKind.CONSTANT_LOAD,
            scattered=False,
            reason=f"constant cache of {const_cache_bytes:,} bytes, shared by all kernels; valid across launches",
        )
    chosen = _wide(_choose_load(access, steps, slots, function), steps)
    if constant and const_cache_bytes and steps:
        why = "not in the constant cache, as one wide load reads each word once"
        return replace(chosen, reason=f"{chosen.reason}; {why}")
    return chosen


def _choose_store(access: Access, steps, slots: Mapping[Op, int]) -> Access:
    if not steps and not access.lanes and not access.op.attrs.get(Attr.HAZARDS):
        return replace(access, unit=_small(access), reason="one access a launch: a small unit without bursts")
    turns = _turns(access, steps, slots)
    if 1 < turns <= MOST_GATHERED:
        loop, words = steps[0][0], 1 << (turns - 1).bit_length()
        why = (
            f"{turns} interleaved invocations of loop {_label(loop)} store to {turns} words, of which it joins {words}"
        )
        access = replace(access, gathers=words, reason=f"{why}; {access.reason}" if access.reason else why)
    return _wide(access, steps)


def _turns(access: Access, steps, slots: Mapping[Op, int]) -> int:
    """The invocations that take turns to store, each to a word of its own that it stays at. 1 for a store that a hazard
    unit follows to memory, as stores that join words may pass others."""
    if access.lanes or not steps or access.op.attrs.get(Attr.HAZARDS):
        return 1
    loop, step = steps[0]
    return slots.get(loop, 1) if step.amount and _is_near(step, access.word_bytes) else 1


def _wide(access: Access, steps) -> Access:
    """Completes the reason of an access that stands for several of the source, and the direction of a wide one."""
    members, lines = access.op.attrs.get(Attr.MEMBERS, 1), access.op.attrs.get(Attr.LINES, ())
    turns = access.op.attrs.get(Attr.TURNS, 1)
    where = f" (lines {', '.join(map(str, lines))})" if len(lines) > 1 else ""
    if turns > 1:
        return replace(
            access, reason=f"{turns} stores{where} of an iteration, which may conflict, share it; {access.reason}"
        )
    if members == 1:
        return access
    if not access.lanes:
        return replace(access, reason=f"{members} loads of one address{where} are merged; {access.reason}")
    down = bool(steps) and steps[0][1].amount is not None and steps[0][1].amount < 0
    return replace(
        access,
        descending=down,
        reason=f"{members} accesses to adjacent addresses{where} are coalesced; {access.reason}",
    )


def _choose_load(access: Access, steps, slots: Mapping[Op, int], function: Function) -> Access:
    if not steps and not access.lanes:
        return replace(access, unit=_small(access), reason="one access a launch: a small unit without bursts or cache")
    if steps and _is_rare(access, steps):
        return replace(
            access,
            unit=_small(access),
            reason="only one work-item of a row reads: a small unit without bursts or cache",
        )
    if not steps:
        return replace(access, reason="one access a launch")
    memory = function.memories[access.memory]
    if memory.volatile and not is_fenced(memory):
        return replace(access, reason="volatile: no word may be cached, each access reads memory")
    if any(token.op is not None and token.op.opcode == "hazard" for token in access.op.operands[2:]):
        return replace(
            access, reason="a hazard unit compares it with earlier stores in flight, whose values it must see"
        )
    if memory.volatile:
        return replace(access, reason="shared with other kernels by fences: no word may be cached")
    if _follows_data(access, steps, slots):
        return replace(
            access,
            unit=LsuKind.NEXT_WORD_LOAD,
            reason="the next address depends on what is read, and is near: requests the next word ahead",
        )
    reuses = _reuses(access, steps, slots, function)
    kept = next((one for one in reuses if one.is_kept(access.memory)), None)
    if kept is not None:
        return replace(access, unit=LsuKind.CACHED_LOAD, reason=kept.reason, cache_words=_size(kept.words or 0))
    if reuses:
        return replace(access, reason=reuses[0].lost(access.memory))
    if _reads_ahead(access, steps, slots):
        return _ahead(access, steps, "consecutive addresses: reads words ahead in bursts")
    near, own = _is_near(steps[0][1], access.word_bytes), _has_own_words(access, steps, slots)
    reason = "consecutive addresses share words" if near else "each access reads a different word"
    return replace(access, reason=reason, own_words=own)


def _has_own_words(access: Access, steps, slots: Mapping[Op, int]) -> bool:
    """Whether each access is a whole word, and another one than that of the access before it, in the whole launch: of
    loops around its loop, the next iteration may begin where the one before has ended."""
    (loop, step), alone = steps[0], len(steps) == 1
    if access.lanes or access.bytes != access.word_bytes or not alone or slots.get(loop, 1) > 1:
        return False
    return step.regular and step.amount is not None and abs(step.amount) >= access.word_bytes


def _ahead(access: Access, steps, reason: str) -> Access:
    """The access with the unit that requests the words of a run ahead of their accesses."""
    items = steps[0][0].attrs.get(Attr.FORM) == "ndrange"
    end = "the last work-item of a row" if items else "the last iteration"
    return replace(
        access,
        unit=LsuKind.STREAMING_LOAD if items else LsuKind.PREFETCHING_LOAD,
        reads_ahead=True,
        reason=f"{reason}, up to {end}",
    )


def _is_rare(access: Access, steps) -> bool:
    """Whether only one work-item of a row makes the access, always at the same address: its predicate implies that the
    work-item id has a fixed value."""
    row = row_of(steps[0][0]) if len(steps) == 1 and steps[0][1] == STAYS and not access.lanes else None
    facts = implied(predicate(access.op)) if row is not None else {}
    return any(present(row).is_one_of(fact) for fact, truth in facts.items() if truth)


def _acknowledged(access: Access, function: Function) -> Access:
    """A store that something in the kernel waits for gets the acknowledged kind."""
    if access.unit is not LsuKind.STORE:
        return access
    if access.op.attrs.get(Attr.HAZARDS):
        return replace(
            access,
            unit=LsuKind.ACKNOWLEDGED_STORE,
            reason=f"a hazard unit compares loads with it until memory acknowledges it; {access.reason}",
        )
    waiting = [
        op for op in walk(function.body) if op.opcode in ("fence", "meet") and access.memory in op.attrs[Attr.MEMS]
    ]
    if not waiting:
        return access
    who = "a barrier" if waiting[0].opcode == "meet" else "the next operation"
    return replace(
        access, unit=LsuKind.ACKNOWLEDGED_STORE, reason=f"{who} waits until memory acknowledges it; {access.reason}"
    )


def _follows_data(access: Access, steps, slots: Mapping[Op, int]) -> bool:
    """Whether the address stays or moves on within the word or to the next one, as what is read decides: then the loop
    waits for each word that nobody has requested. No loop around it comes back to words that a cache would keep."""
    loop = steps[0][0]
    if access.lanes or slots.get(loop, 1) > 1 or access.location is not None:
        return False
    most = moves_on(access.op, loop)
    if not 0 < most < access.word_bytes:
        return False
    return _comes_back(steps, access.word_bytes) is None or _is_flushed_around(steps, access.memory)


def _is_flushed_around(steps, memory: str) -> bool:
    """Whether a loop around the innermost one invalidates cached words of the memory."""
    return any(_is_flushed(loop, memory) for loop, _ in steps[1:])


def _reads_ahead(access: Access, steps, slots: Mapping[Op, int]) -> bool:
    """Whether the words of an access's run are accessed in order: the invocations of its loop are not interleaved."""
    return last_of_run(access.op) is not None and slots.get(steps[0][0], 1) == 1


def _is_flushed(loop: Op, memory: str) -> bool:
    """Whether a fence in the loop invalidates what loads of this memory have cached, also in runs whose buffers do not
    overlap."""
    return any(
        op.opcode == "fence" and memory in op.attrs[Attr.FLUSH] and not instance(op.result.type, TokenType).overlap
        for op in walk(loop.regions[0])
    )


def _reuses(access: Access, steps, slots: Mapping[Op, int], function: Function) -> list[_Reuse]:
    """The ways in which an access returns to words that it has left, the one that a cache suits best first. Where a
    loop around returns to them after too long, or after a fence, invocations that take turns may still do so before."""
    (loop, step), word_bytes = steps[0], access.word_bytes
    turns = slots.get(loop, 1)
    if not step.regular:
        how = "depend on data" if _is_made_of_data(access.op.operands[0], function) else "have no constant stride"
        return [_Reuse(loop, None, f"addresses {how} and may return to words read before")]
    if (words := _round(loop, step, word_bytes)) > 1:
        return [_Reuse(loop, words, "the address wraps around to words read before")]
    found, back = list[_Reuse](), _comes_back(steps, word_bytes)
    if back is not None:
        words_between = _words_between(steps, back, word_bytes)
        found.append(_Reuse(back, words_between, f"loop {_label(back)} reads the same words again"))
    if turns > 1 and _is_near(step, word_bytes) and step.amount:
        why = f"{turns} interleaved invocations of loop {_label(loop)} read {turns} different words"
        found.append(_Reuse(loop, turns, why))
    return found


def returns_to_words(access: Access, steps: Sequence[tuple[Op, Step]]) -> bool:
    """Whether a cached load may return to words that other iterations of the loops around it have read, rather than go
    through words of its own in several invocations at a time."""
    return not steps[0][1].regular or _comes_back(steps, access.word_bytes) is not None


def _round(loop: Op, step: Step, word_bytes: int) -> int:
    """The words after which the address of an access wraps around within one run of its loop; 0 if it does not, or
    after too many."""
    if not step.period or step.amount is None:
        return 0
    trips = count_trips(loop)
    if trips is not None and trips.count * abs(step.amount) <= step.period:
        return 0
    words = step.period // word_bytes
    return words if words <= MOST_CACHE_WORDS // 2 else 0


def _is_made_of_data(value: Value, function: Function) -> bool:
    """Whether a value depends on data that was loaded or received."""
    carried = {
        arg: (init, loop.regions[0].terminator.operands[1 + arg.index])
        for loop in walk(function.body)
        if loop.opcode == "loop"
        for arg, init in zip(loop.regions[0].args, loop.operands[1:], strict=True)
    }
    seen: set[Value] = set()
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        if value.op is None:
            waiting += carried.get(value, ())
        elif value.op.opcode in ("load", "atomic") or is_call(value.op):
            return True
        else:
            waiting += value.op.operands
            waiting += value.op.regions[0].terminator.operands if value.op.opcode == "loop" else ()
    return False


def _is_near(step: Step, word_bytes: int) -> bool:
    """Whether an access often uses the same word as the one before."""
    return step.amount is not None and abs(step.amount) < word_bytes


def _is_scattered(step: Step, word_bytes: int) -> bool:
    """Whether successive accesses may rarely use the word of the one before or the word after it. Descending words
    cannot share a burst either; they count as scattered if they follow fast."""
    return not step.regular or step.amount is None or not -word_bytes // 8 <= step.amount <= word_bytes


def _to_a_word(step: Step, access: Access) -> int:
    """How many successive accesses use the same memory word; 1 if unknown."""
    return (
        max(1, access.word_bytes // max(access.bytes, abs(step.amount)))
        if step.regular and step.amount is not None
        else 1
    )


def _comes_back(steps, word_bytes: int) -> Op | None:
    """The innermost loop that returns to words which its inner loops have left."""
    left = steps[0][1] != STAYS
    for loop, step in steps[1:]:
        if left and _is_near(step, word_bytes):
            return loop
        left |= step != STAYS
    return None


def _words_between(steps, back: Op, word_bytes: int) -> int | None:
    """Words that the loops inside ``back`` read in one iteration of it; None if a trip count depends on data."""
    words = 1
    for loop, step in steps:
        if loop is back:
            break
        trips = count_trips(loop)
        if trips is None:
            return None
        words *= max(1, trips.count * abs(step.amount) // word_bytes) if _is_near(step, word_bytes) else trips.count
    return words


def _size(words: int) -> int:
    """Cache entries for twice as many words, as some are always in flight."""
    size = CACHE_WORDS
    while size < 2 * words:
        size *= 2
    return size


def _label(loop: Op) -> str:
    name, line = loop.attrs.get(Attr.LABEL, ""), f"line {loop.span.line}" if loop.span else ""
    return f"{name} ({line})" if name and line else name or line
