"""Whole kernels on the simulated board, compared byte by byte with the interpreter."""
