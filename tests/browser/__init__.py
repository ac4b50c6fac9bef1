"""Tests of ``report.html`` in a real browser, and what they need of it."""
