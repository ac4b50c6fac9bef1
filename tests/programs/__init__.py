"""Random programs: generated, run on the simulated board, compared with the interpreter, reduced when they differ."""
