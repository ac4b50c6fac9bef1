"""What analyses answer, as text."""

PRINTERS = {}
