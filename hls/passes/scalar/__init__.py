"""Scalar simplification: folding, common subexpressions, narrowing, conditional specialization."""
