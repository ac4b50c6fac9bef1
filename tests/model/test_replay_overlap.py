"""Launches whose buffers share bytes on the model: the kernel keeps the order of accesses, as on the board."""

import numpy as np
import pytest

from sim import cl

SOURCE = """
__kernel void shifts(__global const int *a, __global int *out, int n) {
    for (int i = 0; i < n; i++) out[i] = a[i] * 3 + 1;
}

__kernel void rows(__global const int *a, __global int *out, int n) {
    for (int i = 0; i < n; i++) {
        int sum = i;
        for (int j = 0; j < (i & 3) + 1; j++) sum += a[i + j];
        out[i + 1] = sum;
    }
}

__kernel void picks(__global const int *a, __global const int *at, __global int *out, int n) {
    for (int i = 0; i < n; i++) {
        int place = at[i];
        if (place > 2) out[place] += a[i];
    }
}
"""
N = 40
#: by board and kernel: cycles of launches with buffers apart, and with one buffer, on the simulated board (`measure`)
MEASURED = {
    "ecp5_onchip": {"shifts": (47, 86), "rows": (109, 265), "picks": (49, 166)},
    "de5net": {"shifts": (160, 4419), "rows": (229, 4732), "picks": (285, 8535)},
}
#: on the chip every cycle is that of the board; elsewhere a launch may have another number of refreshes
TOLERANCE = {"ecp5_onchip": 0, "de5net": 0.025}


def measure(board, device):
    """By kernel the cycles of a launch with buffers apart, and of one with one buffer for two arguments; the bytes are
    compared."""
    context = cl.create_some_context(board=board, device=device)
    program, queue, found = cl.Program(context, SOURCE).build(), cl.CommandQueue(context), {}
    for name in ("shifts", "rows", "picks"):
        cycles = []
        for one in (False, True):
            a, other = np.arange(64, dtype=np.int32), np.arange(64, 0, -1, dtype=np.int32)
            flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
            first = cl.Buffer(context, flags, hostbuf=a)
            out = first if one else cl.Buffer(context, flags, hostbuf=other)
            at = np.random.default_rng(1).integers(0, 60, 64).astype(np.int32)
            more = (cl.Buffer(context, flags, hostbuf=at),) if name == "picks" else ()
            cycles.append(getattr(program, name)(queue, (1,), None, first, *more, out, np.int32(N)))
            cycles[-1] = cycles[-1].stats.to_dict()["cycles"]
            left = np.empty(64, np.int32)
            cl.enqueue_copy(queue, left, out).wait()
            assert left.tolist() == golden(name, a.tolist(), at.tolist(), None if one else other.tolist())
        found[name] = tuple(cycles)
    return found


def golden(name, a, at, other):
    """What ``out`` holds afterwards; it is ``a`` if there is no ``other``."""
    out = a if other is None else other
    for i in range(N):
        if name == "shifts":
            out[i] = a[i] * 3 + 1
        elif name == "rows":
            out[i + 1] = i + sum(a[i : i + (i & 3) + 1])
        elif at[i] > 2:
            out[at[i]] += a[i]
    return [(x + (1 << 31)) % (1 << 32) - (1 << 31) for x in out]


@pytest.mark.parametrize("board", sorted(MEASURED))
def test_cycles_are_those_of_the_board(board):
    predicted = measure(board, "model")
    for name, measured in MEASURED[board].items():
        for here, there in zip(predicted[name], measured, strict=True):
            assert here == pytest.approx(there, rel=TOLERANCE[board]), (name, predicted)
