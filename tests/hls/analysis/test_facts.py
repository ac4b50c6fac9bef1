"""What a condition that holds implies about other conditions."""

from hls.analysis.predicates.facts import Facts
from hls.analysis.predicates.value_sets import ValueSets
from hls.ir import BOOL, Builder, IntType, Region, Value

BYTE = IntType(8)


def _region(count: int, type=BYTE) -> tuple[Builder, list[Value]]:
    region = Region()
    region.args = [Value(type, f"x{k}", region, k) for k in range(count)]
    return Builder(region), region.args


def test_truths_and_numbers_decide():
    b, (x, y) = _region(2)
    three, four = b.const(3, BYTE), b.const(4, BYTE)
    less, is_three = b.value("ult", x, y), b.value("eq", x, three)
    asked = {
        "opposite": b.value("ule", y, x),
        "same again": b.value("ult", x, y),
        "weaker": b.value("ule", x, y),
        "another number": b.value("eq", x, four),
        "not that number": b.value("ne", x, four),
        "of another value": b.value("eq", y, three),
    }
    facts = Facts(ValueSets()).where(b.value("and", less, is_three))
    assert {word: facts.decided(condition) for word, condition in asked.items()} == {
        "opposite": False,
        "same again": True,
        "weaker": None,
        "another number": False,
        "not that number": True,
        "of another value": None,
    }
    assert Facts().where(is_three).decided(asked["another number"]) is None  # truths alone


def test_facts_add_up_and_leave_those_they_came_from():
    b, (x, p, q) = _region(3)
    region = b.region
    region.args[1].type = region.args[2].type = BOOL
    one, two = (b.value("ult", x, b.const(k, BYTE)) for k in (200, 100))
    first = Facts(ValueSets()).where(one)
    both = first.where(b.value("or", p, q), False)
    assert [both.decided(v) for v in (one, p, q, two)] == [True, False, False, None]
    assert first.decided(p) is None and not Facts() and first


def test_long_conjunctions_say_something_about_few_values():
    """Guards of unrolled copies hold all that was asked before: with all of it for each, time and memory would grow with
    the square of their number."""
    b, args = _region(400)
    zero, guard, sets = b.const(0, BYTE), b.true(), ValueSets()
    guards = [guard := b.value("and", guard, b.value("eq", x, zero)) for x in args]
    known = sets.of(guards[-1], True)
    assert len(known) <= 32 and args[-1] in known and args[-2] in known
    facts = Facts(sets).where(guards[-1])
    assert facts.decided(b.value("ne", args[-1], zero)) is False
    assert max(map(len, sets._known.values())) <= 32
