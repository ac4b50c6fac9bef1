"""Launches with round figures, for tests of what is made from a profile."""

from dataclasses import replace

from hls.profile import model
from hls.profile.summary import kernels_of

ACCESS = model.Access(
    "load_a_L4", "load", "a", 4, "loop_i", "burst-coalesced", "DDR", 4, 0.5, 0.5, 0.1, 4000, 4000, 1.0, 1.0, 2.56, 0.1,
    16.0, 16, None, None,
)  # fmt: skip


def accounts(**cycles: int) -> tuple[model.Account, ...]:
    """An account for each category, with underscores for spaces."""
    found = []
    for name, count in cycles.items():
        category = name.replace("_", " ").replace("ramp up", "ramp-up")
        cause = {"issue": "issued", "channel": "waiting for channel c to have a value"}.get(category, category)
        found.append(model.Account(f"0_{name}", cause, category, 7, count))
    return tuple(found)


def launch(number: int = 0, kernel: str = "k", start_ns: float = 0.0, **cycles: int) -> model.Launch:
    """A launch with these accounts, at 100 MHz."""
    total = sum(cycles.values())
    return model.Launch(
        number, kernel, 0, 0, False, None, (1,), (1,), 0, total, 100.0, start_ns, start_ns + 10 * total,
        accounts(**cycles), (), (), (), (), (), (), (), (),
    )  # fmt: skip


def with_access(one: model.Launch, **changes) -> model.Launch:
    """The launch with one access."""
    return replace(one, accesses=(replace(ACCESS, **changes),))


def profile(*launches: model.Launch) -> model.Profile:
    """A profile of these launches, each of which is a command."""
    commands = tuple(
        model.Command(
            k, "launch", 0, one.kernel, one.number, 0, one.start_ns, one.start_ns, one.start_ns, one.end_ns, 0
        )
        for k, one in enumerate(launches)
    )
    memory = model.Memory("DDR", "ddr", 2, 25.6)
    program = model.Program(0, "text", tuple(dict.fromkeys(one.kernel for one in launches)), ())
    return model.Profile(
        1, ("host.py",), "de5net", 100.0, (memory,), (program,), kernels_of(launches), launches, commands
    )
