"""History against lists: tokens of random invocations pass a line of stages, read in one and write in another."""

import random

import pytest

from rtl_lib.delay_lines import History, Tap

from .bench import simulate

DEPTH = 5


def test_a_tap_that_reads_too_early():
    with pytest.raises(ValueError, match="3 tokens ahead the value of 3 iterations ago"):
        Tap(3, 3)


def test_a_tap_of_too_long_ago():
    with pytest.raises(ValueError, match="5 values are kept, a tap asks for one of 6"):
        History(8, DEPTH, (Tap(6, 0),))


def expected(tokens, k, steps):
    """The value of ``steps`` iterations before token ``k``, by the definition."""
    while steps and not tokens[k]["first"]:
        k, steps = k - 1, steps - 1
    return tokens[k]["initial"][steps - 1] if steps else tokens[k]["value"]


@pytest.mark.parametrize("seed", range(6))
def test_against_a_list(seed):
    """Rules 1 to 3: every tap, as far ahead of the writes as it may be, over long and very short invocations."""
    rng = random.Random(seed)
    taps = tuple(Tap(steps, rng.randrange(steps)) for steps in range(1, DEPTH + 1))
    dut = History(8, DEPTH, taps)

    async def bench(ctx):
        tokens, written = [], 0
        for _ in range(400):
            room = len(tokens) - written
            if room < DEPTH and rng.random() < 0.7:
                first = not tokens or rng.random() < 0.3
                initial = [rng.randrange(256) for _ in range(DEPTH)] if first else tokens[-1]["initial"]
                tokens.append({"first": first, "initial": initial, "value": rng.randrange(256)})
            for n, tap in enumerate(taps):
                reader = written + rng.randint(0, tap.most)
                if reader >= len(tokens):
                    continue
                began = next((k for k in range(reader, written - 1, -1) if tokens[k]["first"]), None)
                port = dut.tap(n)
                ctx.set(port.begins, began is not None)
                ctx.set(port.ahead, reader - (written if began is None else began))
                for k in range(tap.steps):
                    ctx.set(port.initial[k], tokens[reader]["initial"][k])
                assert ctx.get(port.value) == expected(tokens, reader, tap.steps), (tap, reader - written, began)
            writes = written < len(tokens) and rng.random() < 0.6
            ctx.set(dut.write.valid, writes)
            if writes:
                token = tokens[written]
                ctx.set(dut.write.first, token["first"])
                ctx.set(dut.write.value, token["value"])
                for k in range(DEPTH):
                    ctx.set(dut.write.initial[k], token["initial"][k])
                written += 1
            await ctx.tick()
        assert written > 100

    simulate(dut, bench)
