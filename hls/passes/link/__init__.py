"""Passes over a whole program: pipes, copies of autorun kernels, what hardware leaves out, and where buffers lie."""
