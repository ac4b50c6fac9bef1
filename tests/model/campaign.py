"""Random kernels on the model beside the simulated board: ``python -m tests.model.campaign --start 0 --systems 1``.

Each system has networks of kernels on channels, nests whose loads meet stores of the kernel, and work-groups with
barriers on one or two compute units. Prints the cycles of every launch and the errors; exit code 1 where one is above
3 %, or where bytes differ.
"""

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sim import cl
from tests.kernels.networks import network

__all__ = ["Compared", "Together", "compare", "launches_of", "random_system"]

WORDS = 64  #: elements of each buffer
GROUP, GROUPS = 16, 6
MOST = 0.03  #: error that fails a campaign


@dataclass(frozen=True)
class Together:
    """Kernels that run at the same time, each with (a, out, n), or (``items``) with (a, out) over work-items."""

    text: str
    kernels: tuple[str, ...]
    n: int = 0
    items: int = 0


@dataclass(frozen=True)
class Compared:
    """One launch: cycles on the model and on the board, and whether it left the same bytes."""

    kernel: str
    predicted: int
    measured: int
    same: bool

    @property
    def error(self) -> float:
        """Of the predicted cycles, as a share of the measured ones."""
        return self.predicted / self.measured - 1


def random_system(seed: int) -> list[Together]:
    """Two networks, three nests, and two kernels of work-groups; networks run twice, as their channels stay."""
    rng, found = random.Random(seed), []
    for k in range(2):
        made = network(f"net{k}", rng)
        found += [Together(made.text, made.kernels, n) for n in (20, 41)]
    found += [Together(_nest(f"nest{k}", rng), (f"nest{k}",), rng.randint(10, 40)) for k in range(3)]
    return found + [Together(_groups(f"groups{k}", rng), (f"groups{k}",), items=GROUP * GROUPS) for k in range(2)]


def _nest(name: str, rng: random.Random) -> str:
    """Loops of which the inner one loads what earlier iterations stored, at addresses that depend on data."""
    trips = rng.choice(["5", "(i & 7)", "1 + (x & 3)"])
    place = rng.choice(["(i * 5 + j)", "(a[(i + j) & 63] + j)", "(x + j)"])
    condition = rng.choice(["", "if (x & 1) ", f"if (j != {rng.randint(0, 3)}) "])
    other = rng.choice(["x ^= a[(i * 7 + j * 3) & 63];", "x += out[(i + j * 2) & 63];", "x = x * 5 + j;"])
    return f"""__kernel void {name}(__global const int *restrict a, __global int *restrict out, int n) {{
    for (int i = 0; i < n; i++) {{
        int x = a[i & 63];
        for (int j = 0; j < {trips}; j++) {{
            {other}
            {condition}out[{place} & 63] += x + {rng.randint(1, 9)};
        }}
        out[(i * {rng.choice([1, 3])}) & 63] ^= x;
    }}
}}"""


def _groups(name: str, rng: random.Random) -> str:
    """Work-items that exchange values through local memory, some of them several times."""
    steps = rng.choice(["1", "3", "4"])
    units = rng.choice(["", "__attribute__((num_compute_units(2))) "])
    return f"""__attribute__((reqd_work_group_size({GROUP}, 1, 1))) {units}
__kernel void {name}(__global const int *restrict a, __global int *restrict out) {{
    __local int tile[{GROUP}];
    int k = get_local_id(0), x = a[get_global_id(0) & 63];
    for (int s = 0; s < {steps}; s++) {{
        tile[k] = x + s;
        barrier(CLK_LOCAL_MEM_FENCE);
        x = x * 3 + tile[(k + {rng.randint(1, 7)}) & {GROUP - 1}];
        barrier(CLK_LOCAL_MEM_FENCE);
    }}
    if (get_group_id(0) & 1) out[get_global_id(0)] = x;
    else out[get_global_id(0)] = x - a[k];
}}"""


def compare(system: Sequence[Together], board: str) -> Iterator[Compared]:
    """Run the launches one group after the other on the model and on the simulated board."""
    model, there = (launches_of(system, board, device) for device in ("model", "board"))
    for (kernel, predicted, left), (_, measured, wanted) in zip(model, there, strict=True):
        yield Compared(kernel, predicted, measured, left == wanted)


def launches_of(system: Sequence[Together], board: str, device: str) -> list[tuple[str, int, bytes]]:
    """The kernel, the cycles and the bytes that it left, of each launch."""
    context = cl.create_some_context(board=board, device=device)
    # what waits for memory is the subject: without copies of its buffers on the chip
    program = cl.Program(context, "\n".join(dict.fromkeys(one.text for one in system))).build("-copy-bytes=0")
    flags, found = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, []
    queues = [cl.CommandQueue(context) for _ in range(max(len(one.kernels) for one in system))]
    for one in system:
        events = []
        for k, (name, queue) in enumerate(zip(one.kernels, queues)):
            values = np.random.default_rng(k).integers(0, 99, WORDS).astype(np.int32)
            a = cl.Buffer(context, flags, hostbuf=values)
            out = cl.Buffer(context, flags, hostbuf=np.zeros(2 * WORDS, np.int32))
            kernel = cl.Kernel(program, name)
            if one.items:
                events.append((kernel(queue, (one.items,), (GROUP,), a, out), out))
            else:
                events.append((kernel(queue, (1,), None, a, out, np.int32(one.n)), out))
        for event, _ in events:
            event.wait()
        for name, (event, out) in zip(one.kernels, events, strict=True):
            left = np.empty(2 * WORDS, np.int32)
            cl.enqueue_copy(queues[0], left, out).wait()
            found.append((name, event.stats.to_dict()["cycles"], left.tobytes()))
    return found


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.model.campaign", description=__doc__)
    parser.add_argument("--start", type=int, default=0, help="number of the first system")
    parser.add_argument("--systems", type=int, default=1)
    parser.add_argument("--board", default="de5net")
    options, found = parser.parse_args(arguments), []
    for number in range(options.start, options.start + options.systems):
        for one in compare(random_system(number), options.board):
            found.append(one)
            bytes_too = "" if one.same else "  OTHER BYTES"
            print(
                f"system {number}: {one.kernel:10} predicted {one.predicted:7,}  measured {one.measured:7,}  "
                f"{one.error:+7.2%}{bytes_too}",
                flush=True,
            )
    errors = [abs(one.error) for one in found]
    print(f"{len(errors)} launches: mean error {sum(errors) / len(errors):.2%}, worst {max(errors):.2%}")
    return int(max(errors) > MOST or not all(one.same for one in found))


if __name__ == "__main__":
    sys.exit(main())
