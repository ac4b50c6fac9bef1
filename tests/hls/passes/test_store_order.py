"""Dependences among stores that are merged, against a list of all facts that is searched for each question."""

import random
from dataclasses import replace

import pytest

from hls.analysis.dependence.dependence import Dependence, Kind
from hls.ir import I32, Builder, Region
from hls.passes.memory.store_order import StoreOrder


def as_list(order, ops, ends):
    found = [fact for k, one in enumerate(ops) for other in ops[k:] for fact in order.between(one, other)]
    return {replace(fact, src=ends[fact.src], dst=ends[fact.dst]) for fact in found}


@pytest.mark.parametrize("seed", range(20))
def test_random_merges_against_a_list(seed):
    rng, builder = random.Random(seed), Builder(Region())
    ops = [builder.const(k, I32).op for k in range(8)]
    loops = [None, None, *(builder.const(k, I32).op for k in (10, 11))]
    facts = set()
    for _ in range(40):
        loop = rng.choice(loops)
        src, dst = (rng.choice(ops) for _ in range(2))
        if src is not dst or loop is not None:
            facts.add(Dependence(src, dst, Kind.WAW, loop, int(loop is not None), rng.random() < 0.5))
    known = tuple(facts)

    def asked(one, other, carried):
        assert ops_in_order.index(one) <= ops_in_order.index(other)
        return [f for f in known if {f.src, f.dst} == {one, other} and (carried or f.loop is None)]

    ops_in_order, ends = tuple(ops), {op: op for op in ops}
    order = StoreOrder(ops, asked)
    while len(ops) > 1:
        assert as_list(order, ops, ends) == facts
        inside = {(fact.src, fact.dst) for fact in facts if fact.loop is None}
        assert all(order.within(one, other) == ((one, other) in inside) for one in ops for other in ops)
        wanted = {one: {dst for src, dst in inside if src is one} for one in ops}
        assert order.all_followers() == {one: those for one, those in wanted.items() if those}
        first, second = rng.sample(ops, 2)
        if rng.random() < 0.3:
            order.release(first, second)
            facts = {fact for fact in facts if fact.loop is not None or {fact.src, fact.dst} != {first, second}}
            continue
        order.merge(first, second)
        ends = {op: second if end is first else end for op, end in ends.items()}
        moved = {replace(fact, src=ends[fact.src], dst=ends[fact.dst]) for fact in facts}
        facts = {fact for fact in moved if fact.src is not fact.dst or fact.loop is not None}
        ops.remove(first)


def test_pairs_are_tested_when_they_matter_and_once():
    builder, tested = Builder(Region()), []
    ops = [builder.const(k, I32).op for k in range(60)]
    order = StoreOrder(ops, lambda *pair: tested.append(pair) or [Dependence(*pair[:2], Kind.WAW)])
    order.merge(ops[0], ops[1])
    assert not tested
    assert order.followers(ops[1], ops[:4]) == {*ops[2:4]} and order.within(ops[1], ops[3])
    assert tested == [(one, other, False) for other in ops[2:4] for one in (ops[1], ops[0])]
