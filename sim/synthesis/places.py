"""From names in a netlist to the source: the kernel, loop, part and line that a cell belongs to.

Synthesis keeps the names of instances and signals when it makes one module of all, with what it did behind them:
``design.fir.top.loop_i_L6.level0.fadd_L7_fadd.sum_LUT4_Z_3``. These names are the compiler's, and the description
of the design says which kernel, loop or access each is. Where a cell has a line of Verilog, that decides
(:mod:`.sources`).
"""

import re
from collections.abc import Iterable, Mapping

from hls.export.description import Description
from hls.report.area import role_of
from hls.report.facts.area import Role
from hls.report.facts.synthesis import Place
from hls.rtl.system import module_names, parts_of

from .sources import NO_NAMES, Names
from .wrapper import DESIGN

__all__ = ["Places"]

#: where synthesis has added to a name
_ADDED = re.compile(
    r"_(?:LUT\d|TRELLIS|CCU2C?|PFUMX|L6MUX21|MULT(?:ADDSUB|PREADD)?\d+X\d+(?:D|WIDE)?|ALU54B|DP16KD?|PDPW16KD"
    r"|FD1P3[BDIJ]X|INV|WIDEFN9|PDP(?:SC)?16K|SP16K|DPR16X4"
    r"|ALU|DFFN?[A-Z]{0,2}|MUX2_LUT\d|RAM16SDP\d|SDPX?9?B|DPX?9?B|SPX?9?|pROMX?9?)(?:_|$).*"
)
_LINE = re.compile(r"_L(\d+)(?=_|$)")
_OPERATION = re.compile(r"([a-z]+\w*?)_L\d+")


class Places:
    """Finds the places of one design. ``lines`` are those at which its kernels begin, ``instance`` is the name that
    the design has as a part of the whole, ``names`` are those of cells by their sources."""

    def __init__(
        self, described: Description, lines: Mapping[str, int], instance: str = DESIGN, names: Names = NO_NAMES
    ) -> None:
        self.instance, self.names = instance, names
        modules = module_names([kernel.name for kernel in described.kernels])
        self.kernels = {part: kernel for kernel, module in modules.items() for part in parts_of(module)}
        self.controls = {parts_of(module)[1] for module in modules.values()}
        self.totals = {parts_of(module)[2] for module in modules.values()}
        self.loops = {kernel.name: {loop.key: loop for loop in kernel.layout.loops} for kernel in described.kernels}
        self.lines = lines

    def of(self, cell: str) -> Place | None:
        """The place of a cell or net of that name; None for those of the surroundings."""
        first, *path = self.names.of(cell).split(".")
        if first != self.instance or not path:
            return None
        *instances, signal = path
        signal = _ADDED.sub("", signal)
        top = instances[0] if instances else ""
        kernel = self.kernels.get(top)
        if kernel is None:
            return Place(role=role_of(top, False), part=top or signal)
        line = _last_line([*instances[1:], signal])
        if top in self.controls:
            return Place(kernel, "", role_of(top, False, control=True), signal, self.lines.get(kernel))
        if top in self.totals:
            return Place(kernel, "", Role.COUNTERS, signal, self.lines.get(kernel))
        around = [self.loops[kernel][name] for name in instances if name in self.loops[kernel]]
        inside = [name for name in instances[1:] if name not in self.loops[kernel] and name != "top"]
        loop = around[-1] if around else None
        if line is None:
            line = loop.line if loop else self.lines.get(kernel)
        part = next((name for name in reversed(inside) if _LINE.search(name)), inside[0] if inside else signal)
        return Place(kernel, loop.label if loop else "", _role(inside, signal), part, line)


def _role(inside: Iterable[str], signal: str) -> str:
    """The role of what is inside these instances: of the outermost that has one. In a level, a signal of its own is
    state; what is in an operation's part is arithmetic."""
    names = list(inside)
    for name in names:
        role = role_of(name.rstrip("_"), True)
        if role == "arithmetic" and names[-1] == name and not _OPERATION.match(signal):
            return "state"
        if role:
            return role
    return "state"


def _last_line(names: list[str]) -> int | None:
    """The line in the innermost name that has one."""
    found = [match for name in names for match in _LINE.findall(name)]
    return int(found[-1]) if found else None
