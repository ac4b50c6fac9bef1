"""From an optimized kernel to its memory plan and schedule."""

from .iterate import Compilation, CompiledKernel, plan_function
from .program import plan_program

__all__ = ["Compilation", "CompiledKernel", "plan_function", "plan_program"]
