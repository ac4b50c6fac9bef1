"""Information about a kernel's arguments (clGetKernelArgInfo)."""

from collections.abc import Mapping
from typing import Any

from hls.ir import Attr, MemoryObject
from hls.rtl.interface import ArgumentInterface

from .constants import kernel_arg_access_qualifier as access
from .constants import kernel_arg_address_qualifier as address
from .constants import kernel_arg_info, status_code
from .constants import kernel_arg_type_qualifier as qualifier
from .errors import LogicError

__all__ = ["argument_fact"]

_PLACES = {"buffer": address.GLOBAL, "local": address.LOCAL, "scalar": address.PRIVATE, "pipe": address.GLOBAL}
_INTEGERS = {"signed", "unsigned", "char", "short", "int", "long"}
_QUALIFIERS = {
    "__global",
    "global",
    "__constant",
    "constant",
    "__local",
    "local",
    "__private",
    "private",
    "const",
    "volatile",
    "restrict",
    "__restrict",
    "__restrict__",
    "read_only",
    "write_only",
    "__read_only",
    "__write_only",
    "pipe",
}


def _one_word(words: list[str]) -> list[str]:
    """The words of a type, with the standard's one word for an integer type: ``uchar`` for ``unsigned char``."""
    numbers = [word for word in words if word in _INTEGERS]
    if not numbers:
        return words
    size = next((word for word in ("char", "short", "long") if word in numbers), "int")
    return ["u" * ("unsigned" in numbers) + size, *(word for word in words if word not in _INTEGERS)]


def argument_fact(argument: ArgumentInterface, memories: Mapping[str, MemoryObject], parameter: int) -> Any:
    """The value of the OpenCL query ``parameter``; ``memories`` are the kernel's. Raises LogicError if unknown."""
    memory = memories.get(argument.name)
    if parameter == kernel_arg_info.NAME:
        return argument.name
    if parameter == kernel_arg_info.TYPE_NAME:
        words = [word for word in argument.c_type.replace("*", " * ").split() if word not in _QUALIFIERS]
        return "".join(word if word == "*" else f" {word}" for word in _one_word(words)).strip()
    if parameter == kernel_arg_info.ADDRESS_QUALIFIER:
        return (
            address.CONSTANT
            if memory is not None and Attr.CONSTANT_MEMORY in dict(memory.attrs)
            else _PLACES[argument.kind]
        )
    if parameter == kernel_arg_info.ACCESS_QUALIFIER:
        said = {word.strip("_") for word in argument.c_type.split()}
        return (
            access.WRITE_ONLY if "write_only" in said else access.READ_ONLY if argument.kind == "pipe" else access.NONE
        )
    if parameter == kernel_arg_info.TYPE_QUALIFIER:
        return _type_qualifier(argument, memory)
    raise LogicError("clGetKernelArgInfo", status_code.INVALID_VALUE, f"unknown parameter {parameter:#x}")


def _type_qualifier(argument: ArgumentInterface, memory: MemoryObject | None) -> int:
    if argument.kind == "pipe":
        return qualifier.PIPE
    if memory is None:
        return qualifier.NONE
    return sum(
        bit
        for bit, there in (
            (qualifier.CONST, memory.const),
            (qualifier.RESTRICT, memory.restrict),
            (qualifier.VOLATILE, memory.volatile),
        )
        if there
    )
