"""BankedRam against a list of words: random traffic of ports that follow its rules, and ports that violate them."""

import random

import pytest
from amaranth.sim import Simulator

from rtl_lib.library import DOUBLE
from rtl_lib.mem.bank_map import BankMap
from rtl_lib.mem.banked import BankedRam, PumpedBlock

MAPS = {
    "one": BankMap(),
    "cyclic": BankMap((1, 0)),
    "block": BankMap((5, 4)),
    "between": BankMap((3, 2)),
    "two fields": BankMap((4, 3, 0)),
    "reversed": BankMap((0, 5)),
    "skewed": BankMap((1, 0), 3),
    "far skew": BankMap((2, 1), 4),
    "folded": BankMap((0,), fold=(1, 6)),
    "folded in pairs": BankMap((1, 0), fold=(2, 5)),
    "folded in copies": BankMap((5, 0), fold=(1, 5)),
}


def _run(dut, testbench, pumped=False):
    sim = Simulator(dut)
    sim.add_clock(1e-6, phase=1e-6)
    if pumped:
        sim.add_clock(0.5e-6, phase=1e-6, domain=DOUBLE)
    sim.add_testbench(testbench)
    sim.run()


@pytest.mark.parametrize("words", [64, 50])
@pytest.mark.parametrize("name", MAPS)
def test_every_word_has_a_place(name, words):
    map = MAPS[name]
    places = {(map.bank(word), map.place(word)) for word in range(words)}
    assert len(places) == words
    assert max(place for _, place in places) < map.words(words) <= -(-64 // map.banks)
    assert {bank for bank, _ in places} == set(range(map.banks))


def test_maps_that_are_none():
    for bits, skew in (((1, 1), None), ((-1,), None), ((), 3), ((2, 0), 4), ((1, 0), 1)):
        with pytest.raises(ValueError, match="bits|skew"):
            BankMap(bits, skew)
    for bits, skew, fold in (
        ((), None, (1, 4)),
        ((0,), None, (2, 4)),
        ((3, 0), None, (2, 5)),
        ((0,), 3, (1, 5)),
        ((2,), None, (1, 2)),
    ):
        with pytest.raises(ValueError, match="fold"):
            BankMap(bits, skew, fold)


def test_a_fold_tells_words_apart_that_differ_in_one_bit():
    map = BankMap((0,), fold=(1, 6))
    assert all(map.bank(word) != map.bank(word ^ 1 << bit) for word in range(64) for bit in range(6))


def _mask(rng, banks):
    return rng.choice([(1 << banks) - 1, 1 << rng.randrange(banks), rng.randrange(1, 1 << banks)])


def _address(rng, map, words, mask, banks):
    """A word in one of the banks that the mask and ``banks`` both allow, or None."""
    words = [word for word in range(words) if mask >> map.bank(word) & 1 and map.bank(word) in banks]
    return rng.choice(words) if words else None


def _blocks(map, copies, dual):
    """Blocks of as many copies as they have time for."""
    size = 3 if dual else 2
    for bank in range(map.banks):
        here = sorted({copy for copy, mask in copies if mask >> bank & 1})
        yield from (PumpedBlock(bank, tuple(here[at : at + size]), dual) for at in range(0, len(here), size))


@pytest.mark.pairwise
@pytest.mark.parametrize("pumping", ["single", "double, dual", "double, simple", "double, two writes"])
@pytest.mark.parametrize("words", [64, 50])
@pytest.mark.parametrize("name", MAPS)
def test_traffic(name, words, pumping):
    rng, map = random.Random(f"{name}{words}"), MAPS[name]
    pumped = pumping != "single"
    copies = [(rng.randrange(4 if pumped else 2), _mask(rng, map.banks)) for _ in range(5)]
    masks = [_mask(rng, map.banks) for _ in range(4)]
    turns = (0, 1, 0, 1) if "two" in pumping else (0,) * 4
    init = [rng.getrandbits(32) for _ in range(20)]
    dut = BankedRam(
        map=map,
        word_bytes=4,
        words=words,
        reads=tuple(copies),
        writes=tuple(masks),
        addr_bits=8,
        bytewise=True,
        init=tuple(init),
        pumped=tuple(_blocks(map, copies, "dual" in pumping)) if pumped else None,
        turns=turns,
    )
    due = []  # of each cycle what its reads are to give
    content = init + [0] * (words - len(init))

    async def drive(ctx):
        for _ in range(3):  # until the halves of a cycle are known
            await ctx.tick()
        for _ in range(60):
            for port in dut.writes:  # nothing meets while the signals are set
                ctx.set(port.strobe, 0)
            for port in dut.reads:
                ctx.set(port.en, 0)
            writes = list(_writes())
            for k, address, value, strobe in writes:
                ctx.set(dut.writes[k].addr, address)
                ctx.set(dut.writes[k].data, value)
            for k, address, value, strobe in writes:
                ctx.set(dut.writes[k].strobe, strobe)
            asked = dict(_reads())
            for k, address in asked.items():
                ctx.set(dut.reads[k].addr, address)
            for k in asked:
                ctx.set(dut.reads[k].en, 1)
            expected = {k: content[address] for k, address in asked.items()}
            for _, address, value, strobe in sorted(writes, key=lambda write: turns[write[0]]):
                for byte in range(4):
                    if address < words and strobe >> byte & 1:
                        content[address] = content[address] & ~(255 << 8 * byte) | value & 255 << 8 * byte
            await ctx.tick()
            due.append(expected)
            if len(due) >= dut.timing.latency:
                for k, value in due[-dut.timing.latency].items():
                    assert ctx.get(dut.reads[k].data) == value

    def _writes():
        for turn in set(turns):
            yield from _writes_of(turn)

    def _writes_of(turn):
        free, half = set(range(map.banks)), {}
        for k, mask in ((k, mask) for k, mask in enumerate(masks) if turns[k] == turn):
            strobe, value = rng.choice([1, 6, 8, 15]), rng.getrandbits(32)
            shared = [it for it in half if mask >> map.bank(it) & 1]
            if shared and rng.random() < 0.5:  # the other half of a word that is being written
                yield k, shared[0], value, half.pop(shared[0])
            elif (address := _address(rng, map, words, mask, free)) is not None and rng.random() < 0.8:
                free.discard(map.bank(address))
                if strobe != 15:
                    half[address] = 15 ^ strobe
                yield k, address, value, strobe

    def _reads():
        used = {}
        for k, (copy, mask) in enumerate(copies):
            address = _address(rng, map, words, mask, range(map.banks))
            bank = copy, map.bank(address)
            if used.setdefault(bank, address) == address and rng.random() < 0.8:
                yield k, address
            elif rng.random() < 0.5:  # the same word once more
                yield k, used[bank]

    _run(dut, drive, pumped)


def test_words_behind_the_last_are_not_written():
    dut = BankedRam(map=BankMap((0,)), word_bytes=4, words=3, reads=((0, 3),), writes=(3,), addr_bits=8, bytewise=False)

    async def drive(ctx):
        ctx.set(dut.writes[0].strobe, 15)
        for address in (2, 3, 6):
            ctx.set(dut.writes[0].addr, address)
            ctx.set(dut.writes[0].data, address)
            await ctx.tick()
        ctx.set(dut.writes[0].strobe, 0)
        ctx.set(dut.reads[0].addr, 2)
        ctx.set(dut.reads[0].en, 1)
        await ctx.tick()
        assert ctx.get(dut.reads[0].data) == 2

    _run(dut, drive)


@pytest.mark.parametrize(
    "addresses, strobes, meet",
    [((0, 4), (15, 15), True), ((0, 1), (15, 15), False), ((4, 4), (3, 12), False), ((4, 4), (3, 6), True)],
)
def test_writes_that_meet(addresses, strobes, meet):
    dut = BankedRam(
        map=BankMap((1, 0)), word_bytes=4, words=16, reads=((0, 15),), writes=(15, 15), addr_bits=8, bytewise=True
    )

    async def drive(ctx):
        for port, address in zip(dut.writes, addresses, strict=True):
            ctx.set(port.addr, address)
        for port, strobe in zip(dut.writes, strobes, strict=True):
            ctx.set(port.strobe, strobe)
        await ctx.tick()

    if meet:
        with pytest.raises(AssertionError, match="meet"):
            _run(dut, drive)
    else:
        _run(dut, drive)


@pytest.mark.parametrize("pumped, turns", [(None, (0, 1)), ((PumpedBlock(0, (0,), False),), (0, 2)), (None, (0,))])
def test_turns_that_blocks_do_not_have(pumped, turns):
    with pytest.raises(ValueError, match="turns"):
        BankedRam(
            map=BankMap(),
            word_bytes=4,
            words=8,
            reads=((0, 1),),
            writes=(1, 1),
            addr_bits=8,
            bytewise=False,
            pumped=pumped,
            turns=turns,
        )


def test_ports_of_no_bank():
    with pytest.raises(ValueError, match="banks"):
        BankedRam(map=BankMap((0,)), word_bytes=4, words=8, reads=((0, 4),), writes=(), addr_bits=8, bytewise=False)
