"""Order as tokens: memory accesses, channel calls, fences, barriers, run-time memory disambiguation."""
