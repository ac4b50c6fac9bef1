"""Dependences among stores that are merged, against a list of all facts that is searched for each question."""

import random
from dataclasses import replace

import pytest

from hls.analysis.dependence.dependence import Dependence, Kind
from hls.ir import I32, Builder, Region
from hls.passes.memory.store_order import StoreOrder


def as_list(order, ops):
    return {fact for k, one in enumerate(ops) for other in ops[k:] for fact in order.between(one, other)}


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
    order = StoreOrder(facts)
    while len(ops) > 1:
        assert as_list(order, ops) == facts
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
        ends = {op: second if op is first else op for op in ops}
        moved = {replace(fact, src=ends[fact.src], dst=ends[fact.dst]) for fact in facts}
        facts = {fact for fact in moved if fact.src is not fact.dst or fact.loop is not None}
        ops.remove(first)


def test_a_merge_looks_only_at_the_dependences_of_its_stores(monkeypatch):
    builder = Builder(Region())
    ops = [builder.const(k, I32).op for k in range(60)]
    order = StoreOrder(Dependence(one, other, Kind.WAW) for k, one in enumerate(ops) for other in ops[k + 1 :])
    moved, plain = [], StoreOrder._add
    monkeypatch.setattr(StoreOrder, "_add", lambda self, fact: moved.append(fact) or plain(self, fact))
    order.merge(ops[0], ops[1])
    assert len(moved) == 58  # to the 58 others; there are 1,770
