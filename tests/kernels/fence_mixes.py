"""Random kernels of work-groups with barriers and fences of every kind, one to three in sequence, in straight code,
loops and branches.

Data that work-items read from each other is written before a barrier for that memory, and written again only after
another one, so every result is defined.
"""

import random

__all__ = ["mixed_kernel"]

LOCAL, GLOBAL, CHANNEL = "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_CHANNEL_MEM_FENCE"
FLAGS = ((LOCAL,), (GLOBAL,), (LOCAL, GLOBAL))
FENCES = ("mem_fence", "read_mem_fence", "write_mem_fence")
#: work-items of a group are a multiple of this
EXCHANGE = 8


def _call(name: str, flags: tuple[str, ...]) -> str:
    return f"{name}({' | '.join(flags)});"


def _fence(rng: random.Random) -> str:
    name = rng.choice(FENCES)
    return _call(name, rng.choice((*FLAGS, (CHANNEL,), (CHANNEL, GLOBAL)) if name == "mem_fence" else FLAGS))


def _place(rng: random.Random, flags: tuple[str, ...]) -> str:
    """A barrier with these flags, among others and fences."""
    calls = [_call("barrier", flags)]
    for _ in range(rng.choice([0, 1, 1, 2, 2])):
        calls.append(_call("barrier", rng.choice(FLAGS)) if rng.random() < 0.3 else _fence(rng))
    rng.shuffle(calls)
    return " ".join(calls)


def _phase(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if depth and kind < 0.3:
        return f"for (int k{depth} = 0; k{depth} < n; k{depth}++) {{ {_phases(rng, depth - 1)} }}"
    if depth and kind < 0.5:
        other = f" else {{ {_phases(rng, depth - 1)} }}" if rng.random() < 0.5 else ""
        return f"if ({rng.choice(['n > 2', 'n & 1', 'get_group_id(0) & 1'])}) {{ {_phases(rng, depth - 1)} }}{other}"
    if kind < 0.65:  # work-items part: they only touch what is theirs
        return f"if (x & {rng.choice([1, 2, 4])}) {{ o[g] += x; {_fence(rng)} {_fence(rng)} x ^= o[g]; }}"
    flags = rng.choice(FLAGS)
    by = rng.randrange(1, EXCHANGE)
    writes = {LOCAL: f"t[l] = x + {by};", GLOBAL: f"o[g] = x * {by};"}
    reads = {LOCAL: f"x += t[l ^ {by}];", GLOBAL: f"x ^= o[g ^ {by}];"}
    exchange = [" ".join(table[flag] for flag in flags) for table in (writes, reads)]
    return f"{exchange[0]} {_place(rng, flags)} {exchange[1]} {_place(rng, flags)}"


def _phases(rng: random.Random, depth: int) -> str:
    return "\n  ".join(_phase(rng, depth) for _ in range(rng.randint(1, 2)))


def mixed_kernel(seed: int) -> str:
    """The kernel ``mixed{seed}``. Its arguments are buffers ``o`` and ``p`` of an int for each work-item, local memory
    ``t`` of as many as a group has, and ``n``."""
    rng = random.Random(f"fences {seed}")
    size = rng.choice(["", "__attribute__((reqd_work_group_size(16, 1, 1))) "])
    body = "\n  ".join([_phase(rng, 0), *(_phase(rng, 2) for _ in range(rng.randint(1, 2)))])
    return (
        f"{size}__kernel void mixed{seed}(__global int *o, __global int *restrict p, __local int *t, int n) {{\n"
        f"  int g = get_global_id(0), l = get_local_id(0), x = p[g];\n  {body}\n  p[g] = x + o[g];\n}}\n"
    )
