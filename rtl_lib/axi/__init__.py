"""AXI4 masters and AXI4-Lite subordinates."""
