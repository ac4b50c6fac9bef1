"""Array and access passes: promotion, partitioning, coalescing, forwarding, hoisting, multi-buffering."""
