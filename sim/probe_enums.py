"""Enumerations in a waveform: SystemVerilog that decodes the output ``probe`` of a design into words.

The top module gets an instance ``probe_states`` with an instance for each compute unit. That has the signal
``account``, and a signal KEY_state for each access and each call on a channel. They are of enumerated types, for which
Verilator writes tables into an FST file: a viewer shows the words. They drive nothing.
"""

import re
from collections.abc import Mapping, Sequence

from hls.narrow import present
from hls.profile.layout import Layout
from hls.profile.probe import Hold, ProbeUnit
from hls.profile.states import STATES, account_words
from hls.rtl.interface import SystemInterface

from .tracing import OFF, ON

__all__ = ["INSTANCE", "account_signal", "state_signal", "with_enums"]

INSTANCE = "probe_states"  #: hls.rtl.system gives no kernel this name
_FILE = "probe_states.sv"
IDLE, MOVE, STALL, WAIT = range(len(STATES))
BITS = 8  #: of a signal, unless a kernel has more accounts


def account_signal(interface: SystemInterface, number: int) -> str:
    """The path below the top module's instance of the account of unit ``number`` of the probe."""
    return f"{INSTANCE}.{_instance(interface, number)}.account"


def state_signal(interface: SystemInterface, number: int, hold: Hold) -> str:
    """The path below the top module's instance of the state of one of its places."""
    return f"{INSTANCE}.{_instance(interface, number)}.{hold.key}_state"


def with_enums(verilog: Mapping[str, str], interface: SystemInterface) -> dict[str, str]:
    """The files of a design, with the enumerations. Unchanged for one without a probe."""
    if interface.probe is None:
        return dict(verilog)
    head = re.compile(rf"\bmodule {interface.top}\b")
    (file,) = (name for name, text in verilog.items() if head.search(text))
    text = verilog[file]
    end = text.index("endmodule", present(head.search(text)).start())
    instance = f"  {INSTANCE} {INSTANCE} (.probe(probe));\n"
    return {**verilog, file: text[:end] + instance + text[end:], _FILE: _text(interface)}


def _instance(interface: SystemInterface, number: int) -> str:
    probe = present(interface.probe)
    units = probe.of_kernel(probe.units[number].kernel)
    kernel = probe.units[number].kernel
    return f"kernel_{kernel}" if len(units) == 1 else f"kernel_{kernel}_unit_{number - units[0]}"


def _text(interface: SystemInterface) -> str:
    probe = present(interface.probe)
    layouts = interface.layouts
    first = {kernel: probe.of_kernel(kernel)[0] for kernel in layouts}
    modules = [_module(probe.units[number], layouts[kernel]) for kernel, number in first.items()]
    bits = probe.start(len(probe.units)) + 64 * len(probe.channels)
    lines = [f"module {INSTANCE}({OFF} input [{bits - 1}:0] probe {ON});"]
    lines += [
        f"  {_module_name(unit.kernel)} {_instance(interface, k)} (.section(probe[{probe.start(k)} +: {unit.bits}]));"
        for k, unit in enumerate(probe.units)
    ]
    return "\n".join([*modules, *lines, "endmodule", ""])


def _module_name(kernel: str) -> str:
    return f"{INSTANCE}_of_{kernel}"


def _module(unit: ProbeUnit, layout: Layout) -> str:
    """The module that decodes the section of one unit of a kernel."""
    words = account_words(layout.accounts, unit.causes)
    lines = [f"module {_module_name(unit.kernel)}({OFF} input [{unit.bits - 1}:0] section {ON});"]
    lines += _enumeration("account_e", words, max(BITS, (len(words) - 1).bit_length()))
    lines += _enumeration("state_e", STATES, BITS)
    # a later assignment overrides: the most important cause comes last
    numbers = [(f"section[{unit.cause_bit(k)}]", k + 1) for k in reversed(range(unit.causes))]
    lines += _signal("account", "account_e", unit.causes + 1, [*numbers, ("!section[0]", 0)])
    for hold in unit.holds:
        lines += _signal(f"{hold.key}_state", "state_e", IDLE, [*_states(unit, hold), ("!section[0]", IDLE)])
    return "\n".join([*lines, "endmodule"])


def _states(unit: ProbeUnit, hold: Hold) -> list[tuple[str, int]]:
    """The conditions of a place's states, the most important last."""
    found = [(f"section[{unit.cause_bit(k)}]", WAIT) for k in hold.waits if not (hold.is_cause and k == hold.bit)]
    if hold.moves is not None:
        found.append((f"section[{unit.event_bit(hold.moves)}]", MOVE))
    return [*found, (f"section[{unit.hold_bit(hold)}]", STALL)]


def _enumeration(name: str, words: Sequence[str], bits: int) -> list[str]:
    items = ", ".join(f"\\{word} = {bits}'d{k}" for k, word in enumerate(words))
    return [f"  typedef enum logic [{bits - 1}:0] {{{items}}} {name};"]


def _signal(name: str, type: str, otherwise: int, cases: list[tuple[str, int]]) -> list[str]:
    lines = [f"  {type} {name};", "  always_comb begin", f"    {name} = {type}'({otherwise});"]
    lines += [f"    if ({condition}) {name} = {type}'({number});" for condition, number in cases]
    return [*lines, "  end"]
