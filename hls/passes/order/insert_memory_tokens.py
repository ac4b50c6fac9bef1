"""Memory-token insertion: each dependence becomes a token, and no other order is kept."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...analysis.dependence.dependence import Dependence, DependenceTester, Kind, dependences
from ...analysis.loops.forward_slice import computed_from, taken
from ...analysis.loops.loop_tree import Loop, LoopTree
from ...ir import BOOL, TOKEN, Attr, Builder, Function, Op, Region, TokenType, Value, walk
from ...ir.accesses import fixed_operands, memory_name, predicate
from ...ir.clone import clone_function
from ...ir.launch import OVERLAP
from ...ir.loops import CarriedValue, add_carried
from ...ir.reorder import Reordering, inside
from ...ir.rewrite import constant
from ...narrow import present
from ..loops.mark_non_interleaved import from_the_one_before
from ..manager import Form, FunctionPass
from ..memory.multi_buffer_private import copies_of_loop
from .disambiguation import Check, find_checks
from .mark_fenced_memory import FenceOrder, is_memory_fence
from .order_barriers import Meetings, OrderBarriers
from .order_choice import OrderChoice
from .token_builder import done_token
from .write_port_constraints import PortGroups, keep_apart

__all__ = ["InsertMemoryTokens"]


@dataclass(frozen=True)
class InsertMemoryTokens(FunctionPass):
    """Memory-token insertion (dependences as SSA tokens, as in memory SSA). Before: a flat kernel that is correct in
    program order. After: correct in any order that tokens allow.

    Hardware keeps the tokens of a region in order through its levels, so between two accesses of one region

    - write after read holds if the store is in a later level than the result of the load: the store takes a token of
      the load (which may have to be moved before it);
    - an atomic operation on global memory waits in the same way until the previous one has returned;
    - read or write after write waits for a fence on the earlier stores: within an iteration it takes the fence's token,
      from one iteration to a later one it takes that token as a carried value;
    - a store operation keeps its own order.

    Two accesses in one loop, to one memory that never stalls, need no more from one of its invocations to the next: the
    loop carries a token ``between`` them, and the loops around do not wait until it has ended. From one invocation of
    an inner loop to the next this holds only for loops whose invocations do not interleave: those get the attribute
    ``interleave`` = False, or ``apart`` if that is needed only in runs in which buffers overlap. Order between
    different buffers is needed in such runs only: it depends on the hidden argument ``overlap``, which is added. A
    fence after a store takes effect for stores issued before it, so a loop that must be waited for gets a result token.
    With ``hazards``, or where ``compared`` names its memory, an access that may alias a store of an earlier iteration
    waits neither for a fence nor for iterations: a ``hazard`` compares addresses at run time (see
    :mod:`hls.passes.order.disambiguation`). Memory fences are tokens as well (see
    :mod:`hls.passes.order.mark_fenced_memory`). At a barrier, everything before it has completed and nothing after it
    has begun (see :mod:`hls.passes.order.order_barriers`). ``address_bits``: see
    :func:`~hls.analysis.dependence.dependence.dependences`.
    """

    address_bits: int = 64
    hazards: bool = False
    compared: frozenset[str] = frozenset()
    name = "insert-memory-tokens"
    requires = frozenset({Form.DISPATCHED})
    provides = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy with the tokens of all dependences that hardware does not keep by itself."""
        result = clone_function(function)
        tester = DependenceTester(result, self.address_bits)
        facts = dependences(result, self.address_bits, tester=tester)
        needed = [_between_copies(result, fact) for fact in facts if not _kept_by_ring(result, fact)]
        if needed or any(op.opcode == "meet" or is_memory_fence(op) for op in walk(result.body)):
            orderer = _Orderer(result, tester, self.hazards, self.compared)
            meetings = Meetings(orderer.tree)
            needed = [fact for fact in needed if not meetings.keep_order(fact)]
            orderer.run((*needed, *keep_apart(result, orderer.tree, needed)))
        return result


def _kept_by_ring(function: Function, fact: Dependence) -> bool:
    """Whether a barrier loop keeps the order by itself: its next iteration begins when the results of the previous one
    have returned, and all its stores have been issued. (Only stores to global memory may not have completed yet.)"""
    if fact.loop is None or not fact.loop.attrs.get(Attr.RING):
        return False
    return fact.kind is Kind.WAR or fact.src is fact.dst or function.memories[memory_name(fact.src)].onchip


def _between_copies(function: Function, fact: Dependence) -> Dependence:
    """The dependence with the distance at which iterations use the same copy of the memory: no index leaves its array,
    so accesses to different copies never conflict."""
    copies = (
        copies_of_loop(function, fact.loop, memory_name(fact.src)) if fact.loop is not None and not fact.overlap else 1
    )
    return replace(fact, distance=max(fact.distance, copies))


def _predicate(op: Op) -> Value:
    """The predicate of an access, or the enable of a loop."""
    return op.operands[0] if op.opcode == "loop" else predicate(op)


@dataclass(frozen=True)
class _Wait:
    """``dst`` waits for operations of one region, some of them loops: for their stores to be in memory, or
    (``after_read``) for their loads to return.

    ``distance`` is 0 within an iteration of that region, else the distance in iterations of its loop; with ``between``,
    any iteration of earlier invocations of the loop, except (``ahead``) those so far ahead that none depends on them
    (see :class:`~hls.ir.TokenType`). ``alone`` is set to wait for this one source by a separate token:
    planning may find that other sources need not be waited for as long.
    """

    dst: Op
    distance: int
    overlap: bool
    after_read: bool = False
    between: bool = False
    ahead: int | None = None
    alone: Op | None = None


class _Orderer:
    def __init__(self, function: Function, tester: DependenceTester, hazards: bool, compared: frozenset[str]) -> None:
        self.function, self.tester, self.hazards, self.compared = function, tester, hazards, compared
        self.tree = LoopTree(function)
        self.places = Reordering(function)
        self.ports = PortGroups(function, self.places)
        self.stores = {
            op: {memory_name(x) for x in inside(op) if x.opcode in ("store", "atomic")}
            for op in walk(function.body)
            if op.opcode in ("store", "atomic", "loop")
        }
        self.waits: dict[tuple[Region, _Wait], dict[Op, None]] = {}
        self.done: dict[Op, Value] = {}
        self.ends: dict[tuple, Op] = {}
        self.fences: dict[Op, list[Op]] = {}  # fences of the program, by the operation that each follows
        self.carried: dict[Op, Value] = {}  # carried tokens, by the fence or token that they carry
        #: loops that were marked here: their invocations do not interleave
        self.marked: list[Op] = []
        #: nests of such loops, from the outermost, each with the loop around whose iterations that keeps in order
        #: (None: the order is that of invocations of the nest's own loops)
        self.apart: list[tuple[Op | None, list[Op]]] = []

    def run(self, needed: Iterable[Dependence]) -> None:
        needed = list(needed)
        self.choice = OrderChoice(self.function, self.tree, self.tester, self.hazards, self.compared, needed)
        FenceOrder(self, self.function, self.tree).run()  # first: other tokens must not contradict it
        checks, needed = self._checked(needed)
        for fact in needed:
            if fact.loop is None:
                self._within(fact)
        across = [fact for fact in needed if fact.loop is not None]
        self.choice.find_waits(across)
        for number, check in enumerate(checks):
            self._check(check, number)
        # these may move operations, but never against the order of one iteration, or before operands of a check
        for fact in sorted(across, key=self.choice.may_gain):
            self._across(fact)
        self._drop_weaker()
        for (region, wait), sources in self.waits.items():
            self._wait(region, wait, list(sources))
        OrderBarriers(self, self.function, self.tree).run()
        self.places.settle()
        self._interleave_within()

    def _checked(self, needed: list[Dependence]) -> tuple[list[Check], list[Dependence]]:
        """Run-time checks, and the dependences left to tokens. What an outer loop waits for anyway is not checked."""
        may_be = [fact for fact in needed if self.choice.comparable(fact)]
        within = [fact for fact in needed if fact.loop is None]
        checks = find_checks(self.tree, may_be, within)
        checked = {fact for check in checks for fact in check.facts}
        waiting = {
            (self.choice.inner(fact), memory_name(fact.dst))
            for fact in needed
            if fact not in checked and self.choice.waits_for_end(fact)
        }
        kept = {fact for fact in checked if (self.choice.inner(fact), memory_name(fact.dst)) in waiting}
        if kept:
            left = [fact for fact in may_be if fact.loop is None or fact in checked - kept]
            checks = find_checks(self.tree, left, within)
            checked = {fact for check in checks for fact in check.facts}
        # at distance 1 they share one fence, which invalidates what the loads hold
        return checks, [replace(fact, distance=1) if fact in kept else fact for fact in needed if fact not in checked]

    def carry(self, region: Region, loop: Op) -> CarriedValue:
        """A token that the loop, an operation of the region, carries, valid from the start; the caller sets its next
        value."""
        return self._carry(region, loop, TOKEN)

    def token_behind(self, region: Region, last: Op, tokens: list[Value]) -> Op:
        """An operation after ``last`` that yields a token once all these are there."""
        return self.places.after(region, last, self._op("token", list(dict.fromkeys(tokens)), TOKEN, last))

    def fence_behind(self, region: Region, stores: list[Op], last: Op, tokens: list[Value]) -> Op:
        """An operation after ``last`` that yields a token once all these are there and the stores are in memory."""
        mems = tuple(sorted(set().union(*(self.stores[s] for s in stores))))
        pred = self._any_of(region, stores, last, False)
        op = self._op("fence", [pred, *dict.fromkeys(tokens)], TOKEN, last, {Attr.MEMS: mems, Attr.FLUSH: ()})
        self.fences.setdefault(last, []).append(op)
        return self.places.after(region, last, op)

    # --- tokens for each dependence ---

    def _within(self, fact: Dependence) -> None:
        """Order within one iteration of the loops around both accesses."""
        common = self.choice.common(fact)
        region = common[-1].body if common else self.function.body
        src, dst = self.tree.ancestor(fact.src, region), self.tree.ancestor(fact.dst, region)
        if self.choice.by_answer(fact):
            if not self._follow(region, src, dst, fact.dst):
                raise AssertionError(f"{fact} is against the order of its region")
        else:
            self.places.follow(region, src, dst)
            self._need(region, src, _Wait(fact.dst, 0, fact.overlap, alone=self.choice.alone(fact)))

    def _across(self, fact: Dependence) -> None:
        """Order from one iteration of a loop to a later one."""
        if self.choice.is_kept(fact):
            return
        inner = self.choice.inside(fact)
        turns = self.choice.take_turns(fact, inner)
        if fact.src is fact.dst and not turns:
            self._keep_apart(inner, fact.overlap, fact.loop)
        elif self.choice.by_answer(fact) and not turns and self._in_pipeline(fact, inner):
            return
        elif not turns and self.choice.beside(fact, inner):
            wait = _Wait(
                fact.dst, 1, False, self.choice.by_answer(fact), True, self.choice.ahead[fact], self.choice.alone(fact)
            )
            self._need(inner[-1].body, fact.src, wait)
            self._keep_apart(inner, False)
        else:
            region = present(fact.loop).regions[0]
            wait = _Wait(
                fact.dst, fact.distance, fact.overlap, self.choice.by_answer(fact), alone=self.choice.alone(fact)
            )
            self._need(region, self.tree.ancestor(fact.src, region), wait)

    def _in_pipeline(self, fact: Dependence, inner: list[Loop]) -> bool:
        """Whether levels alone can order a write after a read of an earlier iteration."""
        region = inner[-1].body if inner else present(fact.loop).regions[0]
        src, dst = self.tree.ancestor(fact.src, region), self.tree.ancestor(fact.dst, region)
        if self.ports.parted(region, src, dst) or not self._follow(region, src, dst, fact.dst):
            return False
        self._keep_apart(inner, fact.overlap, fact.loop)
        return True

    def _keep_apart(self, loops: Iterable[Loop], overlap: bool, across: Op | None = None) -> None:
        """Let no two invocations of these loops be in flight together (in runs with ``overlap``): of each other, or of
        different iterations of the loop ``across`` around them."""
        nest = [loop.op for loop in loops]
        for op in nest:
            if overlap:
                op.attrs[Attr.APART_IF_OVERLAP] = True
            elif op.attrs.get(Attr.INTERLEAVE, True):
                op.attrs[Attr.INTERLEAVE] = False
                self.marked.append(op)
        if nest and not overlap:
            self.apart.append((across, nest))

    def _interleave_within(self) -> None:
        """Let invocations of a loop interleave again where only iterations of a loop around had to be kept in order,
        and each of these enters the nest when the one before has left it: within one of them, there is no such order.
        """
        kept = {
            loop
            for across, loops in self.apart
            if across is None or not self._leaves_first(across, loops[0])
            for loop in loops
        }
        for loop in self.marked:
            if loop not in kept:
                del loop.attrs[Attr.INTERLEAVE]

    def _leaves_first(self, loop: Op, nest: Op) -> bool:
        """Whether each iteration of the loop enters the nest only when the accesses of the one before in it have
        executed, in every run: by a token that comes out of the nest, and goes round the loop into it."""
        (body,) = loop.regions
        if nest not in self.done:
            return False
        behind = computed_from(body, {self.done[nest]}, always=True)
        nexts = body.terminator.operands[1:]
        around = {
            arg for arg, value in zip(body.args, nexts, strict=True) if value in behind and from_the_one_before(arg)
        }
        return not taken(nest).isdisjoint(computed_from(body, around, always=True))

    def _need(self, region: Region, src: Op, wait: _Wait) -> None:
        self.waits.setdefault((region, wait), {}).setdefault(src)

    def _drop_weaker(self) -> None:
        """Remove waits that apply only if buffers overlap where the same wait applies always."""
        for (region, wait), sources in list(self.waits.items()):
            always = self.waits.get((region, replace(wait, overlap=False)))
            if wait.overlap and always:
                for src in [s for s in sources if s in always]:
                    del sources[src]
                if not sources:
                    del self.waits[region, wait]

    # --- tokens ---

    def take(self, op: Op, token: Value) -> None:
        """Let an access wait for a token."""
        self._take(op, token)

    def done_of(self, region: Region, op: Op) -> Value:
        """A token of an operation of the region: it has returned, or been issued if it is a store."""
        return self._done(region, op)

    def fences_behind(self, op: Op) -> list[Op]:
        """The fences that follow an operation of their region and wait for it."""
        waited = [end for (sources, *_), end in self.ends.items() if sources[-1] is op and end.opcode == "fence"]
        return waited + self.fences.get(op, [])

    def through(self, region: Region, loop: Op, tokens: list[Value]) -> Value:
        """Let a loop of the region wait for tokens; returns a token that is there when the loop has ended."""
        done = self._done(region, loop)
        if tokens:
            start = self._op("token", tokens, TOKEN, loop)
            self.places.before(region, loop, start)
            loop.operands[1 + done.index] = start.result
            self.places.takes_more(loop, (each.op for each in self.tree.around(loop)))
        return done

    def _follow(self, region: Region, src: Op, dst: Op, access: Op) -> bool:
        """Let ``access``, which is or is inside ``dst``, follow the result of ``src``; False if that is impossible."""
        if src is dst or not self.places.may_follow(region, src, dst):
            return False
        if not self.places.answers_to(region, src, dst):
            self._take(access, self._done(region, src))
            self.places.follow(region, src, dst)
        return True

    def _take(self, access: Op, token: Value) -> None:
        if token not in access.operands[fixed_operands(access) :]:
            access.operands.append(token)
            self.places.takes_more(access, (loop.op for loop in self.tree.around(access)))

    def _done(self, region: Region, op: Op) -> Value:
        """A token that is there when a load or loop has returned, or a store has been issued."""
        if op not in self.done:
            self.done[op] = {
                "load": self._load_done,
                "rtl_wait": self._load_done,
                "store": self._store_done,
                "atomic": self._store_done,
                "loop": self._loop_done,
                "meet": lambda region, op: op.result,
                "channel_read": self._call_done,
                "channel_write": self._call_done,
            }[op.opcode](region, op)
        return self.done[op]

    def _load_done(self, region: Region, op: Op) -> Value:
        return self.places.after(region, op, self._op("token", [op.result], TOKEN, op)).result

    def _store_done(self, region: Region, op: Op) -> Value:
        op.results.append(Value(TOKEN, "", op, len(op.results)))
        return op.results[-1]

    def _call_done(self, region: Region, op: Op) -> Value:
        return done_token(op)

    def _loop_done(self, region: Region, op: Op) -> Value:
        """A token that passes through the loop: it comes out when all of the loop's accesses have executed."""
        token = self._carry(region, op, TOKEN)
        token.set_next(token.arg)
        return token.result

    def _carry(self, region: Region, loop: Op, type: TokenType) -> CarriedValue:
        """A further carried token of the loop; the caller sets its next value."""
        start = self._op("const", [], type, loop, {Attr.VALUE: 0})
        self.places.before(region, loop, start)
        carried = add_carried(loop, start.result, "order")
        self.places.takes_more(loop, (each.op for each in self.tree.around(loop)))
        return carried

    # --- hazards ---

    def _check(self, check: Check, number: int) -> None:
        """The accesses wait for a token that comes once no store in flight has the address of one of them."""
        self._keep_apart(check.loops, False)
        first = min(check.accesses, key=check.region.ops.index)
        true = self.places.before(check.region, first, self._op("const", [], BOOL, first, {Attr.VALUE: 1})).result
        operands = []
        for access, known in zip(check.accesses, check.known, strict=True):
            operands += [access.operands[0], predicate(access) if known else true]
        for k, (store, certain) in enumerate(zip(check.stores, check.certain, strict=True)):
            operands += [store.operands[0], predicate(store) if certain else true]
            store.attrs[Attr.HAZARDS] = (*store.attrs.get(Attr.HAZARDS, ()), (number, k))
        attrs = {
            Attr.NUMBER: number,
            Attr.MEM: memory_name(first),
            Attr.ASKS: check.asks,
            Attr.CERTAIN: tuple(map(int, check.certain)),
        }
        hazard = self.places.before(check.region, first, self._op("hazard", operands, TOKEN, first, attrs))
        for access in check.accesses:
            self._take(access, hazard.result)
            self.places.follow(check.region, hazard, access)

    # --- fences ---

    def _wait(self, region: Region, wait: _Wait, sources: list[Op]) -> None:
        type = TokenType(wait.overlap, max(1, wait.distance), wait.between, wait.ahead)
        end = self._end(region, sources, type, None if wait.after_read else self._concerned(wait.dst, sources))
        if wait.dst.opcode != "store" and not wait.after_read:  # its unit may hold words of memory
            end.attrs[Attr.FLUSH] = tuple(dict.fromkeys((*end.attrs[Attr.FLUSH], memory_name(wait.dst))))
        if wait.distance == 0:
            self._take(wait.dst, end.result)
            self.places.follow(region, end, self.tree.ancestor(wait.dst, region))
            return
        loop = next(loop for loop in self.tree.loops.values() if loop.body is region)
        if end not in self.carried:
            carried = self._carry(self.tree.region_of(loop.op), loop.op, type)
            carried.set_next(end.result)
            self.carried[end] = carried.arg
        self._take(wait.dst, self.carried[end])

    def _concerned(self, dst: Op, sources: list[Op]) -> tuple[str, ...]:
        """The memories whose stores an access waits for: if a loop stores to several, on-chip stores complete long
        before global memory has acknowledged."""
        name, memories = memory_name(dst), self.function.memories
        stored = sorted(set().union(*(self.stores[s] for s in sources)))
        return tuple(m for m in stored if m == name or not memories[name].onchip and not memories[m].onchip)

    def _end(self, region: Region, sources: list[Op], type: TokenType, mems: tuple[str, ...] | None) -> Op:
        """An operation that yields a token when all sources are done, after the last of them: a fence on their stores
        to ``mems``, or a plain token if there are no stores to wait for (None)."""
        sources = sorted(sources, key=region.ops.index)
        key = (tuple(sources), type, mems)
        if key not in self.ends:
            last = sources[-1]
            tokens = [self._done(region, s) for s in sources]
            if mems is None:
                op = self._op("token", tokens, type, last)
            else:
                pred = self._any_of(region, sources, last, type.overlap)
                op = self._op("fence", [pred, *tokens], type, last, {Attr.MEMS: mems, Attr.FLUSH: ()})
            self.ends[key] = self.places.after(region, last, op)
        return self.ends[key]

    def _any_of(self, region: Region, sources: list[Op], last: Op, overlap: bool) -> Value:
        """Whether any of the sources executes (and buffers overlap, if the order is needed only then)."""
        terms = list(dict.fromkeys(_predicate(s) for s in sources))
        certain = [t for t in terms if constant(t) == 1]
        value = certain[0] if certain else terms[0]
        for term in [] if certain else terms[1:]:
            value = self.places.after(region, last, self._op("or", [value, term], BOOL, last)).result
        if not overlap:
            return value
        if certain:
            return self._overlap()
        return self.places.after(region, last, self._op("and", [value, self._overlap()], BOOL, last)).result

    def _overlap(self) -> Value:
        f = self.function
        names = f.attrs.get(Attr.LAUNCH_ARGS, ())
        if OVERLAP not in names:
            f.attrs[Attr.LAUNCH_ARGS] = (*names, OVERLAP)
            f.args.append(Value(BOOL, OVERLAP, f.body, len(f.args)))
        return f.args[-1]

    def _op(self, opcode: str, operands: list[Value], type, like: Op, attrs=None) -> Op:
        return Builder(Region(), like.span).op(opcode, *operands, result=type, attrs=attrs)
