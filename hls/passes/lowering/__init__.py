"""From the IR of the frontend to flat kernels: inlining, pointers, if-conversion, work-items."""
