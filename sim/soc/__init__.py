"""``sluice build``: a bitstream of a compiled design with its memory and its host's line, for a board of the open tools."""
