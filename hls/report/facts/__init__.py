"""The classes that a report is made of, by subject; :mod:`hls.report.model` gathers them."""
