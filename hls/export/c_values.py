"""C for the values that a driver writes: types of arguments, and the sizes of a launch."""

import re

from ..rtl.interface import ArgumentInterface

__all__ = ["c_argument", "c_launch_value"]

#: C99 types of OpenCL's scalars, and their sizes in bytes. There is none for half: its bits are passed
_SCALARS = {
    "char": ("int8_t", 1),
    "uchar": ("uint8_t", 1),
    "unsigned char": ("uint8_t", 1),
    "short": ("int16_t", 2),
    "ushort": ("uint16_t", 2),
    "unsigned short": ("uint16_t", 2),
    "int": ("int32_t", 4),
    "uint": ("uint32_t", 4),
    "unsigned int": ("uint32_t", 4),
    "long": ("int64_t", 8),
    "ulong": ("uint64_t", 8),
    "unsigned long": ("uint64_t", 8),
    "size_t": ("uint64_t", 8),
    "bool": ("uint8_t", 1),
    "half": ("uint16_t", 2),
    "float": ("float", 4),
    "double": ("double", 8),
}
#: what the sizes of a launch are in the C function that sets them
_SIZES = {
    "global_size": "global_size[{0}]",
    "local_size": "local_size[{0}]",
    "num_groups": "global_size[{0}] / local_size[{0}]",
    "global_offset": "offset[{0}]",
}
_PRODUCTS = {"global_count": "global_size", "local_count": "local_size", "group_count": "num_groups"}


def c_argument(argument: ArgumentInterface) -> tuple[str, str]:
    """The type and, behind the name, the length of an argument's member: ("float", ""), ("uint8_t", "[24]"). Vectors,
    structures and integers of other widths are their bytes, in the order of a little-endian machine."""
    if argument.kind in ("buffer", "local"):
        return "uint64_t", ""
    known = _SCALARS.get(re.sub(r"\b(const|volatile|__private)\b", "", argument.type or argument.c_type).strip())
    if known is not None and known[1] == argument.bytes:
        return known[0], ""
    return "uint8_t", f"[{argument.bytes}]"


def c_launch_value(name: str) -> str:
    """The value of a launch register in terms of ``dimensions``, ``global_size``, ``local_size`` and ``offset``, as
    :meth:`hls.ir.launch.IndexSpace.argument` computes it. Raises KeyError for another name."""
    if name == "work_dim":
        return "dimensions"
    stem, _, dimensions = name.rpartition("_")
    if stem in _PRODUCTS:
        factors = (_SIZES[_PRODUCTS[stem]].format(d) for d in dimensions)
        return " * ".join(f"({one})" for one in factors)
    return _SIZES[stem].format(dimensions)
