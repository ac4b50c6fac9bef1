"""Traffic through the memory model without a kernel: the bandwidth of a board's memory, and the limit that holds.

``python -m sim.traffic`` prints published bandwidths next to simulated ones.
"""
