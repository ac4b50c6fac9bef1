"""The OpenCL driver: ``libsluice.so``, which the Khronos loader finds, and the process behind it that runs
:mod:`sim.cl`. See docs/rationale/driver.md."""
