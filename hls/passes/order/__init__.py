"""Order as tokens: memory, channels, fences, barriers, run-time disambiguation."""
