"""Random kernels whose work-items cooperate in groups: barriers, local memory, atomics, divergent loops, lanes and
compute units.

Phases between barriers either write local memory, where each work-item has an element of its own and may write it
several times, or read any of it; all atomic operations of a kernel on one buffer are of one kind. Some kernels keep
values in private arrays throughout. So the order in which work-items run changes nothing, and any statement can be
removed.
"""

import random
from dataclasses import dataclass

import numpy as np

from tests.kernels.system import Launch

from .generate import Block, Kernel

__all__ = ["GroupKernel", "group_launches", "random_group_kernel"]

KEPT = 20  #: elements of a private array
OWN = 4  #: places in ``out`` of each work-item
#: pairs of phases of a kernel, one of these; what stands beside them costs most of the time of building it
PHASES = (1, 1, 1, 2)
#: of the kernels keep places in their bounds by division; a divider is larger than most of what else they hold
DIVIDES = 0.2
COUNTERS = 8
BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
ATOMICS = ["atomic_add", "atomic_sub", "atomic_xor", "atomic_or", "atomic_and", "atomic_min", "atomic_max"]


@dataclass(frozen=True)
class GroupKernel(Kernel):
    """``group`` is the size of its groups; ``lanes`` and ``units`` are what it asks for; ``required`` says that the
    size stands in the source."""

    group: int = 8
    lanes: int = 1
    units: int = 1
    required: bool = False

    @property
    def text(self) -> str:
        asked = [f"num_simd_work_items({self.lanes})"] * (self.lanes > 1) + [f"num_compute_units({self.units})"] * (
            self.units > 1
        )
        asked.append(
            f"reqd_work_group_size({self.group}, 1, 1)" if self.required else f"max_work_group_size({self.group})"
        )
        head = f"__attribute__(({', '.join(asked)}))\n"
        return head + super().text

    def _parameters(self, inside: str) -> list[str]:
        return [
            "__global const int *restrict in",
            "__global int *restrict out",
            "__global int *restrict count",
            "int n",
        ]


def group_launches(kernel: GroupKernel, seed: int, count: int = 2) -> list[Launch]:
    """What to run a kernel with."""
    found = []
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        size = (
            kernel.group
            if kernel.required or k == 0
            else kernel.lanes * int(rng.integers(1, kernel.group // kernel.lanes + 1))
        )
        items = size * int(rng.integers(1, 8))
        given = rng.integers(-50, 50, items).astype(np.int32)
        buffers = {
            "in": given,
            "out": np.zeros(OWN * items, np.int32),
            "count": rng.integers(-9, 9, COUNTERS).astype(np.int32),
        }
        found.append(
            Launch(buffers, {"n": int(rng.integers(0, 4))}, (items,), (size,), misalign=int(rng.integers(0, 9)))
        )
    return found


class _Generator:
    """One kernel under construction."""

    def __init__(self, rng: random.Random, lanes: int):
        self.rng, self.lanes = rng, lanes
        self.variables = [f"v{k}" for k in range(rng.randint(2, 4))]
        self.loops = 0
        self.left = rng.choice(PHASES) if lanes < 4 else 1
        self.keeps, self.divides = rng.random() < 0.3, rng.random() < DIVIDES
        self.atomic = rng.choice(ATOMICS)

    def counter(self) -> str:
        self.loops += 1
        return f"i{self.loops - 1}"

    # --- values

    def value(self, depth: int = 2, reads: bool = False) -> str:
        """An integer; with ``reads`` perhaps from local memory."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return self.leaf(reads)
        a, b = self.value(depth - 1, reads), self.value(depth - 1, reads)
        kind = rng.random()
        if kind < 0.7:
            operation = rng.choice(["+", "-", "+", "^", "&", "|", "*"])
            # compilers know that a square has no sign
            return f"(int)((uint){a} * {b})" if operation == "*" else f"({a} {operation} {b})"
        if kind < 0.85:
            return f"({a} {rng.choice(['<', '==', '>'])} {b} ? {self.leaf(reads)} : {a})"
        return f"({a} {rng.choice(['<<', '>>'])} ({b} & 7))"

    def leaf(self, reads: bool) -> str:
        rng, kind = self.rng, self.rng.random()
        if reads and kind < 0.4:
            return f"shared[{self.place(rng.choice([*self.variables, 'l']), 'm')}]"
        if self.keeps and kind > 0.9:
            return self.kept()
        if kind < 0.75:
            return rng.choice(self.variables)
        return rng.choice(
            [
                "l",
                "g",
                "n",
                "(int)get_group_id(0)",
                "3",
                "100",
                f"in[{self.place(rng.choice(self.variables), 'get_global_size(0)')}]",
            ]
        )

    def kept(self) -> str:
        """An element of the private array."""
        return f"mine[{self.place(self.rng.choice([*self.variables, 'l']), str(KEPT))}]"

    def place(self, value: str, count: str) -> str:
        """A number from 0 to ``count`` - 1 that depends on a value."""
        return f"(uint){value} % {count}" if self.divides else f"min((uint){value} & 31, (uint){count} - 1)"

    def uniform(self) -> str:
        """The same for all work-items of a group, from 0 to 3."""
        return self.rng.choice(
            ["n", "2", "3", "((int)get_group_id(0) & 3)", "(in[get_group_id(0)] & 3)", "((int)get_num_groups(0) & 1)"]
        )

    # --- statements of one work-item

    def own(self, reads: bool, depth: int = 1) -> list:
        """Statements that no other work-item sees, but for atomic operations."""
        rng, kind = self.rng, self.rng.random()
        name = rng.choice(self.variables)
        if depth and kind < 0.2:
            return [Block(f"if ({self.value(1, reads)} & 1) {{", (tuple(self.own(reads, depth - 1)),))]
        if depth and kind < 0.45:
            trips = self.uniform() if self.lanes > 1 else rng.choice([self.uniform(), f"({self.value(1)} & 7)"])
            i = self.counter()
            return [Block(f"for ({i} = 0; {i} < {trips}; {i}++) {{", (tuple(self.own(reads, depth - 1)),))]
        if kind < 0.6:
            return [f"{self.atomic}(&count[{self.value(1, reads)} & {COUNTERS - 1}], {self.value(1, reads)});"]
        if kind < 0.7:
            return [f"out[{OWN} * g + {rng.randrange(OWN - 1)}] = {self.value(2, reads)};"]
        target = self.kept() if self.keeps and kind > 0.85 else name
        return [f"{target} {rng.choice(['=', '+=', '^='])} {self.value(2, reads)};"]

    def again(self, place: str, depth: int = 2) -> list:
        """Statements that write to the work-item's place in local memory once more, alone, under a condition, or in a
        loop."""
        rng, kind = self.rng, self.rng.random()
        if depth and kind < 0.25:
            return [Block(f"if ({self.value(1)} & 1) {{", (tuple(self.again(place, depth - 1)),))]
        if depth and kind < 0.7:
            trips = self.uniform() if self.lanes > 1 else rng.choice([self.uniform(), f"({self.value(1)} & 7)"])
            i = self.counter()
            return [Block(f"for ({i} = 0; {i} < {trips}; {i}++) {{", (tuple(self.again(place, depth - 1)),))]
        return [f"shared[{place}] {rng.choice(['=', '+=', '^='])} {self.value()};"]

    # --- what the group does together

    def phases(self, depth: int) -> tuple:
        found: list = []
        for _ in range(self.rng.randint(1, 3)):
            found += self.phase(depth) if self.left > 0 else []
        return tuple(found)

    def phase(self, depth: int) -> list:
        kind = self.rng.random()
        if depth and kind < 0.3:
            i = self.counter()
            return [Block(f"for ({i} = 0; {i} < {self.uniform()}; {i}++) {{", (self.phases(depth - 1),))]
        if depth and kind < 0.4:
            return [Block(f"if ({self.uniform()} > 1) {{", (self.phases(depth - 1),))]
        self.left -= 1
        place = self.rng.choice(["l", "m - 1 - l", "(l + 1) % m"])
        reads = [one for _ in range(self.rng.randint(1, 2)) for one in self.own(True)]
        more = [one for _ in range(self.rng.choice([0, 0, 1, 2])) for one in self.again(place)]
        return [f"shared[{place}] = {self.value()};", *more, Block("{", ((BARRIER, *reads, BARRIER),))]


def random_group_kernel(seed: int, name: str = "k") -> GroupKernel:
    """The kernel of that seed."""
    rng = random.Random(f"groups {seed}")
    # each lane and unit is hardware of its own
    lanes, units = rng.choice([1] * 7 + [2, 2, 4]), rng.choice([1] * 12 + [2, 2, 3])
    group = lanes * rng.choice([1, 2, 3, 4, 8])
    g = _Generator(rng, lanes)
    meets = rng.random() < 0.8
    body = [*g.own(False), *(g.phases(2) if meets else g.own(False)), *g.own(False)]
    reveal = [f"out[{OWN} * g + {OWN - 1}] = {' + '.join(f'{v} * {2 * k + 1}' for k, v in enumerate(g.variables))};"]
    declared = ["int g = get_global_id(0), l = get_local_id(0), m = get_local_size(0);"]
    declared += [f"__local int shared[{group}];"] * meets
    declared += [f"int {v} = {rng.choice(['g', 'l', 'in[g]', 'n', '7'])};" for v in g.variables]
    declared += [f"int i{k} = 0;" for k in range(g.loops)]
    declared += [f"int mine[{KEPT}]; for (int k = 0; k < {KEPT}; k++) mine[k] = k * l;"] * g.keeps
    # a required size of 1 is a single work-item
    return GroupKernel(
        name,
        tuple(declared),
        (*body, *reveal),
        True,
        group,
        lanes,
        units,
        lanes > 1 or group > 1 and rng.random() < 0.4,
    )
