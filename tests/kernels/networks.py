"""Random networks of kernels that end whatever the depths of their channels are.

A network is made from one sequence of transfers, each from one kernel to another; a kernel's program is what it has to do with
them, in that order. So kernels that take turns by the sequence never wait for each other.
"""

import random
from dataclasses import dataclass

__all__ = ["Network", "network"]


@dataclass(frozen=True)
class Network:
    """``text`` declares channels and kernels, the names of which are ``kernels``; each takes (a, out, n)."""

    text: str
    kernels: tuple[str, ...]


def network(name: str, rng: random.Random) -> Network:
    """A network of 2 to 4 kernels with 2 to 6 transfers in each iteration."""
    kernels = tuple(f"{name}_{k}" for k in range(rng.randint(2, 4)))
    bodies: dict[str, list[str]] = {kernel: [] for kernel in kernels}
    channels: dict[tuple[str, str, int], str] = {}
    for _ in range(rng.randint(2, 6)):
        source, target = rng.sample(kernels, 2)
        key = source, target, rng.randint(0, 1)
        channel = channels.setdefault(key, f"{name}_c{len(channels)}")
        write, read = _transfer(channel, rng)
        bodies[source].append(write)
        bodies[target].append(read)
        for kernel in kernels:
            if rng.random() < 0.15:
                bodies[kernel].append(rng.choice(["mem_fence(CLK_CHANNEL_MEM_FENCE);", "x = x / 3 - i;", "x ^= a[(x & 7)];"]))
    declared = [f"channel int {c}{rng.choice(['', *(f' __attribute__((depth({d})))' for d in (0, 1, 3, 40))])};" for c in channels.values()]
    return Network("\n".join([*declared, *(_kernel(k, body, rng) for k, body in bodies.items())]), kernels)


def _transfer(channel: str, rng: random.Random) -> tuple[str, str]:
    """What writer and reader do: once, several times, or only in some iterations."""
    write, read = f"write_channel_intel({channel}, x + {rng.randint(0, 9)});", f"x = x * 3 + read_channel_intel({channel});"
    form = rng.choice(["once", "once", "loop", "some", "unrolled", "loop in some"])
    if form == "once":
        return write, read
    condition = f"if ((i & {rng.choice([1, 2, 3])}) == 1)"
    if form == "some":
        return f"{condition} {write}", f"{condition} {read}"
    pragma = "\n#pragma unroll\n" if form == "unrolled" else "\n#pragma unroll 1\n"
    count = rng.randint(2, 3) if form == "unrolled" else rng.choice(["(i & 3)", "3", "5"])
    loop = f"for (int j = 0; j < {count}; j++)"
    texts = [f"{{ {pragma}{loop} {{ {one} x += j; }} }}" for one in (write, read)]
    return tuple(f"{condition} {one}" if form == "loop in some" else one for one in texts)


def _kernel(name: str, body: list[str], rng: random.Random) -> str:
    first = rng.choice(["x += a[i];", "x = a[i];", "x ^= i;"])
    lines = "\n        ".join([first, *body, "out[i] = x;"])
    return f"""__kernel void {name}(__global const int *restrict a, __global int *restrict out, int n) {{
    int x = 1;
    for (int i = 0; i < n; i++) {{
        {lines}
    }}
}}"""
