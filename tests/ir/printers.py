"""Prints the results of analyses as text: one printer for each module of hls/analysis, by the name of the module.

A printer takes a function, and the names of its values, and returns lines. Those of channels take the whole module.
"""

from collections.abc import Callable, Iterator, Mapping

from hls.analysis.affine.affine import AffineForms
from hls.analysis.affine.delinearize import rows_of
from hls.analysis.affine.floordiv import quotient
from hls.analysis.affine.form import compared_facts
from hls.analysis.affine.iteration_domain import Domains
from hls.analysis.affine.wrapping import WrappingValues
from hls.analysis.bits.demanded_bits import demanded
from hls.analysis.bits.gf2_forms import LinearForms
from hls.analysis.bits.intervals import TRANSFER, Range
from hls.analysis.bits.known_bits import TrailingZeros
from hls.analysis.bits.possible_values import PossibleValues
from hls.analysis.bits.ranges import ranges
from hls.analysis.bits.wiring import cut_order, is_wires, possible_ones
from hls.analysis.dependence.dependence import dependences
from hls.analysis.induction.bounded_step import pace
from hls.analysis.induction.compiled_step import compiled_step
from hls.analysis.induction.counted import trips_of_counter
from hls.analysis.induction.monotonic import MonotonicAccess
from hls.analysis.induction.periodic import PeriodicSequences
from hls.analysis.induction.state_space import most_iterations
from hls.analysis.induction.trip_count import count_trips
from hls.analysis.loops.backward_slice import pure_slice
from hls.analysis.loops.forward_slice import behind, computed_from
from hls.analysis.loops.loop_tree import LoopTree
from hls.analysis.loops.sccs import components
from hls.ir import Function, IntType, Module, Op, Value, walk
from hls.ir.rewrite import constant
from tests.ir import channel_printers, memory_printers, predicate_printers, timing_printers, workgroup_printers
from tests.ir.names import Names, address_bits
from tests.ir.walks import accesses_of, integers, loop_of, loops_of, or_unknown, pairs_of

__all__ = ["PRINTERS"]

Printer = Callable[[Function, Names], Iterator[str]]


def _affine(function: Function, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    for op in accesses_of(function):
        form = forms.offset(op)
        low, high = forms.bounds(form)
        yield f"{names.op(op)}: byte {names.sum(form)}, {_interval(low, high)}"


def _compared(function: Function, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    for op in walk(function.body):
        if op.opcode == "select" and isinstance(op.result.type, IntType) and op.result.type.bits > 1:
            low, high = forms.bounds(forms.exact(op.result, True))
            yield f"{names(op.result)}: {_interval(low, high)}"
        for truth in (True, False) if op.results else ():
            facts = compared_facts(forms.exact, op.results[0], truth)
            if facts:
                shown = " and ".join(f"{names.sum(fact)} >= 0" for fact in facts)
                yield f"{names(op.result)} is {str(truth).lower()}: {shown}"


def _interval(low: float, high: float) -> str:
    return f"{_number(low)} to {_number(high)}"


def _number(number: float) -> str:
    """Powers of two are easier to read as such."""
    if isinstance(number, int):
        for more, text in ((0, ""), (1, " - 1")):
            size = abs(number + more)
            if size >= 1 << 14 and size & size - 1 == 0 and (not more or number > 0):
                return f"{'-' if number < 0 else ''}2^{size.bit_length() - 1}{text}"
    return str(number)


def _rows(function: Function, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    for one, other in pairs_of(function):
        found = rows_of(forms, forms.offset(one), forms.offset(other))
        for op, row in zip((one, other), found or ()):
            yield f"{names.op(op)}: row {names.sum(row.row)} of {names.sum(row.pitch)} bytes, byte {names.sum(row.column)}"
        if found is None:
            yield f"{names.op(one)} and {names.op(other)}: no rows"


def _floordiv(function: Function, names: Names) -> Iterator[str]:
    for value in integers(names):
        if (found := quotient(value)) is not None:
            how = "to zero" if found.to_zero else "down"
            reading = "signed" if found.signed else "unsigned"
            yield f"{names(value)} = {names(found.dividend)} / {found.divisor}, {reading}, rounded {how}"


def _wrapping(function: Function, names: Names) -> Iterator[str]:
    values = WrappingValues(LoopTree(function))
    yield from (f"{names(value)} may wrap" for value in integers(names) if values.may_wrap(value))


def _domains(function: Function, names: Names) -> Iterator[str]:
    domains = Domains(AffineForms(function, address_bits(function)))
    for op in accesses_of(function):
        conditions = [
            f"{' and '.join(names.sum(form) + ' >= 0' for form in one.forms)}"
            + (f" unless {names.loop(one.unless_first)} is in its first iteration" if one.unless_first else "")
            for one in domains.of(op)
            if one.forms
        ]
        yield f"{names.op(op)} where {'; '.join(conditions) or 'no condition is known'}"


def _demanded(function: Function, names: Names) -> Iterator[str]:
    known = demanded(function, address_bits(function))
    for value in integers(names):
        yield f"{names(value)}: low {known.get(value, 0)} of {value.type.bits} bits"


def _linear(function: Function, names: Names) -> Iterator[str]:
    ops = list(walk(function.body))
    forms = LinearForms(ops)
    for value in [v for v in integers(names) if v.op is not None and v.type.bits <= 8]:
        bits = [_xor(forms, form, names) for form in forms.of(value)]
        yield f"{names(value)}: {', '.join(reversed(bits))}"


def _xor(forms: LinearForms, form: int, names: Names) -> str:
    atoms = [k for k in range(form.bit_length()) if form >> k & 1]
    return "^".join("1" if k == 0 else f"{names(forms.atoms[k][0])}[{forms.atoms[k][1]}]" for k in atoms) or "0"


def _transfer(function: Function, names: Names) -> Iterator[str]:
    """Each operation by itself: arguments are as wide as they are, all else as the operations before made it."""
    known = {arg: Range.full(arg.type.bits) for arg in function.args if isinstance(arg.type, IntType)}
    for op in walk(function.body):
        if op.opcode == "const" and isinstance(op.result.type, IntType):
            known[op.result] = Range.exact(op.attrs["value"], op.result.type.bits)
        elif op.opcode in TRANSFER:
            known[op.result] = TRANSFER[op.opcode](op.result.type.bits, *(known[v] for v in op.operands))
            yield f"{names(op.result)} = {op.opcode}: {_range(known[op.result])}"


def _range(one: Range) -> str:
    unsigned, signed = _interval(one.umin, one.umax), _interval(one.smin, one.smax)
    return unsigned if unsigned == signed else f"unsigned {unsigned}, signed {signed}"


def _zeros(function: Function, names: Names) -> Iterator[str]:
    zeros = TrailingZeros(function)
    for value in integers(names):
        yield f"{names(value)}: a multiple of {1 << zeros.of(value)}"


def _possible(function: Function, names: Names) -> Iterator[str]:
    possible = PossibleValues(function)
    for value in integers(names):
        found = possible.of(value)
        yield f"{names(value)}: {'too many' if found is None else ', '.join(map(str, sorted(found)))}"


def _ranges(function: Function, names: Names) -> Iterator[str]:
    known = ranges(function)
    for value in integers(names):
        yield f"{names(value)}: {_range(known[value])}"


def _wiring(function: Function, names: Names) -> Iterator[str]:
    for op in walk(function.body):
        if op.results and isinstance(op.result.type, IntType) and op.opcode not in ("const", "loop", "load"):
            cut = cut_order(op) if op.opcode in ("ult", "ule", "slt", "sle") else None
            words = [*(["wires"] if is_wires(op) else []), f"ones at most {possible_ones(op.result):#x}"]
            if cut is not None:
                words.append(f"{names(cut.x)} >> {cut.zeros} {'<' if cut.below else '>='} {cut.first}")
                words += ["all equal"] if cut.edge else []
            yield f"{names.op(op)}: {', '.join(words)}"


def _paces(function: Function, names: Names) -> Iterator[str]:
    known = ranges(function)
    tree = LoopTree(function)
    for op in loops_of(function):
        loop = loop_of(tree, op)
        for arg in loop.body.args:
            found = pace(arg, loop, known)
            yield f"{names(arg)}: {'unknown' if found is None else f'{found[0]} to {found[1]} more in each iteration'}"


def _counted(function: Function, names: Names) -> Iterator[str]:
    for op in loops_of(function):
        body = op.regions[0]
        for k, arg in enumerate(body.args):
            found = trips_of_counter(op, body.terminator.operands[0], k)
            yield f"{names.loop(op)}, counted by {names(arg)}: {or_unknown(found, 'iterations')}"


def _monotonic(function: Function, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    growth = MonotonicAccess(forms)
    for one, other in pairs_of(function):
        for loop in (None, *forms.tree.around(one)):
            if (loop is not None or one is not other) and (loop is None or loop in forms.tree.around(other)):
                where = f"in later iterations of {names.loop(loop)}" if loop else "in one iteration"
                found = "never aliases" if growth.apart(one, other, loop) else "may alias"
                yield f"{names.op(other)} {found} {names.op(one)} {where}"


def _periodic(function: Function, names: Names) -> Iterator[str]:
    sequences = PeriodicSequences(LoopTree(function))
    for value in integers(names):
        if (found := sequences.of(value, False)) is not None:
            digits = [f"{d.factor} * (t // {d.divide} % {d.modulus})" for d in found.digits]
            yield f"{names(value)} = {' + '.join([str(found.const), *digits])}, {_interval(found.low, found.high)}"


def _states(function: Function, names: Names) -> Iterator[str]:
    for op in loops_of(function):
        yield f"{names.loop(op)}: {or_unknown(most_iterations(op), 'iterations at most')}"


def _trips(function: Function, names: Names) -> Iterator[str]:
    for op in loops_of(function):
        found = count_trips(op)
        text = "unknown" if found is None else f"{'' if found.exact else 'at most '}{found.count} iterations"
        yield f"{names.loop(op)}: {text}"


def _steps(function: Function, names: Names) -> Iterator[str]:
    for op in loops_of(function):
        (body,) = op.regions
        step = compiled_step(body, range(len(body.args)), {})
        again, numbers = step([constant(value) for value in op.operands[1:]])
        if again is None:
            yield f"{names.loop(op)}: not computed from what it carries"
            continue
        yield f"{names.loop(op)}: the first iteration leaves {numbers}, {'another follows' if again else 'no other follows'}"


def _forward(function: Function, names: Names) -> Iterator[str]:
    tree = LoopTree(function)
    followers: dict[Op, set[Op]] = {}
    for fact in dependences(function, address_bits(function)):
        if fact.loop is None:
            followers.setdefault(fact.src, set()).add(fact.dst)
    for op in accesses_of(function):
        region = tree.region_of(op)
        if op.results:
            yield f"computed from {names(op.results[0])}: {names.all(computed_from(region, set(op.results)))}"
        yield f"waits for {names.op(op)}: {names.all(behind(region, (op,), followers))}"


def _backward(function: Function, names: Names) -> Iterator[str]:
    tree = LoopTree(function)
    for op in accesses_of(function):
        ops = tree.region_of(op).ops
        found = pure_slice(op.operands, ops[: ops.index(op)])
        text = "not pure" if found is None else names.all(v for each in found for v in each.results)
        yield f"{names.op(op)} needs of its region: {text}"


def _tree(function: Function, names: Names) -> Iterator[str]:
    tree = LoopTree(function)
    for op in loops_of(function):
        loop = loop_of(tree, op)
        inside = f" in {names.loop(loop.parent)}" if loop.parent else ""
        yield f"{names.loop(loop)}{inside}: {or_unknown(loop.most_trips, 'iterations at most')}" + (
            ", parallel" if loop.parallel else ""
        )
        for arg, found in loop.inductions.items():
            yield f"  {names(arg)} = {names(found.init)} + {found.step} * t"
    for value in integers(names):
        if (changing := tree.changing(value)) is not None and value.op is not None:
            yield f"{names(value)} changes in {names.loop(changing)}"


def _components(function: Function, names: Names) -> Iterator[str]:
    for op in loops_of(function):
        found: dict[int, list[Value]] = {}
        for value, number in components(op.regions[0]).items():
            found.setdefault(number, []).append(value)
        for values in sorted(found.values(), key=names.all):
            yield f"{names.loop(op)}: {names.all(values)}"


OF_FUNCTIONS: dict[str, Printer] = {
    "affine": _affine,
    "delinearize": _rows,
    "floordiv": _floordiv,
    "form": _compared,
    "iteration_domain": _domains,
    "wrapping": _wrapping,
    "demanded_bits": _demanded,
    "gf2_forms": _linear,
    "intervals": _transfer,
    "known_bits": _zeros,
    "possible_values": _possible,
    "ranges": _ranges,
    "wiring": _wiring,
    "bounded_step": _paces,
    "counted": _counted,
    "monotonic": _monotonic,
    "periodic": _periodic,
    "state_space": _states,
    "compiled_step": _steps,
    "trip_count": _trips,
    "backward_slice": _backward,
    "forward_slice": _forward,
    "loop_tree": _tree,
    "sccs": _components,
    **memory_printers.PRINTERS,
    **predicate_printers.PRINTERS,
    **timing_printers.PRINTERS,
    **workgroup_printers.PRINTERS,
}


def _of_each(printer: Printer) -> Callable[[Module], list[str]]:
    return lambda module: [line for function in module.kernels for line in printer(function, Names(function))]


#: the printer of each module of hls/analysis: (module) -> lines
PRINTERS: Mapping[str, Callable[[Module], list[str]]] = {
    name: _of_each(printer) for name, printer in OF_FUNCTIONS.items()
} | channel_printers.PRINTERS
