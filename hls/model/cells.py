"""Counts what a design consists of before it is converted to Verilog, by the rules of :mod:`hls.model.netlist`.

The cells come from :mod:`rtl_lib.netlist_cells`, as text: they are counted as the operators of the Verilog that they
would become, so both counts agree.
"""

import json
from collections.abc import Sequence

from .netlist import CONDITION, Memory, Module, bits_of_operator, read_modules, tree

__all__ = ["modules_of"]


def modules_of(text: str) -> dict[str, Module]:
    """The modules of a text of :func:`rtl_lib.part_netlists.read_netlists` by name; nothing is distributed over their
    signals. Raises :class:`hls.model.netlist.NetlistError` for Verilog that Amaranth would not write."""
    given = json.loads(text)
    if isinstance(given, str):  # of a part that brings its Verilog
        return read_modules(given)
    found = {}
    for one in given:
        module = Module(one["name"], one["registers"], CONDITION * one["assigned"], instances=one["instances"])
        module.memories += [Memory(*memory) for memory in one["memories"]]
        for operator, result, widths, constants, count in one["operators"]:
            if operator == "*":
                module.products += [(widths[0], widths[1])] * count
            else:
                module.luts += count * _tables(operator, result, widths, constants)
        found[module.name] = module
    return found


def _tables(operator: str, result: int, widths: Sequence[int], constants: int) -> float:
    if len(widths) > 1:
        return bits_of_operator(operator, result, widths, constants)
    return {"~": 0, "-": widths[0]}.get(operator, tree(widths[0]))
