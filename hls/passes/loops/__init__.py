"""Loop passes: unrolling, fusion, coalescing, invariant code motion, trip counts, final values."""
