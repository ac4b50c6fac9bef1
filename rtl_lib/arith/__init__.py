"""Arithmetic parts of fixed latency: the pipelining they share, integer operators, and the catalog of all parts."""
