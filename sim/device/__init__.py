"""A board of hardware, reached over a line to the system that ``sluice build`` made, in the place of the simulator."""
