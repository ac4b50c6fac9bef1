"""Recurrences made shorter: reassociation, retiming, look-ahead, state machines."""
