"""Huffman-style construction of trees by arrival time: operands that arrive first are joined first. For sums of
integers and floats, products, logic, min/max."""

import heapq
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ...analysis.timing import Arrival, Arrivals
from ...ir import Attr, Builder, FloatType, Op, Region, Value, has, uses
from ...ir.associative import Term, emit, kind_of, rewrite_as, terms_of
from ...ir.types import Type
from ...ir.wrapping import has_wrapping
from ...narrow import instance, present
from ..float.flush_denormals import flush_of

__all__ = ["Node", "Shaper", "Tree", "Trees", "rebuild", "trees_of"]

#: most leaves of a tree
MOST_LEAVES = 16
#: most words that carry-save adders reduce to two
MOST_COMPRESSED = 6
#: the tables of a carry-save adder: an odd number of ones, and at least two
ODD, MAJORITY = 0b10010110, 0b11101000


@dataclass(frozen=True, eq=False)
class Node:
    """``kind`` of two operands: "fma" adds the product ``left`` to ``right``; "fmul" is the product ``left`` (given
    twice) as a number."""

    kind: str
    left: "Part"
    right: "Part"

    @property
    def minus(self) -> bool:
        """In a sum: whether the node is to be subtracted. A product is negated for free."""
        return self.right.minus and (self.left.minus or self.kind == "fma")

    @property
    def type(self) -> Type:
        """The type of the result, which is that of the left operand."""
        return self.left.type


@dataclass(frozen=True, eq=False)
class Compressed:
    """One of the two words to which a carry-save adder (3:2 compressor) reduces three ``terms`` of a sum: the bits that
    are 1 for an odd number of ones or, if ``carry``, the carries, a place higher. Neither depends on a carry chain."""

    terms: "tuple[Part, Part, Part]"
    carry: bool
    minus = False

    @property
    def type(self) -> Type:
        """The type of the terms."""
        return self.terms[0].type


Part = Term | Node | Compressed


@dataclass(frozen=True)
class Tree:
    """``products`` of the leaves that are products are computed as such, all others inside multiply-adds."""

    kind: str
    leaves: list[Term]
    products: int = 0


def trees_of(body: Region, way: list[Op], mine: set[Value], floats: bool) -> dict[Op, Tree]:
    """The trees with at least three leaves whose roots have a user of another kind, in the recurrence of values
    ``mine`` with operations ``way``; with ``floats`` also those of floats, whose reassociation changes the rounding."""
    kinds = {op: kind for op in way if (kind := kind_of(op, floats)) is not None}
    finder, found = _Finder(kinds, uses(body), mine), {}
    for op in kinds:
        if finder.is_root(op):
            tree = finder.tree(op)
            if 3 <= len(tree.leaves) <= MOST_LEAVES:
                found[op] = tree
    return found


@dataclass(frozen=True)
class _Finder:
    kinds: Mapping[Op, str]
    used: Mapping[Value, list[tuple[Op, int]]]
    mine: set[Value]

    def is_root(self, op: Op) -> bool:
        """Whether the result has a user other than the same kind of operation and address computations."""
        users = self.used.get(op.result, ())
        more = [
            self.kinds.get(user) == self.kinds[op] and not (user.opcode == "fma" and index < 2) for user, index in users
        ]
        return not all(more) and not all(has(user, "pointer") for user, _ in users)

    def tree(self, op: Op) -> Tree:
        kind, leaves = self.kinds[op], self._leaves(op, self.kinds[op], False)
        if not any(leaf.factor is not None for leaf in leaves):
            return Tree(kind, leaves)
        taken = [self._product(leaf, kind) for leaf in leaves]  # another product may be the one that is computed alone
        factors = sum(leaf.factor is not None for leaf in taken) - sum(leaf.factor is not None for leaf in leaves)
        return Tree(kind, [self._signed_first(leaf) for leaf in taken], factors)

    def _leaves(self, op: Op, kind: str, minus: bool, room: int = MOST_LEAVES) -> list[Term]:
        """The leaves of an operation: operations of the same kind on the recurrence are expanded; more than ``room``
        leaves if there are too many."""
        found: list[Term] = []
        for term in terms_of(op):
            inner, negative = term.value.op if term.factor is None else None, minus != term.minus
            found += (
                self._leaves(inner, kind, negative, room - len(found))
                if inner is not None and self.kinds.get(inner) == kind and len(found) < room
                else [replace(term, minus=negative)]
            )
        return found

    def _product(self, leaf: Term, kind: str) -> Term:
        """A leaf that is a product without another user, as a product term."""
        op = leaf.value.op if leaf.factor is None else None
        alone = op is not None and op.opcode == "fmul" and leaf.value in self.mine and len(self.used[leaf.value]) == 1
        same = alone and bool(present(op).attrs.get(Attr.FLUSH_DENORMALS)) == kind.endswith("flush")
        return Term(present(op).operands[0], leaf.minus, present(op).operands[1]) if same else leaf

    def _signed_first(self, leaf: Term) -> Term:
        """The product with the factor that is negated first: one off the recurrence, if any."""
        if leaf.factor is None or leaf.value not in self.mine:
            return leaf
        return Term(leaf.factor, leaf.minus, leaf.value)


class Trees:
    """The trees of a region whose inner results have no other user. An operation that joins a value of a ``recurrence``
    with one off it is the root of a tree."""

    def __init__(
        self, region: Region, used: Mapping[Value, list[tuple[Op, int]]], recurrence: Mapping[Value, int]
    ) -> None:
        self.used, self.recurrence = used, recurrence
        self.kinds = {op: kind for op in region.ops if (kind := kind_of(op)) is not None}
        self.inner = {
            op
            for op, kind in self.kinds.items()
            if (user := self._only_user(op)) is not None
            and self.kinds.get(user) == kind
            and not self._meets_carried(user)
        }

    def at(self, op: Op) -> Tree | None:
        """The tree with this root, unless it is an address, or unused."""
        if op not in self.kinds or op in self.inner:
            return None
        if all(has(user, "pointer") for user, _ in self.used.get(op.result, ())):
            return None
        return Tree(self.kinds[op], list(self._leaves(op, False)))

    def inside(self, op: Op) -> Iterator[Op]:
        """The operations that become unused when the tree with this root is rebuilt."""
        yield from self._compare_of(op)
        for term in terms_of(op):
            if term.value.op in self.inner:
                yield term.value.op
                yield from self.inside(term.value.op)

    def _only_user(self, op: Op) -> Op | None:
        """The only operation that uses the result; None if there are several. The comparison of a min/max counts as a
        part of its select."""
        users = {user for user, _ in self.used.get(op.result, ())}
        for compare in [user for user in users if has(user, "compare")]:
            choices = {user for user, _ in self.used.get(compare.result, ())}
            if len(choices) != 1 or not choices <= users:
                return None
            users.remove(compare)
        return users.pop() if len(users) == 1 else None

    def _meets_carried(self, op: Op) -> bool:
        """Whether one operand is on the recurrence of the operation, and the other is not."""
        mine = self.recurrence.get(op.result)
        return mine is not None and len({self.recurrence.get(term.value) == mine for term in terms_of(op)}) == 2

    def _leaves(self, op: Op, minus: bool) -> Iterator[Term]:
        for term in terms_of(op):
            negative = minus != term.minus
            if term.value.op in self.inner:
                yield from self._leaves(term.value.op, negative)
            else:
                yield replace(term, minus=negative)

    def _compare_of(self, op: Op) -> list[Op]:
        """The comparison of a min/max, if it has no other use."""
        if op.opcode != "select" or any(user is not op for user, _ in self.used[op.operands[0]]):
            return []
        return [op.operands[0].defining_op]


@dataclass(frozen=True)
class Shaper:
    """Builds trees in order of arrival time, as given by ``arrivals``. With ``carry_save``, sums of integers end with
    carry-save adders where they are earlier so."""

    arrivals: Arrivals
    carry_save: bool = False

    def at(self, node: Part, kind: str) -> Arrival:
        """The arrival of a node in a tree of this kind."""
        if isinstance(node, Term):
            return max(self.arrivals.at(v) for v in (node.value, node.factor) if v is not None)
        if isinstance(node, Compressed):
            return self._compressed(node, [self.at(term, kind) for term in node.terms])
        return self._joined(node, self.at(node.left, kind), self.at(node.right, kind), kind)

    def soonest(self, tree: Tree) -> Node:
        """The tree in which operands that arrive first are joined first. A product is joined with a number: the
        earliest products, as many as before, become numbers."""
        plain = instance(self._words(tree, 1)[0], Node)
        if not self.carry_save or tree.kind != "add":
            return plain
        most = min(len(tree.leaves), MOST_COMPRESSED)
        sums = (self._saved(self._words(tree, words), tree.kind) for words in range(3, most + 1))
        return min([plain, *(one for one in sums if one is not None)], key=lambda node: self.at(node, tree.kind))

    def _words(self, tree: Tree, words: int) -> list[Part]:
        """The operands, joined in pairs until so many are left."""
        heap: list[tuple[Arrival, int, Any]] = [
            (self.at(leaf, tree.kind), k, leaf) for k, leaf in enumerate(tree.leaves)
        ]
        for time, k, leaf in sorted(item for item in heap if _is_product(item[2]))[: tree.products]:
            heap.remove((time, k, leaf))
            number = Node("fmul", leaf, leaf)
            heap.append((self._joined(number, time, time, tree.kind), k, number))
        heapq.heapify(heap)
        while len(heap) > words:
            time, k, first = heapq.heappop(heap)
            other = _first_number(heap) if _is_product(first) else heapq.heappop(heap)
            left, right = (other[2], first) if _is_product(other[2]) else (first, other[2])
            node = Node("fma" if _is_product(left) else tree.kind.split()[0], left, right)
            heapq.heappush(heap, (self._joined(node, time, other[0], tree.kind), k, node))
        return [part for _, _, part in heap]

    def _saved(self, words: list[Part], kind: str) -> Node | None:
        """The sum of words, the earliest three of which a carry-save adder reduces to two until two are left; None if
        one is subtracted."""
        if any(word.minus for word in words):
            return None
        heap = [(self.at(word, kind), k, word) for k, word in enumerate(words)]
        heapq.heapify(heap)
        for k in itertools.count(len(words)):
            if len(heap) == 2:
                break
            (x, y, z) = (heapq.heappop(heap) for _ in range(3))
            for carry in (False, True):
                word = Compressed((x[2], y[2], z[2]), carry)
                heapq.heappush(heap, (self._compressed(word, [z[0]]), 2 * k + carry, word))
        return Node(kind, heap[0][2], heap[1][2])

    def _compressed(self, word: Compressed, terms: list[Arrival]) -> Arrival:
        return self.arrivals.timing.joined("lut", word.type, max(terms))

    def _joined(self, node: Node, left: Arrival, right: Arrival, kind: str) -> Arrival:
        return self.arrivals.timing.joined(node.kind, node.type, max(left, right), kind.endswith("flush"))


def _first_number(heap: list[tuple[Arrival, int, Any]]) -> tuple[Arrival, int, Term | Node]:
    """Remove the earliest node that is no product."""
    found = min(item for item in heap if not _is_product(item[2]))
    heap.remove(found)
    heapq.heapify(heap)
    return found


def _is_product(node: Part) -> bool:
    return isinstance(node, Term) and node.factor is not None


def rebuild(body: Region, shapes: Mapping[Op, Node]) -> None:
    """Give the roots their new shapes; operations that become unused are left for others to remove."""
    before, body.ops = body.ops, []
    for op in before:
        if op in shapes:
            _become(op, shapes[op], Builder(body, op.span))
        body.ops.append(op)


def _become(op: Op, node: Node, b: Builder) -> None:
    attrs = {name: value for name, value in op.attrs.items() if name == Attr.LABEL}
    wraps = {Attr.WRAPS: True} if has_wrapping(op) else {}
    if isinstance(op.result.type, FloatType):
        kind, operands = _operation(node, b, flush_of(op), node.minus)
        op.opcode, op.operands, op.attrs = kind, operands, attrs | flush_of(op)
        return
    kind, (left, right) = _pairing(node)
    made: dict[Part, Value] = {}
    left, right = _built(left, b, {}, made), _built(right, b, {}, made)
    if kind == "sub":
        op.opcode, op.operands, op.attrs = kind, [left, right], attrs | wraps
    else:
        rewrite_as(op, kind, left, right, b)


def _pairing(node: Node) -> tuple[str, tuple[Any, ...]]:
    """The operation of a node that is no product, and its operands in order. In a difference the subtrahend is
    second."""
    if node.left.minus == node.right.minus:
        return node.kind, (node.left, node.right)
    name = {"add": "sub", "fadd": "fsub"}[node.kind]
    return name, (node.right, node.left) if node.left.minus else (node.left, node.right)


def _built(part: Part, b: Builder, attrs: dict[str, Any], made: dict[Part, Value]) -> Value:
    """The value of a part of a tree; ``made`` has those that are built already, as both words of a carry-save adder
    have the same terms."""
    if isinstance(part, Term):
        return part.value
    if part not in made:
        made[part] = _new(part, b, attrs, made)
    return made[part]


def _new(part: Node | Compressed, b: Builder, attrs: dict[str, Any], made: dict[Part, Value]) -> Value:
    if isinstance(part, Compressed):
        terms = [_built(term, b, attrs, made) for term in part.terms]
        word = b.value("lut", *terms, attrs={Attr.TABLE: MAJORITY if part.carry else ODD})
        return b.value("shl", word, b.const(1, word.type)) if part.carry else word
    if isinstance(part.type, FloatType):
        kind, operands = _operation(part, b, attrs)
        return b.value(kind, *operands, attrs=attrs)
    kind, (left, right) = _pairing(part)
    return emit(kind, _built(left, b, attrs, made), _built(right, b, attrs, made), b)


def _operation(node: Node, b: Builder, attrs: dict[str, Any], turned: bool = False) -> tuple[str, list[Value]]:
    """The operation of a float node; ``turned``: negated."""
    if node.kind == "fmul":
        product = instance(node.left, Term)
        return "fmul", [product.value, present(product.factor)]
    if node.kind == "fma":
        product = instance(node.left, Term)
        factor, addend = product.value, _built(node.right, b, attrs, {})
        factor = b.value("fneg", factor) if node.left.minus != (node.right.minus != turned) else factor
        return "fma", [factor, present(product.factor), b.value("fneg", addend) if turned else addend]
    kind, parts = _pairing(node)
    left, right = (_built(part, b, attrs, {}) for part in parts)
    return ("fsub", [b.value("fneg", left), right]) if turned else (kind, [left, right])
