"""Connects load and store units to memory banks."""
