"""Load-store units, and what they are made of."""
