"""Random networks of kernels: some end whatever the depths of their channels are, some may deadlock.

A network is generated from one sequence of transfers, each from one kernel to another; a kernel's program is its part
of the sequence, in that order. So kernels that follow the sequence never deadlock. In a tangled network some kernels
make their transfers in another order.
"""

import random
from dataclasses import dataclass

__all__ = ["Network", "network", "tangled"]

#: iterations of every kernel of a tangled network
ITERATIONS = 12


@dataclass(frozen=True)
class Network:
    """``text`` declares channels and kernels, the names of which are ``kernels``; each takes (a, out, n). ``light``
    kernels read no memory and write one value, which depends on all they did."""

    text: str
    kernels: tuple[str, ...]
    light: bool = False


def network(name: str, rng: random.Random, light: bool = False) -> Network:
    """A network of 2 to 4 kernels (light: to 8) with 2 to 6 transfers (light: to 10) in each iteration."""
    kernels = tuple(f"{name}_{k}" for k in range(rng.randint(2, 8 if light else 4)))
    bodies, declared = _bodies(name, kernels, rng, light)
    return Network(
        "\n".join([*declared, *(_kernel(k, body, rng, light, "n") for k, body in bodies.items())]), kernels, light
    )


def tangled(name: str, rng: random.Random) -> Network:
    """A light network in which some kernels may wait for each other for ever; some of its loops have constant
    counts."""
    kernels = tuple(f"{name}_{k}" for k in range(rng.randint(2, 8)))
    bodies, declared = _bodies(name, kernels, rng, True)
    for body in bodies.values():
        if rng.random() < 0.4:
            rng.shuffle(body)
    count = str(ITERATIONS) if rng.random() < 0.7 else "n"
    return Network(
        "\n".join([*declared, *(_kernel(k, body, rng, True, count) for k, body in bodies.items())]), kernels, True
    )


def _bodies(name: str, kernels, rng: random.Random, light: bool) -> tuple[dict[str, list[str]], list[str]]:
    """What each kernel does in an iteration, and the declarations of the channels."""
    bodies: dict[str, list[str]] = {kernel: [] for kernel in kernels}
    channels: dict[tuple[str, str, int], str] = {}
    others = ["mem_fence(CLK_CHANNEL_MEM_FENCE);", "x = x / 3 - i;", "x ^= x << 3;" if light else "x ^= a[(x & 7)];"]
    for _ in range(rng.randint(2, 10 if light else 6)):
        source, target = rng.sample(kernels, 2)
        key = source, target, rng.randint(0, 1)
        channel = channels.setdefault(key, f"{name}_c{len(channels)}")
        write, read = _transfer(channel, rng)
        bodies[source].append(write)
        bodies[target].append(read)
        for kernel in kernels:
            if rng.random() < 0.15:
                bodies[kernel].append(rng.choice(others))
    depths = ["", *(f" __attribute__((depth({d})))" for d in (0, 1, 3, 40))]
    return bodies, [f"channel int {c}{rng.choice(depths)};" for c in channels.values()]


def _transfer(channel: str, rng: random.Random) -> tuple[str, str]:
    """What writer and reader do: once, several times, or only in some iterations."""
    write, read = (
        f"write_channel_intel({channel}, x + {rng.randint(0, 9)});",
        f"x = x * 3 + read_channel_intel({channel});",
    )
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


def _kernel(name: str, body: list[str], rng: random.Random, light: bool, count: str) -> str:
    first = rng.choice(["x += 7 * i;", "x ^= i;"] if light else ["x += a[i];", "x = a[i];", "x ^= i;"])
    lines = "\n        ".join([first, *body] if light else [first, *body, "out[i] = x;"])
    end = "\n    out[0] = x;" if light else ""
    return f"""__kernel void {name}(__global const int *restrict a, __global int *restrict out, int n) {{
    int x = 1;
    for (int i = 0; i < {count}; i++) {{
        {lines}
    }}{end}
}}"""
