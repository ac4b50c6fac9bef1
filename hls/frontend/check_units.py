"""Loads and stores whose load-store unit the program chooses, such as ``__pipelined_load``."""

from collections.abc import Sequence

from pycparser import c_ast

from ..diag import Code, CompileError, Span
from ..ir.accesses import BURST, CACHED, MOST_CACHE_BYTES, PIPELINED, PREFETCHING
from . import tree as tt
from .check_group import GroupCallChecker

__all__ = ["UnitCallChecker"]

_LOADS = {
    "__pipelined_load": PIPELINED,
    "__burst_coalesced_load": BURST,
    "__burst_coalesced_cached_load": CACHED,
    "__prefetching_load": PREFETCHING,
}
_STORES = {"__pipelined_store": PIPELINED, "__burst_coalesced_store": BURST}


class UnitCallChecker(GroupCallChecker):
    """Adds global memory accesses that name their unit."""

    def unit_call(self, name: str, nodes: Sequence[c_ast.Node], span: Span) -> tt.Expr | None:
        """``LOAD(p)``, ``__burst_coalesced_cached_load(p, bytes)`` or ``STORE(p, value)``; None if ``name`` is not such
        a function."""
        if name in _LOADS:
            kind = _LOADS[name]
            self.count(name, nodes, 2 if kind == CACHED else 1, span)
            size = self._cache_bytes(name, nodes[1]) if kind == CACHED else 0
            return self._chosen(name, nodes[0], (kind, size), span)
        if name not in _STORES:
            return None
        self.count(name, nodes, 2, span)
        place = self._chosen(name, nodes[0], (_STORES[name], 0), span)
        self.check_writable(name, place.pointer, span)
        return self.stored(place, self.assignable(self.rvalue(nodes[1]), place.type, f"the value of {name}"), span)

    def _chosen(self, name: str, node, unit: tuple[str, int], span: Span) -> tt.Dereference:
        place = self.dereference(self.rvalue(node), span)
        if place.pointer.type.space not in ("global", "constant"):
            raise CompileError.at(
                place.pointer.span,
                f"{name} works on __global memory, not __{place.pointer.type.space}",
                "other memories have no load-store units: use the pointer as it is",
                code=Code.BUILTIN_ARGUMENTS,
            )
        return tt.Dereference(place.type, span, place.pointer, unit)

    def _cache_bytes(self, name: str, node) -> int:
        size = self.constant_int(node, f"the size of the cache of {name}", "write the number of bytes")
        if not 0 < size <= MOST_CACHE_BYTES:
            raise CompileError.at(
                self.span(node),
                f"{name} has no cache of {size} bytes",
                f"write 1 to {MOST_CACHE_BYTES:,}",
                code=Code.BUILTIN_ARGUMENTS,
            )
        return size
