"""Khronos' conformance tests through the driver: ``python -m tests.conformance CHECKOUT``. See docs/conformance.md."""
