"""The simulated board: building and running simulators, the OpenCL API on top, and the emulator."""
