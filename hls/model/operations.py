"""Estimates the area of operations before any Verilog is written, to choose between two ways to compute something.

The rules of :mod:`hls.model.netlist` are applied to the operation that becomes the hardware. Of a loop, the registers
of carried values and the queues of values that wait to enter and to leave it are counted. Its control logic is the same
for most loops and left out, as are pipeline registers.
"""

import math
from functools import cache

from rtl_lib.library import convert_part

from ..analysis.bits.wiring import cut_order, ordered_bits
from ..ir import Function, Op, Value, uses, walk
from ..ir.rewrite import is_constant
from ..planning.schedule import OperatorTiming
from ..planning.schedule.parts import PartChoice
from ..target.board import Device
from .netlist import CHOICE, CONDITION, GATE, read_modules, tree

__all__ = ["logic_cells"]


def logic_cells(function: Function, timing: OperatorTiming, device: Device) -> int:
    """Logic cells of the device for the operations and loops of a flat kernel, without accesses and control."""
    cell, used = device.cell, uses(function.body)
    tables = sum(
        _of(op, timing) if op.opcode != "loop" else _of_carried(op, timing) + cell.ram_tables * _queued(op, used)
        for op in walk(function.body)
    )
    return math.ceil(tables / cell.tables)


def _queued(loop: Op, used: dict[Value, list[tuple[Op, int]]]) -> int:
    """Bits in the queues before and after the loop."""
    given = sum(v.type.bits for v in loop.operands[1:] if v.op is not None and not is_constant(v))
    return given + sum(v.type.bits for v in loop.results if v in used)


def _of_carried(loop: Op, timing: OperatorTiming) -> float:
    """A carried value has a register that is written from two sources; if its initial value comes from elsewhere, a
    multiplexer selects between the two."""
    chains = [
        chain
        for chain in _chains(loop)
        if timing.latency(loop.regions[0].terminator.operands[1 + chain[0]].defining_op)
    ]
    shifted = {k for chain in chains for k in chain}
    plain = [v for k, v in enumerate(loop.operands[1:]) if k not in shifted]
    found = sum((2 * CONDITION if is_constant(v) else CHOICE) * v.type.bits for v in plain)
    return found + sum(_of_history(loop, chain) for chain in chains)


def _chains(loop: Op) -> list[list[int]]:
    """Chains of carried values, by index: the first is computed, and each other one is the previous value of the one
    before. Only chains of two or more."""
    body = loop.regions[0]
    behind = {v.index: k for k, v in enumerate(body.terminator.operands[1:]) if v.owner is body}
    found = [[k] for k, v in enumerate(body.terminator.operands[1:]) if v.op in body.ops]
    for chain in found:
        while chain[-1] in behind:
            chain.append(behind[chain[-1]])
    return [chain for chain in found if len(chain) > 1]


def _of_history(loop: Op, chain: list[int]) -> float:
    """A shift register (``rtl_lib/delay_lines.py``): each stage is written from the one before or with its initial
    value; each tap is selected among all stages, or among their initial values."""
    body, places = loop.regions[0], len(chain)
    read = {v for op in body.ops[:-1] for v in op.operands}
    taps = sum(body.args[k] in read for k in chain)
    kept = CONDITION * places + GATE * (places - 1)
    return body.args[chain[0]].type.bits * (kept + taps * (2 * CHOICE * places + CHOICE))


def _of(op: Op, timing: OperatorTiming) -> float:
    part = timing.part(op)
    if part is not None:
        return _of_part(part, timing.latency(op))
    rule = _RULES.get(op.opcode)
    return rule(op, sum(is_constant(v) for v in op.operands)) if rule else 0.0


@cache
def _of_part(part: PartChoice, latency: int) -> float:
    texts = convert_part(part.part(part.params, latency))
    return sum(module.luts for text in texts.values() for module in read_modules(text).values())


def _width(op: Op) -> int:
    return op.operands[-1].type.bits


def _gate(op: Op, constants: int) -> float:
    return 0.0 if constants else GATE * _width(op)


def _sum(op: Op, constants: int) -> float:
    return float(_width(op))


def _order(op: Op, constants: int) -> float:
    bits, cut = ordered_bits(op), cut_order(op)
    if cut is not None and cut.edge:
        return tree(bits)
    return float(bits) if bits > 1 else 0.0


def _equal(op: Op, constants: int) -> float:
    return tree(_width(op) if constants else 2 * _width(op))


def _choice(op: Op, constants: int) -> float:
    return (CHOICE, GATE, 0.0)[sum(is_constant(v) for v in op.operands[1:])] * _width(op)


def _shift(op: Op, constants: int) -> float:
    return 0.0 if constants else CHOICE * _width(op) * math.ceil(math.log2(_width(op)))


#: for each operation, its tables as a function of it and of how many of its operands are constants; operations not
#: listed are wires, or no logic
_RULES = {
    "add": _sum,
    "sub": _sum,
    "ult": _order,
    "ule": _order,
    "slt": _order,
    "sle": _order,
    "eq": _equal,
    "ne": _equal,
    "and": _gate,
    "or": _gate,
    "xor": _gate,
    "lut": lambda op, constants: float(_width(op)),
    "select": _choice,
    "shl": _shift,
    "lshr": _shift,
    "ashr": _shift,
}
