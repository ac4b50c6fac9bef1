"""The launches of a run, summed by kernel, each with a verdict."""

from collections.abc import Sequence
from dataclasses import replace

from . import model
from .verdict import verdict_of

__all__ = ["kernels_of", "sum_accounts"]


def kernels_of(launches: Sequence[model.Launch]) -> tuple[model.Kernel, ...]:
    """The kernels in the order of their first launch; those of different programs are apart even if names are equal."""
    groups: dict[tuple[int, str], list[model.Launch]] = {}
    for launch in launches:
        if not (launch.capture and launch.of is None):  # its cycles are in the captures of launches already
            groups.setdefault((launch.program, launch.kernel), []).append(launch)
    return tuple(_kernel(name, group) for (_, name), group in groups.items())


def _kernel(name: str, launches: list[model.Launch]) -> model.Kernel:
    worst = max(launches, key=lambda one: one.cycles)
    cycles = sum(one.cycles for one in launches)
    accounts = sum_accounts(launches)
    return model.Kernel(
        name=name,
        autorun=launches[0].capture,
        launches=len(launches),
        cycles=cycles,
        mean=cycles / len(launches),
        most=worst.cycles,
        worst=worst.number,
        accounts=accounts,
        verdict=verdict_of(name, launches, accounts),
    )


def sum_accounts(launches: Sequence[model.Launch]) -> tuple[model.Account, ...]:
    """The accounts over all launches, largest first."""
    found: dict[str, model.Account] = {}
    for launch in launches:
        for account in launch.accounts:
            known = found.get(account.id)
            found[account.id] = account if known is None else replace(known, cycles=known.cycles + account.cycles)
    return tuple(sorted(found.values(), key=lambda one: (-one.cycles, one.id)))
