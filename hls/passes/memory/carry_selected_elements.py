"""Partial redundancy elimination of loads through a carried index that only selects."""

from dataclasses import dataclass

from ...analysis.loops.backward_slice import pure_slice
from ...analysis.loops.sccs import components
from ...analysis.memory.clobbers import Clobbers
from ...ir import Builder, Function, Op, Region, Value, loops_inside_out
from ...ir.accesses import predicate
from ...ir.clone import clone_function, clone_ops
from ...ir.loops import add_carried
from ...ir.rewrite import constant, resolve
from ..manager import Form, FunctionPass

__all__ = ["CarrySelectedElements"]

#: most indices from which the next one is chosen: each is a load of the loop
MOST_LEAVES = 64


@dataclass(frozen=True)
class CarrySelectedElements(FunctionPass):
    """Partial redundancy elimination of loads by translation of their address through carried values (LLVM: GVN, load
    PRE with PHI translation). Before: flat, without tokens. After: where an iteration loads an element whose index it
    carries, and the next index is either this one again or chosen from others that do not depend on it, the loop
    carries the element. It is loaded before the loop, and again where the index changes.

    In ``if (a[i] > a[best]) best = i;`` the next a[best] is the same or a[i], which the iteration has loaded anyway
    (``redundant-load-elimination``). The recurrence is then a comparison and a select instead of a load.

    An iteration must load the element unconditionally, so that no address is read which the program would not read, and
    nothing in the loop may write there.
    """

    name = "carry-selected-elements"
    requires = frozenset({Form.FLAT})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        """A copy in which loop-carried values replace loads of elements whose index is carried."""
        result = clone_function(function)
        clobbers, values = Clobbers(result), {}
        for region, loop in list(loops_inside_out(result.body)):
            for load in _candidates(loop, clobbers):
                element = _element_of(loop, load)
                if element is not None:
                    values[load.result] = element.build(region)
        resolve(result.body, values)
        return result


def _candidates(loop: Op, clobbers: Clobbers) -> list[Op]:
    """Unconditional loads of the loop's body that nothing in it clobbers."""
    (body,) = loop.regions
    loads = [op for op in body.ops if clobbers.movable(op) and constant(predicate(op)) == 1]
    return [op for op in loads if not clobbers.among(op, body.ops)]


def _element_of(loop: Op, load: Op) -> "_Element | None":
    """The element that a load reads, if its index is a carried value that only selects."""
    (body,) = loop.regions
    address = pure_slice([load.operands[0]], body.ops)
    if address is None:
        return None
    used = {v for op in address for v in op.operands}.intersection(body.args)
    if len(used) != 1:
        return None
    (index,) = used
    following = body.terminator.operands[1 + index.index]
    leaves = _leaves(following)
    if index not in leaves or len(leaves) > MOST_LEAVES:
        return None
    late = components(body)
    on_recurrence = index in late and late.get(load.result) == late[index]
    free = all(leaf is index or late.get(leaf) != late[index] for leaf in leaves) if on_recurrence else False
    return _Element(loop, load, index, following, address) if free else None


def _leaves(value: Value) -> list[Value]:
    """The values of which a tree of selects chooses one, as often as they are in the tree; of a tree of more than
    MOST_LEAVES, so many and one."""
    found: list[Value] = []
    work = [value]
    while work and len(found) <= MOST_LEAVES:
        one = work.pop()
        if one.op is not None and one.op.opcode == "select":
            work += one.op.operands[1:]
        else:
            found.append(one)
    return found


@dataclass
class _Element:
    """An element that a loop shall carry: the one that ``load`` reads at the index ``index``, a carried value that is
    ``following`` in the next iteration. ``address`` are the operations that compute its address."""

    loop: Op
    load: Op
    index: Value
    following: Value
    address: list[Op]

    def build(self, region: Region) -> Value:
        """Carry it through the loop, an operation of ``region``; returns its value in an iteration."""
        (body,) = self.loop.regions
        before = Builder(Region(), self.load.span)
        init = self._loaded(self.loop.operands[1 + self.index.index], self.loop.operands[0], before)
        place = region.ops.index(self.loop)
        region.ops[place:place] = before.region.ops
        name = self.load.result.name
        carried = add_carried(self.loop, init, name, result=Value(init.type, name))
        end = body.ops.pop()
        body.ops.remove(self.load)
        b = Builder(body, self.load.span)
        following = self._next(self.following, carried.arg, end.operands[0], b)
        body.ops.append(end)
        carried.set_next(following)
        return carried.arg

    def _next(self, index: Value, element: Value, on: Value, b: Builder) -> Value:
        """The element at an index of the next iteration, needed where ``on`` is true; ``element`` is that of this
        iteration."""
        if index is self.index:
            return element
        if index.op is None or index.op.opcode != "select":
            return self._loaded(index, on, b)
        condition, one, other = index.op.operands
        taken = b.value("and", on, condition)
        left = b.value("and", on, b.value("xor", condition, b.true()))
        return b.value("select", condition, self._next(one, element, taken, b), self._next(other, element, left, b))

    def _loaded(self, index: Value, on: Value, b: Builder) -> Value:
        """The element at an index, loaded where ``on`` is true."""
        copies = {self.index: index}
        b.region.ops += clone_ops(self.address, copies)
        pointer = copies.get(self.load.operands[0], self.load.operands[0])
        return b.value(
            "load", pointer, on, result=self.load.result.type, attrs=dict(self.load.attrs), name=self.load.result.name
        )
