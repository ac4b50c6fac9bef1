"""The stalls that are read from a waveform's values are those that a count cycle by cycle finds."""

import random

from hls.profile.probe import WORD
from hls.profile.stalls import UnitStalls

EVENTS, CAUSES, HOLD_BITS = 3, 4, (1, 2)
UNIT = {
    "kernel": "k", "autorun": False, "number": 0, "path": "", "signal": "", "account_signal": "", "loops": [],
    "events": EVENTS, "causes": CAUSES, "accounts": [], "holds": [], "hold_bits": list(HOLD_BITS),
}  # fmt: skip


def text_of(running: bool, causes: int, held: int, event: int) -> bytes:
    """A value of the probe: causes, events and holds, and whether the unit runs, from the highest bit to the lowest."""
    bits = causes << 2 * WORD | event << WORD + 2 | held << 1 | running
    return f"{bits:0{3 * WORD}b}".encode()


def runs_of(cycles: list[bool]) -> list[tuple[int, int]]:
    """(begin, length) of the stretches in which something holds."""
    ends = [k for k in range(len(cycles) + 1) if k == len(cycles) or not cycles[k]]
    begins = [k for k in range(len(cycles)) if cycles[k] and (k == 0 or not cycles[k - 1])]
    return [(begin, next(end for end in ends if end > begin) - begin) for begin in begins]


def check(stall, cycles: list[bool]) -> None:
    runs = runs_of(cycles)
    longest = max((length for _, length in runs), default=0)
    assert (stall.cycles, stall.stretches, stall.longest) == (sum(cycles), len(runs), longest)
    assert (stall.at, longest) in runs


def test_stretches_are_those_of_a_count_cycle_by_cycle():
    rng, stalls, seen = random.Random(3), UnitStalls(UNIT), []
    for _ in range(3000):
        value = (rng.random() < 0.9, rng.choice((0, 1, 3, 4, 8)), rng.randrange(4), rng.randrange(2))
        stalls.change(text_of(*value), len(seen))
        seen += [value] * rng.choice((0, 1, 1, 2, 5))  # a value that lasts no cycle is no stretch
    stalls.end(len(seen))
    accounts = [(one[1] & -one[1]).bit_length() - 1 if one[1] else CAUSES for one in seen]  # the first cause
    assert stalls.busy == sum(one[0] for one in seen)
    for account in range(CAUSES + 1):
        cycles = [one[0] and number == account for one, number in zip(seen, accounts, strict=True)]
        if any(cycles):
            check(stalls.accounts[account], cycles)
    for place in range(len(HOLD_BITS)):
        cycles = [one[0] and bool(one[2] >> place & 1) for one in seen]
        check(stalls.places[place], cycles)
        assert sum(stalls.places[place].others.values()) == sum(cycles)


def test_values_of_one_meaning_are_one_stretch(monkeypatch):
    """Events change in most cycles: of a long waveform most values only differ in them."""
    stalls, turns = UnitStalls(UNIT), []
    turn = stalls._turn
    monkeypatch.setattr(stalls, "_turn", lambda *arguments: turns.append(arguments) or turn(*arguments))
    for cycle in range(100):
        stalls.change(text_of(True, 2, 1, cycle % 2), cycle)
    stalls.end(100)
    assert len(turns) == 2 and stalls.accounts[1].stretches == 1 and stalls.places[0].longest == 100
