"""Loop-invariant code motion of costly operations."""

from collections.abc import Collection
from dataclasses import dataclass

from ...ir import Function, Op, Region, Value, has, walk
from ...ir.clone import clone_function
from ..manager import Form, FunctionPass

__all__ = ["LoopInvariantCodeMotion", "take_invariants"]

_COSTLY = {"mul", "udiv", "sdiv", "urem", "srem", "sitofp", "uitofp", "fptosi", "fptoui"}


def _is_costly(op: Op) -> bool:
    """Whether the operation takes more than one cycle in hardware, or a multiplier."""
    return op.opcode in _COSTLY or has(op, "float") and op.opcode not in ("fneg", "fabs")


@dataclass(frozen=True)
class LoopInvariantCodeMotion(FunctionPass):
    """Loop-invariant code motion (LLVM: LICM) of costly operations. Before: flat. After: no multiplication, division or
    floating-point operation in a loop has only loop-invariant operands.

    Other invariant operations stay, unless a hoisted one needs them: an addition costs less than the register that
    would carry its result to every iteration.
    """

    name = "loop-invariant-code-motion"
    requires = frozenset({Form.FLAT})

    def run(self, function: Function) -> Function:
        """A copy in which costly invariant operations are before their loops."""
        result = clone_function(function)
        _hoist_region(result.body)
        return result


def _hoist_region(region: Region) -> None:
    """Inner loops first, so that hoisted operations can move on to outer loops."""
    before, region.ops = region.ops, []
    for op in before:
        for inner in op.regions:
            _hoist_region(inner)
        if op.opcode == "loop":
            region.ops += take_invariants(op.regions[0])
        region.ops.append(op)


def take_invariants(body: Region, needed: Collection[Value] = ()) -> list[Op]:
    """Remove from the body the costly operations that do not depend on it, those whose results are ``needed`` outside,
    and the operations they need. Returns them in order."""
    own = {value for op in walk(body) for value in op.results} | set(body.args)
    own |= {value for op in walk(body) for region in op.regions for value in region.args}
    steady: set[Value] = set()
    for op in body.ops:
        if has(op, "pure") and not has(op, "pointer") and all(v not in own or v in steady for v in op.operands):
            steady.update(op.results)
    wanted = set(needed)
    for op in reversed(body.ops):
        if op.results and op.results[0] in steady and (op.results[0] in wanted or _is_costly(op)):
            wanted.update([*op.results, *op.operands])
    taken = [op for op in body.ops if op.results and op.results[0] in steady & wanted]
    gone = set(taken)
    body.ops = [op for op in body.ops if op not in gone]
    return taken
