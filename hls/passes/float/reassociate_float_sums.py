"""Reassociation of float sums (-fp-relaxed): balanced trees. For sums carried by loops see
:mod:`hls.passes.float.expand_float_reductions`."""

from collections.abc import Callable
from dataclasses import dataclass

from ...diag import Code, Diagnostic
from ...ir import Builder, Function, Op, Region, Value, uses, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass
from .addition_trees import leaves as leaves_of
from .addition_trees import only_user
from .flush_denormals import flush_of

__all__ = ["ReassociateFloatSums"]


@dataclass(frozen=True)
class ReassociateFloatSums(FunctionPass):
    """Floating-point reassociation into balanced trees (tree-height reduction, Kuck). Before: chains of float additions
    whose intermediate sums have no other user. After: trees of minimal depth with as many additions. A loop-carried
    operand is added last, so that its recurrence is one addition.

    ``tell`` receives a note for every sum whose order changed.
    """

    tell: Callable[[Diagnostic], None] | None = None

    name = "reassociate-float-sums"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which chains of additions are balanced trees, in every region."""
        result = clone_function(function)
        regions = [result.body, *(inner for op in walk(result.body) for inner in op.regions)]
        used = uses(result.body)
        carried = {arg for op in walk(result.body) if op.opcode == "loop" for arg in op.regions[0].args}
        for region in regions:
            self._region(region, used, carried)
        return result

    def _region(self, region: Region, used, carried) -> None:
        own = {op for op in region.ops if op.opcode == "fadd"}
        inner = {op for op in own if only_user(op.result, used) in own}
        for root in [op for op in region.ops if op in own - inner]:
            leaves = leaves_of(root, inner)
            late = [v for v in leaves if v in carried and v not in root.operands]
            if len(leaves) > 2 and (late or _depth(root, inner) > _least_depth(leaves, carried)):
                dead = _tree(root, inner)
                self._rebuild(region, root, leaves, carried)
                region.ops = [op for op in region.ops if op not in dead]

    def _rebuild(self, region: Region, root: Op, leaves: list[Value], carried) -> None:
        """Rebuild the sum as a tree before ``root``, which becomes the last addition."""
        built = Region()
        b = Builder(built, root.span)
        early, late = ([v for v in leaves if (v in carried) == wanted] for wanted in (False, True))
        while len(early) > (2 if not late else 1):
            early = [
                b.value("fadd", *pair, attrs=flush_of(root)) if len(pair) == 2 else pair[0]
                for pair in (early[k : k + 2] for k in range(0, len(early), 2))
            ]
        terms = [*early, *late]
        while len(terms) > 2:
            terms[:2] = [b.value("fadd", *terms[:2], attrs=flush_of(root))]
        root.operands = terms
        place = region.ops.index(root)
        region.ops[place:place] = built.ops
        if self.tell:
            self.tell(
                Diagnostic(
                    f"a sum of {len(leaves)} terms is reassociated",
                    root.span,
                    "leave -fp-relaxed out where the order matters",
                    "note",
                    code=Code.FLOAT_ORDER,
                )
            )


def _tree(op: Op, inner: set[Op]) -> set[Op]:
    """The additions below ``op`` that belong to the same sum."""
    below = {v.op for v in op.operands if v.op in inner}
    return below.union(*(_tree(each, inner) for each in below))


def _depth(op: Op, inner: set[Op]) -> int:
    return 1 + max((_depth(v.op, inner) for v in op.operands if v.op in inner), default=0)


def _least_depth(leaves: list[Value], carried) -> int:
    late = sum(v in carried for v in leaves)
    return (len(leaves) - late - 1).bit_length() + late
