"""Constants inside a module's netlist, as far as the conversion to Verilog follows them before it writes operators."""

from collections.abc import Callable, Sequence
from types import MappingProxyType

from amaranth.hdl import _nir

__all__ = ["ONE", "ZERO", "ConstantCells", "is_constant"]

ZERO, ONE = _nir.Net(0), _nir.Net(1)
Nets = tuple[_nir.Net, ...]

_COMPUTED: MappingProxyType[str, Callable[[int, int], int]] = MappingProxyType(
    {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "&": lambda a, b: a & b,
        "|": lambda a, b: a | b,
        "^": lambda a, b: a ^ b,
        "==": lambda a, b: a == b,
        "!=": lambda a, b: a != b,
        "u<": lambda a, b: a < b,
        "u>": lambda a, b: a > b,
        "u<=": lambda a, b: a <= b,
        "u>=": lambda a, b: a >= b,
    }
)
_REDUCED: MappingProxyType[str, Callable[[Sequence[_nir.Net]], int]] = MappingProxyType(
    {"r|": any, "b": any, "r&": all, "r^": lambda value: sum(value) & 1}
)


class ConstantCells:
    """What the output bits of operators are where constants decide it: constants, or bits of an operand. No constant
    passes from one module to another."""

    def __init__(self, netlist: _nir.Netlist) -> None:
        self.netlist = netlist
        self._found: dict[int, Nets | None] = {}  # None while it is looked for

    def value(self, value: Sequence[_nir.Net], module: int) -> Nets:
        """The bits as they are in the module of that number."""
        return tuple([self._net(net, module) for net in value])

    def is_replaced(self, index: int, cell: _nir.Operator) -> bool:
        """Whether no operator is left of a cell."""
        return self._output(index, cell)[0] >> 16 != index if cell.width else True

    def _net(self, net: _nir.Net, module: int) -> _nir.Net:
        cell = self.netlist.cells[net >> 16]
        if net < 2 or not isinstance(cell, _nir.Operator) or cell.module_idx != module:
            return net
        return self._output(net >> 16, cell)[net & 0xFFFF]

    def _output(self, index: int, cell: _nir.Operator) -> Nets:
        found = self._found.get(index, ())
        own = tuple(map(_nir.Net, range(index << 16, (index << 16) + cell.width)))
        if found is None:
            return own
        if not found:
            self._found[index] = None
            inputs = [self.value(one, cell.module_idx) for one in cell.inputs]
            found = self._found[index] = _folded(cell.operator, inputs, cell.width) or own
        return found


def is_constant(value: Sequence[_nir.Net]) -> bool:
    """Whether all bits are constants."""
    return all(0 <= net <= 1 for net in value)


def _folded(operator: str, inputs: Sequence[Nets], width: int) -> Nets | None:
    if operator == "m":
        return _choice(*inputs)
    if len(inputs) == 1:
        (only,) = inputs
        if not is_constant(only):
            return None
        if operator in _REDUCED:
            return _bits(int(_REDUCED[operator](only)), width)
        return _bits(~_number(only) if operator == "~" else -_number(only), width)
    if operator in ("<<", "u>>", "s>>"):
        return _shifted(operator, inputs[0], inputs[1], width) if is_constant(inputs[1]) else None
    if all(map(is_constant, inputs)):
        computed = _COMPUTED.get(operator)
        return _bits(int(computed(*map(_number, inputs))), width) if computed else None
    return _neutral(operator, *inputs)


def _choice(condition: Nets, first: Nets, second: Nets) -> Nets | None:
    if is_constant(condition):
        return first if condition[0] else second
    return first if first == second else None


def _neutral(operator: str, a: Nets, b: Nets) -> Nets | None:
    """The result of an operator with one constant that leaves the other operand as it is, or decides the result."""
    for constant, other in ((b, a), (a, b)):
        if not is_constant(constant):
            continue
        ones, zeros = all(constant), not any(constant)
        if zeros and operator in ("|", "^") or ones and operator == "&":
            return other
        if zeros and operator in ("&", "*") or ones and operator == "|":
            return constant
    return None


def _shifted(operator: str, value: Nets, distance: Nets, width: int) -> Nets:
    by = _number(distance)
    if operator == "<<":
        whole = (ZERO,) * min(by, width) + value
        return (whole + (ZERO,) * width)[:width]
    fill = value[-1] if operator == "s>>" and value else ZERO
    return (value[by:] + (fill,) * width)[:width]


def _number(value: Sequence[_nir.Net]) -> int:
    return sum(int(net) << bit for bit, net in enumerate(value))


def _bits(number: int, width: int) -> Nets:
    return tuple([ONE if number >> bit & 1 else ZERO for bit in range(width)])
