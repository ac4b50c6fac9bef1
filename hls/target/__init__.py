"""What the compiler knows about a board and about the delays of its device."""
