"""Counts what a design consists of before it is converted to Verilog, by the rules of :mod:`hls.model.netlist`.

A cell of Amaranth's netlist becomes one operator, block or memory of the Verilog, so both counts agree. Counting takes
the modules as planned and built, and no conversion; those of library parts are counted once and kept.
"""

import functools
import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from amaranth.hdl import _nir

from . import constant_cells
from . import netlist as rules
from .constant_cells import ONE, ZERO, ConstantCells, is_constant
from .netlist import CONDITION, Memory, Module, bits_of_operator, read_modules, tree

__all__ = ["count_netlist", "count_text", "modules_of", "version"]

#: the operators of the netlist that Verilog writes otherwise
_IN_VERILOG = {"m": "?", "r|": "|", "r&": "&", "r^": "^", "b": "|"}
#: operators whose operands are written without the bits that only extend them
_SHORTENED = {"+", "-", "*", "==", "!=", "<<"}


@functools.cache
def version() -> str:
    """A digest of the rules, which tells counts by other rules apart."""
    texts = [Path(file).read_bytes() for file in (__file__, constant_cells.__file__, rules.__file__)]
    return hashlib.sha256(b"".join(texts)).hexdigest()[:16]


def count_netlist(found: _nir.Netlist, name: str) -> str:
    """The modules of the netlist of a design called ``name``, as text for :func:`modules_of`."""
    return _text(_Counter(found).modules())


def count_text(text: str, name: str) -> str:
    """The same of a Verilog text that a part brings."""
    return _text(list(read_modules(text).values()))


def modules_of(text: str) -> dict[str, Module]:
    """The modules of a text by name; nothing is distributed over their signals."""
    found = {}
    for name, registers, luts, memories, products, instances in json.loads(text):
        memories = [Memory(*one) for one in memories]
        found[name] = Module(name, registers, luts, memories, [(a, b) for a, b in products], instances)
    return found


def _text(modules: Sequence[Module]) -> str:
    return json.dumps(
        [
            [
                one.name,
                one.registers,
                one.luts,
                [[m.depth, m.width, m.registered, m.dual, m.kind] for m in one.memories],
                one.products,
                one.instances,
            ]
            for one in modules
        ]
    )


class _Counter:
    def __init__(self, netlist: _nir.Netlist) -> None:
        self.netlist, self.constants = netlist, ConstantCells(netlist)
        self.resets = {
            value[0] for signal, value in netlist.signals.items() if signal.name == "rst" and len(value) == 1
        }

    def modules(self) -> list[Module]:
        """Every module of the netlist, named after its place; one without cells is not written."""
        found = [Module(".".join(one.name)) for one in self.netlist.modules]
        for module, into in zip(self.netlist.modules, found, strict=True):
            self._count(module.cells, into)
            for memory, seen in self._memories(module.cells):
                into.memories.append(memory)
                into.registers += seen
        for index in reversed(range(len(found))):
            module = self.netlist.modules[index]
            if module.parent is not None and (module.cells or found[index].instances):
                inner = found[module.parent].instances
                inner[str(module.name[-1])] = found[index].name
        return found

    def _count(self, cells: Sequence[int], into: Module) -> None:
        for index in cells:
            cell = self.netlist.cells[index]
            if isinstance(cell, _nir.FlipFlop):
                into.registers += len(cell.data)
            elif isinstance(cell, _nir.Operator):
                into.luts += 0 if self.constants.is_replaced(index, cell) else self._operator(cell, into)
            elif isinstance(cell, _nir.Part):
                into.luts += self._part(cell, into)
            elif isinstance(cell, _nir.AssignmentList):
                into.luts += CONDITION * sum(len(one.value) for one in cell.assignments if self._is_chosen(one.cond))
            elif isinstance(cell, _nir.Instance):
                into.instances[cell.name] = cell.type

    def _operator(self, cell: _nir.Operator, into: Module) -> float:
        """The widths are those of the operands as written; constants are found after that."""
        operator, inputs = cell.operator, list(cell.inputs)
        plain = _IN_VERILOG.get(operator, operator.lstrip("us") if len(operator) > 1 else operator)
        if len(inputs) == 1:
            if operator == "~":
                return 0
            return len(_shortest(inputs[0])) if operator == "-" else tree(len(inputs[0]))
        last = [self.constants.value(one, cell.module_idx) for one in inputs[-2:]]
        if plain == "==" and any(not any(one) for one in last):
            return 0  # with zero: an inverter
        written = _written(operator, inputs) if operator in _SHORTENED or operator[0] in "us" else inputs
        widths = [len(one) for one in written]
        if plain == "*":
            into.products.append((widths[0], widths[1]))
            return 0
        return bits_of_operator(plain, cell.width, widths, sum(map(is_constant, last)))

    def _part(self, cell: _nir.Part, into: Module) -> float:
        """A part selected by a signal is a shift, by a product where it is chosen among parts that do not overlap."""
        width = len(cell.offset)
        if is_constant(self.constants.value(cell.offset, cell.module_idx)):
            return 0
        if cell.stride != 1:
            stride = cell.stride.bit_length()
            into.products.append((width, stride))
            width += stride
        return bits_of_operator(">>", cell.width, [len(cell.value), width], int(is_constant(cell.value)))

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
                yield Memory(cell.depth, cell.width, registered, len(clocked) > 1, kind), seen


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
