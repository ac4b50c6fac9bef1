"""Pipelines that share a port: no cycle is reserved twice, none is left unused without need, and no pipeline waits
for ever."""

import random

import pytest
from amaranth import *
from amaranth.sim import Simulator

from rtl_lib.port_reservation import PortBookings, PortUser
from tests.repetitions import sampled


def one(*cycles, spacing=1):
    """A user of a single port."""
    return PortUser(tuple((0, cycle) for cycle in cycles), spacing)


USERS = {
    "one use each": (one(2), one(5)),
    "the same cycle": (one(3), one(3)),
    "at the entry": (one(0), one(7), one(1)),
    "several uses": (one(1, 4, spacing=2), one(2), one(0, 2, 7, spacing=3)),
    "far apart": (one(0), one(40), one(3, 20, spacing=4)),
    "two ports": (PortUser(((0, 1), (1, 1))), PortUser(((1, 0), (0, 2)), 2), one(2), PortUser(((1, 3),))),
}


class Turns:
    """When tokens enter: ``entered[k]`` holds the cycles of pipeline k's tokens, ``waited[k]`` how long each stood
    there."""

    def __init__(self, users, cycles, wants, seed=0):
        self.users, self.entered, self.waited = users, [[] for _ in users], [[] for _ in users]
        rng, dut = random.Random(seed), PortBookings(users)
        standing, since = [False] * len(users), [0] * len(users)

        async def run(ctx):
            for t in range(cycles):
                for k, user in enumerate(users):
                    if not standing[k] and wants(k, t, rng):
                        standing[k], since[k] = True, t
                turns = [standing[k] and t % user.spacing == 0 for k, user in enumerate(users)]
                ctx.set(dut.want, sum(on << k for k, on in enumerate(turns)))
                may = ctx.get(dut.may)
                for k in range(len(users)):
                    if turns[k] and may >> k & 1:
                        self.entered[k].append(t)
                        self.waited[k].append(t - since[k])
                        standing[k] = False
                await ctx.tick()

        sim = Simulator(dut)
        sim.add_clock(1e-6)
        sim.add_testbench(run)
        sim.run()
        self.longest = max(max(waits, default=0) for waits in self.waited)
        self.limit = dut.patience
        self.left = [t - since[k] for k in range(len(users)) if standing[k] for t in [cycles]]

    @property
    def uses(self):
        """Ports and cycles in which they are used, once for each use."""
        return [
            (port, t + c)
            for user, times in zip(self.users, self.entered, strict=True)
            for t in times
            for port, c in user.uses
        ]


def always(k, t, rng):
    return True


@pytest.mark.parametrize("name", USERS)
@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
def test_no_cycle_is_used_twice_and_nobody_waits_for_ever(name, share):
    turns = Turns(USERS[name], 700, lambda k, t, rng: rng.random() < share, seed=len(name))
    assert len(set(turns.uses)) == len(turns.uses) > 30
    assert max([turns.longest, *turns.left]) <= turns.limit


def random_users(rng) -> tuple[PortUser, ...]:
    ports = range(rng.randint(1, 3))
    users = []
    for _ in range(rng.randint(2, 4)):
        uses = {(rng.choice(ports), rng.randint(0, 12)) for _ in range(rng.randint(1, 3))}
        users.append((sorted(uses), rng.randint(1, 4)))
    # tokens of one pipeline never meet at a port, as its schedule keeps them apart
    apart = [(uses, 13 if len({port for port, _ in uses}) < len(uses) else spacing) for uses, spacing in users]
    return tuple(PortUser(tuple(uses), spacing) for uses, spacing in apart)


@pytest.mark.parametrize("seed", sampled(range(40)))
def test_any_pipelines(seed):
    rng = random.Random(seed)
    users = random_users(rng)
    shares = [rng.choice((0.02, 0.3, 1.0)) for _ in users]
    turns = Turns(users, 600, lambda k, t, rng: rng.random() < shares[k], seed)
    assert len(set(turns.uses)) == len(turns.uses)
    assert max([turns.longest, *turns.left]) <= turns.limit


@pytest.mark.parametrize("name", USERS)
def test_where_all_want_always_each_gets_its_share(name):
    turns = Turns(USERS[name], 700, always)
    assert len(set(turns.uses)) == len(turns.uses)
    share = 700 // PortBookings(USERS[name]).patience  # a token in that time at least
    assert min(len(times) for times in turns.entered) >= share


def test_the_port_is_never_idle_where_two_always_want_it():
    turns = Turns(USERS["one use each"], 500, always)
    assert len(turns.uses) >= 480


@pytest.mark.parametrize("name", USERS)
def test_one_alone_loses_no_cycle(name):
    for alone, user in enumerate(USERS[name]):
        if len(user.uses) == 1:
            turns = Turns(USERS[name], 200, lambda k, t, rng, alone=alone: k == alone)
            assert turns.entered[alone] == list(range(200))


def test_one_that_seldom_comes_costs_the_other_little():
    turns = Turns(USERS["far apart"][:2], 1000, lambda k, t, rng: k == 1 or t % 100 == 0)
    assert len(turns.entered[0]) == 10
    assert len(turns.entered[1]) >= 980


@pytest.mark.parametrize("users", [(one(1),), (one(1), one()), (one(1, 1), one(2)), (one(-1), one(2))])
def test_wrong_users(users):
    with pytest.raises(ValueError, match="may share ports"):
        PortBookings(users)
