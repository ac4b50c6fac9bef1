"""``sluice build``: a bitstream of a compiled design, its memory and its line to the host, by open tools."""
