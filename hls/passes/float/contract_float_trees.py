"""Floating-point contraction (-fpc): the additions and products of one expression become a tree that is rounded once,
at its root."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...diag import Code, Diagnostic
from ...ir import Attr, Builder, FloatType, Function, Op, Region, Value, regions, uses
from ...ir.clone import clone_function
from ...ir.same import same_value
from ..manager import Form, FunctionPass
from .flush_denormals import flush_of

__all__ = ["ContractFloatTrees"]

#: most terms of one sum; a longer sum is split
MOST_TERMS = 16
_SUMS = frozenset({"fadd", "fsub"})


@dataclass(frozen=True)
class _Term:
    """The product of one or two ``factors`` (one: the number itself), which is added or, with ``minus``, subtracted."""

    minus: bool
    factors: tuple[Value, ...]

    @property
    def text(self) -> str:
        return ("-" if self.minus else "+") + "*" * (len(self.factors) - 1)


@dataclass(frozen=True)
class ContractFloatTrees(FunctionPass):
    """Floating-point contraction (-fpc; FP_CONTRACT of C). Before: floating-point operations as the frontend made them,
    so that hardware and emulator see the same trees. After: a sum whose intermediate results have no other user is one
    operation: "fma" for a product and a number, else "fsum".

    What a statement adds to a variable, or to an element, is added by a separate operation: a loop that accumulates
    then waits for one addition only. The library's functions depend on every rounding and are left alone, as are those
    under ``#pragma OPENCL FP_CONTRACT OFF``.

    ``tell`` receives a note for every tree.
    """

    tell: Callable[[Diagnostic], None] | None = None

    name = "contract-float-trees"
    forbids = frozenset({Form.INLINED})

    def run(self, function: Function) -> Function:
        """A copy in which trees of additions and products are single operations; library functions are unchanged."""
        if function.attrs.get(Attr.LIBRARY) or not function.attrs.get(Attr.FP_CONTRACT, True):
            return function
        result = clone_function(function)
        used = uses(result.body)
        for region in list(regions(result.body)):
            self._region(region, used)
        return result

    def _region(self, region: Region, used: Mapping[Value, list[tuple[Op, int]]]) -> None:
        tree = _Tree(region, used)
        for root in [op for op in reversed(region.ops) if op.opcode in _SUMS]:
            if root not in tree.inside:
                self._root(root, tree)
        region.ops = [op for op in region.ops if op not in tree.inside]

    def _root(self, root: Op, tree: "_Tree") -> None:
        terms, inside = tree.gather(root)
        kept = next((term for term in terms if not term.minus and tree.accumulates(root, term)), None)
        rest = [term for term in terms if term is not kept]
        if len(rest) < 2 or all(len(term.factors) == 1 for term in rest) and len(rest) == 2:
            return
        tree.inside |= inside
        if kept is None:
            _become(root, rest, tree.region)
        else:
            total = Op("fadd", [], [], flush_of(root), span=root.span)
            total.results = [Value(root.result.type, "", total, 0)]
            tree.region.ops.insert(tree.region.ops.index(root), total)
            _become(total, rest, tree.region)
            root.opcode, root.operands, root.attrs = "fadd", [*kept.factors, total.result], flush_of(root)
        self._say(root, rest)

    def _say(self, root: Op, terms: list[_Term]) -> None:
        products = sum(len(term.factors) - 1 for term in terms)
        saved = len(terms) - 2 + products
        if self.tell:
            of_them = f", {products} of them {'a product' if products == 1 else 'products'}," if products else ""
            self.tell(
                Diagnostic(
                    f"a sum of {len(terms)} terms{of_them} is rounded once: {saved} "
                    f"rounding{'s' if saved > 1 else ''} fewer",
                    root.span,
                    "leave -fpc out where every operation has to round",
                    "note",
                    code=Code.ROUNDED_ONCE,
                )
            )


class _Tree:
    """Gathers the operations of the sums of one region."""

    def __init__(self, region: Region, used: Mapping[Value, list[tuple[Op, int]]]) -> None:
        self.region, self.used = region, used
        self.own = set(region.ops)
        self.inside: set[Op] = set()  #: operations that became a part of another

    def gather(self, root: Op) -> tuple[list[_Term], set[Op]]:
        """The terms of a sum, from left to right, and the operations that compute it, except for ``root``."""
        signs = (False, root.opcode == "fsub")
        (left, left_inside), (right, right_inside) = map(self._terms, root.operands, signs)
        if len(left) + len(right) > MOST_TERMS:  # too many: both sides count as plain numbers
            return [_Term(minus, (value,)) for value, minus in zip(root.operands, signs, strict=True)], set()
        return left + right, left_inside | right_inside

    def _terms(self, value: Value, minus: bool) -> tuple[list[_Term], set[Op]]:
        op = value.op
        if (
            op is None
            or op not in self.own
            or len(self.used.get(value, [])) != 1
            or not isinstance(value.type, FloatType)
        ):
            return [_Term(minus, (value,))], set()
        if op.opcode == "fmul":
            return [_Term(minus, tuple(op.operands))], {op}
        if op.opcode == "fneg":
            terms, inside = self._terms(op.operands[0], not minus)
            return terms, inside | {op}
        if op.opcode not in _SUMS:
            return [_Term(minus, (value,))], set()
        terms, inside = self.gather(op)
        turned = [_Term(term.minus != minus, term.factors) for term in terms]
        return turned, inside | {op}

    def accumulates(self, root: Op, term: _Term) -> bool:
        """Whether the sum is stored to the location from which this term, a number, was loaded."""
        read = term.factors[0].op
        if len(term.factors) > 1 or read is None or read.opcode != "load":
            return False
        stores = [user for user, index in self.used.get(root.result, []) if user.opcode == "store" and index == 1]
        # within one statement, addresses may be loaded a second time
        return any(same_value(store.operands[0], read.operands[0], {"load"}) for store in stores)


def _become(op: Op, terms: list[_Term], region: Region) -> None:
    """Make ``op`` the sum of the terms. A multiply-add subtracts by negating an operand, which flips one bit."""
    if [len(term.factors) for term in terms] in ([1, 2], [2, 1]):
        product, number = sorted(terms, key=lambda term: len(term.factors), reverse=True)
        first, *others = product.factors
        op.opcode, op.attrs = "fma", flush_of(op)
        op.operands = [
            _signed(first, product.minus, op, region),
            *others,
            _signed(number.factors[0], number.minus, op, region),
        ]
    else:
        op.opcode, op.attrs = "fsum", {Attr.TERMS: tuple(term.text for term in terms), **flush_of(op)}
        op.operands = [value for term in terms for value in term.factors]


def _signed(value: Value, minus: bool, user: Op, region: Region) -> Value:
    if not minus:
        return value
    built = Region()
    result = Builder(built, user.span).value("fneg", value)
    place = region.ops.index(user)
    region.ops[place:place] = built.ops
    return result
