"""From the frontend's IR to flat kernels: inlining, pointer lowering, if-conversion, work-item loops."""
