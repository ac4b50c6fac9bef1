"""Loop trees, strongly connected components, slices."""
