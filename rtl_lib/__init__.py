"""Parts of the hardware, which know nothing of kernels: each with its rules, a golden function and its timing."""
