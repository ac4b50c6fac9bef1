"""``sluice synth``: what yosys and nextpnr make of a compiled design, in the words of its source."""
