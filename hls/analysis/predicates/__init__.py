"""What conditions say of values: value sets and guarded values."""
