"""A report in which every kind of finding occurs once."""

from hls.diag import Diagnostic, Span
from hls.report import (
    Access,
    Bottleneck,
    Channel,
    Conflict,
    Copies,
    Kernel,
    Loop,
    Part,
    Path,
    Private,
    Report,
    Resources,
    Serial,
    Share,
    Unroll,
    WouldBe,
)


def at(line, column=3):
    return Span("sample.cl", line, column)


SUM = Bottleneck(
    "data",
    "sum",
    at(9),
    cycles=9,
    shares=(Share("integer add", at(9), 0.04), Share("floating-point add", at(9), 0.96, opcode="fadd")),
)
INNER = Loop("k", at(8), ii=9, interleaving=9, slots=9, latency=52, levels=2, trip_count=64, bottleneck=SUM)
MEMORY = Loop(
    "m",
    at(12),
    ii=7,
    latency=40,
    levels=3,
    one_at_a_time="serialized, one invocation at a time: an invocation may read what the previous one stores",
    bottleneck=Bottleneck("memory", "load of b", at(13), other=at(14), cycles=14, distance=2),
)
LATE = Loop("w", at(16), ii=3, latency=6, bottleneck=Bottleneck("condition", "", at(17), cycles=3))
SHARED = Loop(
    "s",
    at(19),
    ii=2,
    interleaving=1,
    latency=20,
    bottleneck=Bottleneck("resource", "2 stores to h (lines 20, 21) share one write port", at(20)),
    unroll=Unroll(2, False, "pragma"),
)
ASKED = Loop(
    "r",
    at(22),
    ii=4,
    latency=9,
    bottleneck=Bottleneck("request", "", at(21)),
    unroll=Unroll(None, False, "the trip count is not known"),
)
FLAT = Loop("t", at(10), ii=0, trip_count=3, unroll=Unroll(3, True, "automatic"))
OUTER = Loop("i", at(7), ii=1, latency=110, levels=4, children=(INNER, FLAT))
COPIED = Loop(
    "c",
    at(24),
    ii=2,
    interleaving=2,
    slots=2,
    latency=12,
    copies=4,
    bottleneck=Bottleneck(
        "data", "h", at(25), cycles=2, shares=tuple(Share("integer add", at(25), 0.1) for _ in range(10))
    ),
)
GONE = Loop("g", at(26), ii=0, gone="runs once")
REMOVED = Loop("u", at(27), ii=0, gone="removed")
LOOKED_UP = Loop(
    "z",
    at(80),
    ii=105,
    latency=105,
    levels=2,
    at_most=True,
    bottleneck=Bottleneck("data", "p", at(81), cycles=105, shares=(Share("load of a", at(81), 1.0, Part.ROUND_TRIP),)),
)
HISTOGRAM = Loop("b", at(82), ii=1, latency=200, levels=4, conflicts=(Conflict("h", at(83), at(83), 110),))
DIFFERENT = Loop(
    "e",
    at(84),
    ii=7,
    latency=114,
    copies=4,
    variants=(Copies(3, 7, 1), Copies(1, 1, 1)),
    bottleneck=Bottleneck("memory", "load of c", at(85), other=at(86), cycles=7, proved=True),
    would_be=(WouldBe("do less", 2, 1, 300.0, 2.0, True),),
    advice="Do less: II 2 at best",
)
TOTAL = Bottleneck("data", "total", at(52), cycles=109)
PACED = Loop(
    "p",
    at(50),
    ii=109,
    latency=110,
    levels=2,
    children=(Loop("q", at(51), ii=1, latency=9, trip_count=64),),
    paced=172,
    bottleneck=TOTAL,
    serial=(
        Serial((("q", at(51)),), TOTAL),
        Serial((("q", at(51)), ("", at(53))), Bottleneck("memory", "load of z", at(54), other=at(55))),
    ),
    additional=(Bottleneck("memory", "load of y", at(56), other=at(57), distance=3),),
    advice="Remove the dependence: sum separately",
)
AHEAD = Loop("d", at(60), ii=27, latency=52, levels=3, speculative=True, bottleneck=Bottleneck("ahead", "2", at(60)))
FEW = Loop(
    "f",
    at(62),
    ii=26,
    latency=52,
    limit=2,
    bottleneck=Bottleneck("concurrency", "2", at(62)),
    advice="Remove the pragma",
)
PARTS = (Loop("x", at(64), ii=0, part_of=("coalesced", at(63))), Loop("y", at(65), ii=0, part_of=("fused", at(63))))
LONG = Loop(
    "l",
    at(63),
    ii=1,
    latency=9,
    children=PARTS[:1],
    path=Path(5.2, 192.3, (Share("integer add for v", at(66), 0.7), Share("integer compare", at(67), 0.3))),
)
SHORT = Loop("h", at(68), ii=1, latency=9, path=Path(2.0, 500.0, (Share("integer add for w", at(69), 1.0),)))

TASK = Kernel(
    "sample",
    at(5, 15),
    ndrange=False,
    loops=(
        OUTER,
        MEMORY,
        LATE,
        SHARED,
        ASKED,
        COPIED,
        GONE,
        PACED,
        AHEAD,
        FEW,
        LONG,
        PARTS[1],
        SHORT,
        REMOVED,
        LOOKED_UP,
        HISTOGRAM,
        DIFFERENT,
    ),
    accesses=(
        Access("load", "a", at(9), 4, "burst-coalesced", "consecutive addresses share words", 3),
        Access("store", "c", at(14), 1, "burst-coalesced", "the address depends on data", memory="QDR"),
    ),
    privates=(Private("window", at(6), 1024, "shift register of 32"),),
    resources=Resources(2000, 4100, 12, 3),
    messages=(Diagnostic("variable x is never used", at(6), hint="remove it", severity="warning"),),
)
ITEMS = Kernel(
    "items",
    at(30, 15),
    ndrange=True,
    loops=(Loop("work-items", at(30), ii=1, latency=80, work_items=True),),
    resources=Resources(500, 900, 4, 0),
)
BARE = Kernel("bare", at(40), ndrange=False)
REPORT = Report(
    "sample.cl",
    "de5net",
    240.0,
    (TASK, ITEMS, BARE),
    shared=Resources(1000, 2000, 8, 0),
    device=Resources(234720, 938880, 2560, 256),
    logic_cell="ALMs",
    messages=(Diagnostic("#pragma once is not known and was left out", severity="note"),),
    channels=(
        Channel("c", at(1), 32, 1, 2, "registers", "nature of the underlying FIFO", "sample", at(9), "items", at(31)),
        Channel("wide", at(2), 512, 0, 0, "wires", "", "sample", at(10), "items", at(32), 5),
    ),
)
