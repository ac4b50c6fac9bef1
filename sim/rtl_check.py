"""RTL libraries: each module is simulated in a kernel of its own, and compared with its model on random operands."""

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hls.diag import Code, CompileError, Diagnostic, render
from hls.driver import parsed_module
from hls.ir import FloatType
from hls.ir.types import Type
from hls.options import Options
from hls.rtl_library import RtlFunction, describe, load_library
from sim import cl

__all__ = ["Difference", "check_function", "main"]

#: memory on the chip answers in every cycle, so that operands follow each other without a gap
BOARD = "ecp5_onchip"
#: by how many cycles a latency may be wrong to be found
_MOST_OFF = 64
_FLOATS = {16: "half", 32: "float", 64: "double"}
_INTEGERS = {8: "uchar", 16: "ushort", 32: "uint", 64: "ulong"}


@dataclass(frozen=True)
class Difference:
    """The first operands at which module and model differ, as bits; ``latency`` is the one that would be right, None
    if there is none."""

    operands: tuple[int, ...]
    module: int
    model: int
    latency: int | None


def main(words: Sequence[str]) -> int:
    """Check all functions of a library: arguments are its file, the number of operands, and a seed. Returns 0 if all
    modules compute their models, 1 otherwise."""
    file, count, seed = words
    try:
        library = load_library(Path(file))
        results = [_told(Path(file), one, int(count), int(seed)) for one in library]
    except CompileError as error:
        print("\n".join(render(one, error.sources) for one in error.diagnostics), file=sys.stderr)
        return 1
    except cl.Error as error:
        print(error, file=sys.stderr)
        return 1
    return 0 if all(results) else 1


def _told(file: Path, one: RtlFunction, count: int, seed: int) -> bool:
    found = check_function(one, count, seed)
    if found is None:
        print(f"{one.name}: module {one.module} computes its model, {count:,} operands")
        return True
    values = ", ".join(f"{value:#x}" for value in found.operands)
    hint = (
        f"its results come as with latency = {found.latency}"
        if found.latency is not None
        else "correct the module or the model"
    )
    message = (
        f"{file}: {one.name}({values}) is {found.module:#x} by module {one.module}, and {found.model:#x} by its model"
    )
    print(render(Diagnostic(message, hint=hint, code=Code.RTL_LIBRARY), {}), file=sys.stderr)
    return False


def check_function(one: RtlFunction, count: int = 1000, seed: int = 1) -> Difference | None:
    """The first difference between a module and its model, None if there is none among ``count`` random operands.

    Raises CompileError and cl.Error for a function that cannot be built.
    """
    types, result = _types(one)
    rng = np.random.default_rng(seed)
    operands = [rng.integers(0, 256, (count, _bytes(type)), dtype=np.uint8) for type in types]
    with tempfile.TemporaryDirectory(prefix="sluice-") as folder:
        library = _library(one, Path(folder))
        text = _kernel(one, types, result)
        model = _run(cl.create_some_context(device="emulator"), text, library, operands, _bytes(result))
        module = _run(cl.create_some_context(board=BOARD, device="board"), text, library, operands, _bytes(result))
    if isinstance(result, FloatType):
        model, module = (_one_nan(values, result.bits) for values in (model, module))
    if (model == module).all():
        return None
    first = int(np.argmax(model != module))
    given = tuple(int.from_bytes(values[first].tobytes(), "little") for values in operands)
    return Difference(given, int(module[first]), int(model[first]), _latency(one.latency, module, model))


def _types(one: RtlFunction) -> tuple[list[Type], Type]:
    """The types of the operands and of the result. Raises CompileError."""
    text = f'#include "{one.model}"\n__kernel void empty(__global int *p) {{ p[0] = 0; }}\n'
    functions = parsed_module(text, Options(), f"{one.name}.cl").functions
    if one.name not in functions:
        hint = "name the file that defines it in the description: model"
        raise CompileError.at(None, f"{one.model} does not define {one.name}", hint, code=Code.RTL_LIBRARY)
    returned = functions[one.name].body.terminator.operands
    types = [value.type for value in functions[one.name].args]
    for type in (*types, *(value.type for value in returned)):
        if len(returned) != 1 or type.bits > 64:
            hint = "a module computes with numbers, and returns one"
            raise CompileError.at(
                functions[one.name].span, f"{one.name} is no function of numbers", hint, code=Code.RTL_LIBRARY
            )
    return types, returned[0].type


def _bytes(type: Type) -> int:
    """The bytes of the smallest number of OpenCL that holds the type."""
    return next(bits for bits in (8, 16, 32, 64) if bits >= type.bits) // 8


def _word(type: Type) -> str:
    return _FLOATS[type.bits] if isinstance(type, FloatType) else _INTEGERS[8 * _bytes(type)]


def _library(one: RtlFunction, folder: Path) -> Path:
    """A description of the function alone, whose model is in the program already."""
    (folder / "empty.cl").write_text("")
    text = describe(one, map(str, one.files), str(folder / "empty.cl"))
    (folder / "library.toml").write_text(text, encoding="utf-8")
    return folder / "library.toml"


def _kernel(one: RtlFunction, types: Sequence[Type], result: Type) -> str:
    buffers = [f"__global const {_word(type)} *restrict a{k}" for k, type in enumerate(types)]
    values = ", ".join(f"a{k}[i]" for k in range(len(types)))
    fp16 = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    return (
        f'{fp16}#include "{one.model}"\n'
        f"__kernel void compare({', '.join(buffers)}, __global {_word(result)} *restrict o, int n)\n"
        f"{{\n    #pragma unroll 1\n    for (int i = 0; i < n; i++)\n        o[i] = {one.name}({values});\n}}\n"
    )


def _run(context: cl.Context, text: str, library: Path, operands: Sequence[np.ndarray], size: int) -> np.ndarray:
    """The results for all operands, as unsigned numbers."""
    queue, count = cl.CommandQueue(context), len(operands[0])
    program = cl.Program(context, text).build([f"-library={library}"])
    results = np.zeros(count, f"u{size}")
    sources = [cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values) for values in operands]
    target = cl.Buffer(context, cl.mem_flags.READ_WRITE, results.nbytes)
    cl.Kernel(program, "compare")(queue, (1,), None, *sources, target, np.int32(count)).wait()
    cl.enqueue_copy(queue, results, target).wait()
    return results


def _one_nan(values: np.ndarray, bits: int) -> np.ndarray:
    """The bits of floats, with the same ones for every NaN."""
    floats = values.view(f"f{bits // 8}").copy()
    floats[np.isnan(floats)] = np.nan
    return floats.view(values.dtype)


def _latency(described: int, module: np.ndarray, model: np.ndarray) -> int | None:
    """The latency with which the results are those of the model: they come ``off`` places later than described."""
    most = min(_MOST_OFF, len(model) // 4)
    for off in sorted(range(-most, most + 1), key=abs):
        inner = slice(most, len(model) - most)
        if off and described + off >= 0 and (module[inner] == np.roll(model, off)[inner]).all():
            return described + off
    return None
