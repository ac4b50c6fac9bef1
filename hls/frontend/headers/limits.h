/* All that this header has elsewhere, every kernel has. */
