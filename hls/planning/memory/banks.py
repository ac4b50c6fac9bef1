"""Translates the accesses of an on-chip memory into the input of :mod:`hls.planning.banking`, and its result back."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ...analysis.affine.affine import Affine, AffineForms, Symbol, WrappedSum
from ...analysis.bits.known_bits import TrailingZeros
from ...analysis.dependence.enumerate import AddressTraces
from ...analysis.loops.loop_tree import LoopTree
from ...analysis.predicates.implication import implied
from ...diag import Code, CompileError
from ...ir import Attr, Function, MemoryObject, Op, Region, TokenType, Value, moved_type, predicate, walk
from ...narrow import instance
from ...passes.order.write_port_constraints import may_write_twice
from ..banking import Asked, Banking, Blocks, Copies, Refusal, Unknown, Use, choose_banks
from .token_sources import token_sources

__all__ = ["BankPlanner", "asked_of", "awaited", "comes_after", "watches"]

#: bound, on both sides of 0, of an unknown about which nothing is known
FAR = 1 << 62


def asked_of(memory: MemoryObject, skew: bool = True, pumped: bool = False, writable: bool = True) -> Asked:
    """The attributes of a memory. The caller decides, and reports, whether it is ``pumped``. A second write port costs
    blocks: a memory that is pumped only to save blocks does not get one unless it is requested."""
    attrs = dict(memory.attrs)
    bits = attrs.get(Attr.BANK_BITS)
    given = {
        name: attrs[name]
        for name in (Attr.NUMBANKS, Attr.BANKWIDTH, Attr.MAX_REPLICATES, Attr.NUMREADPORTS, Attr.NUMWRITEPORTS)
        if name in attrs
    }
    return Asked(
        bank_bits=(bits,) if isinstance(bits, int) else bits,
        skew=skew,
        pumped=pumped,
        writes=int(writable),
        may_add_writes=pumped and writable and may_write_twice(memory) and Attr.NUMWRITEPORTS not in attrs,
        **given,
    )


@dataclass(frozen=True, eq=False)
class BankPlanner:
    """Chooses banks for the memories of one flat kernel."""

    function: Function
    forms: AffineForms
    zeros: TrailingZeros
    traces: AddressTraces
    numbers: dict  #: numbers of unknowns, which give terms their order

    @classmethod
    def of(cls, function: Function) -> "BankPlanner":
        """The planner of a function, with its analyses of addresses."""
        forms = AffineForms(function)
        return cls(function, forms, TrailingZeros(function), AddressTraces(forms), {})

    def choose(
        self,
        memory: MemoryObject,
        ops: list[Op],
        watching: frozenset[Op],
        apart: bool,
        alone: Mapping[Op, frozenset[Op]],
        pumped: bool,
        blocks: Blocks,
    ) -> Banking:
        """Chooses banks for a memory. ``watching`` are the loads that should see what is being stored; ``apart`` says
        that the copies for groups of work-items are banks, too, and ``alone`` with which others an access then never
        uses a bank in the same cycle; ``pumped`` says that its ``blocks`` run at twice the clock. Raises CompileError
        for attributes that cannot be satisfied."""
        copies = Copies(dict(memory.attrs).get(Attr.COPIES, 1), apart)
        size = memory.elements * memory.element.bytes // copies.number
        try:
            asked = asked_of(memory, not apart, pumped, any(op.opcode != "load" for op in ops))
            return choose_banks(size, self._uses(ops, watching, alone, size), asked, blocks, copies)
        except Refusal as refusal:
            raise CompileError.at(
                memory.asked_at(refusal.attribute) or ops[0].span,
                f"{refusal} (memory {memory.name})",
                refusal.hint,
                code=Code.MEMORY_ATTRIBUTES,
            ) from refusal

    def _uses(self, ops: list[Op], watching: frozenset[Op], alone: Mapping[Op, frozenset[Op]], size: int) -> list[Use]:
        facts = {op: implied(predicate(op)) for op in ops}
        after: dict[Op, frozenset[Op]] = {}
        places: dict[Op, tuple[int, ...]] = {}
        tree = self.forms.tree
        for region in dict.fromkeys(tree.region_of(op) for op in ops):
            here = [op for op in ops if tree.region_of(op) is region]
            after |= comes_after(region, here)
            stores = [op for op in here if op.opcode == "store"]
            if len(stores) > 1:
                places |= self.traces.together(stores, 1 << (size - 1).bit_length())
        uses = ((op, self._use(op, ops, facts, tree, after[op], op in watching)) for op in ops)
        return [replace(use, alone=alone.get(op, frozenset()), places=places.get(op, ())) for op, use in uses]

    def _use(self, op: Op, ops: list[Op], facts, tree: LoopTree, after: frozenset[Op], watching: bool) -> Use:
        form, region = self.forms.offset(op), tree.region_of(op)
        excludes = frozenset(
            other for other in ops if tree.region_of(other) is region and _exclude(facts[op], facts[other])
        )
        row = region, op.attrs.get(Attr.PORT_GROUP) if op.opcode != "load" else None
        wider = tuple((limit, wide.const, self._terms(wide)) for limit, wide in self._wider(form))
        return Use(
            key=op,
            stores=op.opcode != "load",
            bytes=moved_type(op).bytes,
            const=form.const,
            terms=self._terms(form),
            row=row,
            excludes=excludes,
            after=after,
            loads=op.opcode == "atomic",
            wider=wider,
            watches=watching,
            near=watching and watches(op, between=False, body=region),
            paced=any(other.opcode == "loop" for other in region.ops),
        )

    def _wider(self, form: Affine) -> Iterator[tuple[int, Affine]]:
        """The form with bounded values instead of wrapping sums, as few as needed. Each is valid for moduli up to the
        power of two returned with it, and meant for those above the power of two of the one before."""
        limit = _tells(form)
        while limit < FAR:
            wide = self._within(form, 2 * limit)
            if wide is None:
                return
            limit = _tells(wide)
            yield limit, wide

    def _within(self, form: Affine, modulus: int) -> Affine | None:
        """The form with a bounded value instead of each wrapping sum that matters for this modulus; None if that is
        impossible."""
        while wrapping := [s for s in _wrapping(form) if form.terms[s] % modulus]:
            terms = form.terms
            unwrapped = form.unwrapped(max(wrapping, key=lambda s: abs(terms[s])))
            if unwrapped is None:
                return None
            form = unwrapped
        return form

    def _terms(self, form: Affine) -> tuple[tuple[Unknown, int], ...]:
        terms = [self._term(unknown, factor) for unknown, factor in form.terms.items()]
        return tuple(sorted(terms, key=lambda term: self.numbers.setdefault(term[0].name, len(self.numbers))))

    def _term(self, unknown, factor: int) -> tuple[Unknown, int]:
        whole = isinstance(unknown, WrappedSum)
        name, symbol = unknown, unknown.symbol if whole else unknown
        if not whole and isinstance(symbol, Symbol) and symbol.wraps is not None:
            return Unknown(name, -FAR, FAR, True), factor
        if not isinstance(symbol, Symbol):
            return Unknown(name, *self.forms.bounds(Affine(0, {symbol: 1}))), factor
        zeros = min(self.zeros.of(symbol.value), symbol.high.bit_length())
        return Unknown(name, symbol.low >> zeros, symbol.high >> zeros), factor << zeros


def _wrapping(form: Affine) -> list[Symbol]:
    """The unbounded symbols of the form, which count how often a sum wraps."""
    return [s for s in form.terms if isinstance(s, Symbol) and s.wraps is not None]


def _tells(form: Affine) -> int:
    """The largest power of two modulo which no unbounded symbol matters; FAR if there are none."""
    return min((form.terms[s] & -form.terms[s] for s in _wrapping(form)), default=FAR)


def _exclude(one: Mapping[Value, bool], other: Mapping[Value, bool]) -> bool:
    """Whether two conditions exclude each other, by the facts that each implies."""
    return any(value in other and other[value] is not truth for value, truth in one.items())


def comes_after(region: Region, ops: list[Op]) -> dict[Op, frozenset[Op]]:
    """For each of the region's operations ``ops``, those of them that it depends on in one iteration, by values or by
    memory order."""
    bits = {op: 1 << k for k, op in enumerate(ops)}
    reached: dict[Value, int] = {}
    found = {}
    for op in region.ops:
        needed = set(op.operands)
        for inner in op.regions:
            needed.update(v for x in walk(inner) for v in x.operands)
        before = 0
        for value in needed:
            before |= reached.get(value, 0)
        if op in bits:
            found[op] = frozenset(other for other in ops if before & bits[other])
        after = before | bits.get(op, 0)
        if after:
            reached.update(dict.fromkeys(op.results, after))
    return found


def watches(load: Op, between: bool = True, body: Region | None = None) -> bool:
    """Whether the load waits for a store of an earlier iteration: one cycle less latency then shortens the recurrence
    by one. With ``between``, also whether it waits for a store of an earlier invocation of its loop, for which only the
    first iteration waits. With ``body``, only the loop with this body counts."""
    return any(
        (between or not instance(value.type, TokenType).between) and (body is None or value.owner is body)
        for value in _carried_tokens(load)
    )


def awaited(load: Op) -> set[Op]:
    """What the load waits for in earlier iterations, as far as a token stands for it alone: mostly stores."""
    tokens = [token for token in _carried_tokens(load) if not instance(token.type, TokenType).between]
    found = [token_sources(token) for token in tokens]
    return {source for sources in found if len(sources) == 1 for source in sources}


def _carried_tokens(load: Op) -> Iterator[Value]:
    """The tokens of earlier iterations that order the load."""
    for value in load.operands[2:]:
        if isinstance(value.type, TokenType) and isinstance(value.owner, Region) and not value.type.overlap:
            yield value
