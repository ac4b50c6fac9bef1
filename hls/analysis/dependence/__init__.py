"""Dependences between accesses: exact tests, enumeration, slices of addresses."""
