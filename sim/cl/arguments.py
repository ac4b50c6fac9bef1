"""Kernel arguments: what a host program may pass, and how it looks in the register."""

import re
from dataclasses import dataclass

import numpy as np

from hls.rtl.interface import ArgumentInterface, KernelInterface

from .constants import status_code
from .errors import LogicError
from .memory import Buffer, LocalMemory, Pipe
from .platform import Context

__all__ = ["Value", "check_argument", "python_scalar"]


@dataclass(frozen=True)
class Value:
    """An argument that fits its parameter: a buffer (None: a null pointer), the size of local memory, a pipe, or a numpy scalar."""

    value: Buffer | LocalMemory | Pipe | np.generic | None

    @property
    def register(self) -> int:
        """The bits of the argument's register."""
        if self.value is None:
            return 0
        if isinstance(self.value, Buffer):
            return self.value.address
        if isinstance(self.value, LocalMemory):
            return self.value.size
        return int.from_bytes(self.value.tobytes(), "little")


def python_scalar(value, dtype: np.dtype | None):
    """A Python number as a numpy scalar, where its type has been said."""
    if dtype is None or not isinstance(value, (bool, int, float)):
        return value
    try:
        return dtype.type(value)
    except (OverflowError, ValueError) as error:
        raise LogicError("clSetKernelArg", status_code.INVALID_ARG_VALUE, f"{value} is no {dtype}: {error}") from None


def check_argument(kernel: KernelInterface, index: int, value, context: Context) -> Value:
    """The value, when it fits parameter ``index``; LogicError with what to pass otherwise."""
    argument = kernel.arguments[index]
    place = f"argument {index + 1} of kernel {kernel.name}, `{argument.c_type} {argument.name}`"
    if argument.kind == "buffer":
        return _buffer(place, argument, value, context)
    if argument.kind == "local":
        return _local(place, argument, value)
    if argument.kind == "pipe":
        return _pipe(place, value)
    return _scalar(place, argument, value)


def _pipe(place: str, value) -> Value:
    """Which pipe is meant is said by the parameter's name; the host's object only stands for it."""
    if value is not None and not isinstance(value, Pipe):
        raise _wrong(status_code.INVALID_ARG_VALUE, f"{place}: a cl.Pipe is wanted, not {type(value).__name__}")
    return Value(value)


def _buffer(place: str, argument: ArgumentInterface, value, context: Context) -> Value:
    if value is None:
        return Value(None)
    if not isinstance(value, Buffer):
        hint = "; copy the array into a cl.Buffer first" if isinstance(value, np.ndarray) else ""
        raise _wrong(status_code.INVALID_ARG_SIZE, f"{place}: a cl.Buffer is wanted, not {type(value).__name__}{hint}")
    if value.context is not context:
        raise _wrong(status_code.INVALID_MEM_OBJECT, f"{place}: the buffer belongs to another context")
    if value.address % argument.alignment:
        raise _wrong(status_code.MISALIGNED_SUB_BUFFER_OFFSET,
                     f"{place}: the kernel moves {argument.alignment} bytes at a time, so the buffer must begin at a multiple of that; "
                     f"this part of one begins {value.address % argument.alignment} bytes behind such a place")
    return Value(value)


def _local(place: str, argument: ArgumentInterface, value) -> Value:
    if not isinstance(value, LocalMemory):
        raise _wrong(status_code.INVALID_ARG_VALUE, f"{place}: a cl.LocalMemory(bytes) is wanted, not {type(value).__name__}")
    if argument.limit is not None and value.size > argument.limit:
        raise _wrong(status_code.INVALID_ARG_SIZE, f"{place}: the hardware has {argument.limit} bytes for it, not {value.size}; "
                     f"declare it with __attribute__((local_mem_size({value.size})))")
    return Value(value)


def _scalar(place: str, argument: ArgumentInterface, value) -> Value:
    example = f"a numpy array of {argument.bytes} bytes" if _is_whole(argument) else f"numpy.{_numpy_name(argument)}(...)"
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (bool, int, float)):
        raise _wrong(status_code.INVALID_ARG_VALUE,
                     f"{place}: a Python number has no size; pass {example} or call set_scalar_arg_dtypes")
    if _is_whole(argument) and isinstance(value, np.ndarray | np.void):
        value = np.void(value.tobytes())  # a struct or vector
    if not isinstance(value, np.generic):
        kind = "a buffer" if isinstance(value, (Buffer, LocalMemory)) else type(value).__name__
        raise _wrong(status_code.INVALID_ARG_SIZE, f"{place}: a scalar is wanted, not {kind}; pass {example}")
    if value.dtype.itemsize != argument.bytes:
        raise _wrong(status_code.INVALID_ARG_SIZE,
                     f"{place}: {argument.bytes} bytes are wanted, {value.dtype} has {value.dtype.itemsize}; "
                     f"pass {example}")
    if value.dtype.kind != "V" and (value.dtype.kind == "f") != _is_float(argument):
        raise _wrong(status_code.INVALID_ARG_VALUE, f"{place}: its bits would mean something else if taken from "
                     f"{value.dtype}; pass {example}")
    return Value(value)


def _wrong(code: int, what: str) -> LogicError:
    return LogicError("clSetKernelArg", code, what)


def _is_whole(argument: ArgumentInterface) -> bool:
    """Whether the argument is a struct or a vector: anything of its size may be passed."""
    scalar = re.fullmatch(r"(?:\w+ )*?(bool|(u?(char|short|int|long))|unsigned|signed|float|double|half|\w+_t)", argument.c_type)
    return scalar is None


def _is_float(argument: ArgumentInterface) -> bool:
    return bool(re.search(r"\b(half|float|double)\d*\b", argument.c_type))


def _numpy_name(argument: ArgumentInterface) -> str:
    if _is_float(argument):
        return f"float{8 * argument.bytes}"
    unsigned = re.search(r"\b(unsigned|u(char|short|int|long)\d*|size_t|bool)\b", argument.c_type)
    return f"{'u' if unsigned else ''}int{8 * argument.bytes}"
