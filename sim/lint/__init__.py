"""``sluice lint``: what other readers of Verilog say of a compiled design."""
