"""Accesses of memory: strides, groups, aliases, reaching stores, must-define, commutativity."""
