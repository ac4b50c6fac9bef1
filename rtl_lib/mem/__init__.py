"""Memories on the chip, their ports, and FIFOs."""
