"""What is known about a kernel without changing it; every module answers one question."""
