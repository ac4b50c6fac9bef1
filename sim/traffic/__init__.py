"""Traffic through the memory model without a kernel: what the board's memory gives, and which of its limits holds.

``python -m sim.traffic`` prints published bandwidths beside simulated ones.
"""
