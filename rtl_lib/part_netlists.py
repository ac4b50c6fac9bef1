"""What a design's netlist says, without a conversion to Verilog: of each shared part once, however often it is used.

A reader turns the netlist of a module into a text, as the counts of its cells. The texts of shared parts are cached on
disk beside their Verilog, so that a design costs no more than its own modules.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from amaranth.hdl import Fragment
from amaranth.hdl._ir import _emit_netlist
from amaranth.hdl._nir import Netlist

from .library import PartLibrary, _Converted, _ports, _with_clocks
from .user_cache import user_cache

__all__ = ["Netlist", "read_netlists"]


class _NetlistLibrary(PartLibrary):
    """Creates instances of parts whose netlists are read; ``written`` reads the text of a part that brings Verilog."""

    def __init__(
        self, read: Callable[[Netlist, str], str], written: Callable[[str, str], str], cache: Path | None
    ) -> None:
        super().__init__(cache)
        self.read, self.written = read, written

    def _written(self, text: str, name: str) -> str:
        return self.written(text, name)

    def _convert(self, part: Any, name: str) -> _Converted:
        fragment, uses = self._elaborated(part)
        found = _Converted(name, uses, (), verilog=self.read(_netlist(fragment, name, _ports(part)), name))
        self.modules[name] = found
        self._save(found)
        return found


def read_netlists(
    design: Any,
    name: str,
    ports: dict[str, tuple[Any, Any]],
    read: Callable[[Netlist, str], str],
    written: Callable[[str, str], str],
    version: str,
) -> dict[str, str]:
    """The texts that ``read(netlist, name)`` gives for the design, which is called ``name``, and for each shared part
    it uses; ``written(text, name)`` gives that of a part from its Verilog. Both are told apart from those of other
    readers by their ``version``."""
    cache = user_cache("netlists")
    library = _NetlistLibrary(read, written, cache / version if cache else None)
    text = read(_netlist(Fragment.get(design, library), name, ports), name)
    return {name: text} | {part: one.verilog for part, one in library.modules.items()}


def _netlist(fragment: Fragment, name: str, ports: dict[str, tuple[Any, Any]]) -> Netlist:
    """The netlist of an elaborated module, without ports of the modules inside it, which only a conversion needs."""
    given = [(port, value, direction) for port, (value, direction) in _with_clocks(fragment, ports).items()]
    netlist = Netlist()
    _emit_netlist(netlist, fragment.prepare(ports=given, hierarchy=(name,)))
    netlist.check_comb_cycles()
    netlist.resolve_all_nets()
    return netlist
