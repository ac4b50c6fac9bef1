"""Reports for the page's tests: one in which every view has something to show, and a large one."""

import hashlib
from dataclasses import replace

from hls.diag import Code, Diagnostic, Span
from hls.report.facts.synthesis import Compared, Figure, Mapped, Place, Placed, Row, Step, Synthesis
from hls.report.model import (
    Access,
    AreaNode,
    Bottleneck,
    Channel,
    Depth,
    Edge,
    Info,
    Kernel,
    KernelCopies,
    Level,
    LineArea,
    LocalAccess,
    Loop,
    Memory,
    Network,
    Operation,
    Part,
    Path,
    Port,
    Private,
    Ranked,
    RegionSchedule,
    Replication,
    Report,
    Resources,
    Role,
    Serial,
    Share,
    Sharing,
    Source,
    Stage,
    Stop,
    Turns,
    Unroll,
    Variable,
    WouldBe,
)
from hls.report.phrasing import reader_of
from hls.report.sentences import worded

FILE, HEADER = "filter.cl", "weights.h"
TEXT = """#include "weights.h"
#pragma OPENCL EXTENSION cl_intel_channels : enable

channel float rows[3] __attribute__((depth(16)));
channel int credit;

/* Sends the rows of an image, a credit each;
   </script> in a comment must not end anything. */
__kernel void send(__global const float *restrict image, int width)
{
    for (int y = 0; y < 480; y++) {
        int granted = read_channel_intel(credit);
        for (int x = 0; x < width; x++)
            write_channel_intel(rows[0], image[(y * width + x) * 16]);
    }
}

__kernel void smooth(__global float *out, __global const int *restrict taps, int width)
{
    __local float window[3][1024];
    float sum = 0.0f;
    for (int y = 0; y < 480; y++) {
        for (int x = 0; x < width; x++) {
            float value = read_channel_intel(rows[0]);
            window[y % 3][x] = value;
            sum += value * weight(taps[x]);
            #pragma unroll
            for (int t = 0; t < 3; t++)
                sum += window[t][x];
        }
        write_channel_intel(credit, y);
        out[y] = sum;
    }
}

__attribute__((autorun)) __attribute__((max_global_work_dim(0)))
__kernel void relay(void)
{
    while (1)
        write_channel_intel(rows[2], read_channel_intel(rows[1]));
}
"""
WEIGHTS = """float weight(int tap)
{
    return tap * 0.125f; // größer als null: ünïcode
}
"""
SMOOTH_X, SMOOTH_Y, SEND_X, SEND_Y = "smooth/y/x", "smooth/y", "send/y/x", "send/y"


def at(line: int, column: int = 5, file: str = FILE) -> Span:
    return Span(file, line, column)


SUM = Bottleneck(
    "data",
    "sum",
    at(26, 13),
    cycles=14,
    shares=(
        Share("floating-point add for sum", at(26, 17), 0.45, opcode="fadd"),
        Share("floating-point add for sum", at(29, 21), 0.45, opcode="fadd"),
        Share("register of sum", None, 0.1, Part.REGISTER),
    ),
)
SERIAL = Serial((("x", at(23, 14)),), SUM)
HELP = WouldBe("keep 14 partial sums and add them after the loop", 1, 1, 251.0, 1.0)
INNER = Loop(
    "x",
    at(23, 14),
    ii=14,
    latency=61,
    levels=3,
    bottleneck=SUM,
    children=(
        Loop("t", at(28, 18), ii=0, trip_count=3, unroll=Unroll(3, True, "pragma"), id=f"{SMOOTH_X}/t", iterations=3),
    ),
    path=Path(4.4, 227.2, (Share("integer remainder for y", at(25, 17), 1.0),)),
    advice="Keep 14 partial sums and add them after the loop: II 1",
    would_be=(HELP,),
    id=SMOOTH_X,
    lost=13.0,
    speculative=True,
    speculated=2,
)
OUTER = Loop(
    "y",
    at(22, 10),
    ii=14,
    latency=80,
    levels=3,
    trip_count=480,
    children=(INNER,),
    serial=(SERIAL,),
    id=SMOOTH_Y,
    lost=0.0,
    iterations=480,
    path=Path(3.1, 322.0, (Share("integer add for y", at(22, 28), 1.0),)),
)
WINDOW = Memory(
    "window",
    at(20, 19),
    "local",
    requested=12288,
    implemented=24576,
    word_bytes=4,
    banks=3,
    banked="each piece of 1,024 words is in another bank",
    copies=2,
    groups=1,
    reads=3,
    writes=1,
    atomics=0,
    blocks=12,
    rating="good but replicated",
    turns=(Turns("load", 2, (29,)),),
    sharing=(Sharing((29, 25), "they execute in different cycles"),),
    pumping="single-pumped",
    attributes=(),
    advice="read one row less in an iteration to save the second copy",
    dims=(3, 1024),
    bank_of="dimension 0 (window[y][...])",
    ports=tuple(
        port
        for bank in range(3)
        for port in (
            Port(bank, "W", 0, ("smooth/store/window#0",)),
            Port(
                bank, "R", 0, (f"smooth/load/window#{bank}", "smooth/load/window#3"), "share" if bank else "arbitrate"
            ),
            Port(bank, "R", 1, ("smooth/load/window#3",)),
        )
    ),
    replicated=(Replication("access", 2),),
)
LOCAL = (
    LocalAccess("smooth/store/window#0", "store", "window", at(25, 13), "window[y % 3][x]", SMOOTH_X, 4, 1),
    *(
        LocalAccess(
            f"smooth/load/window#{row}",
            "load",
            "window",
            at(29, 24),
            f"window[{row}][x]",
            SMOOTH_X,
            4,
            3,
            banks=(row,) if row < 3 else (0, 1, 2),
        )
        for row in range(4)
    ),
)


def _operations() -> tuple[Operation, ...]:
    words = [
        (0, "integer compare", 23, 0, 0, 0, "", False),
        (1, "read of channel rows[0]", 24, 0, 1, 1, "channel end", True),
        (2, "load of taps[x]", 26, 0, 1, 40, "load unit", True),
        (3, "integer remainder for y", 25, 1, 0, 9, "divider", False),
        (4, "store to window", 25, 1, 9, 1, "RAM port", False),
        (5, "floating-point multiply for weight", 26, 2, 0, 5, "multiplier", False),
        (6, "floating-point add for sum", 26, 2, 5, 7, "adder", False),
        (7, "load of window[0][x]", 29, 2, 2, 3, "RAM port", False),
        (8, "floating-point add for sum", 29, 2, 12, 7, "adder", False),
    ]
    return tuple(
        Operation(number, text, at(line, 13), level, stage, latency, part, variable)
        for number, text, line, level, stage, latency, part, variable in words
    )


SCHEDULE = (
    RegionSchedule(
        "",
        1,
        1,
        4,
        (Level(0, 2, 0, False, (0,)), Level(1, 1, 3, False)),
        (Operation(0, "inner loop y", at(22), 0, 1, 80, "", True, SMOOTH_Y),),
        (),
        Stage(0, 0),
    ),
    RegionSchedule(
        SMOOTH_X,
        14,
        2,
        61,
        (Level(0, 2, 0, False, (1, 2)), Level(1, 10, 42, False, ()), Level(2, 20, 53, True, ())),
        _operations(),
        (
            Edge(1, 4, "data"),
            Edge(2, 5, "data"),
            Edge(3, 4, "data"),
            Edge(5, 6, "data"),
            Edge(4, 7, "token"),
            Edge(6, 8, "data"),
            Edge(7, 8, "data"),
            Edge(8, 6, "carried", 1),
        ),
        Stage(0, 0),
        (6, 8),
    ),
    RegionSchedule(
        SMOOTH_Y,
        14,
        1,
        80,
        (Level(0, 3, 0, False, (0,)), Level(1, 4, 70, False, (1, 2)), Level(2, 1, 76, False)),
        (
            Operation(0, "inner loop x", at(23), 0, 2, 61, "", True, SMOOTH_X),
            Operation(1, "store to out[y]", at(32), 1, 1, 2, "store unit", True, access="smooth/store/out#0"),
            Operation(2, "write of channel credit", at(31), 1, 1, 1, "channel end", True),
        ),
        (Edge(0, 1, "data"),),
        Stage(0, 0),
    ),
)
SMOOTH = Kernel(
    "smooth",
    at(18, 15),
    ndrange=False,
    loops=(OUTER,),
    accesses=(
        Access(
            "store", "out", at(32, 9), 4, "burst-coalesced write-ack", "out and taps may be the same buffer",
            id="smooth/store/out#0", loop=SMOOTH_Y, expression="out[y]", pattern="consecutive", stride=4, word_bytes=64,
            used=64, efficiency=1.0,
        ),
        Access(
            "load", "taps", at(26, 35), 4, "prefetching", "consecutive addresses",
            id="smooth/load/taps#0", loop=SMOOTH_X, expression="taps[x]", pattern="consecutive", stride=4, word_bytes=64,
            used=64, efficiency=1.0, cache_bytes=2048, flush="at the start of a launch",
        ),
    ),
    privates=(Private("lut", at(3, 2, HEADER), 1024, "a table in logic, read through multiplexers"),),
    resources=Resources(5200, 9100, 21, 4),
    messages=(
        Diagnostic(
            "variable granted is never used", at(12, 13), hint="remove it", severity="warning", code=Code.NEVER_SET
        ),
    ),
    reason="it calls no work-item function",
    memories=(WINDOW,),
    local_accesses=LOCAL,
    variables=(Variable("sum", at(21, 11), 32, SMOOTH_X, 2), Variable("x", at(23, 18), 32, SMOOTH_X)),
    schedule=SCHEDULE,
    verdict="smooth: 3 loops, 2 pipelined; slowest: x (line 23) II 14; 5,200 ALMs",
)  # fmt: skip
SEND = Kernel(
    "send",
    at(9, 15),
    ndrange=False,
    loops=(
        Loop(
            "y", at(11, 10), ii=1, latency=90, levels=3, trip_count=480, id=SEND_Y, lost=0.0, iterations=480,
            children=(
                Loop("x", at(13, 14), ii=1, interleaving=1, slots=1, latency=70, levels=2, id=SEND_X, lost=0.0),
            ),
        ),
    ),
    accesses=(
        Access(
            "load", "image", at(14, 42), 4, "burst-coalesced", "each access has a word of its own",
            id="send/load/image#0", loop=SEND_X, expression="image[(y * width + x) * 16]", pattern="stride 64 bytes",
            stride=64, word_bytes=64, used=4, efficiency=0.0625, memory="DDR",
        ),
    ),
    resources=Resources(1900, 3300, 9, 2),
    reason="it calls no work-item function",
    verdict="send: 2 loops, all pipelined; 1,900 ALMs",
)  # fmt: skip
RELAY = Kernel(
    "relay",
    at(37, 15),
    ndrange=False,
    loops=(Loop("", at(39), ii=1, latency=3, id="relay/while", kind="while", lost=0.0),),
    resources=Resources(640, 800, 0, 0),
    autorun=True,
    max_dims=0,
    attributes=("autorun", "max_global_work_dim(0)"),
    copies=KernelCopies(2, ("relay_0", "relay_1"), ("channels rows[0..1]",)),
    reason="autorun",
    verdict="relay (2 copies): 1 loop, pipelined; 640 ALMs",
)


def _area() -> AreaNode:
    def part(name, role, logic, registers=0, rams=0, dsps=0, **more):
        return AreaNode(name, role, Resources(logic, registers, rams, dsps), **more)

    inside = (
        part("loop x", Role.LOOP, 3000, 6000, 12, 4, span=at(23), id=SMOOTH_X, children=(
            part("sum", Role.FEEDBACK, 200, 64, span=at(26)),
            part("level registers", Role.STATE, 800, 4200),
            part("adders", Role.ARITHMETIC, 2000, 1736, 0, 4, span=at(26), count=2),
            part("window", Role.LOCAL_MEMORY, 0, 0, 12, span=at(20)),
        )),
        part("load of taps[x]", Role.ACCESS, 1500, 2100, 9, span=at(26), id="smooth/load/taps#0"),
        part("counters", Role.COUNTERS, 700, 1000),
    )  # fmt: skip
    return part("system", Role.SYSTEM, 9740, 16700, 56, 6, children=(
        part("smooth", Role.KERNEL, 5200, 9100, 21, 4, span=at(18), children=inside),
        part("send", Role.KERNEL, 1900, 3300, 9, 2, span=at(9)),
        part("relay", Role.KERNEL, 640, 800, span=at(37), count=2),
        part("board interface", Role.BOARD, 500, 900),
        part("global interconnect", Role.INTERCONNECT, 1500, 2600, 26),
    ))  # fmt: skip


def _lines() -> tuple[LineArea, ...]:
    return (
        LineArea("smooth", Role.ARITHMETIC, at(26), Resources(2000, 1736, 0, 4)),
        LineArea("smooth", Role.ACCESS, at(26), Resources(1500, 2100, 9, 0)),
        LineArea("smooth", Role.FEEDBACK, at(26), Resources(200, 64)),
        LineArea("smooth", Role.STATE, at(23), Resources(800, 4200)),
        LineArea("smooth", Role.LOCAL_MEMORY, at(20), Resources(0, 0, 12)),
        LineArea("smooth", Role.COUNTERS, at(22), Resources(700, 1000)),
        LineArea("send", Role.ACCESS, at(14), Resources(1900, 3300, 9, 2)),
        LineArea("relay", Role.OTHER, at(40), Resources(640, 800)),
        LineArea("", Role.INTERCONNECT, None, Resources(2000, 3500, 26)),
    )


CHANNELS = (
    Channel("rows[0]", at(4, 15), 32, 16, 16, "LUT RAM", "", "send", at(14), "smooth", at(24)),
    Channel("rows[1]", at(4, 15), 32, 16, 20, "block RAM", "more is buffered than requested", "smooth", at(31), "relay_0",
            at(40), 2),
    Channel("credit", at(5, 13), 32, None, 0, "wires", "", "smooth", at(31), "send", at(12)),
)  # fmt: skip
NETWORKS = (
    Network(
        ("send", "smooth"),
        "certain",
        "send waits for a credit before it sends the first row",
        at(12),
        (Stop("send", "credit", False, "smooth", at(12)), Stop("smooth", "rows[0]", False, "send", at(24))),
        (Depth("credit", 1),),
        ("rows[0]", "credit"),
    ),
    Network(("relay_0", "relay_1"), "impossible", "the channels form no circle"),
)


def _source(file: str, text: str) -> Source:
    return Source(file, text, hashlib.sha256(text.encode()).hexdigest())


def sample() -> Report:
    """A report of two files in which every view has something to show."""
    return Report(
        FILE,
        "de5net",
        240.0,
        _worded((SEND, SMOOTH, RELAY)),
        shared=Resources(2000, 3500, 26, 0),
        device=Resources(234720, 938880, 2560, 256),
        logic_cell="ALMs",
        messages=(
            Diagnostic("out is not restrict", at(18, 38), hint="write restrict if the buffers never overlap", severity="warning"),
        ),
        channels=CHANNELS,
        networks=NETWORKS,
        info=Info("0.1.0", "sluice compile filter.cl", (("fpc", "True"),), "de5net", "5SGXEA7", "2026-01-02T03:04:05Z", 240.0),
        sources=(_source(FILE, TEXT), _source(HEADER, WEIGHTS)),
        bottlenecks=(
            Ranked("smooth", "loop-carried dependence", "loop x waits 14 cycles for sum of the iteration before", at(23, 14), SMOOTH_X, "", 13.0,
                   help="Keep 14 partial sums and add them after the loop: II 1"),
            Ranked("smooth", "serial region", "one iteration of loop y at a time executes loop x", at(22, 10), SMOOTH_Y, "", 47.0, 22560.0),
            Ranked("send", "bandwidth", "load of image uses 4 of every 64 bytes moved", at(14), "", "send/load/image#0", 0.9),
        ),
        area=_area(),
        lines=_lines(),
        synthesis=_synthesis(),
    )  # fmt: skip


def _synthesis() -> Synthesis:
    def mapped(scale: int) -> Mapped:
        return Mapped(40 * scale, 40 * scale, 20 * scale, 10 * scale, 0, 30 * scale, scale, scale)

    def compared(kernel: str, scale: int) -> Compared:
        return Compared(
            kernel,
            mapped(scale),
            Figure(40 * scale, 50 * scale),
            Figure(30 * scale, 30 * scale),
            Figure(scale, scale),
            Figure(scale, scale),
        )

    place = Place("smooth", "x", "arithmetic", "fadd_L26_fadd", 26)
    step = Step(place, 4.2, 5.3, 6, "fadd_L26_fadd (arithmetic), line 26, loop x, kernel smooth")
    return Synthesis(
        "0123456789abcdef",
        "ulx3s",
        "LFE5U-85F-6BG381C",
        ("yosys 0.70", "nextpnr 0.11.1"),
        compared("", 3),
        (compared("", 1), compared("smooth", 2)),
        (Row("", "global interconnect", None, mapped(1)), Row("smooth", "arithmetic", None, mapped(2))),
        (Row("", "", None, mapped(1)), Row("smooth", "", 26, mapped(2))),
        Placed(1, 100.0, 88.1, 9.5, 0.56, (step,), ("run the design at 88 MHz: a slower clock is always correct",)),
    )


def _worded(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """The kernels with the sentences of their loops."""
    with reader_of(FILE):
        return tuple(replace(kernel, loops=worded(kernel.loops)) for kernel in kernels)


def large(loops: int = 200, operations: int = 25) -> Report:
    """A report of a kernel with so many loops, one after the other, of so many operations each."""
    spans = [at(1 + number % 40) for number in range(loops)]
    region = SCHEDULE[1]
    ops = tuple(
        Operation(number, f"integer add for v{number}", at(1 + number % 40), 0, number // 2, 1, "adder")
        for number in range(operations)
    )
    edges = tuple(Edge(number, number + 1, "data") for number in range(operations - 1))
    levels = (Level(0, operations // 2 + 1, 0, False),)
    kernel = replace(
        SEND,
        name="many",
        accesses=(),
        loops=tuple(
            Loop(f"i{number}", span, ii=1 + number % 3, latency=30, id=f"many/i{number}", lost=0.0)
            for number, span in enumerate(spans)
        ),
        schedule=tuple(
            replace(region, loop=f"many/i{number}", levels=levels, operations=ops, edges=edges, critical=())
            for number in range(loops)
        ),
    )
    return replace(sample(), kernels=_worded((kernel,)), channels=(), networks=(), bottlenecks=(), area=None, lines=())
