"""Passes over a whole program: pipes, replicated autorun kernels, legality checks, and placement of buffers."""
