"""Floating point: contraction, reassociation, reductions, denormals."""
