"""Banking: the vendor's geometries, the choice for usual patterns, and every guarantee against brute force."""

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hls.planning.banking import (
    Asked,
    Blocks,
    Copies,
    Meetings,
    Refusal,
    Unknown,
    Use,
    When,
    assign_ports,
    choose,
    choose_banks,
)
from rtl_lib.mem.bank_map import BankMap

FREE = Unknown("free", -(1 << 40), 1 << 40)


def loads(*consts, terms=((FREE, 4),), row="r", bytes=4):
    return [Use(("load", k), False, bytes, const, terms, row) for k, const in enumerate(consts)]


def stores(*consts, terms=((FREE, 4),), row="w", bytes=4):
    return [Use(("store", k), True, bytes, const, terms, row) for k, const in enumerate(consts)]


def chosen(size, uses, asked=None):
    return choose_banks(size, uses, asked or Asked(), Blocks())


#: numbanks and bankwidth, and the bank of each element of int [2][4], as the guide's table 1-14 draws them
GEOMETRIES = [
    (2, 16, [[0, 0, 0, 0], [1, 1, 1, 1]]),
    (2, 8, [[0, 0, 1, 1], [0, 0, 1, 1]]),
    (2, 4, [[0, 1, 0, 1], [0, 1, 0, 1]]),
    (4, 8, [[0, 0, 1, 1], [2, 2, 3, 3]]),
    (4, 4, [[0, 1, 2, 3], [0, 1, 2, 3]]),
]


@pytest.mark.parametrize("numbanks, bankwidth, banks", GEOMETRIES)
def test_geometries(numbanks, bankwidth, banks):
    """Which elements of a small array share a bank."""
    found = chosen(32, stores(0), Asked(numbanks=numbanks, bankwidth=bankwidth))
    assert [[found.map.bank((16 * y + 4 * x) // found.word_bytes) for x in range(4)] for y in range(2)] == banks


@pytest.mark.parametrize(
    "asked, terms, consts, apart",
    [
        # int [8][4], element [i][x & 3] for i = 0, 2
        (Asked(numbanks=8, bankwidth=16), ((Unknown("x", 0, 3), 4),), (0, 32), True),
        (Asked(numbanks=8, bankwidth=16), ((FREE, 4),), (0, 32), True),  # at a constant distance, masked or not
        # element [x][i]
        (Asked(numbanks=4, bankwidth=4), ((FREE, 16),), (0, 8), True),
        (Asked(numbanks=4, bankwidth=4), ((Unknown("x", 0, 3), 4),), (0, 32), False),
    ],
)
def test_masked_indices(asked, terms, consts, apart):
    found = chosen(128, stores(*consts, terms=terms), asked)
    assert found.meetings.apart(("store", 0), ("store", 1)) is apart
    assert found.stores.most == (1 if apart else 2)


def test_bank_bits_count_words():
    """Of int [4][128] with bank_bits(8, 7) each row is a bank; bits 4 and 3 spread every row over all."""
    index = Unknown("x", 0, 127)
    uses = [Use(k, True, 4, 512 * k, ((Unknown(("x", k), 0, 127), 4),), "w") for k in range(4)]
    rows = chosen(2048, uses, Asked(bank_bits=(8, 7), bankwidth=4))
    assert [rows.banks(k) for k in range(4)] == [{0}, {1}, {2}, {3}] and rows.stores.most == 1
    wrong = chosen(2048, uses, Asked(bank_bits=(4, 3), bankwidth=4))
    assert all(wrong.banks(k) == {0, 1, 2, 3} for k in range(4)) and wrong.stores.most == 4
    assert index.count == 128


@pytest.mark.parametrize(
    "name, size, uses, banks, skewed, copies",
    [
        ("rows", 16384, stores(*range(0, 64, 4), terms=((FREE, 64),)), 16, False, 1),
        ("columns", 16384, stores(*range(0, 16 * 256, 256)), 16, False, 1),
        ("blocks", 16384, stores(*range(0, 16384, 4096), terms=((Unknown("i", 0, 1023), 4),)), 4, False, 1),
        (
            "transpose",
            16384,
            stores(*range(0, 64, 4), terms=((Unknown("y", 0, 63), 256), (Unknown("x", 0, 3), 64)))
            + loads(*range(0, 16 * 256, 256), terms=((Unknown("x", 0, 3), 16 * 256), (Unknown("y", 0, 63), 4))),
            16,
            True,
            1,
        ),
        ("odd rows", 15 * 1040, stores(*range(0, 8 * 1040, 1040), terms=((Unknown("i", 0, 259), 4),)), 8, False, 1),
        (
            "two stores and no rule",
            4096,
            [*stores(0), Use("other", True, 4, 0, ((Unknown("else", 0, 1023), 4),), "w")],
            1,
            False,
            1,
        ),
    ],
)
def test_usual_patterns(name, size, uses, banks, skewed, copies):
    found = chosen(size, uses)
    assert found.map.banks == banks and (found.map.skew is not None) is skewed
    assert found.stores.most == (1 if banks > 1 else 2)
    assert len(found.loads) <= copies


def butterflies(near: bool) -> list[Use]:
    """Two loads and two stores of an iteration, at places that differ in one bit: in each iteration another one."""
    one = [4 * at for stage in range(5) for at in range(32) if not at >> stage & 1]
    other = [4 * at for stage in range(5) for at in range(32) if at >> stage & 1]
    uses = [
        Use(("store", k), True, 4, 0, ((Unknown(("x", k), 0, 31), 4),), "w", places=tuple(places))
        for k, places in enumerate((one, other))
    ]
    return uses + [
        Use(("load", k), False, 4, 0, ((Unknown(("x", k), 0, 31), 4),), "r", watches=near, near=near) for k in range(2)
    ]


@pytest.mark.parametrize("near", [False, True])
def test_places_that_are_known_in_each_iteration(near):
    """They are in two banks always, by all bits of their numbers; but not where a load has to see what the iteration
    before has stored."""
    found = chosen(128, butterflies(near))
    assert (found.map.fold, found.stores.most) == ((None, 2) if near else ((1, 5), 1))


@pytest.mark.parametrize(
    "uses",
    [
        stores(*range(0, 256, 4), terms=((FREE, 256),)),
        loads(
            *(4 * (k % 8) + 256 * (k // 8) for k in range(64)),
            terms=((Unknown("x", 0, 1 << 20), 4), (Unknown("y", 0, 1 << 20), 256)),
        ),
        [Use(k, True, 4, 4 * k, ((Unknown(k, 0, 4095), 4),), "w") for k in range(64)],
    ],
    ids=["lanes", "window", "random"],
)
def test_few_maps_are_looked_at(uses, monkeypatch):
    """Of 64 accesses: what is counted is the work. One map takes some milliseconds."""
    looked_at = []
    monkeypatch.setattr(choose, "Meetings", lambda *args: looked_at.append(args) or Meetings(*args))
    chosen(16384, uses)
    assert len(looked_at) <= 60


@pytest.mark.parametrize(
    "asked, size, uses, attribute, hint",
    [
        (Asked(bankwidth=2), 64, stores(0), "bankwidth", "bankwidth(4)"),
        (Asked(bankwidth=128), 60, stores(0), "bankwidth", "bankwidth(64)"),
        (Asked(numbanks=32), 60, stores(0), "numbanks", "numbanks(16)"),
        (Asked(bank_bits=(4,)), 64, stores(0), "bank_bits", "3"),
        (Asked(bank_bits=(1, 1)), 64, stores(0), "bank_bits", "once"),
        (Asked(bank_bits=(1, 0), numbanks=8), 64, stores(0), "bank_bits", "numbanks(4)"),
        (Asked(numwriteports=2), 64, stores(0, 4), "numwriteports", "doublepump with numwriteports(2)"),
        (Asked(numwriteports=3, pumped=True), 64, stores(0, 4), "numwriteports", "numwriteports(2)"),
        (
            Asked(numwriteports=2, pumped=True),
            64,
            [Use("a", True, 4, 0, (), "w", loads=True)],
            "numwriteports",
            "numwriteports(1)",
        ),
        (Asked(numbanks=2), 64, [Use("a", True, 4, 0, ((FREE, 4),), "w", loads=True)], "numbanks", "remove"),
    ],
)
def test_refusals(asked, size, uses, attribute, hint):
    with pytest.raises(Refusal) as caught:
        chosen(size, uses, asked)
    assert (
        caught.value.attribute == attribute and attribute in str(caught.value) + attribute and hint in caught.value.hint
    )


PLACES = [Unknown(k, 0, 1023) for k in range(4)]


def scattered(count, row="w"):
    """Stores anywhere, in the order of the program."""
    return [Use((row, k), True, 4, 0, ((PLACES[k], 4),), row) for k in range(count)]


@pytest.mark.parametrize(
    "asked, stores, turns, writes",
    [
        (Asked(pumped=True), 2, 2, 1),  # nobody said that it may have more
        (Asked(pumped=True, may_add_writes=True), 1, 1, 1),  # nothing is gained
        (Asked(pumped=True, may_add_writes=True), 2, 1, 2),
        (Asked(pumped=True, may_add_writes=True), 3, 2, 2),
        (Asked(pumped=True, may_add_writes=True), 4, 2, 2),
        (Asked(pumped=True, numwriteports=1), 2, 2, 1),
        (Asked(pumped=True, numwriteports=2), 2, 1, 2),
    ],
)
def test_a_second_write_port_where_it_saves_turns(asked, stores, turns, writes):
    made = chosen(4096, [*scattered(stores), *loads(*range(0, 24, 4), terms=((FREE, 4),))], asked)
    assert (made.cost.turns, made.asked.writes, made.stores.most) == (turns, writes, turns)
    assert [made.stores.turn["w", k] for k in range(stores)] == [k % writes for k in range(stores)]


def test_a_second_write_port_costs_copies():
    """Six loads: two blocks of three with one port, three of two with the other, each of two block RAMs."""
    uses = [*scattered(2), *[Use(("r", k), False, 4, 0, ((Unknown(("r", k), 0, 1023), 4),), "r") for k in range(6)]]
    one, two = (chosen(4096, uses, Asked(pumped=True, numwriteports=n)) for n in (1, 2))
    assert (one.cost.blocks, two.cost.blocks) == (4, 6)


def test_an_atomic_operation_keeps_the_port_to_itself():
    atomics = [Use(k, True, 4, 0, ((PLACES[k], 4),), "w", loads=True) for k in range(2)]
    made = chosen(4096, atomics, Asked(pumped=True, may_add_writes=True))
    assert made.asked.writes == 1 and made.cost.turns == 2


def test_rows_of_one_store_take_a_port_each():
    made = chosen(
        4096,
        [*scattered(1, "first"), *scattered(1, "second"), *scattered(2, "third")],
        Asked(pumped=True, numwriteports=2),
    )
    assert [made.stores.turn[key] for key in (("first", 0), ("second", 0), ("third", 0), ("third", 1))] == [0, 1, 0, 1]
    assert made.stores.port["second", 0] == (0, 1)


def test_stores_that_others_link_keep_a_port_each():
    """A store of another row uses both banks. Of the three in one row, two share a bank, and the third neither waits
    for them nor stands for one."""
    uses = [
        Use("both", True, 4, 0, ((Unknown("p", 0, 127), 4),), "first"),
        Use("low", True, 4, 0, ((Unknown("q", 0, 63), 4),), "w"),
        *(Use(key, True, 4, 256, ((Unknown(key, 0, 63), 4),), "w") for key in ("high", "higher")),
    ]
    found = chosen(512, uses, Asked(bank_bits=(6,))).stores
    assert found.most == 2 and found.together == ()
    assert found.port["high"] == found.port["higher"] != found.port["low"]


def test_atomic_operations_in_banks_of_their_own():
    part = [
        Use(key, True, 4, place, ((Unknown(key, 0, 31), 4),), "w", loads=True)
        for key, place in (("low", 0), ("high", 128))
    ]
    both = Use("both", True, 4, 0, ((Unknown("p", 0, 63), 4),), "first")
    assert chosen(256, [*part, both], Asked()).cost.turns == 1


def test_loads_that_share_a_turn_start_together():
    """With one copy, those that never meet take one turn: others of the row count on that."""
    places = {"low": 0, "high": 256, "higher": 256}
    uses = [Use(key, False, 4, place, ((Unknown(key, 0, 63), 4),), "r") for key, place in places.items()]
    found = chosen(512, uses, Asked(bank_bits=(6,), max_replicates=1))
    assert list(found.together) == [("low", "high")] and found.reads == {"low": "r", "higher": "r"}


def test_who_never_meets_shares_a_copy():
    uses = [
        *loads(0, 4),
        Use("if", False, 4, 0, ((Unknown("p", 0, 99), 4),), "r", frozenset({"else"})),
        Use("else", False, 4, 0, ((Unknown("q", 0, 99), 4),), "r", frozenset({"if"})),
    ]
    meetings = Meetings(uses, BankMap(), 4)
    same = {use.key: When("level", 3) for use in uses}
    assert assign_ports(meetings, ["if", "else"], same) == {"if": 0, "else": 0}
    assert assign_ports(meetings, ["if", "else"], same | {"else": When("level", 4)}) == {"if": 0, "else": 1}
    assert assign_ports(meetings, ["if", "else"], {"if": When("level", 3, 2), "else": When("level", 4, 2)}) == {
        "if": 0,
        "else": 0,
    }
    assert assign_ports(meetings, ["if", "else"], {"if": When("level", 3), "else": When("another", 3)}) == {
        "if": 0,
        "else": 1,
    }
    later = When("another", 3, step="second", behind=frozenset({"first"}))
    assert assign_ports(meetings, ["if", "else"], {"if": When("level", 3, step="first"), "else": later}) == {
        "if": 0,
        "else": 0,
    }
    assert assign_ports(meetings, [("load", 0), ("load", 1)], same) == {("load", 0): 0, ("load", 1): 1}


def test_who_is_kept_apart_shares_a_copy_unless_made_ahead():
    """The choice of banks counts on it, too: each of four copies is a bank of its own then."""
    uses = [
        Use(key, False, 4, 0, ((Unknown(key, 0, 63), 4),), key, alone=frozenset({"before", "behind"} - {key}))
        for key in ("before", "behind")
    ]
    meetings, when = Meetings(uses, BankMap(), 4), {"before": When("level", 3), "behind": When("another", 3)}
    assert assign_ports(meetings, list(when), when) == {"before": 0, "behind": 0}
    assert assign_ports(meetings, list(when), when | {"before": When("level", 3, ahead=True)}) == {
        "before": 0,
        "behind": 1,
    }
    assert choose_banks(256, uses, Asked(), Blocks(), Copies(4, True)).cost.blocks == 4
    assert (
        choose_banks(256, [replace(use, alone=frozenset()) for use in uses], Asked(), Blocks(), Copies(4)).cost.blocks
        == 2
    )


def test_one_row_that_takes_turns_anyway_leaves_the_others_their_banks():
    """Four counters for each of four parts: all of one iteration at once, although clearing them takes two turns in any
    banks."""
    counted = [
        Use(("count", k), True, 4, 256 * k, ((Unknown(("v", k), 0, 63), 4),), "loop", loads=True) for k in range(4)
    ]
    cleared = [
        Use(("clear", k), True, 4, 128 * k, ((Unknown("part", 0, 3), 256), (Unknown("item", 0, 31), 4)), "before")
        for k in range(2)
    ]
    found = chosen(1024, [*counted, *cleared], Asked())
    assert found.map.bits == (7, 6) and (found.stores.most, found.stores.total) == (2, 3)
    # a loop inside them sets their pace
    around = chosen(1024, [*(replace(use, paced=True) for use in counted), *cleared], Asked())
    assert around.map.banks < 4 and (around.stores.most, around.stores.total) == (2, 2)


def test_what_depends_on_another_starts_later():
    first, second = stores(0, 4, terms=((FREE, 8),))
    behind = Use(second.key, True, 4, 4, second.terms, "w", after=frozenset({first.key}))
    found = chosen(4096, [first, behind], Asked(numbanks=2))
    assert found.stores.together == () and found.stores.most == 1  # one bank each: they need not start together
    moving = [Use(k, True, 4, 4 * k, ((FREE, 4),), "w", after=frozenset({0} if k else {})) for k in range(2)]
    assert chosen(4096, moving, Asked(numbanks=2)).stores.most == 2


unknowns = [Unknown("a", 0, 5), Unknown("b", -3, 3), Unknown("c", 0, 40)]


@st.composite
def cases(draw):
    maps = st.sampled_from(
        [BankMap((0,)), BankMap((1, 0)), BankMap((3, 2)), BankMap((0, 4)), BankMap((1, 0), 3), BankMap((2, 1, 0), 4)]
    )

    def use(key):
        bytes = draw(st.sampled_from([2, 4]))
        chosen = draw(st.lists(st.sampled_from(unknowns), unique=True, max_size=3))
        terms = tuple((u, bytes * draw(st.integers(-20, 20).filter(bool))) for u in chosen)
        return Use(key, draw(st.booleans()), bytes, bytes * draw(st.integers(0, 64)), terms, "r")

    one = use("one")
    other = use("other")
    if draw(st.booleans()):
        other = Use("other", other.stores, one.bytes, one.bytes * draw(st.integers(0, 64)), one.terms, "r")
    return draw(maps), one, other


@given(cases())
@settings(max_examples=300)
def test_promises_by_brute_force(case):
    """Whatever is said never to meet does not, for any values of the unknowns."""
    map, one, other = case
    meetings = Meetings([one, other], map, 4)
    banks = {"one": set(), "other": set()}
    for values in product(*(range(u.low, u.high + 1) for u in unknowns)):
        at = dict(zip(unknowns, values, strict=True))
        words = {}
        for use in (one, other):
            address = use.const + sum(factor * at[u] for u, factor in use.terms)
            words[use.key] = address // 4, set(range(address, address + use.bytes))
            banks[use.key].add(map.bank(address // 4))
        (a, mine), (b, yours) = words["one"], words["other"]
        if meetings.apart("one", "other") and map.bank(a) == map.bank(b):
            assert a == b
            assert not (one.stores or other.stores) or not mine & yours
    for key, found in banks.items():
        assert found <= meetings.banks(key)
    assert not meetings.never("one", "other") or banks["one"].isdisjoint(banks["other"])
