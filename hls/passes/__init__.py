"""Transformations of the IR, and the pipeline that lists them (``pipeline.py``)."""
