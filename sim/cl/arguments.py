"""Kernel arguments: which values a host program may pass, and how they are encoded in the argument register."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hls.narrow import present
from hls.rtl.interface import ArgumentInterface, KernelInterface

from .constants import status_code
from .errors import LogicError
from .memory import Buffer, LocalMemory, Pipe
from .platform import Context

__all__ = ["Value", "check_argument", "python_scalar", "said_type"]


@dataclass(frozen=True)
class Value:
    """An argument that fits its parameter: a buffer (None: a null pointer), the size of local memory, a pipe, or a
    numpy scalar."""

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
        if isinstance(self.value, Pipe):
            raise TypeError("a pipe has no register")
        return int.from_bytes(self.value.tobytes(), "little")

    @property
    def number(self) -> Any:
        """The scalar as a number of Python, or of a vector its elements; TypeError for an argument that is none."""
        if not isinstance(self.value, np.generic):
            raise TypeError(f"{self.value!r} is no scalar")
        return self.value.item()


def said_type(dtype: Any) -> np.dtype | None:
    """The type that a host program declares for an argument; None if it declares none. Raises LogicError if it is not a
    type."""
    try:
        return None if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise LogicError(
            "Kernel.set_scalar_arg_dtypes", status_code.INVALID_ARG_VALUE, f"{dtype!r} is no type of numpy: {error}"
        ) from None


def python_scalar(value: Any, dtype: np.dtype | None) -> Any:
    """A number as a numpy scalar of the declared type, if any. Raises LogicError for a number that the type cannot
    represent."""
    if dtype is None or dtype.names or not isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
        return value
    if isinstance(value, np.generic) and value.dtype == dtype:
        return value
    number: Any = value.item() if isinstance(value, np.generic) else value
    if not _has(dtype, number):
        raise _wrong(status_code.INVALID_ARG_VALUE, f"{value} is no {dtype}, which the argument was said to be")
    with np.errstate(over="ignore"):  # a float too large is infinite
        return dtype.type(int(number) if dtype.kind in "iu" else number)


def _has(dtype: np.dtype, number: Any) -> bool:
    """Whether a numpy type can represent the number; floats are rounded."""
    if isinstance(number, complex) or dtype.kind not in "biuf":
        return False
    if dtype.kind == "f":
        return isinstance(number, float) or abs(number) < 1 << 1023
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return low <= number <= high and number == int(number)


def check_argument(kernel: KernelInterface, index: int, value: Any, context: Context) -> Value:
    """The checked value of parameter ``index``. Raises LogicError, with what to pass, if it does not fit."""
    argument = kernel.arguments[index]
    place = f"argument {index + 1} of kernel {kernel.name}, `{argument.c_type} {argument.name}`"
    if argument.kind == "buffer":
        return _buffer(place, argument, value, context)
    if argument.kind == "local":
        return _local(place, argument, value)
    if argument.kind == "pipe":
        return _pipe(place, value)
    return _scalar(place, argument, value)


def _pipe(place: str, value: Any) -> Value:
    """The parameter's name selects the pipe; the host's object is only a placeholder."""
    if value is not None and not isinstance(value, Pipe):
        raise _wrong(status_code.INVALID_ARG_VALUE, f"{place}: a cl.Pipe is wanted, not {type(value).__name__}")
    return Value(value)


def _buffer(place: str, argument: ArgumentInterface, value: Any, context: Context) -> Value:
    if value is None:
        return Value(None)
    if not isinstance(value, Buffer):
        hint = "; copy the array into a cl.Buffer first" if isinstance(value, np.ndarray) else ""
        raise _wrong(status_code.INVALID_ARG_SIZE, f"{place}: a cl.Buffer is wanted, not {type(value).__name__}{hint}")
    if value.context is not context:
        raise _wrong(status_code.INVALID_MEM_OBJECT, f"{place}: the buffer belongs to another context")
    if value.address % argument.alignment:
        raise _wrong(
            status_code.MISALIGNED_SUB_BUFFER_OFFSET,
            f"{place}: the kernel moves {argument.alignment} bytes at a time, so the buffer must begin at a multiple "
            f"of that; this sub-buffer begins {value.address % argument.alignment} bytes after one",
        )
    return Value(value)


def _local(place: str, argument: ArgumentInterface, value: Any) -> Value:
    if not isinstance(value, LocalMemory):
        raise _wrong(
            status_code.INVALID_ARG_VALUE, f"{place}: a cl.LocalMemory(bytes) is wanted, not {type(value).__name__}"
        )
    if argument.limit is not None and value.size > argument.limit:
        raise _wrong(
            status_code.INVALID_ARG_SIZE,
            f"{place}: the hardware has {argument.limit} bytes for it, not {value.size}; "
            f"declare it with __attribute__((local_mem_size({value.size})))",
        )
    return Value(value)


@dataclass(frozen=True)
class _Wanted:
    """What a scalar parameter accepts. ``kinds`` are the kinds of numpy types (numpy.dtype.kind) whose bits the kernel
    interprets correctly; ``count`` is the number of elements of a vector, 1 for a scalar, None for a struct, which
    accepts any bytes of its size."""

    kinds: str
    dtype: str
    count: int | None

    @property
    def example(self) -> str:
        """An example of a value, as source text."""
        if self.count is None:
            return "a numpy record or array of its bytes"
        return (
            f"numpy.{self.dtype}(...)"
            if self.count == 1
            else f"numpy.array([...], numpy.{self.dtype}) of {self.count} elements"
        )


#: The one table of accepted types: the resolved type of a parameter without its vector length, the kinds of numpy
#: types, the name of the closest one.
_FITS: dict[str, tuple[str, str]] = {
    "half": ("f", "float16"),
    "float": ("f", "float32"),
    "double": ("f", "float64"),
    "bool": ("iub", "uint8"),
    "char": ("iub", "int8"),
    "uchar": ("iub", "uint8"),
    "short": ("iub", "int16"),
    "ushort": ("iub", "uint16"),
    "int": ("iub", "int32"),
    "uint": ("iub", "uint32"),
    "long": ("iub", "int64"),
    "ulong": ("iub", "uint64"),
    "size_t": ("iub", "uint64"),
}
_RAW = "V"  #: records and raw bytes: accepted by size, whatever they hold
_SIGNED = {
    "unsigned char": "uchar",
    "unsigned short": "ushort",
    "unsigned int": "uint",
    "unsigned": "uint",
    "unsigned long": "ulong",
    "signed char": "char",
    "signed": "int",
}


def _wanted(argument: ArgumentInterface) -> _Wanted:
    """From the resolved type of the parameter, or from the type as written if it was not resolved."""
    words = [
        word
        for word in (argument.type or argument.c_type).split()
        if word not in ("const", "volatile", "restrict", "__private", "private")
    ]
    name = _SIGNED.get(" ".join(words), " ".join(words))
    base = present(re.fullmatch(r"(.*?)(2|3|4|8|16)?", name))
    if base[1] not in _FITS:
        return _Wanted("", "", None)
    return _Wanted(*_FITS[base[1]], int(base[2] or 1))


def _scalar(place: str, argument: ArgumentInterface, value: Any) -> Value:
    wanted = _wanted(argument)
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        raise _wrong(
            status_code.INVALID_ARG_VALUE,
            f"{place}: a Python number has no size; pass {wanted.example} or call set_scalar_arg_dtypes",
        )
    value = _as_numpy(value)
    if not isinstance(value, np.generic | np.ndarray):
        kind = "a buffer" if isinstance(value, (Buffer, LocalMemory)) else type(value).__name__
        raise _wrong(status_code.INVALID_ARG_SIZE, f"{place}: a scalar is wanted, not {kind}; pass {wanted.example}")
    if value.dtype.hasobject or value.dtype.kind not in "biufcV":
        raise _wrong(
            status_code.INVALID_ARG_VALUE,
            f"{place}: values of {value.dtype} have no bytes that a kernel could use; pass {wanted.example}",
        )
    if value.nbytes != argument.bytes and not _is_triple(wanted, value):
        raise _wrong(
            status_code.INVALID_ARG_SIZE,
            f"{place}: {argument.bytes} bytes are wanted, {_shown(value)} has {value.nbytes}; pass {wanted.example}",
        )
    if not _means_the_same(wanted, value):
        raise _wrong(
            status_code.INVALID_ARG_VALUE,
            f"{place}: its bits would mean something else if taken from {_shown(value)}; pass {wanted.example}",
        )
    little = value.astype(value.dtype.newbyteorder("<")) if value.dtype.kind != "V" else value
    return Value(
        np.void(little.tobytes().ljust(argument.bytes, b"\0")) if wanted.count != 1 else _number(wanted, little)
    )


def _as_numpy(value: Any) -> Any:
    """Bytes, and objects with the buffer protocol (array.array, numbers and structures of ctypes), as numpy objects;
    anything else unchanged."""
    if isinstance(value, np.generic | np.ndarray):
        return value
    try:
        view = memoryview(value)
    except TypeError:
        return value
    raw = isinstance(value, (bytes, bytearray)) or not view.contiguous
    try:
        found = None if raw else np.asarray(view)
    except (TypeError, ValueError, RuntimeError):
        found = None  # a format that numpy has no type for
    return np.void(view.tobytes()) if found is None or found.dtype.hasobject else found


def _number(wanted: _Wanted, value: Any) -> np.generic:
    """The bytes of a scalar as a number of the kernel's type."""
    return np.frombuffer(value.tobytes(), np.dtype(wanted.dtype).newbyteorder("<"))[0]


def _is_triple(wanted: _Wanted, value: Any) -> bool:
    """Whether these are the elements of a vector of three, which occupies the space of four."""
    return wanted.count == 3 and value.size == 3 and value.dtype.itemsize == np.dtype(wanted.dtype).itemsize


def _means_the_same(wanted: _Wanted, value: Any) -> bool:
    """Whether each element of the value has a type that the kernel accepts; structs, and bytes alone, may be
    anything."""
    if wanted.count is None or value.dtype == np.uint8 and value.size > 1:
        return True
    size = np.dtype(wanted.dtype).itemsize
    return all(part.kind == _RAW or part.kind in wanted.kinds and part.itemsize == size for part in _parts(value.dtype))


def _parts(dtype: np.dtype) -> Iterator[np.dtype]:
    """The types of the numbers in a value, including those in records."""
    if dtype.subdtype is not None:
        yield from _parts(dtype.subdtype[0])
    elif dtype.names:
        for name in dtype.names:
            yield from _parts(dtype[name])
    else:
        yield dtype


def _shown(value: Any) -> str:
    return str(value.dtype) if value.size == 1 else f"an array of {value.size} {value.dtype}"


def _wrong(code: int, what: str) -> LogicError:
    return LogicError("clSetKernelArg", code, what)
