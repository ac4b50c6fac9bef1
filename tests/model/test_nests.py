"""Random nests compute the results of the sequential reference, under random stalls, and never deadlock."""

import pytest

from .nests import AHEAD, FAILURES, MIXED, Sizes, check, random_nest, smallest_failure
from .simulate import Rules

#: Deep nests of small loops, and machines in which every FIFO, slot and entry is scarce.
DEEP = Sizes(nesting=4, levels=2, trips=3)
SCARCE = Sizes(fifo=1, slots=3, depth=4)


@pytest.mark.parametrize("sizes", [MIXED, DEEP, SCARCE, AHEAD], ids=["mixed", "deep", "scarce", "ahead"])
@pytest.mark.parametrize("batch", range(4))
def test_same_as_reference(sizes, batch):
    for seed in range(30 * batch, 30 * batch + 30):
        try:
            check(seed, sizes)
        except FAILURES as error:
            seed, sizes, error = smallest_failure(sizes) or (seed, sizes, error)
            pytest.fail(f"seed {seed} of {sizes}: {error!r}\n{random_nest(seed, sizes).spec}")


def test_failures_shrink():
    """A broken rule that needs one loop only is shown on one loop."""
    _, sizes, error = smallest_failure(rules=Rules(spacing=False))
    assert sizes.nesting == 1 and sizes.slots <= 2 and isinstance(error, AssertionError)
    assert smallest_failure(Sizes(nesting=1, trips=2), seeds=5) is None


def test_nests_are_diverse():
    """The seeds of the test above reach what they are meant to reach."""
    nests = [random_nest(seed) for seed in range(120)]
    loops = [loop for nest in nests for loop in _loops(nest.spec)]
    assert {loop.slots for loop in loops} == {1, 2, 3, 4, 5}
    assert sum(loop.again[0] > 0 for loop in loops) > 20, "loops that decide or define behind variable latency"
    assert sum(any(loop.ready(k) for k in range(len(loop.levels))) for loop in loops) > 20, "ready bits"
    assert sum(nest.in_order for nest in nests) > 20
    assert sum(loop.speculative for loop in loops) > 20, "late exits"
    assert sum(any(not level.row for level in loop.levels[:-1]) for loop in loops) > 10, (
        "levels that only lead to the decision"
    )
    assert sum(loop.again_delay > 0 for loop in loops) > 10, "answers that wait outside the cluster"
    assert any(nest.meaning.by_data for nest in nests) and any(nest.meaning.predicated for nest in nests)


def _loops(spec):
    inner = [o.unit for level in spec.levels for o in level.row if hasattr(o.unit, "levels")]
    return [spec, *(loop for child in inner for loop in _loops(child))]
