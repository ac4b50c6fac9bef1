"""Array privatization analysis: arrays declared outside a loop of which each iteration only reads what it wrote
itself."""

from dataclasses import dataclass

from ...analysis.affine.affine import AffineForms
from ...analysis.loops.loop_tree import LoopTree
from ...analysis.memory.must_define import MustDefine
from ...ir import Attr, Function, Op, memory_name, reaches_memory, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["MarkPrivatizable"]


@dataclass(frozen=True)
class MarkPrivatizable(FunctionPass):
    """Array privatization by a must-define test (see Tu and Padua 1993). Before: a flat kernel of a single work-item.
    After: the attribute ``Attr.OWN`` of a loop, the arrays that are private to its iterations, also names arrays of
    which an iteration reads only what it has written itself (:mod:`hls.analysis.memory.must_define`), and that are not
    used outside the loop: a buffer for a row, or a tile.

    ``address_bits``: see :func:`~hls.analysis.dependence.dependence.dependences`.
    """

    address_bits: int = 64
    name = "mark-privatizable"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loops name the arrays that are private to an iteration; the function itself if it has no
        on-chip memory or is an NDRange kernel."""
        if function.attrs.get(Attr.NDRANGE) or not any(m.onchip for m in function.memories.values()):
            return function
        result = clone_function(function)
        forms = AffineForms(result, self.address_bits)
        coverage = MustDefine(forms)
        for name, ops in _accesses(result).items():
            loop = _filled(forms.tree, coverage, name, ops)
            if loop is not None:
                loop.attrs[Attr.OWN] = tuple(sorted({*loop.attrs.get(Attr.OWN, ()), name}))
        return result


def _accesses(function: Function) -> dict[str, list[Op]]:
    """The accesses to each array that is both loaded and stored, by name."""
    found: dict[str, list[Op]] = {}
    for op in walk(function.body):
        if reaches_memory(op) and function.memories[memory_name(op)].space in ("private", "local"):
            found.setdefault(memory_name(op), []).append(op)
    return {name: ops for name, ops in found.items() if {op.opcode for op in ops} == {"load", "store"}}


def _filled(tree: LoopTree, coverage: MustDefine, name: str, ops: list[Op]) -> Op | None:
    """The innermost loop around all accesses of which each iteration writes the array before reading it; None if a loop
    owns it already."""
    common = [loops[0] for loops in zip(*(tree.around(op) for op in ops)) if len(set(loops)) == 1]
    if any(name in loop.op.attrs.get(Attr.OWN, ()) for loop in common):
        return None
    loads, stores = ([op for op in ops if op.opcode == kind] for kind in ("load", "store"))
    return next((loop.op for loop in reversed(common) if coverage.begins_anew(loop, loads, stores)), None)
