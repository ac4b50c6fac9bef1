"""A `break` at the begin of a loop's body as a part of the loop's test."""

from collections.abc import Iterator
from dataclasses import dataclass

from ...analysis.loops.backward_slice import backward_slice
from ...analysis.memory.clobbers import Clobbers
from ...ir import Builder, Op, Region, Value, has, uses, walk
from ...ir.clone import clone_ops
from ...ir.rewrite import constant, resolve

__all__ = ["absorb_leading_exit"]

#: operations, beside those without an effect, that may stand before the exit and in the test behind it
_ALLOWED = frozenset({"load", "if", "yield"})


def absorb_leading_exit(outer: Op, inner: Op, clobbers: Clobbers) -> bool:
    """Change ``inner``, an operation of the body of ``outer``, so that the condition of a `break` is a part of its
    test; False if there is no such `break`, and nothing is changed.

    ``while (test) { if (leaves) break; rest }`` becomes ``while (test && !leaves) rest``, as a rotated loop: before it
    and at the end of its body. Nothing has an effect before the `break`, and no value that is used behind the loop
    changes in the iteration that it ends. The condition is computed in the same order of loads and stores as before.
    """
    (body,) = outer.regions
    found = _LeadingExit.of(inner, set(uses(body)))
    if found is None or not all(map(clobbers.plain, found.loads())):
        return False
    found.enter(body)
    found.repeat()
    return True


@dataclass(frozen=True, eq=False)
class _LeadingExit:
    """The `break`: the operation ``branch`` leaves the loop in its region ``exit`` (0 or 1). ``leaves`` are operations
    before it that compute its condition; ``test`` is the rest of the condition to go on, None if there is no other."""

    inner: Op
    branch: Op
    exit: int
    leaves: tuple[Op, ...]
    test: Value | None

    @classmethod
    def of(cls, inner: Op, used: set[Value]) -> "_LeadingExit | None":
        """That of the loop, of whose results ``used`` contains those that something behind it reads."""
        (body,) = inner.regions
        left, test = _leaving(body.terminator.operands[0])
        branch = left.op if left is not None else None
        if left is None or branch is None or branch not in body.ops or branch.opcode != "if":
            return None
        said = [constant(region.terminator.operands[left.index]) for region in branch.regions]
        if said not in ([0, 1], [1, 0]):
            return None
        exit_, at = said.index(1), body.ops.index(branch)
        before, behind = body.ops[:at], body.ops[at + 1 : -1]
        if not _harmless([*before, *behind, *branch.regions[exit_].ops]):
            return None
        found = cls(inner, branch, exit_, tuple(backward_slice([branch.operands[0]], before)), test)
        return found if found._leaves_values(used) else None

    def _leaves_values(self, used: set[Value]) -> bool:
        """Whether the results that are used do not change in the iteration that ends here."""
        (body,) = self.inner.regions
        given = dict(zip(self.branch.results, self.branch.regions[self.exit].terminator.operands, strict=True))
        triples = zip(self.inner.results, body.terminator.operands[1:], body.args, strict=True)
        return all(given.get(next_, next_) is arg for result, next_, arg in triples if result in used)

    def loads(self) -> Iterator[Op]:
        """Those of the iteration that ends: those of the condition are there again where the rest of the body needs
        their values, and the others are not made."""
        (body,) = self.inner.regions
        ended = [op for op in body.ops if op is not self.branch] + self.branch.regions[self.exit].ops
        return (op for op in walk(Region(ops=ended)) if op.opcode == "load")

    def enter(self, body: Region) -> None:
        """Make the condition a part of that to enter the loop."""
        b = Builder(Region(), self.branch.span)
        initial = dict(zip(self.inner.regions[0].args, self.inner.operands[1:], strict=True))
        test = self.inner.operands[0]  # without a test at the end of the body there may be one here
        self.inner.operands[0] = self._stays(b, None if constant(test) else test, initial)
        place = body.ops.index(self.inner)
        body.ops[place:place] = b.region.ops

    def repeat(self) -> None:
        """Make it a part of that to continue, and the rest of the body unconditional."""
        (body,) = self.inner.regions
        goes_on = self.branch.regions[1 - self.exit]
        place = body.ops.index(self.branch)
        body.ops[place : place + 1] = goes_on.ops[:-1]
        instead = dict(zip(self.branch.results, goes_on.terminator.operands, strict=True))
        resolve(body, instead)
        end = body.ops.pop()
        b = Builder(body, self.branch.span)
        test = instead.get(self.test, self.test) if self.test is not None else None
        end.operands[0] = self._stays(b, test, dict(zip(body.args, end.operands[1:], strict=True)))
        body.ops.append(end)

    def _stays(self, b: Builder, test: Value | None, states: dict[Value, Value]) -> Value:
        """Build whether the loop goes on from these states: the test holds, and the `break` is not reached."""
        within = b if test is None else Builder(Region(), b.span)
        values = dict(states)
        within.region.ops += clone_ops(list(self.leaves), values)
        condition = self.branch.operands[0]
        condition = values.get(condition, condition)
        stays = condition if self.exit else within.value("xor", condition, within.true())
        if test is None:
            return stays
        within.op("yield", stays)
        other = Builder(Region(), b.span)
        other.op("yield", other.const(0, stays.type))
        return b.op("if", test, results=[stays.type], regions=[within.region, other.region]).result


def _leaving(again: Value) -> tuple[Value | None, Value | None]:
    """The value that says that a `break` was reached, and the rest of the condition to go on; None where there is no
    such value."""
    op = again.op
    if op is not None and op.opcode == "and":
        for one, other in (op.operands, op.operands[::-1]):
            if (left := _complement(one)) is not None:
                return left, other
    return _complement(again), None


def _complement(value: Value) -> Value | None:
    """The value of one bit of which this one is the complement."""
    op = value.op
    if op is None or op.opcode != "xor":
        return None
    return next((one for one, other in (op.operands, op.operands[::-1]) if constant(other)), None)


def _harmless(ops: list[Op]) -> bool:
    return all(has(op, "pure") or op.opcode in _ALLOWED for op in walk(Region(ops=ops)))
