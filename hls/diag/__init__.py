"""Messages to the user: each has a place in the source, what is wrong and what to do."""

from .codes import Code
from .internal import internal_error
from .machine import machine_trouble
from .message import CompileError, Diagnostic, Span, at_line, render, to_json
from .repeated import first_of_each

__all__ = [
    "Code",
    "CompileError",
    "Diagnostic",
    "Span",
    "at_line",
    "first_of_each",
    "internal_error",
    "machine_trouble",
    "render",
    "to_json",
]
