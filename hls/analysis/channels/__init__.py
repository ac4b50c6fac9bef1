"""Channel endpoints, skeletons of calls, and deadlock of networks."""
