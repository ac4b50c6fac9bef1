"""Work-items of a group: uniformity, barrier convergence and phases, partial execution."""
