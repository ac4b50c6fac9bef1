"""Sums of loops as long integers, in the emulator: thousands of terms, exact, in each width of digits, and without
subnormal numbers."""

import numpy as np
import pytest

from sim.emulator import Emulator
from tests.hls.passes.test_loop_sums import exact, linked
from tests.kernels.sums import KERNELS, KINDS, SOURCE, expected, launch, same_bits
from tests.sim.emulator.both import ONE_ITEM, merged

#: name: the widths of digits, and whether subnormal numbers are zeros
FORMS = {"wide": ((32,), False), "narrow": ((16, 32), False), "flushed": ((32,), True)}


@pytest.fixture(scope="module")
def emulator():
    modules = {}
    for name, (digits, flush) in FORMS.items():
        modules[name] = exact(linked(SOURCE, flush), digits)
    return Emulator(merged(modules), hasty=True)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", FORMS)
def test_exact(emulator, form, kernel):
    for kind in KINDS:
        for n, seed in ((0, 0), (1, 1), (2, 2), (3, 3), (17, 4), (40, 5), (41, 6), (1000, 7)):
            one = launch(kernel, kind, n, seed)
            buffers = {name: array.copy() for name, array in one.buffers.items()}
            emulator.run(f"{form}_{kernel}", buffers, one.scalars, ONE_ITEM)
            wanted = expected(kernel, one, FORMS[form][1])
            assert same_bits(buffers["out"], wanted), (kind, n, buffers["out"], wanted)


@pytest.mark.parametrize("form", ["wide", "narrow"])
@pytest.mark.parametrize("kernel", ["total", "halves"])
def test_ties_and_next_to_them(emulator, kernel, form):
    """Sums whose last place is followed by just a half, or by a little more or less, also digits below."""
    dtype = launch(kernel, "any", 1).buffers["a"].dtype
    digits, least = (24, 2.0**-149) if dtype == np.float32 else (11, 2.0**-24)
    rng = np.random.default_rng(3)
    for _ in range(300):
        unit = np.ldexp(least, int(rng.integers(0, 220 if dtype == np.float32 else 28)))
        whole, sign = int(rng.integers(1 << digits - 1, 1 << digits)), rng.choice([-1.0, 1.0])
        terms = [whole * unit, unit / 2, rng.choice([0.0, least, -least]), rng.choice([0.0, unit / 4, -unit / 4])]
        a = np.zeros(64)
        a[:4] = sign * rng.permutation(terms)
        one = launch(kernel, "any", 4)
        one.buffers["a"][:48] = a[:48].astype(dtype)
        buffers = {name: array.copy() for name, array in one.buffers.items()}
        emulator.run(f"{form}_{kernel}", buffers, one.scalars, ONE_ITEM)
        assert same_bits(buffers["out"], expected(kernel, one)), terms
