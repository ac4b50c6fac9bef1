"""Facts implied by conditions: implication, value sets and guarded values."""
