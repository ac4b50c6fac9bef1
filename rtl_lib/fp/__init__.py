"""Floating-point parts: every one unpacks its operands, works on raw numbers, and ends in the one shared rounder."""
