"""Bits of integers: ranges, known and demanded bits, wiring, GF(2) forms."""
