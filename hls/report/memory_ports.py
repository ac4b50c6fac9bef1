"""Ports, dimensions and copies of a memory inside a kernel, for the report."""

import math
from collections.abc import Iterable, Iterator, Mapping

from ..ir import MemoryObject, Op
from ..planning.memory import OnChipMemory
from .model import Port, Replication

__all__ = ["bank_of", "dimensions", "ports", "replications"]


def ports(planned: OnChipMemory, ids: Mapping[Op, str], reserved: frozenset[str]) -> tuple[Port, ...]:
    """The ports of each bank with the accesses that use them; ``reserved`` are the memories whose ports tokens reserve
    at run time."""
    shared = "arbitrate" if planned.memory.name in reserved else "share"
    return tuple(_ports(planned, ids, shared))


def _ports(planned: OnChipMemory, ids: Mapping[Op, str], shared: str) -> Iterator[Port]:
    for bank in range(planned.map.banks):
        here = [op for op in dict.fromkeys((*planned.loads, *planned.stores)) if planned.mask(op) >> bank & 1]
        for kind, number in (("R", planned.port), ("W", planned.turn)):
            users: dict[int, list[Op]] = {}
            for op in here:
                if op.opcode == "atomic" or (op.opcode == "store") == (kind == "W"):
                    users.setdefault(number(op), []).append(op)
            for one, ops in sorted(users.items()):
                both = "RW" if all(op.opcode == "atomic" for op in ops) else kind
                names = tuple(ids[op] for op in ops if op in ids)
                yield Port(bank, both, one, names, shared if len(ops) > 1 else "")


def replications(planned: OnChipMemory, owners: str) -> tuple[Replication, ...]:
    """The reasons of its copies."""
    found = [Replication("access", planned.most_copies)] if planned.most_copies > 1 else []
    return tuple(found + ([Replication(owners, planned.copies)] if planned.copies > 1 else []))


def dimensions(memory: MemoryObject) -> tuple[int, ...]:
    """The lengths of an array's dimensions, outermost first; one length for an array whose elements are arrays, or
    structures with arrays. Empty for a scalar."""
    length = memory.length or 1
    if length == 1:
        return ()
    return memory.dims if math.prod(memory.dims) == length else (length,)


def bank_of(planned: OnChipMemory, dims: Iterable[int]) -> str:
    """The dimension that selects the bank, as in ``dimension 0 (h[x][...])``; "" for one bank, or if no dimension alone
    does."""
    bits, dims = planned.banking.map.bits, tuple(dims)
    if not bits or planned.banking.map.fold is not None or planned.banking.map.skew is not None:
        return ""
    low, count = bits[-1], len(bits)
    if bits != tuple(range(low + count - 1, low - 1, -1)):
        return ""
    for k, length in enumerate(dims):
        words = math.prod(dims[k + 1 :]) * planned.memory.element.bytes // planned.word_bytes
        if words and words == 1 << low and length <= 1 << count:
            index = "".join("[x]" if one == k else "[...]" for one in range(len(dims)))
            return f"dimension {k} ({planned.memory.name}{index})"
    return ""
