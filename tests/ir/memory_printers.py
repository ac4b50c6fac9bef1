"""Prints the results of memory and dependence analyses as text."""

from collections.abc import Iterator
from itertools import combinations_with_replacement

from hls.analysis.affine.affine import AffineForms
from hls.analysis.dependence.address_slice import PythonEmitter, Slice
from hls.analysis.dependence.dependence import DependenceTester, dependences
from hls.analysis.dependence.enumerate import AddressTraces
from hls.analysis.dependence.polyhedral import DistanceQuery
from hls.analysis.dependence.witness import conflicts_at_once
from hls.analysis.memory.access_groups import neighbours
from hls.analysis.memory.clobbers import Clobbers
from hls.analysis.memory.commutativity import Commutativity
from hls.analysis.memory.entry_values import entry_value
from hls.analysis.memory.must_alias import MustAlias
from hls.analysis.memory.must_define import MustDefine
from hls.analysis.memory.reaching_stores import ReachingStore, ReachingStores
from hls.analysis.memory.strides import access_patterns
from hls.ir import Function, memory_name, reaches_memory, walk
from tests.ir.names import Names, address_bits
from tests.ir.walks import accesses_of, iterations, loop_of, loops_of, pairs_of

__all__ = ["PRINTERS"]


def _slice(function: Function, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    for op in accesses_of(function):
        for top in forms.tree.around(op)[:1]:
            part = Slice(forms.tree, top, {op: forms.offset(op)})
            if not part.closed:
                yield f"{names.op(op)} in {names.loop(top)}: not closed"
                continue
            rows, left = PythonEmitter(part).run(1000)
            places = ", ".join(f"{iterations}: {offsets[0]}" for iterations, offsets in rows)
            yield f"{names.op(op)} in {names.loop(top)}: {places} ({1000 - left} steps)"


def _dependences(function: Function, names: Names) -> Iterator[str]:
    for one in dependences(function, address_bits(function)):
        where = f"{iterations(one.distance)} of {names.loop(one.loop)} later" if one.loop else "in one iteration"
        known = "" if one.known else ", if at all"
        overlap = ", where buffers overlap" if one.overlap else ""
        yield f"{one.kind.value}: {names.op(one.dst)} after {names.op(one.src)}, {where}{known}{overlap}"


def _traces(function: Function, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    traces = AddressTraces(forms)
    for one, other in pairs_of(function):
        around = forms.tree.around(one)
        for k, loop in enumerate(around):
            if loop in forms.tree.around(other):
                found = traces.least(one, other, loop, k, 1)
                yield f"{names.op(other)} aliases {names.op(one)}: {_least(found)} in {names.loop(loop)}"


def _least(found: int | None) -> str:
    return "never" if found is None else f"at least {iterations(found)} later"


def _distance(function: Function, names: Names) -> Iterator[str]:
    tester = DependenceTester(function, address_bits(function))
    for one, other in pairs_of(function):
        around = tester.tree.around(one)
        for same, loop in enumerate(around):
            if loop in tester.tree.around(other):
                query = DistanceQuery(tester, one, other, loop, same)
                facts = ["exact" if query.known else "with unknowns", *(["apart"] if query.apart else [])]
                yield f"{names.op(one)}, then {names.op(other)} in {names.loop(loop)}: {', '.join(facts)}: {query.text}"


def _witness(function: Function, names: Names) -> Iterator[str]:
    tester = DependenceTester(function, address_bits(function))
    for one, other in pairs_of(function):
        for same, loop in enumerate(tester.tree.around(one)):
            if loop in tester.tree.around(other):
                shown = conflicts_at_once(DistanceQuery(tester, one, other, loop, same))
                answer = "conflict an iteration later" if shown else "not shown"
                yield f"{names.op(one)}, then {names.op(other)} in {names.loop(loop)}: {answer}"


def _groups(function: Function, names: Names) -> Iterator[str]:
    for most in (0, 64):
        for group in neighbours(function, most, address_bits(function)):
            members = ", ".join(f"{names.op(op)} at {offset}" for op, offset in zip(group.members, group.offsets))
            yield f"up to {most} bytes: {members}"


def _clobbers(function: Function, names: Names) -> Iterator[str]:
    clobbers = Clobbers(function)
    ops = [op for op in walk(function.body) if op.opcode != "load"]
    for load in [op for op in accesses_of(function) if op.opcode == "load"]:
        if not clobbers.movable(load):
            yield f"{names.op(load)}: not to be moved"
            continue
        found = ", ".join(names.op(op) for op in ops if not op.regions and clobbers.among(load, [op]))
        yield f"{names.op(load)} may be changed by: {found or 'nothing'}"


def _commute(function: Function, names: Names) -> Iterator[str]:
    free = Commutativity(function)
    ops = [op for op in walk(function.body) if reaches_memory(op)]
    for one, other in combinations_with_replacement(ops, 2):
        if memory_name(one) == memory_name(other) and {one.opcode, other.opcode} != {"load"}:
            yield f"{names.op(one)} and {names.op(other)}: {'commute' if free.between(one, other) else 'ordered'}"


def _aliases(function: Function, names: Names) -> Iterator[str]:
    places = MustAlias(function, address_bits(function))
    tree = places.tree
    for store, load in ((a, b) for pair in pairs_of(function) for a, b in (pair, pair[::-1])):
        if store.opcode == "store" and load.opcode == "load" and tree.region_of(store) is tree.region_of(load):
            loop = tree.around(store)[-1] if tree.around(store) else None
            found = places.distance(store, load, loop)
            text = "unknown" if found is None else f"{iterations(found)} later"
            fixed = ", invariant address" if loop is not None and places.fixed(load, loop) else ""
            yield f"{names.op(load)} reads what {names.op(store)} wrote: {text}{fixed}"


def _entries(function: Function, names: Names) -> Iterator[str]:
    places = MustAlias(function, address_bits(function))
    for load in [op for op in accesses_of(function) if op.opcode == "load" and places.tree.around(op)]:
        loop = places.tree.around(load)[-1]
        found = entry_value(places, loop, load)
        text = "unknown" if found is None else names(found)
        yield f"{names.op(load)} reads in the first iteration of {names.loop(loop)}: {text}"


def _defined(function: Function, names: Names) -> Iterator[str]:
    forms = AffineForms(function, address_bits(function))
    defines = MustDefine(forms)
    for op in loops_of(function):
        loop = loop_of(forms.tree, op)
        inside = [access for access in accesses_of(function) if loop in forms.tree.around(access)]
        for name in dict.fromkeys(memory_name(access) for access in inside):
            loads = [a for a in inside if memory_name(a) == name and a.opcode == "load"]
            stores = [a for a in inside if memory_name(a) == name and a.opcode == "store"]
            if loads and stores:
                anew = defines.begins_anew(loop, loads, stores)
                yield f"{name} in {names.loop(loop)}: {'written before it is read' if anew else 'may read an older value'}"


def _reaching(function: Function, names: Names) -> Iterator[str]:
    places = MustAlias(function, address_bits(function))
    tree = places.tree
    for load in [op for op in accesses_of(function) if op.opcode == "load"]:
        loop = tree.around(load)[-1] if tree.around(load) else None
        for compare in (False, True):
            found = ReachingStores(places, loop, compare).of(load)
            words = "comparing addresses, " if compare else ""
            yield f"{words}{names.op(load)}: {'; '.join(_reached(one, names) for one in found) or 'memory'}"


def _reached(one: ReachingStore, names: Names) -> str:
    sure = "surely" if one.certain else "perhaps"
    return f"{names.op(one.access)}, {iterations(one.distance)} before, {sure}" + (
        ", if addresses are equal" if one.compare else ""
    )


def _strides(function: Function, names: Names) -> Iterator[str]:
    for op, pattern in access_patterns(function).items():
        for loop, step in pattern.steps:
            amount = "unknown" if step.amount is None else f"{step.amount} bytes"
            regular = "" if step.regular else ", irregular"
            period = f", wraps after {step.period} bytes" if step.period else ""
            yield f"{names.op(op)} in {names.loop(loop)}: {amount}{regular}{period}"


PRINTERS = {
    "address_slice": _slice,
    "dependence": _dependences,
    "enumerate": _traces,
    "polyhedral": _distance,
    "witness": _witness,
    "access_groups": _groups,
    "clobbers": _clobbers,
    "commutativity": _commute,
    "must_alias": _aliases,
    "entry_values": _entries,
    "must_define": _defined,
    "reaching_stores": _reaching,
    "strides": _strides,
}
