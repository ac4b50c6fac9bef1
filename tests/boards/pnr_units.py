"""Synthesis and place-and-route on an ECP5 of every kind of load-store unit, and of the interconnect with 2 to 32 of
them.

The units are those that the compiler makes of an access to floats on the default board, whose memory has words of 64
bytes: each of a line of OpenCL C that asks for it. Run as ``python -m tests.boards.pnr_units [--path] [NAME ...]`` from
the project's root; a part takes one to several minutes, and is remembered.
"""

from types import SimpleNamespace

from hls.driver import compile
from hls.options import Options
from hls.planning.memory.hazards import entries_for, words_for
from hls.rtl.access import AtomicAccess, LoadAccess, StoreAccess
from hls.rtl.global_memory import bursts_under_way
from hls.target.board import load_board
from rtl_lib.interconnect.address_map import AddressMap
from rtl_lib.interconnect.read import ReadInterconnect
from rtl_lib.interconnect.write import WriteInterconnect
from rtl_lib.lsu.atomic_memory import AtomicMemory
from rtl_lib.lsu.constant import ConstantCache
from rtl_lib.lsu.hazard import HazardUnit
from rtl_lib.lsu.stream_load import StreamLoadUnit
from rtl_lib.lsu.stream_store import StreamStoreUnit

from .pnr_alone import print_table

BOARD = load_board("de5net").using(())
MEMORY = {"word_bytes": BOARD.memory.word_bytes, "addr_bits": BOARD.address_bits}
#: bytes of a word of the interconnects: of a DDR3 memory of 16 bits beside an ECP5. With wider ones, what 32 units have
#: under way at two banks needs more block RAMs than there are
NARROW = 8

LOOP = "for (int i = 0; i < n; i++) "
#: name -> (unit as the report names it, which access of the kernel it is, kernel's body): of float buffers a and b,
#: ints k and c, and an int n
KERNELS = {
    "burst-coalesced load": ("burst-coalesced", 0, LOOP + "b[i] = a[i * n];"),
    "prefetching load": ("prefetching", 0, LOOP + "b[i] = a[i];"),
    "burst-coalesced cached load": ("burst-coalesced cached", 1, LOOP + "b[i] = a[k[i]];"),
    "burst-coalesced store": ("burst-coalesced", 1, LOOP + "b[i] = a[i];"),
    "burst-coalesced store, scattered": ("burst-coalesced", 2, LOOP + "b[k[i]] = a[i];"),
    "burst-coalesced load, 8 wide": ("burst-coalesced non-aligned", 0, "\n#pragma unroll 8\n" + LOOP + "b[i] = a[i];"),
    "burst-coalesced store, 8 wide": ("burst-coalesced non-aligned", 1, "\n#pragma unroll 8\n" + LOOP + "b[i] = a[i];"),
    "pipelined load": ("pipelined", 0, "b[0] = a[n];"),
    "pipelined store": ("pipelined", 1, "b[0] = a[n];"),
    "constant-pipelined load": ("constant-pipelined", 0, LOOP + "b[i] = t[i & 63];"),
    "atomic-pipelined": ("atomic-pipelined", 0, LOOP + "b[i] = atomic_add(c + i, 1);"),
}


def unit_of(unit: str, which: int, body: str):
    """The unit that the compiler makes of one of a kernel's accesses."""
    source = (
        "kernel void f(global float *restrict a, global float *restrict b, global int *restrict k, global int "
        "*restrict c,"
        f" constant float *t, int n) {{ {body} }}"
    )
    access = list(compile(source, BOARD, Options()).kernels[0].memory.accesses.values())[which]
    if access.lsu != unit:
        raise ValueError(f"access {which} of {body!r} has a unit {access.lsu!r}, not {unit!r}")
    kind = {"load": LoadAccess, "store": StoreAccess, "atomic": AtomicAccess}[access.direction]
    return kind(SimpleNamespace(address_bits=BOARD.address_bits), access).unit


def _constant_cache(loads: int):
    return ConstantCache(accesses=[4] * loads, words=Options().const_cache_bytes // BOARD.memory.word_bytes, **MEMORY)


def _hazard_unit(per_word: int):
    place_bits, latency = BOARD.address_bits - 2, BOARD.memory.read_latency  # of floats
    entries = words_for(latency, per_word) if per_word else entries_for(latency)
    return HazardUnit(place_bits, entries, ((0,),), (True,), (per_word,))


def _interconnect(kind, count: int):
    return kind(
        count=count,
        address_map=AddressMap.interleaved(len(BOARD.memory.banks), BOARD.memory.interleave_bytes),
        word_bytes=NARROW,
        addr_bits=BOARD.address_bits,
        outstanding=bursts_under_way(BOARD.memory.read_latency),
    )


#: name -> what makes the part
PARTS = {
    **{name: lambda kernel=kernel: unit_of(*kernel) for name, kernel in KERNELS.items()},
    "streaming load": lambda: StreamLoadUnit(access_bytes=4, pending=256, **MEMORY),
    "streaming store": lambda: StreamStoreUnit(access_bytes=4, **MEMORY),
    **{f"constant cache, loads: {loads}": lambda loads=loads: _constant_cache(loads) for loads in (1, 4)},
    **{
        f"atomic memory, askers: {askers}": lambda askers=askers: AtomicMemory(
            askers=askers, functions=("add", "cmpxchg"), **MEMORY
        )
        for askers in (1, 4)
    },
    "hazard unit": lambda: _hazard_unit(0),
    "hazard unit, stores by words": lambda: _hazard_unit(BOARD.memory.word_bytes // 4),
    **{
        f"{name} interconnect, units: {count}": lambda kind=kind, count=count: _interconnect(kind, count)
        for name, kind in (("read", ReadInterconnect), ("write", WriteInterconnect))
        for count in (2, 8, 32)
    },
}

if __name__ == "__main__":
    print_table(__doc__.splitlines()[0], PARTS)
