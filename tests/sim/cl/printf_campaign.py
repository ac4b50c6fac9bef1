"""Random formats of printf on the emulator, against the C library's ``snprintf``: all flags, widths, precisions, lengths,
conversions and vectors.

    python -m tests.sim.cl.printf_campaign --start 0 --programs 20
"""

import argparse
import contextlib
import ctypes
import io
import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from sim import cl

#: type -> (its length in a format, bits, signed)
INTEGERS = {
    "char": ("hh", 8, True),
    "uchar": ("hh", 8, False),
    "short": ("h", 16, True),
    "ushort": ("h", 16, False),
    "int": ("", 32, True),
    "uint": ("", 32, False),
    "long": ("l", 64, True),
    "ulong": ("l", 64, False),
}
SIZES = (2, 3, 4, 8, 16)
SPECIAL = (0.0, -0.0, 1.0, 0.5, 2.5, 9.5, 123456.0, 1e-4, 1e-5, 1e30, float("inf"), float("-inf"), float("nan"))
CHARACTERS = "AZaz09 .%"
_C = ctypes.CDLL(None)


@dataclass(frozen=True)
class Piece:
    """A conversion: as it is in OpenCL C, its argument, and what it prints."""

    text: str
    argument: str
    printed: str


def c_text(form: str, value: object) -> str:
    """What the C library prints of one value of its types."""
    room = ctypes.create_string_buffer(4096)
    _C.snprintf(room, ctypes.c_size_t(4096), form.encode(), value)
    return room.value.decode()


def piece(rng: random.Random) -> Piece:
    """A conversion with what C defines for it."""
    width = str(rng.randrange(1, 24)) if rng.random() < 0.5 else ""
    precision = rng.choice([".", ".0", f".{rng.randrange(15)}"]) if rng.random() < 0.5 else ""
    kind = rng.choice(["integer", "integer", "float", "float", "character", "string"])
    if kind == "character":
        form, value = f"%{_flags(rng, '-')}{width}c", ord(rng.choice(CHARACTERS))
        return Piece(form, f"(char){value}", c_text(form, ctypes.c_int(value)))
    if kind == "string":
        form, text = f"%{_flags(rng, '-')}{width}{precision}s", rng.choice(["", "a", "hello world", "x%d", " blank"])
        return Piece(form, f'"{text}"', c_text(form, ctypes.c_char_p(text.encode())))
    size = rng.choice(SIZES) if rng.random() < 0.5 else 1
    if kind == "float":
        return _float(rng, f"{width}{precision}", size)
    return _integer(rng, f"{width}{precision}", size)


def _flags(rng: random.Random, allowed: str) -> str:
    return "".join(flag for flag in allowed if rng.random() < 0.3)


def _integer(rng: random.Random, rest: str, size: int) -> Piece:
    name = rng.choice([*INTEGERS])
    length, bits, signed = INTEGERS[name]
    letter = rng.choice("di" if signed else "uoxX")
    front = f"%{_flags(rng, '-+ 0' if signed else '-0' if letter == 'u' else '-#0')}{rest}"
    choices = [0, 1, -1, 1 << bits - 1, (1 << bits - 1) - 1, rng.getrandbits(bits), rng.getrandbits(bits // 2)]
    values = [rng.choice(choices) & (1 << bits) - 1 for _ in range(size)]
    told = [v - (1 << bits) if signed and v >> bits - 1 else v for v in values]
    printed = ",".join(c_text(f"{front}ll{letter}", ctypes.c_longlong(v)) for v in told)
    literals = [f"as_{name}(({'ulong' if bits == 64 else 'u' + name.lstrip('u')}){v}UL)" for v in values]
    return Piece(f"{front}{_length(size, length)}{letter}", _argument(name, literals), printed)


def _float(rng: random.Random, rest: str, size: int) -> Piece:
    double, letter = rng.random() < 0.5, rng.choice("fFeEgGaA")
    # not # with g: glibc leaves out zeros where rounding adds a digit (1.e+06 for 999999.5)
    front = f"%{_flags(rng, '-+ 0' if letter in 'gG' else '-+ #0')}{rest}"
    real, whole, name = ("<d", "<Q", "double") if double else ("<f", "<I", "float")
    values = []
    for _ in range(size):
        value = rng.choice([rng.choice(SPECIAL), rng.uniform(-1, 1) * 10 ** rng.randrange(-12, 12)])
        values.append(struct.unpack(real, struct.pack(real, value))[0])
    printed = ",".join(c_text(f"{front}{letter}", ctypes.c_double(v)) for v in values)
    literals = [f"as_{name}({struct.unpack(whole, struct.pack(real, v))[0]}{'UL' if double else 'u'})" for v in values]
    length = "" if size == 1 else "l" if double else "hl"
    return Piece(f"{front}{f'v{size}{length}' if size > 1 else ''}{letter}", _argument(name, literals), printed)


def _length(size: int, length: str) -> str:
    return f"v{size}{length or 'hl'}" if size > 1 else length


def _argument(name: str, literals: list[str]) -> str:
    return f"({name}{len(literals)})({', '.join(literals)})" if len(literals) > 1 else literals[0]


def calls(rng: random.Random, count: int) -> Iterator[tuple[str, str]]:
    """Calls of printf, and the line that each prints."""
    for _ in range(count):
        pieces = [piece(rng) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        form = "|".join(one.text for one in pieces)
        line = "|".join(one.printed for one in pieces)
        yield f'printf("{form}%%\\n", {", ".join(one.argument for one in pieces)});', f"{line}%"


def printed(statements: list[str]) -> list[str]:
    """The lines that the statements print on the emulator."""
    context = cl.create_some_context(board="de5net", device="emulator")
    program = cl.Program(context, "__kernel void k(void) {\n" + "\n".join(statements) + "\n}").build()
    found = io.StringIO()
    with contextlib.redirect_stdout(found):
        queue = cl.CommandQueue(context)
        cl.Kernel(program, "k")(queue, (1,), None)
        queue.finish()
    return found.getvalue().splitlines()


def differing(seed: int, count: int) -> list[tuple[str, str, str]]:
    """The calls whose lines differ: the statement, what C prints, and what the emulator prints."""
    wanted = [*calls(random.Random(seed), count)]
    found = printed([statement for statement, _ in wanted])
    assert len(found) == len(wanted), f"seed {seed}: {len(found)} lines of {len(wanted)} calls"
    return [(*one, line) for one, line in zip(wanted, found, strict=True) if one[1] != line]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--programs", type=int, default=20, help="of 50 calls each")
    request = parser.parse_args()
    wrong = 0
    for seed in range(request.start, request.start + request.programs):
        for statement, c_line, line in differing(seed, 50):
            wrong += 1
            print(f"seed {seed}: {statement}\n  C:    {c_line}\n  here: {line}", flush=True)
    print(f"{50 * request.programs} calls, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
