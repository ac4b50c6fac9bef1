"""An access is computed for the case that it takes place, as nobody looks at it otherwise."""

from dataclasses import dataclass

from ...analysis.predicates.implication import chosen, implied
from ...ir import Builder, Function, Op, Region, Value, has, is_access
from ...ir.accesses import predicate
from ...ir.clone import clone_function
from ...ir.rewrite import constant
from ..manager import Form, FunctionPass

__all__ = ["SpecializeAccesses"]

#: too large to be there a second time for other users
_LARGE = frozenset({"mul", "udiv", "sdiv", "urem", "srem"})


@dataclass(frozen=True)
class SpecializeAccesses(FunctionPass):
    """Before: a flat kernel. After: no address or stored value of an access goes through a select on what the access's
    predicate decides, as far as the way there is short of large operations.

    This takes conditions out of addresses: two accesses of one place then have one address, and what is compared at run
    time does not wait for conditions.
    """

    name = "specialize-accesses"
    requires = frozenset({Form.ACCESSES_LEGAL, Form.DISPATCHED})
    forbids = frozenset({Form.ORDERED})

    def run(self, function: Function) -> Function:
        result = clone_function(function)
        _region(result.body)
        return result


def _region(region: Region):
    ops, region.ops = region.ops, []
    own = {value for op in ops for value in op.results}
    for op in ops:
        for inner in op.regions:
            _region(inner)
        if is_access(op) and op.opcode in ("load", "store") and constant(predicate(op)) is None:
            _Taken(region, own, op).run()
        region.ops.append(op)


class _Taken:
    """The operands of one access, in the case that its predicate is true."""

    def __init__(self, region: Region, own: set[Value], access: Op):
        self.access, self.own = access, own
        self.facts = implied(predicate(access))
        self.b = Builder(region, access.span)
        self.known: dict[Value, Value] = {}

    def run(self):
        wanted = [0, 1] if self.access.opcode == "store" else [0]
        for k in wanted:
            self.access.operands[k] = self._of(self.access.operands[k])

    def _of(self, value: Value) -> Value:
        """Without recursion, as chains of operations get long when bodies are unrolled."""
        work = [value]
        while work:
            top = work[-1]
            missing = [v for v in self._needs(top) if v not in self.known]
            if missing:
                work += missing
                continue
            work.pop()
            if top not in self.known:
                self.known[top] = self._made(top)
        return self.known[value]

    def _needs(self, value: Value) -> list[Value]:
        choice = chosen(value, self.facts)
        if choice is not value:
            return [choice]
        op = value.op
        if op is None or value not in self.own or not has(op, "pure") or has(op, "float") or op.opcode in _LARGE:
            return []
        return op.operands

    def _made(self, value: Value) -> Value:
        choice = chosen(value, self.facts)
        if choice is not value:
            return self.known[choice]
        operands = [self.known[v] for v in self._needs(value)]
        if not operands or operands == value.op.operands:
            return value
        return self.b.value(value.op.opcode, *operands, result=value.type, attrs=value.op.attrs, name=value.name)
