"""Port reservation: several pipelines share ports that their tokens use some cycles after entry, and reserve the cycles
as they enter."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import *
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .library import shared

__all__ = ["PortBookings", "PortUser", "reserved_ahead"]


@dataclass(frozen=True)
class PortUser:
    """A pipeline in which each token uses ports: ``uses`` are pairs (number of the port, cycles after the token's
    entry). Its tokens enter ``spacing`` cycles apart, or a multiple of that."""

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


def reserved_ahead(users: Sequence[PortUser]) -> tuple[tuple[int, ...], int]:
    """For each pipeline, how many cycles ahead it reserves an entry when it has to wait: its uses lie after all that
    others reserve by entering. And how many cycles reservations reach ahead."""
    last = max(user.last for user in users)
    ahead = tuple((last - user.first) // user.spacing * user.spacing + user.spacing for user in users)
    return ahead, 1 + max(user.last + cycles for user, cycles in zip(users, ahead, strict=True))


@shared
class PortBookings(wiring.Component):
    """Decides which pipelines a token may enter, so that no two tokens ever use a port in one cycle.

    Rules
    -----
    1. A token enters pipeline k in a cycle in which ``want[k]`` and ``may[k]`` are high. All cycles in which it will
       use ports are reserved from then on.
    2. ``may[k]`` is low if one of those cycles is reserved, or wanted by a pipeline before k. It depends on registers
       and on ``want`` of the others.
    3. A pipeline that has to wait reserves an entry :attr:`ahead` cycles in the future, beyond all reservations but
       those of others that waited: it enters then, if it did not before. Pipelines with frequent tokens lose that one
       token's cycles, and no others.
    4. Pipelines reserve ahead one after the other, and each has one such entry at most. A token that stays at its entry
       until it may enter does so within :attr:`patience` cycles.

    Parameters
    ----------
    users : :class:`PortUser`, at least two, each with at least one use and none twice

    Ports
    -----
    want : a token is at the entry, and nothing else keeps it out; may : no reservation keeps it out
    """

    def __init__(self, users: Sequence[PortUser]) -> None:
        if len(users) < 2 or not all(
            user.uses and len(set(user.uses)) == len(user.uses) and user.first >= 0 for user in users
        ):
            raise ValueError(f"two pipelines and more may share ports, each with its uses of them, not {users!r}")
        self.users = tuple(users)
        self.ahead, self.length = reserved_ahead(users)
        #: within one pipeline's turn, all reservations that others made ahead expire
        self.patience = len(users) * (self.length + max(user.spacing for user in users) + 1) + max(self.ahead)
        super().__init__({"want": In(len(users)), "may": Out(len(users))})

    def elaborate(self, platform: object) -> Module:
        """Build a shift register of reserved cycles for each port, and the choice of the tokens that enter, in
        rotation."""
        m = Module()
        ports = {port for user in self.users for port, _ in user.uses}
        # bit c: the port is used in c cycles
        booked = {port: Signal(self.length, name=f"booked{port}") for port in ports}
        wanted: list[tuple[Value, set[tuple[int, int]]]] = []
        taken: dict[int, Value] = dict(booked)
        lefts = [Signal(range(ahead + 1), name=f"left{k}") for k, ahead in enumerate(self.ahead)]
        turns = self._turns(m, [left != 0 for left in lefts])
        for k, (user, ahead) in enumerate(zip(self.users, self.ahead)):
            left, later = lefts[k], Signal(name=f"later{k}")
            now = left == 1  # the cycle of the entry that was reserved ahead
            full = [booked[port][cycle] for port, cycle in user.uses]
            others = [want for want, uses in wanted if uses & set(user.uses)]
            reserved = [booked[port][cycle + ahead] for port, cycle in user.uses]
            m.d.comb += [
                self.may[k].eq(now | ~Cat(full, others).any()),
                later.eq(turns[k] & self.want[k] & ~self.may[k] & (left == 0) & ~Cat(reserved).any()),
            ]
            m.d.sync += left.eq(Mux(later, ahead, left - (left != 0)))
            wanted.append((self.want[k], set(user.uses)))
            for port in {port for port, _ in user.uses}:
                mine = sum(1 << cycle for where, cycle in user.uses if where == port)
                taken[port] |= Mux(self.want[k] & self.may[k], mine, 0) | Mux(later, mine << ahead, 0)
        m.d.sync += [booked[port].eq(taken[port] >> 1) for port in ports]
        return m

    def _turns(self, m: Module, has_booked: list[Value]) -> list[Value]:
        """Whether each pipeline is next to reserve ahead: until it has done so, or no longer waits."""
        turn, waits = Signal(range(len(self.users))), Signal(len(self.users))
        for k, user in enumerate(self.users):
            # a pipeline admitted every ``spacing`` cycles still counts as waiting in between
            since = Signal(range(user.spacing + 1), name=f"since{k}")
            refused = self.want[k] & ~self.may[k]
            m.d.sync += since.eq(Mux(self.want[k], Mux(self.may[k], 0, user.spacing), since - (since != 0)))
            m.d.comb += waits[k].eq((refused | (since != 0) & ~self.want[k]) & ~has_booked[k])
        with m.If(~waits.bit_select(turn, 1)):
            m.d.sync += turn.eq(Mux(turn == len(self.users) - 1, 0, turn + 1))
        return [turn == k for k in range(len(self.users))]
