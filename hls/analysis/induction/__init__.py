"""Loop-carried values: trip counts, periodic and monotonic variables."""
