"""Loops: unrolling, fusion, coalescing, invariant code, trip counts, final values."""
