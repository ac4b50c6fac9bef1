"""Faster replacements of the parts of Amaranth that visit every bit of a design.

Amaranth's conversion to RTLIL numbers each bit of each signal as a net and passes through all nets nine times. Most of
that time goes into checks of single nets and into a search for combinational cycles that is quadratic in the width of
an adder. The functions here compute the same results from whole values and cells; a test compares the RTLIL of designs
byte by byte. They replace private functions, so they are installed only in versions of Amaranth whose functions they
were written against; with any other version, a conversion is only slower.
"""

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Shape, Signal, _ast, _ir, _nir

__all__ = ["install", "stock"]

Net, Value, Netlist, Flow = _nir.Net, _nir.Value, _nir.Netlist, _nir.ModuleNetFlow
#: cells whose outputs follow no input within a cycle
_SEQUENTIAL = (_nir.Top, _nir.Instance, _nir.SyncReadPort, _nir.Memory, _nir.Initial, _nir.AnyValue)
_stock_cycles = Netlist.check_comb_cycles


class _SignalKey(tuple):
    """The key of a signal in dictionaries, compared and hashed without a call of Python; ``signal`` is the signal."""


def _key(signal) -> _SignalKey:
    """Equal for equal signals, as Amaranth's; that of a true signal is made once."""
    try:
        return signal._dictionary_key
    except AttributeError:
        key = _SignalKey(_ast.SignalKey(signal)._intern)
        key.signal = signal
        if isinstance(signal, Signal):
            signal._dictionary_key = key
        return key


def _kept(shape: Callable[[Any], Shape]) -> Callable[[Any], Shape]:
    """The function, computed once for each value: a value does not change, and that of a shape visits all values inside
    it, again for each value around it."""

    @functools.wraps(shape)
    def kept(value: Any) -> Shape:
        try:
            return value._kept_shape
        except AttributeError:
            found = value._kept_shape = shape(value)
            return found

    return kept


def _items(signals: _ast.SignalDict) -> Iterator[tuple]:
    return ((key and key.signal, value) for key, value in signals._storage.items())


def _contains(signals: _ast.SignalDict, signal) -> bool:
    return (signal if signal is None else _key(signal)) in signals._storage


def _new_value(cls, nets: "Net | Iterable[Net]" = ()) -> Value:
    """A value of these nets, without a check of each: all callers are Amaranth's own."""
    return tuple.__new__(cls, (nets,) if isinstance(nets, Net) else nets)


def _slice(value: Value, index: int | slice) -> Net | Value:
    found = tuple.__getitem__(value, index)
    return tuple.__new__(Value, found) if type(index) is slice else found


def _constant(cls, value: int, width: int) -> Value:
    return tuple.__new__(cls, [_BITS[value >> bit & 1] for bit in range(width)])


_BITS = (Net(0), Net(1))


def _net(cls, cell: int, bit: int) -> Net:
    assert 0 <= bit < 1 << 16
    return cls(cell << 16 | bit)


def _cell_nets(cell: int, begin: int, end: int) -> list[Net]:
    """The output nets of a cell from one bit to another. A net has 16 bits for its number in the cell."""
    assert 0 <= begin and end <= 1 << 16
    return [*map(Net, range(cell << 16 | begin, (cell << 16) + end))]


def _add_value_cell(netlist: Netlist, width: int, cell) -> Value:
    return tuple.__new__(Value, _cell_nets(netlist.add_cell(cell), 0, width))


def _outputs_of_width(cell, index: int) -> list[Net]:
    return _cell_nets(index, 0, cell.width)


def _outputs_of_flip_flop(cell, index: int) -> list[Net]:
    return _cell_nets(index, 0, len(cell.data))


def _outputs_of_assignments(cell, index: int) -> list[Net]:
    return _cell_nets(index, 0, len(cell.default))


def _alloc_late_value(netlist: Netlist, signal) -> Value:
    width = len(signal)
    netlist.last_late_net -= width
    value = tuple.__new__(Value, map(Net, range(netlist.last_late_net, netlist.last_late_net + width)))
    netlist.late_to_signal.update(zip(value, ((signal, bit) for bit in range(width))))
    return value


def _ends(connections: dict[Net, Net]) -> dict[Net, Net] | None:
    """What each late net is connected to through any number of others; None if some are connected in a circle."""
    ends: dict[Net, Net] = {}
    for start in connections:
        chain, net = [], start
        while net < 0 and net not in ends:
            chain.append(net)
            if len(chain) > len(connections):
                return None
            net = connections[net]
        net = ends.get(net, net)
        for passed in chain:
            ends[passed] = net
    return ends


def _check_comb_cycles(netlist: Netlist) -> None:
    """Raise CombinationalCycle for a bit that depends on itself.

    Cells are far fewer than their bits: where no cell depends on itself, no bit does. Otherwise Amaranth's own search
    decides, which also words the message.
    """
    ends = _ends(netlist.connections)
    if ends is None or not _acyclic([*_combinational_inputs(netlist.cells, ends)]):
        _stock_cycles(netlist)
    netlist.connections = ends if ends is not None else netlist.connections


def _combinational_inputs(cells: list, ends: dict[Net, Net]) -> Iterator[set[int]]:
    """For each cell, the cells that its outputs depend on within a cycle."""
    for cell in cells:
        if isinstance(cell, _nir.FlipFlop):
            nets: Iterable[Net] = (cell.clk, cell.arst)
        else:
            nets = () if isinstance(cell, _SEQUENTIAL) else cell.input_nets()
        yield {ends.get(net, net) >> 16 for net in nets}


def _acyclic(inputs: list[set[int]]) -> bool:
    """Whether the cells can be ordered such that each follows its ``inputs`` (Kahn's algorithm). Cell 0, which is the
    ports of the top module and the constants, has none."""
    users: list[list[int]] = [[] for _ in inputs]
    missing = [0] * len(inputs)
    for cell, sources in enumerate(inputs):
        missing[cell] = len(sources)
        for source in sources:
            users[source].append(cell)
    ready = [cell for cell, count in enumerate(missing) if not count]
    for cell in ready:  # grows
        for user in users[cell]:
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    return len(ready) == len(inputs)


def _resolve_value(netlist: Netlist, value: Value) -> Value:
    """The value without late nets, which ``check_comb_cycles`` has connected directly."""
    if not value or min(value) >= 0:
        return value
    ends = netlist.connections
    return tuple.__new__(Value, [ends[net] if net < 0 else net for net in value])


def _emit_undriven(emitter) -> None:
    connections = emitter.netlist.connections
    for signal, value in emitter.netlist.signals.items():
        init = signal.init
        for bit, net in enumerate(value):
            if net < 0 and net not in connections:
                connections[net] = _BITS[init >> bit & 1]


def _compute_net_flows(netlist: Netlist) -> None:
    """How each net flows into or out of each module, see Amaranth's function of this name."""
    modules = netlist.modules
    home: dict[Net, int] = {}
    for index, cell in enumerate(netlist.cells):
        nets = cell.output_nets(index)
        home.update(dict.fromkeys(nets, cell.module_idx))
        modules[cell.module_idx].net_flow.update(dict.fromkeys(nets, Flow.Internal))
    depths = [len(module.name) for module in modules]
    for cell in netlist.cells:
        flow = modules[cell.module_idx].net_flow
        for net in cell.input_nets():
            if net > 1 and net not in flow:
                _route(net, cell.module_idx, modules, depths, home)
    for index, module in enumerate(modules):
        flow = module.net_flow
        for signal in module.signal_names:
            for net in netlist.signals[signal]:
                if net > 1 and net not in flow:
                    _route(net, index, modules, depths, home)


def _route(net: Net, user: int, modules: list, depths: list[int], home: dict[Net, int]) -> None:
    """Take the net from the module that has it to one that uses it, through the modules between them."""
    source = home[net]
    while depths[source] > depths[user]:
        modules[source].net_flow[net] = Flow.Output
        source = modules[source].parent
    while depths[source] < depths[user]:
        if net in modules[user].net_flow:
            return
        modules[user].net_flow[net] = Flow.Input
        user = modules[user].parent
    while source != user:
        modules[source].net_flow[net] = Flow.Output
        modules[user].net_flow[net] = Flow.Input
        source, user = modules[source].parent, modules[user].parent
    modules[source].net_flow[net] = Flow.Internal
    home[net] = source


def _sigspec(emitter, *parts: "Net | Iterable[Net]") -> str:
    """The RTLIL text of bits: constants, and ranges of wires."""
    value: list[Net] = []
    for part in parts:
        if isinstance(part, Net):
            value.append(part)
        else:
            value += part
    wires, end, chunks = emitter.nets, len(value), []
    begin = 0
    while begin < end:
        last = begin + 1
        if 0 <= value[begin] <= 1:
            while last < end and 0 <= value[last] <= 1:
                last += 1
            bits = "".join(["01"[net] for net in reversed(value[begin:last])])
            chunks.append(f"{last - begin}'{bits}")
        else:
            wire, first = wires[value[begin]]
            bit = first + 1
            while last < end and not 0 <= value[last] <= 1:
                next_wire, next_bit = wires[value[last]]
                if next_wire is not wire or next_bit != bit:
                    break
                last += 1
                bit += 1
            chunks.append(f"{wire.name} [{first}]" if bit == first + 1 else f"{wire.name} [{bit - 1}:{first}]")
        begin = last
    return chunks[0] if len(chunks) == 1 else f"{{ {' '.join(reversed(chunks))} }}"


def _compute_ports(netlist: Netlist) -> None:
    """Give each module its ports: runs of nets from one cell with the same flow."""
    starts = {Net(start) for start, _ in netlist.top.ports_i.values()}
    for index, cell in enumerate(netlist.cells):
        if isinstance(cell, _nir.Instance):
            starts.update(Net((index << 16) + start) for start, _ in cell.ports_o.values())
    for module in netlist.modules:
        names: dict[Value, str] = {}
        for signal, name in module.signal_names.items():
            if not name.startswith("$"):
                names.setdefault(netlist.signals[signal], name)
        for value, flow in _runs(module.net_flow, starts):
            name = names.get(value) or f"port${value[0] >> 16}${value[0] & 0xFFFF}"
            module.ports[name] = (value, flow)
    top = netlist.modules[0]
    for name, (start, width) in netlist.top.ports_i.items():
        top.ports[name] = (Value(_cell_nets(0, start, start + width)), Flow.Input)
    for name, value in netlist.top.ports_o.items():
        top.ports[name] = (value, Flow.Output)


def _runs(flows: dict[Net, Flow], starts: set[Net]) -> Iterator[tuple[Value, Flow]]:
    """Consecutive nets of one cell that cross the module's border in the same direction, in ascending order."""
    crossing = sorted([net for net, flow in flows.items() if flow is not Flow.Internal])
    begin = 0
    for end in range(1, len(crossing) + 1):
        if end < len(crossing):
            net, last = crossing[end], crossing[end - 1]
            if net == last + 1 and net & 0xFFFF and net not in starts and flows[net] is flows[last]:
                continue
        yield Value(crossing[begin:end]), flows[crossing[begin]]
        begin = end


#: values whose shape is computed at each request
_WITH_PARTS = (Signal, _ast.Operator, _ast.Slice, _ast.Concat, _ast.SwitchValue)
#: holder and name of each function that is replaced, and what replaces it
_REPLACED: tuple[tuple[object, str, object], ...] = (
    (Value, "__new__", staticmethod(_new_value)),
    (Value, "__getitem__", _slice),
    (Value, "from_const", classmethod(_constant)),
    (Netlist, "add_value_cell", _add_value_cell),
    (Netlist, "alloc_late_value", _alloc_late_value),
    (Netlist, "check_comb_cycles", _check_comb_cycles),
    (Netlist, "resolve_value", _resolve_value),
    (_nir.Operator, "output_nets", _outputs_of_width),
    (_nir.Part, "output_nets", _outputs_of_width),
    (_nir.FlipFlop, "output_nets", _outputs_of_flip_flop),
    (_nir.AssignmentList, "output_nets", _outputs_of_assignments),
    (Net, "from_cell", classmethod(_net)),
    (_ast.SignalDict, "_map_key", staticmethod(_key)),
    (_ast.SignalDict, "items", _items),
    (_ast.SignalDict, "__contains__", _contains),
    (_ast.SignalSet, "_map_key", staticmethod(_key)),
    (_ir.NetlistEmitter, "emit_undriven", _emit_undriven),
    (_ir, "_compute_net_flows", _compute_net_flows),
    (_ir, "_compute_ports", _compute_ports),
    (rtlil.ModuleEmitter, "sigspec", _sigspec),
    *(
        (kind, "shape", _kept(kind.shape))
        for kind in (Signal, _ast.Operator, _ast.Slice, _ast.Concat, _ast.SwitchValue)
    ),
)
_INHERITED = object()  #: stands for a function that the holder does not define itself
_STOCK = tuple((holder, name, vars(holder).get(name, _INHERITED)) for holder, name, _ in _REPLACED)
#: versions of Amaranth that the functions were compared with
_VERSIONS = ("0.5.10",)


def _put(functions: Iterable[tuple[object, str, object]]) -> None:
    for holder, name, function in functions:
        if function is _INHERITED:
            delattr(holder, name)
        else:
            setattr(holder, name, function)


def install() -> None:
    """Convert with the functions of this module from now on, if they fit this version of Amaranth."""
    if metadata.version("amaranth") in _VERSIONS:
        _put(_REPLACED)


@contextlib.contextmanager
def stock() -> Iterator[None]:
    """Convert with Amaranth's own functions meanwhile."""
    _put(_STOCK)
    try:
        yield
    finally:
        install()
