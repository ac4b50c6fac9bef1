"""Channel endpoints, call skeletons, and deadlocks of kernel networks."""
