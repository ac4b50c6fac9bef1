"""Reservations of shared write ports: which levels use the same ports, and in which cycles their tokens do."""

from collections.abc import Iterable

import networkx as nx

from rtl_lib.port_reservation import PortUser

from ...ir import Attr, Op
from ...narrow import present
from ..memory import MemoryPlan
from .plan import Booking, RegionPlan

__all__ = ["plan_bookings"]


def plan_bookings(regions: Iterable[RegionPlan], memory: MemoryPlan) -> tuple[Booking, ...]:
    """One reservation for all levels that share ports, directly or through others: a token that uses several ports
    reserves them at once."""
    uses: dict[tuple[RegionPlan, int], set[tuple[tuple[str, int], int]]] = {}
    for region in regions:
        for op, point in region.place.items():
            if Attr.BOOKED in op.attrs:
                uses.setdefault((region, point.level), set()).add(
                    ((op.attrs[Attr.BOOKED], memory.write_port(op)), point.stage + _delay(op, memory))
                )
    sharing = nx.Graph()
    for level, found in uses.items():
        sharing.add_edges_from((level, port) for port, _ in found)
    order = list(uses)
    sets = [[node for node in part if node in uses] for part in nx.connected_components(sharing)]
    return tuple(_booking(sorted(levels, key=order.index), uses) for levels in sets if len(levels) > 1)


def _delay(op: Op, memory: MemoryPlan) -> int:
    """Cycles from an operation's start to its write: an atomic operation reads first."""
    return present(memory.fixed_latency(op)) if op.opcode == "atomic" else 0


def _booking(levels: list[tuple[RegionPlan, int]], uses) -> Booking:
    ports = {name: k for k, name in enumerate(sorted({name for level in levels for name, _ in uses[level]}))}
    users = [
        PortUser(tuple(sorted((ports[name], cycle) for name, cycle in uses[region, k])), region.levels[k].spacing)
        for region, k in levels
    ]
    return Booking(tuple(levels), tuple(users))
