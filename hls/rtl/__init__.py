"""Hardware from the plans: a kernel as an Amaranth module, and the system around kernels."""
