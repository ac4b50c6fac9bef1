"""Load and store units on one side, memory banks on the other."""
