"""A profile of the program of :mod:`tests.browser.sample`, in which every view of a run has something to show."""

import math
from dataclasses import replace

from hls.profile import model
from hls.profile.summary import kernels_of

__all__ = ["sample_profile"]

ISSUED = model.Account("0_issued", "issued", "issue", None, 0)
CREDIT = model.Account("1_wait", "waiting for channel credit to have a value", "channel", 12, 0)
IMAGE = model.Account("2_wait", "waiting for load of image", "memory", 14, 0)
SUM = model.Account("1_recurrence", "recurrence of loop x", "recurrence", 23, 0)
ROWS = model.Account("2_wait", "waiting for channel rows[0] to have a value", "channel", 24, 0)
RELAYED = model.Account("1_wait", "waiting for channel rows[1] to have a value", "channel", 40, 0)
DRAIN = model.Account("9_drain", "drain", "drain", None, 0)
LOAD = model.Access(
    id="load_image_L14", kind="load", buffer="image", line=14, loop="loop_x_L13", unit="burst-coalesced", memory="DDR",
    access_bytes=4, occupancy=0.25, activity=0.25, stall=0.45, bytes_used=4000, bytes_moved=64000, efficiency=0.0625,
    reuse=1.0, bytes_per_ns=3.84, bandwidth=0.15, average_burst=1.0, max_burst=1, cache_hit=None, in_vain=None,
    full_bursts=1.0, unaligned=0.25,
)  # fmt: skip
TAPS = replace(
    LOAD, id="load_taps_L26", buffer="taps", line=26, loop="loop_x_L23", unit="prefetching", stall=0.0, occupancy=0.07,
    activity=0.07, bytes_moved=4000, efficiency=1.0, bytes_per_ns=0.24, bandwidth=0.01, average_burst=16.0, max_burst=16,
    full_bursts=1.0, unaligned=None,
)  # fmt: skip
OUT = replace(
    TAPS, id="store_out_L32", kind="store", buffer="out", line=32, loop="loop_y_L22", unit="pipelined", occupancy=0.0,
    activity=0.0, bytes_used=40, bytes_moved=640, efficiency=0.0625, bytes_per_ns=0.04, bandwidth=0.0002,
    average_burst=1.0, full_bursts=0.0,
)  # fmt: skip
LOOPS = {
    "send": (model.Loop("loop_x_L13", "x", 13, 1, 1, 1.0, 4.0, 1000, 10), model.Loop("loop_y_L11", "y", 11, 1, 1, 1.0, 400.0, 10, 1)),
    "smooth": (model.Loop("loop_x_L23", "x", 23, 14, 1, 14.0, 14.2, 1000, 10),),
    "relay": (model.Loop("loop_while_L39", "while", 39, 1, 1, 1.0, None, 1, 1),),
}  # fmt: skip
SEND_ROWS = model.ChannelEnd("write_of_rows", "rows[0]", 14, "write", 16, 3, 0.4, 1000, 0.6, 0.0)
SMOOTH_ROWS = replace(SEND_ROWS, id="read_of_rows", line=24, end="read")
SEND_CREDIT = model.ChannelEnd("read_of_credit", "credit", 12, "read", 1, 1, 0.2, 10, 0.3, 0.0)
SMOOTH_CREDIT = replace(SEND_CREDIT, id="write_of_credit", line=31, end="write")
WINDOW = model.Local("store_window_L25", "store", "window", 25, "loop_x_L23", 1000, 0.07, 0.3)
READ = replace(WINDOW, id="load_window_L27", kind="load", line=27, requests=9000, activity=0.63, stall=0.0)
BANK = model.Bank(0, "DDR", 0.3, 64000, 4000, 1000, 62, 900, 890, 3, 40)
INTERVAL, ROWS_OF_SAMPLES = 64, 62


def sample_profile() -> model.Profile:
    """Two launches of each kernel that the host starts, side by side, and captures of the autorun ones."""
    launches: list[model.Launch] = []
    for number in range(2):
        at = 20000.0 * number
        launches += [
            _send(len(launches), at, 100 * number),
            _smooth(len(launches) + 1, at + 100, 50 * number),
            *(_relay(len(launches) + 2 + k, name, len(launches), at) for k, name in enumerate(("relay_0", "relay_1"))),
        ]
    commands = [model.Command(0, "build", None, "", None, 0, 0.0, 0.0, 0.0, 0.0, 1.5)]
    for one in launches:
        if not one.capture:
            number = len(commands)
            commands.append(
                model.Command(number, "launch", one.queue, one.kernel, one.number, 0, one.start_ns - 50, one.start_ns - 50, one.start_ns, one.end_ns, 1.5 + number)
            )  # fmt: skip
    commands.append(model.Command(len(commands), "read", 1, "", None, 1920, 37000.0, 37000.0, 37100.0, 37400.0, 9.0))
    names = tuple(dict.fromkeys(one.kernel for one in launches))
    return model.Profile(
        schema=model.SCHEMA,
        command=("host.py", "--size", "480"),
        board="de5net",
        clock_mhz=240.0,
        memories=(model.Memory("DDR", "ddr", 2, 25.6),),
        programs=(model.Program(0, "", names, names[2:], (names[2:],)),),
        kernels=kernels_of(launches),
        launches=tuple(launches),
        commands=tuple(commands),
    )


def _launch(number: int, kernel: str, start_ns: float, accounts: tuple[model.Account, ...], **fields) -> model.Launch:
    cycles = sum(one.cycles for one in accounts)
    given = {
        "queue": 0, "capture": False, "of": None, "global_size": (1, 1, 1), "local_size": (1, 1, 1), "channels": (),
        "accesses": (), "held": (), "blame": (), "samples": (), "banks": (), "units": (),
    }  # fmt: skip
    return model.Launch(
        number=number, kernel=kernel, program=0, begin=32, cycles=cycles, clock_mhz=240.0, start_ns=start_ns,
        end_ns=start_ns + cycles / 0.24, accounts=accounts, loops=LOOPS[kernel.partition("_")[0]], **(given | fields),
    )  # fmt: skip


def _send(number: int, at: float, later: int) -> model.Launch:
    rows = range(ROWS_OF_SAMPLES)
    issued = [16.0 if row % 2 else 20.0 for row in rows]
    waits = [0.0 if row < 20 else 30.0 for row in rows]
    rest = [INTERVAL - a - b for a, b in zip(issued, waits)]
    levels = tuple(round(2 + 2 * math.sin(row / 5), 3) for row in rows)
    columns = (
        model.Column("account", ISSUED.id, tuple(issued)),
        model.Column("account", IMAGE.id, tuple(waits)),
        model.Column("account", CREDIT.id, tuple(rest)),
        model.Column("level", SEND_ROWS.id, levels),
        model.Column("min_level", SEND_ROWS.id, tuple(float(int(one / 2)) for one in levels)),
        model.Column("max_level", SEND_ROWS.id, tuple(float(int(one) + 2) for one in levels)),
    )
    accounts = tuple(
        replace(one, cycles=int(sum(values)) + more)
        for one, values, more in ((ISSUED, issued, 0), (IMAGE, waits, later), (CREDIT, rest, 0), (DRAIN, [40.0], 0))
    )
    held = (
        model.Held(LOAD.id, "load of image", 14, IMAGE.cause, 14, 1260),
        model.Held("channel_write_L14", "write to channel rows[0]", 14, IMAGE.cause, 14, 700),
    )
    blame = (model.Blame(CREDIT.cause, 12, ("smooth",), "account", SUM.cause, 23, accounts[2].cycles),)
    return _launch(
        number, "send", at, accounts, accesses=(LOAD,), channels=(SEND_ROWS, SEND_CREDIT), held=held, blame=blame,
        samples=(model.Samples(0, 32, INTERVAL, 0, columns),), work=(model.Work("integer", 3000, 0.72),),
        roof_bytes_per_ns=4.2, roof_by="activation", banks=(BANK, replace(BANK, number=1)),
    )  # fmt: skip


def _smooth(number: int, at: float, later: int) -> model.Launch:
    accounts = (replace(ISSUED, cycles=1000), replace(SUM, cycles=2600 + later), replace(ROWS, cycles=300), DRAIN)
    held = (model.Held("channel_read_L24", "read from channel rows[0]", 24, SUM.cause, 23, 2000),)
    blame = (
        model.Blame(ROWS.cause, 24, ("send",), "account", IMAGE.cause, 14, 200),
        model.Blame(ROWS.cause, 24, ("send",), "circle", None, None, 100),
    )
    columns = (model.Column("account", SUM.id, (60.0,) * 40), model.Column("account", ISSUED.id, (4.0,) * 40))
    return _launch(
        number, "smooth", at, accounts, queue=1, accesses=(TAPS, OUT), channels=(SMOOTH_ROWS, SMOOTH_CREDIT), held=held,
        blame=blame, samples=(model.Samples(0, 32, INTERVAL, 0, columns),),
        work=(model.Work("floating-point", 5000, 1.2), model.Work("integer", 1000, 0.24)), local=(READ, WINDOW),
    )  # fmt: skip


def _relay(number: int, name: str, of: int, at: float) -> model.Launch:
    accounts = (replace(ISSUED, cycles=1), replace(RELAYED, cycles=3000 if name == "relay_0" else 3100))
    blame = (model.Blame(RELAYED.cause, 40, ("send",), "idle", None, None, accounts[1].cycles),)
    ends = (
        model.ChannelEnd(
            "read_of_rows_1", "rows[1]" if name == "relay_0" else "rows[2]", 40, "read", 4, 0, 0.0, 0, 0.99, 0.0
        ),
    )
    return _launch(number, name, at, accounts, capture=True, of=of, channels=ends, blame=blame)
