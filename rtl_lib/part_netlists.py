"""The cells of a design's netlist without a conversion to Verilog: of each shared part once, however often it is used.

Those of shared parts are cached on disk beside their Verilog, so that a design costs no more than its own modules.
"""

import json
from pathlib import Path
from typing import Any

from amaranth.hdl import Fragment
from amaranth.hdl._ir import _emit_netlist
from amaranth.hdl._nir import Netlist

from .library import PartLibrary, _Converted, _ports, _with_clocks
from .netlist_cells import cells_of
from .user_cache import user_cache

__all__ = ["read_netlists"]


class _NetlistLibrary(PartLibrary):
    """Creates instances of parts whose netlists are read instead of converted."""

    def _written(self, text: str) -> str:
        return json.dumps(text)

    def _convert(self, part: Any, name: str) -> _Converted:
        fragment, uses = self._elaborated(part)
        found = _Converted(name, uses, (), verilog=_cells(fragment, name, _ports(part)))
        self.modules[name] = found
        self._save(found)
        return found


def read_netlists(
    design: Any, name: str, ports: dict[str, tuple[Any, Any]], cache: Path | None = None
) -> dict[str, str]:
    """JSON of the design, which is called ``name``, and of each shared part it uses: a list of its modules
    (:meth:`rtl_lib.netlist_cells.ModuleCells.plain`), or the Verilog of a part that brings it."""
    library = _NetlistLibrary(user_cache("netlists") if cache is None else cache)
    text = _cells(Fragment.get(design, library), name, ports)
    return {name: text} | {part: one.verilog for part, one in library.modules.items()}


def _cells(fragment: Fragment, name: str, ports: dict[str, tuple[Any, Any]]) -> str:
    """The cells of an elaborated module. The ports of the modules inside it are left out: only a conversion needs
    them."""
    given = [(port, value, direction) for port, (value, direction) in _with_clocks(fragment, ports).items()]
    netlist = Netlist()
    _emit_netlist(netlist, fragment.prepare(ports=given, hierarchy=(name,)))
    netlist.check_comb_cycles()
    netlist.resolve_all_nets()
    return json.dumps([one.plain() for one in cells_of(netlist)])
