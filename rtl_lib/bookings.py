"""Ports that several pipelines use some cycles after a token has entered them: they book the cycles at their entries."""

from dataclasses import dataclass

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .library import shared

__all__ = ["PortBookings", "PortUser"]


@dataclass(frozen=True)
class PortUser:
    """A pipeline in which each token uses ports: ``uses`` are pairs (number of the port, cycles after the token's entry). ``spacing``
    cycles lie between its tokens, or a multiple of that."""

    uses: tuple[tuple[int, int], ...]
    spacing: int = 1

    @property
    def first(self) -> int:
        """Cycles from a token's entry to its first use."""
        return min(cycle for _, cycle in self.uses)

    @property
    def last(self) -> int:
        """Cycles from a token's entry to its last use."""
        return max(cycle for _, cycle in self.uses)


@shared
class PortBookings(wiring.Component):
    """Says which pipelines a token may enter, so that no two tokens ever use a port in one cycle.

    Rules
    -----
    1. A token enters pipeline k in a cycle in which ``want[k]`` and ``may[k]`` are high. All cycles in which it will use
       ports are booked from then on.
    2. ``may[k]`` is low if one of those cycles is booked, or wanted by a pipeline before k. It depends on registers and on ``want`` of
       the others.
    3. From the cycle after one in which a pipeline had to wait, and for :attr:`patience` cycles behind the last of those, each
       pipeline books only in windows of its own, which come in turn: so nobody waits for ever. At other times all cycles are everybody's.
    4. A window is so long that a token's uses fit into it wherever the pipeline's spacing lets the token in. (Windows are the same for all
       ports: a pipeline that uses two would else wait for two windows that never come together.)

    Parameters
    ----------
    users : :class:`PortUser`, at least two, each with at least one use and none twice

    Ports
    -----
    want : a token stands at the entry, and nothing else keeps it out; may : nothing here does
    """

    def __init__(self, users):
        if len(users) < 2 or not all(user.uses and len(set(user.uses)) == len(user.uses) and user.first >= 0 for user in users):
            raise ValueError(f"two pipelines and more may share ports, each with its uses of them, not {users!r}")
        self.users = tuple(users)
        self.window = max(user.last - user.first + user.spacing for user in users)
        self.patience = max(user.last for user in users) + len(users) * self.window
        super().__init__({"want": In(len(users)), "may": Out(len(users))})

    def elaborate(self, platform):
        m = Module()
        ports = {port for user in self.users for port, _ in user.uses}
        length = max(user.last for user in self.users) + 1
        booked = {port: Signal(length, name=f"booked{port}") for port in ports}  # bit c: the port is used in c cycles
        taken, wanted = dict(booked), []
        crowded, own = self._crowded(m), self._own(m)
        for k, user in enumerate(self.users):
            turn = ~crowded | own[k]
            full = [booked[port][cycle] for port, cycle in user.uses]
            others = [on for on, uses in wanted if uses & set(user.uses)]
            m.d.comb += self.may[k].eq(turn & ~Cat(full, others).any())
            wanted.append((self.want[k] & turn, set(user.uses)))
            for port in {port for port, _ in user.uses}:
                mine = sum(1 << cycle for where, cycle in user.uses if where == port)
                taken[port] |= Mux(self.want[k] & self.may[k], mine, 0)
        m.d.sync += [booked[port].eq(taken[port] >> 1) for port in ports]
        return m

    def _crowded(self, m):
        """High while rule 3 gives everyone windows."""
        left = Signal(range(self.patience + 1))
        with m.If((self.want & ~self.may).any()):
            m.d.sync += left.eq(self.patience)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        return left != 0

    def _own(self, m) -> list:
        """For each pipeline whether a token that entered now would use the ports within one of its windows."""
        length = self.window * len(self.users)
        now = Signal(range(length))
        m.d.sync += now.eq(Mux(now == length - 1, 0, now + 1))
        found = []
        for k, user in enumerate(self.users):
            fits = [t for t in range(length) if all((t + cycle) % length // self.window == k for _, cycle in user.uses)]
            found.append(Cat(now == t for t in fits).any())
        return found
