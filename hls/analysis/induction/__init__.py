"""Values that loops carry: trip counts, periodic and monotonic variables."""
