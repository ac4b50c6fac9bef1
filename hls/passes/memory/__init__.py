"""Arrays and accesses: promotion, partitioning, coalescing, forwarding, hoisting, multi-buffering."""
