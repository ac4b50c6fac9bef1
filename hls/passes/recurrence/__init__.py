"""Shorter recurrences: reassociation, retiming, look-ahead, state machines."""
