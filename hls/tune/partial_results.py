"""Partial results: a loop that accumulates into elements of an array on the chip takes several arrays in turn, so that
an iteration need not wait for the one before it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..ir import FloatType, MemoryObject, Module, Op, is_access, memory_name, walk
from ..ir.associative import kind_of, terms_of
from ..ir.types import Type
from ..model.estimate import Planned, timed
from ..model.rewrites import Kind, Rewrite
from ..model.workload import Place, Workload
from ..planning import Compilation, CompiledKernel
from ..planning.what_if import Ivdep, WhatIf

__all__ = ["OPERATORS", "PartialResults"]

#: of operations whose neutral element is zero, how an element takes a partial result
OPERATORS = {"add": "+=", "fadd": "+=", "fadd flush": "+=", "or": "|=", "xor": "^="}


@dataclass(frozen=True)
class _Accumulation:
    """The innermost ``loop`` updates elements of ``memory`` by an operation of this ``kind``, at ``store``."""

    loop: Op
    memory: MemoryObject
    kind: str
    store: Op


class PartialResults:
    """The rewrites of the kernels of a linked ``module``, each planned without the dependence that it removes."""

    def __init__(self, module: Module, compilation: Compilation, main: str) -> None:
        self._what_if = WhatIf(module, compilation)
        self._board, self._main = compilation.board, main

    def rewrites(self, kernel: CompiledKernel, planned: Planned, workload: Workload) -> dict[Rewrite, float]:
        """Those of a launch, with its cycles after each: of a plan without the dependence, with what zeroing the
        partial results and adding them up takes."""
        found, counts = {}, None
        for one in _accumulations(planned):
            edit = Ivdep(one.loop.span, one.memory.span)
            free = self._what_if.in_source(kernel, (edit,))
            if free is None:
                continue
            after = Planned(free.function, free.memory, free.plan, free.unrolled, free.merged, self._main)
            counts = counts or timed(planned, workload, self._board).counts
            joining = 2 * one.memory.elements * counts.loop(one.loop).invocations
            cycles = timed(after, workload, self._board).cycles + joining
            copies = 1 << (planned.plan.loops[one.loop].ii - 1).bit_length()
            found[self._rewrite(workload.kernel, one, copies)] = cycles
        return found

    def _rewrite(self, kernel: str, one: _Accumulation, copies: int) -> Rewrite:
        return Rewrite(
            Kind.PARTIALS,
            kernel,
            (one.memory.name,),
            self._place(one.store),
            one.memory.elements,
            self._place(one.loop),
            copies=copies,
            element=_c_type(one.memory.element),
            operator=OPERATORS[one.kind],
        )

    def _place(self, op: Op) -> Place | None:
        span = op.span
        return Place("" if span.file == self._main else span.file, span.line, span.column) if span else None


def _accumulations(planned: Planned) -> Iterator[_Accumulation]:
    """Those in innermost loops that wait between iterations."""
    for loop, plan in planned.plan.loops.items():
        body = loop.regions[0]
        if plan.ii == 1 or any(op.opcode == "loop" for op in walk(body)):
            continue
        by_memory: dict[str, list[Op]] = {}
        for op in walk(body):
            if is_access(op):
                by_memory.setdefault(memory_name(op), []).append(op)
        for name, ops in by_memory.items():
            memory = planned.function.memories[name]
            if memory.space == "private" and memory.element.bits >= 8 and (kind := _kind(ops)):
                yield _Accumulation(loop, memory, kind, ops[-1])


def _kind(accesses: list[Op]) -> str | None:
    """The operation of a load and a store of the same element, behind each other, as ``t[i] += x`` has them."""
    if [op.opcode for op in accesses] != ["load", "store"]:
        return None
    load, store = accesses
    update = store.operands[1].op
    if load.operands[0] is not store.operands[0] or update is None:
        return None
    kind = kind_of(update, floats=True)
    mine = [term for term in terms_of(update) if term.value is load.result] if kind in OPERATORS else []
    return kind if len(mine) == 1 and not mine[0].minus and mine[0].factor is None else None


def _c_type(element: Type) -> str:
    """A type of C with that many bits; the sign makes no difference to the operations."""
    floats: Mapping[int, str] = {16: "half", 32: "float", 64: "double"}
    integers: Mapping[int, str] = {8: "char", 16: "short", 32: "int", 64: "long"}
    return floats[element.bits] if isinstance(element, FloatType) else integers[element.bits]
