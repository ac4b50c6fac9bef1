"""Closed forms of requests that wait for banks, against a machine that follows each request."""

import random

import pytest

from hls.model.bank_queue import QUEUE, cycles_held_up, uneven_banks

ROOM = 2  #: requests of the unit on their way to the banks


def machine(banks, word, requests, every=0, length=0):
    """Cycles that a unit takes for requests of single words at random banks, one in each cycle at most, in their order.
    A bank takes a word in ``word`` cycles. After ``every`` requests comes a burst of another unit, which goes first."""
    drawn, asked = random.Random(5), []
    queues, bursts, free = [0] * banks, [0] * banks, [0.0] * banks
    made = now = 0
    while made < requests:
        now += 1
        for bank in range(banks):
            while free[bank] <= now and (bursts[bank] or queues[bank]):
                words = length if bursts[bank] else 1
                free[bank] = max(free[bank], now - 1) + words * word
                if bursts[bank]:
                    bursts[bank] -= 1
                else:
                    queues[bank] -= 1
        if asked and queues[asked[0]] < QUEUE:
            queues[asked.pop(0)] += 1
        if len(asked) < ROOM:
            asked.append(drawn.randrange(banks))
            made += 1
            if every and made % every == 0:
                bursts[drawn.randrange(banks)] += 1
    return now


@pytest.mark.parametrize("banks", [1, 2, 4, 8])
def test_random_words_leave_banks_idle(banks):
    word = 1.6 * banks  # the banks together take a word in more than a cycle
    pace = machine(banks, word, 20_000) / 20_000
    assert pace == pytest.approx(word / banks * uneven_banks(banks), rel=0.02)


@pytest.mark.parametrize(("word", "length", "every"), [(1.24, 16, 128), (1.24, 32, 256), (1.5, 16, 64), (0.6, 16, 128)])
def test_a_burst_holds_up_the_words_behind_it(word, length, every):
    requests = 40_000
    times = requests / every
    lost = machine(2, word, requests, every, length) - machine(2, word, requests)
    likely, most = (cycles_held_up(times * length, times, word, 0.5, full) for full in (False, True))
    assert lost <= most
    assert lost / times == pytest.approx(likely / times, abs=2.5)
