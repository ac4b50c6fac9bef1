"""Generates the testbench in the folder ``tb/`` of a compiler's output folder."""

import json
import keyword
import re
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

__all__ = ["TestbenchError", "write_testbench"]

#: The first file is the user's to edit and kept once it exists; the others are generated anew each time.
USERS_FILE, OUR_FILES = "bench.py", ("board.py", "test_kernels.py")
#: Python names that bench.py uses
USED = {"cocotb", "np", "Board", "random_buffer", "print"}
INTEGER = {
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "bool": "uint8",
    "size_t": "uint64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
}


class TestbenchError(Exception):
    """The folder contains no system to write a testbench for, or cannot be written."""

    __test__ = False  # not a test, for all its name


def write_testbench(output: Path) -> list[str]:
    """Write the testbench of the system in ``output`` (as ``sluice compile`` leaves it) into ``output/tb``.

    Returns the names of the files written. An existing ``bench.py`` is kept: it is meant to be edited.
    Raises :class:`TestbenchError`.
    """
    try:
        interface = json.loads((output / "interface.json").read_text())
    except (OSError, ValueError) as error:
        raise TestbenchError(f"cannot read {output / 'interface.json'}: {error}; run sluice compile first") from error
    if interface["ram"]:
        raise TestbenchError("a testbench drives AXI ports; this system has plain RAM ports: compile without them")
    printing = [stream["prints_for"] for stream in interface["streams"] if stream["prints_for"]]
    if printing:
        raise TestbenchError(
            f"a testbench shows no text; {', '.join(printing)} would print: compile without --printf, or run it from a "
            "host program"
        )
    joined = [
        kernel["name"]
        for kernel in interface["kernels"]
        if any(not one["inner"] for one in kernel["layout"]["channels"])
    ]
    if joined:
        raise TestbenchError(
            f"a testbench runs one kernel at a time; {', '.join(joined)} {'is' if len(joined) == 1 else 'are'} joined "
            "with others by channels: run them from a host program instead"
        )
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    taken = {kernel["name"] for kernel in interface["kernels"]}
    kernels = [_kernel(kernel, taken) for kernel in interface["kernels"]]
    names = [name for name in (USERS_FILE, *OUR_FILES) if name != USERS_FILE or not (output / "tb" / name).exists()]
    try:
        (output / "tb").mkdir(exist_ok=True)
        for name in names:
            text = templates.get_template(f"{name}.j2").render(kernels=kernels, top=interface["top"])
            beside = output / "tb" / f".{name}"  # renamed below: never half a file
            beside.write_text(text)
            beside.replace(output / "tb" / name)
    except OSError as error:
        raise TestbenchError(f"cannot write {output / 'tb'}: {error.strerror}") from error
    return [f"tb/{name}" for name in names]


def _kernel(kernel: dict[str, Any], names: set[str]) -> dict[str, Any]:
    arguments = [
        {"name": argument["name"], "value": _value(argument)}
        for argument in kernel["arguments"]
        if not argument["variable"]
    ]
    size = "(16,)" if kernel["ndrange"] else "(1,)"
    if kernel["ndrange"] and kernel["work_group_size"]:
        size = str(tuple(2 * n if d == 0 else n for d, n in enumerate(kernel["work_group_size"])))
    name = kernel["name"]
    test = name
    # names that mean something in Python, or that the file uses itself
    while keyword.iskeyword(test) or test in USED or test in names - {name}:
        test = f"test_{test}"
    return {"name": name, "test": test, "arguments": arguments, "global_size": size}


def _value(argument: dict[str, Any]) -> str:
    """An initial value, as Python source."""
    dtype = f"np.{numpy_type(argument.get('type') or argument['c_type'])}"
    if argument["kind"] == "buffer":
        return f"random_buffer({dtype}, 4096)"
    # a vector or a structure
    if argument["kind"] == "scalar" and (count := argument["bytes"] // np.dtype(dtype[3:]).itemsize) > 1:
        return f"np.full({count}, 1.5, {dtype})" if "float" in dtype else f"np.zeros({count}, {dtype})"
    return f"{dtype}(1.5)" if "float" in dtype else f"{dtype}(16)"


def numpy_type(c_type: str) -> str:
    """The numpy name of a scalar type, of a vector's elements, or of the target of a pointer. Unknown types are
    bytes."""
    words = [re.sub(r"(2|3|4|8|16)$", "", word) for word in re.findall(r"\w+", c_type)]
    unsigned = "unsigned" in words
    base = next((word for word in reversed(words) if word in INTEGER), "int" if unsigned else "uchar")
    return INTEGER["u" + base if unsigned and not base.startswith("u") else base]
