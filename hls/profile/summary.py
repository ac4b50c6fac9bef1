"""The launches of a run, summed by kernel, each with a verdict."""

from collections.abc import Sequence
from dataclasses import replace

from . import model
from .verdict import verdict_of

__all__ = ["copy_groups", "is_summed", "kernels_of", "sum_accounts"]


def is_summed(launch: model.Launch) -> bool:
    """Whether a launch counts in the sums of its kernel. Captures between two calls of the host, and that of the whole
    run, do not: their cycles are in the captures of launches already."""
    return not launch.capture or launch.of is not None


def kernels_of(launches: Sequence[model.Launch], depths: Sequence[model.ChannelDepth] = ()) -> tuple[model.Kernel, ...]:
    """The kernels in the order of their first launch; those of different programs are apart even if names are equal.
    ``depths`` are the replays of the channels of all programs."""
    groups: dict[tuple[int, str], list[model.Launch]] = {}
    for launch in launches:
        if is_summed(launch):
            groups.setdefault((launch.program, launch.kernel), []).append(launch)
    return tuple(_kernel(name, group, depths) for (_, name), group in groups.items())


def copy_groups(profile: model.Profile) -> list[list[model.Kernel]]:
    """The kernels, copies of one kernel together; of each group the one with most cycles first. Groups are in the order
    of these: kernels that the host launches before autorun ones, most cycles first."""
    program = {launch.number: launch.program for launch in profile.launches}
    first = {(one.number, name): names[0] for one in profile.programs for names in one.copies for name in names}
    groups: dict[tuple[int, str], list[model.Kernel]] = {}
    for kernel in profile.kernels:
        number = program[kernel.worst]
        groups.setdefault((number, first.get((number, kernel.name), kernel.name)), []).append(kernel)
    found = [sorted(group, key=lambda one: -one.cycles) for group in groups.values()]
    return sorted(found, key=lambda group: (group[0].autorun, -group[0].cycles))


def _kernel(name: str, launches: list[model.Launch], depths: Sequence[model.ChannelDepth]) -> model.Kernel:
    worst = max(launches, key=lambda one: one.cycles)
    cycles = sum(one.cycles for one in launches)
    accounts = sum_accounts(launches)
    return model.Kernel(
        name=name,
        autorun=launches[0].capture and not launches[0].part,
        launches=len(launches),
        cycles=cycles,
        mean=cycles / len(launches),
        most=worst.cycles,
        worst=worst.number,
        accounts=accounts,
        verdict=verdict_of(name, launches, accounts, depths),
    )


def sum_accounts(launches: Sequence[model.Launch]) -> tuple[model.Account, ...]:
    """The accounts over all launches, largest first."""
    found: dict[str, model.Account] = {}
    for launch in launches:
        for account in launch.accounts:
            known = found.get(account.id)
            found[account.id] = account if known is None else replace(known, cycles=known.cycles + account.cycles)
    return tuple(sorted(found.values(), key=lambda one: (-one.cycles, one.id)))
