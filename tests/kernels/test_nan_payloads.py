"""NaNs with payloads, quiet and signaling, of both signs: interpreter, emulator and board agree bit for bit, also
with numpy."""

from pathlib import Path

import numpy as np
import pytest

from hls.frontend import parse_source
from hls.ir.interpreter import run_kernel
from hls.passes.pipeline_options import PipelineOptions
from hls.passes.run_stages import link_program, optimize
from sim import cl
from sim.emulator import Emulator
from tests.sim.emulator.both import Run, emulated

from .system import Launch, kernel_names

SOURCE = (Path(__file__).parent / "nan_payloads.cl").read_text()
KERNELS = kernel_names(SOURCE)
RNG = np.random.default_rng(17)
N = 64


def numbers(bits: int, fraction: int) -> np.ndarray:
    """Of a format: NaN of every kind, infinities, zeros, subnormal and other numbers, as bits."""
    kind = np.dtype(f"u{bits // 8}")
    top = (1 << bits - 1) - (1 << fraction)  # the exponent of NaN
    special = [
        top | 1,
        top | 1 << fraction - 1,
        top | (1 << fraction) - 1,
        top | 5 << fraction - 4,
        top,
        0,
        1,
        3 << fraction,
    ]
    values = [one | sign << bits - 1 for one in special for sign in (0, 1)]
    rest = RNG.integers(0, 1 << bits - 1, N - len(values), dtype=np.uint64)
    return RNG.permutation(np.concatenate([np.array(values, np.uint64), rest])).astype(kind)


FLOATS, OTHERS, MASK = (numbers(32, 23).view(np.float32) for _ in range(3))
HALVES = [numbers(16, 10).view(np.float16) for _ in range(3)]
DOUBLES = numbers(64, 52).view(np.float64)
RANKED = np.zeros(N, [("value", np.float32), ("rank", np.int32)])
RANKED["value"], RANKED["rank"] = FLOATS, np.arange(N)

INPUTS = {
    "copy_half": {"a": HALVES[0]},
    "copy_double": {"a": DOUBLES},
    "mixed_half": dict(zip("abc", HALVES)),
    "half_vectors": {"a": HALVES[1]},
    "structures": {"a": RANKED},
    "there_and_back": {"a": HALVES[2]},
    "converted": {"a": HALVES[0]},
    "in_local": {"a": DOUBLES},
    "double_vectors": {"a": DOUBLES},
    "copied": {"a": HALVES[1]},
}
OUTPUTS = {"as_bits": np.uint32, "there_and_back": np.uint16, "converted": np.float32}


def buffers(kernel: str) -> dict[str, np.ndarray]:
    given = INPUTS.get(kernel, {"a": FLOATS, "b": OTHERS, "c": MASK})
    given = {name: array for name, array in given.items() if f" *restrict {name}," in text_of(kernel)}
    return given | {"o": np.zeros(N, OUTPUTS.get(kernel, given["a"].dtype))}


def text_of(kernel: str) -> str:
    return SOURCE[SOURCE.index(f"void {kernel}(") :].split("{")[0]


def bits(array: np.ndarray) -> bytes:
    return array.tobytes()


def interpreted(module, kernel: str) -> bytes:
    given = {name: array.copy() for name, array in buffers(kernel).items()}
    run_kernel(module, kernel, {name: array.view(np.uint8) for name, array in given.items()}, {"n": N, "overlap": 0})
    return bits(given["o"])


@pytest.fixture(scope="module")
def module():
    return link_program(parse_source(SOURCE).module)


@pytest.fixture(scope="module")
def optimized(module):
    """The kernels after all passes, each of which is verified."""
    return optimize(module, PipelineOptions(check=True))


@pytest.fixture(scope="module")
def emulator(module):
    return Emulator(module)


def expected(kernel: str) -> bytes | None:
    """What numpy makes of the bits; None where the kernel computes."""
    i = np.arange(N)
    a, b, c = FLOATS.view(np.uint32), OTHERS.view(np.uint32), MASK.view(np.uint32)
    top = np.uint32(1 << 31)
    x, y, z = (half.view(np.uint16) for half in HALVES)
    turned = RANKED[::-1].copy()
    turned["rank"] += 1
    found = {
        "copy_float": a,
        "copy_half": x,
        "copy_double": DOUBLES,
        "chosen": np.where(i % 3, a, b[::-1]),
        "mixed_half": (x & ~z) | (y & z),
        "mixed_float": (a & ~c) | (b & c),
        "signs": np.where(i & 1, a ^ top, np.where(i & 2, a & ~top, (a & ~top) | (b & top))),
        "vectors": a.reshape(-1, 4)[:, [3, 1, 2, 0]],
        "half_vectors": y.reshape(-1, 2)[:, ::-1],
        "structures": turned,
        "in_memory": a,
        "carried": np.concatenate([a[[-2, -1]], a[:-2]]),
        "as_bits": a ^ 0x10,
        "there_and_back": z ^ 3,
        "in_local": np.roll(DOUBLES.view(np.uint64), -1),
        "shuffled": np.where(
            i.reshape(-1, 4) & 4, a.reshape(-1, 4)[:, [2, 0, 3, 1]], a.reshape(-1, 4)[:, [3, 2, 1, 0]]
        ),
        "double_vectors": np.where(
            i.reshape(-1, 2) & 2,
            DOUBLES.view(np.uint64).reshape(-1, 2)[:, ::-1],
            DOUBLES.view(np.uint64).reshape(-1, 2),
        ),
        "copied": y[::-1],
    }.get(kernel)
    return None if found is None else np.ascontiguousarray(found).tobytes()


@pytest.mark.parametrize("kernel", KERNELS)
def test_interpreter_and_emulator(module, optimized, emulator, kernel):
    wanted = interpreted(module, kernel)
    if expected(kernel) is not None:
        assert wanted == expected(kernel)
    else:
        made = np.frombuffer(wanted, np.uint32)
        assert set(made[(made & 0x7FFFFFFF) > 0x7F800000]) == {0x7FC00000}
    assert interpreted(optimized, kernel) == wanted
    assert emulated(emulator, Run(kernel, buffers(kernel), {"n": N}))["o"] == wanted


TRANSPORTED = {"half": HALVES[0], "float": FLOATS, "double": DOUBLES, "ranked": RANKED}
#: of each type: two channels in a row, one of them without a buffer
NETWORK = """
channel {type} one_{type}, other_{type} __attribute__((depth(4)));
__kernel void send_{type}(__global const {type} *a) {{ for (int i = 0; i < {n}; i++) write_channel_intel(one_{type}, a[i]); }}
__kernel void relay_{type}() {{ for (int i = 0; i < {n}; i++) write_channel_intel(other_{type}, read_channel_intel(one_{type})); }}
__kernel void take_{type}(__global {type} *o) {{ for (int i = 0; i < {n}; i++) o[i] = read_channel_intel(other_{type}); }}
"""


@pytest.mark.parametrize("device", ["emulator", pytest.param("board", marks=pytest.mark.verilator)])
def test_through_channels(device):
    context = cl.create_some_context(board="de5net", device=device)
    head = SOURCE[: SOURCE.index("__kernel")]
    program = cl.Program(context, head + "".join(NETWORK.format(type=type, n=N) for type in TRANSPORTED)).build()
    queue = cl.CommandQueue(context)
    for type, values in TRANSPORTED.items():
        given = cl.Buffer(context, cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
        made, found = cl.Buffer(context, cl.mem_flags.READ_WRITE, values.nbytes), np.zeros_like(values)
        for name, arguments in (("send", [given]), ("relay", []), ("take", [made])):
            event = cl.Kernel(program, f"{name}_{type}")(cl.CommandQueue(context), (1,), None, *arguments)
        event.wait()
        cl.enqueue_copy(queue, found, made)
        assert bits(found) == bits(values), type


@pytest.mark.verilator
@pytest.mark.parametrize("kernel", KERNELS)
def test_board(system, kernel):
    system.check(kernel, [Launch(buffers(kernel), {"n": N})], (0, 1))
