"""The cells of a design's netlist as its Verilog would have them: operators as written, registers, memories, instances.

A cell of Amaranth's netlist becomes one operator, block or memory of the Verilog, so this tells what a conversion would
write. What depends on it: operands are written without the bits that only extend them, and where constants decide an
operator or a case, it is not written.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import _nir

from .constant_cells import ONE, ZERO, ConstantCells, is_constant

__all__ = ["ModuleCells", "cells_of"]

#: the operators of the netlist that Verilog writes otherwise
_IN_VERILOG = {"m": "?", "r|": "|", "r&": "&", "r^": "^", "b": "|"}
#: operators whose operands are written without the bits that only extend them
_SHORTENED = {"+", "-", "*", "==", "!=", "<<"}

#: operator, bits of the result, bits of the operands, how many of the last two operands are constants
Operator = tuple[str, int, tuple[int, ...], int]
#: words, bits of each, whether all reads are clocked, whether two ports read it, the kind of RAM requested
Memory = tuple[int, int, bool, bool, str]


@dataclass
class ModuleCells:
    """One module without the contents of its instances. ``assigned`` are the bits that are assigned under conditions,
    other than a reset; ``instances`` are module names by instance."""

    name: str
    registers: int = 0
    assigned: int = 0
    operators: Counter[Operator] = field(default_factory=Counter)
    memories: list[Memory] = field(default_factory=list)
    instances: dict[str, str] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it; each operator is followed by how often it is there."""
        operators = [[*one, count] for one, count in sorted(self.operators.items())]
        return {**vars(self), "operators": operators}


def cells_of(netlist: _nir.Netlist) -> list[ModuleCells]:
    """Every module of a netlist whose nets are resolved, named after its place; one without cells is not written."""
    return _Reader(netlist).modules()


class _Reader:
    def __init__(self, netlist: _nir.Netlist) -> None:
        self.netlist, self.constants = netlist, ConstantCells(netlist)
        self.resets = {
            value[0] for signal, value in netlist.signals.items() if signal.name == "rst" and len(value) == 1
        }

    def modules(self) -> list[ModuleCells]:
        found = [ModuleCells(".".join(one.name)) for one in self.netlist.modules]
        for module, into in zip(self.netlist.modules, found, strict=True):
            self._read(module.cells, into)
            for memory, seen in self._memories(module.cells):
                into.memories.append(memory)
                into.registers += seen
        for index in reversed(range(len(found))):
            module = self.netlist.modules[index]
            if module.parent is not None and (module.cells or found[index].instances):
                found[module.parent].instances[str(module.name[-1])] = found[index].name
        return found

    def _read(self, cells: Sequence[int], into: ModuleCells) -> None:
        for index in cells:
            cell = self.netlist.cells[index]
            if isinstance(cell, _nir.FlipFlop):
                into.registers += len(cell.data)
            elif isinstance(cell, _nir.Operator) and not self.constants.is_replaced(index, cell):
                into.operators.update(self._operator(cell))
            elif isinstance(cell, _nir.Part):
                into.operators.update(self._part(cell))
            elif isinstance(cell, _nir.AssignmentList):
                into.assigned += sum(len(one.value) for one in cell.assignments if self._is_chosen(one.cond))
            elif isinstance(cell, _nir.Instance):
                into.instances[cell.name] = cell.type

    def _operator(self, cell: _nir.Operator) -> Iterator[Operator]:
        """The widths are those of the operands as written; constants are found after that."""
        operator, inputs = cell.operator, list(cell.inputs)
        plain = _IN_VERILOG.get(operator, operator.lstrip("us") if len(operator) > 1 else operator)
        if len(inputs) == 1:
            width = len(_shortest(inputs[0])) if operator == "-" else len(inputs[0])
            yield plain, cell.width, (width,), 0
            return
        last = [self.constants.value(one, cell.module_idx) for one in inputs[-2:]]
        if plain == "==" and any(not any(one) for one in last):
            return  # with zero: an inverter
        written = _written(operator, inputs) if operator in _SHORTENED or operator[0] in "us" else inputs
        yield plain, cell.width, tuple(map(len, written)), sum(map(is_constant, last))

    def _part(self, cell: _nir.Part) -> Iterator[Operator]:
        """A part selected by a signal is a shift, by a product where it is chosen among parts that do not overlap."""
        width = len(cell.offset)
        if is_constant(self.constants.value(cell.offset, cell.module_idx)):
            return
        if cell.stride != 1:
            stride = cell.stride.bit_length()
            yield "*", width + stride, (width, stride), 1
            width += stride
        yield ">>", cell.width, (len(cell.value), width), int(is_constant(cell.value))

    def _is_chosen(self, condition: _nir.Net) -> bool:
        """Whether an assignment under a condition takes logic: one that only resets does not, nor one in a case that
        the constants among the bits of its value exclude, or decide."""
        outermost: _nir.Value | None = None
        while condition != ONE:
            cell = self.netlist.cells[condition.cell]
            assert isinstance(cell, _nir.PriorityMatch)
            tested = self._tested(cell)
            if not self._may_hold(cell.inputs[condition.bit], tested):
                return False
            if not is_constant(tested):
                outermost = tested
            condition = cell.en
        return outermost is not None and not set(outermost) <= self.resets

    def _tested(self, cell: _nir.PriorityMatch) -> _nir.Value:
        """The value that the cases of a choice test; all test the same."""
        for net in cell.inputs:
            if net != ONE:
                matches = self.netlist.cells[net.cell]
                assert isinstance(matches, _nir.Matches)
                return matches.value
        return _nir.Value()

    def _may_hold(self, case: _nir.Net, tested: _nir.Value) -> bool:
        """Whether a pattern of a case agrees with all constant bits of the value."""
        if case == ONE:
            return True
        bits = [str(int(net)) if 0 <= net <= 1 else "-" for net in reversed(tested)]
        patterns = self.netlist.cells[case.cell].patterns
        return any(all("-" in (p, t) or p == t for p, t in zip(pattern, bits, strict=True)) for pattern in patterns)

    def _memories(self, cells: Sequence[int]) -> Iterator[tuple[Memory, int]]:
        """The memories among the cells, and the registers of each for words that are read while they are written."""
        reads: dict[int, list[_nir.Cell]] = {index: [] for index in cells}
        for index in cells:
            cell = self.netlist.cells[index]
            if isinstance(cell, _nir.SyncReadPort | _nir.AsyncReadPort):
                reads[cell.memory].append(cell)
        for index in cells:
            cell = self.netlist.cells[index]
            if isinstance(cell, _nir.Memory):
                clocked = [one for one in reads[index] if isinstance(one, _nir.SyncReadPort)]
                seen = sum(one.width for one in clocked if one.transparent_for)
                kind = str(cell.attributes.get("ram_style", ""))
                registered = len(clocked) == len(reads[index])
                yield (cell.depth, cell.width, registered, len(clocked) > 1, kind), seen


def _unsigned(value: Sequence[_nir.Net]) -> tuple[_nir.Net, ...]:
    """The value without zeros at its upper end."""
    end = len(value)
    while end and value[end - 1] == ZERO:
        end -= 1
    return tuple(value)[:end]


def _signed(value: Sequence[_nir.Net]) -> tuple[_nir.Net, ...]:
    """The value without copies of its sign."""
    end = len(value)
    while end > 1 and value[end - 1] == value[end - 2]:
        end -= 1
    return tuple(value)[:end]


def _shortest(value: Sequence[_nir.Net]) -> tuple[_nir.Net, ...]:
    return min(_unsigned(value), _signed(value), key=len)


def _written(operator: str, inputs: Sequence[Sequence[_nir.Net]]) -> list[tuple[_nir.Net, ...]]:
    """The operands of a binary operator as they are written: arithmetic ones both unsigned or both signed."""
    a, b = inputs
    if operator == "<<":
        return [_shortest(a), _unsigned(b)]
    if operator[0] in "us":
        cut = _signed if operator[0] == "s" else _unsigned
        return [cut(a), _unsigned(b) if ">>" in operator else cut(b)]
    if is_constant(a):
        signed = len(_signed(b)) < len(_unsigned(b))
    elif is_constant(b):
        signed = len(_signed(a)) < len(_unsigned(a))
    else:
        signed = any(len(_signed(one)) < len(one) == len(_unsigned(one)) for one in (a, b))
    return [(_signed if signed else _unsigned)(one) for one in (a, b)]
