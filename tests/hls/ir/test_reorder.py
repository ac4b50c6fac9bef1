"""Order among the operations of a region while operations, operands and constraints are added."""

import itertools
import random

import pytest

from hls.frontend import parse_source
from hls.ir import TOKEN, Builder, Region
from hls.ir.reorder import Reordering

SOURCE = """
__kernel void k(__global int *restrict o, __global const int *restrict p, int n) {
    int a = p[0] + n, b = p[1] * a, c = p[n] - b;
    if (a > b) o[c & 7] = a;
    o[1] = a ^ c;
    o[2] = b + p[c & 3];
}
"""


def before(places, region, target, by_order):
    """The operation and all that it comes after, found without anything kept from earlier questions."""
    work, seen = [target], {target}
    while work:
        op = work.pop()
        needs = {v.op for inner in inside(op) for v in inner.operands} - {None, op}
        for need in (needs & set(places.homes)) | (places.extra.get(op, set()) if by_order else set()):
            if need not in seen and places.homes[need] is region:
                seen.add(need)
                work.append(need)
    return seen


def inside(op):
    yield op
    for region in op.regions:
        for each in region.ops:
            yield from inside(each)


@pytest.mark.parametrize("seed", range(6))
def test_questions_between_additions(seed):
    rng = random.Random(seed)
    function = parse_source(SOURCE, "k.cl", {}, []).module.kernels[0]
    region, places = function.body, Reordering(function)
    ops = list(region.ops)
    answers = set()
    for _ in range(60):
        first, second = rng.sample(ops, 2)
        match rng.randrange(4):
            case 0 if first.results:
                second.operands.append(first.results[0])
                places.takes_more(second, ())
            case 1:
                places.follow(region, first, second)
            case 2 if first.results:
                token = Builder(Region(), first.span).op("token", first.results[0], result=TOKEN)
                ops.append(places.after(region, first, token))
        for _ in range(4):
            one, other = rng.sample(ops, 2)
            assert places.may_follow(region, one, other) == (other not in before(places, region, one, True))
            assert places.answers_to(region, one, other) == (one in before(places, region, other, False))
            answers.add((places.may_follow(region, one, other), places.answers_to(region, one, other)))
    assert len(answers) >= 3


def test_a_question_after_each_addition_reads_only_what_was_added(monkeypatch):
    read = []
    needs = Reordering._needs
    monkeypatch.setattr(Reordering, "_needs", lambda *args: read.append(1) or needs(*args))

    def reads(loads):
        read.clear()
        text = "".join(f"o[{k}] = p[{k}];" for k in range(loads))
        head = "__kernel void k(__global int *restrict o, __global const int *restrict p)"
        function = parse_source(f"{head} {{ {text} }}", "k.cl", {}, []).module.kernels[0]
        region, places = function.body, Reordering(function)
        stores = [op for op in region.ops if op.opcode == "store"]
        for one, other in itertools.pairwise(stores):
            token = Builder(Region(), one.span).op("token", one.operands[1], result=TOKEN)
            places.after(region, one, token)
            other.operands.append(token.result)
            places.takes_more(other, ())
            assert places.answers_to(region, token, other) and not places.may_follow(region, other, token)
        return len(read)

    assert reads(80) < 2.6 * reads(40)
