"""Random programs: generated, run on the simulated board, compared with the interpreter, shrunk when they differ."""
