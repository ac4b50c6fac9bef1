"""Dependences between accesses: exact tests, enumeration, address slices."""
