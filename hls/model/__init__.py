"""Estimates of area and logic, and the readers of the Verilog that they are compared with."""
