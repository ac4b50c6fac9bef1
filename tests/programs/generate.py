"""Random kernels made of loop nests, recurrences and memory accesses; every one ends, and defines every byte it writes.

A kernel is a tree of statements over variables that are all declared at its top, so that any part of the tree can be
removed and the rest is still a kernel (see :mod:`.shrink`).
"""

import random
import re
from dataclasses import dataclass, field, replace

import numpy as np

from tests.kernels.system import Launch

__all__ = ["ELEMENTS", "Block", "Kernel", "launches", "random_kernel"]

ELEMENTS = 64  #: of every buffer
ITEMS = 8  #: work-items of an NDRange kernel; each writes only its own eighth of a buffer
INPUTS = {
    "ia": ("int", np.int32),
    "ib": ("uchar", np.uint8),
    "ic": ("short", np.int16),
    "il": ("long", np.int64),
    "ifl": ("float", np.float32),
}
OUTPUTS = {"oa": ("int", np.int32), "ob": ("uchar", np.uint8), "ol": ("long", np.int64), "ofl": ("float", np.float32)}
#: read and written; ``wa`` is restrict, ``wb`` is not
BOTH = {"wa": ("int", np.int32), "wb": ("uint", np.uint32)}
SCALARS = {
    "n": ("int", lambda rng: int(rng.integers(-3, 9))),
    "u": ("ushort", lambda rng: int(rng.integers(0, 1 << 16))),
    "z": ("ulong", lambda rng: int(rng.integers(0, 1 << 63))),
    "x": ("float", lambda rng: float(rng.normal(0, 9))),
}
#: what loops are asked to be; each as likely as it stands here
PRAGMAS = [
    "loop_coalesce",
    "loop_coalesce",
    "loop_coalesce 2",
    "max_concurrency 2",
    "speculated_iterations 1",
    "disable_loop_pipelining",
]
NANS = np.array([0x7FC00001, 0xFFC12345, 0x7F800001, 0xFFBFFFFF, 0xFFC00000, 0x7FFFFFFF], np.uint32)
TYPES = ["int", "int", "int", "uint", "long", "uchar", "short", "float"]


@dataclass(frozen=True)
class Block:
    """A statement with statements inside: ``head`` opens a brace, ``middle`` (where not empty) divides the two
    bodies."""

    head: str
    bodies: tuple[tuple["str | Block", ...], ...]
    tail: str = "}"
    middle: str = "} else {"


@dataclass(frozen=True)
class Kernel:
    """A random kernel; ``text`` is its source. With ``places`` each buffer lies in one of these memories of a board."""

    name: str
    declarations: tuple[str, ...]
    body: tuple[str | Block, ...]
    ndrange: bool
    places: tuple[str, ...] = field(default=(), kw_only=True)

    @property
    def text(self) -> str:
        lines = [*(f"  {d}" for d in self.declarations), *_lines(self.body, "  ")]
        inside = "\n".join(lines)
        return f"__kernel void {self.name}({', '.join(map(self._placed, self._parameters(inside)))}) {{\n{inside}\n}}\n"

    def named(self, name: str) -> "Kernel":
        return replace(self, name=name)

    def _placed(self, parameter: str) -> str:
        if not self.places or not parameter.startswith("__global"):
            return parameter
        place = self.places[sum(parameter.encode()) % len(self.places)]  # a smaller kernel has it in the same one
        return parameter.replace("__global", f'__global __attribute__((buffer_location("{place}")))')

    def _parameters(self, inside: str) -> list[str]:
        used = set(re.findall(r"\b\w+\b", inside))
        found = [f"__global const {t} *restrict {b}" for b, (t, _) in INPUTS.items() if b in used]
        found += [f"__global {t} *restrict {b}" for b, (t, _) in OUTPUTS.items() if b in used]
        found += [f"__global {t} *{'restrict ' * (b == 'wa')}{b}" for b, (t, _) in BOTH.items() if b in used]
        found += [f"{t} {s}" for s, (t, _) in SCALARS.items() if s in used]
        return found or ["__global int *restrict oa"]


def _lines(items, indent):
    for item in items:
        if isinstance(item, str):
            yield indent + item
            continue
        yield indent + item.head
        for k, body in enumerate(item.bodies):
            if k:
                yield indent + item.middle
            yield from _lines(body, indent + "  ")
        yield indent + item.tail


def launches(kernel: Kernel, seed: int, count: int = 2) -> list[Launch]:
    """What to run a kernel with; buffers it does not have are left out."""
    parameters = kernel.text.partition(") {")[0]
    names = set(re.findall(r"\b(\w+)(?:,|$)", parameters))
    return [_launch(names, np.random.default_rng([seed, k]), kernel.ndrange) for k in range(count)]


def _launch(names, rng, ndrange) -> Launch:
    buffers = {}
    for name, (_, dtype) in (INPUTS | OUTPUTS | BOTH).items():
        if name in names:
            buffers[name] = _values(rng, dtype)
    scalars = {name: make(rng) for name, (_, make) in SCALARS.items() if name in names}
    first = int(rng.integers(0, ITEMS)) if ndrange else 0
    size = (ITEMS - first,) if ndrange else (1,)
    return Launch(
        buffers, scalars, size, None, (first,), misalign=int(rng.integers(0, 9)), overlap=bool(rng.random() < 0.4)
    )


def _values(rng, dtype):
    if dtype == np.float32:
        values = rng.normal(0, 50, ELEMENTS).astype(np.float32)
        values[rng.integers(0, ELEMENTS, 6)] = [np.inf, -np.inf, np.nan, -0.0, 1e-41, 3e38]
        # quiet and signaling NaN with payloads, which whatever only moves them keeps
        values.view(np.uint32)[rng.integers(0, ELEMENTS, 6)] = NANS
        return values
    if rng.random() < 0.5:
        return rng.integers(0, 12, ELEMENTS).astype(dtype)
    return np.frombuffer(rng.bytes(ELEMENTS * np.dtype(dtype).itemsize), dtype).copy()


@dataclass
class _Generator:
    """One kernel under construction."""

    rng: random.Random
    ndrange: bool
    budget: int
    wishes: random.Random  #: what loops are asked to be, beside everything else
    variables: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, int] = field(default_factory=dict)
    counters: list[str] = field(default_factory=list)  #: of all loops so far: read, never assigned by other statements
    loops: int = 0

    # --- expressions: every one is parenthesized

    def value(self, depth: int = 2) -> str:
        """An integer of some type."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.2:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(depth - 1)
        kind = rng.random()
        if kind < 0.55:
            return f"({a} {rng.choice(['+', '-', '+', '-', '^', '&', '|', '*'])} {b})"
        if kind < 0.62:
            return f"({a} {rng.choice(['<<', '>>'])} ({b} & {rng.choice([3, 7, 31])}))"
        if kind < 0.65:
            return f"({a} {rng.choice('/%')} (({b} & 15) | 1))"
        if kind < 0.8:
            return f"({self.condition(depth - 1)} ? {a} : {b})"
        if kind < 0.86:
            return f"(({rng.choice(['uchar', 'short', 'int', 'uint', 'long'])}){a})"
        if kind < 0.9:
            return f"(int)({self.real(depth - 1)} < {self.real(depth - 1)})"
        return self.load(a)

    def leaf(self) -> str:
        rng = self.rng
        integers = [v for v, t in self.variables.items() if t != "float"] + self.counters
        kind = rng.random()
        if kind < 0.6 and integers:
            return rng.choice(integers)
        if kind < 0.7:
            return rng.choice(["n", "u", "(int)z"])
        if kind < 0.78:
            return self.load(rng.choice(integers or ["3"]))
        if kind < 0.86 and self.arrays:
            name = rng.choice(list(self.arrays))
            return f"{name}[{rng.choice(integers or ['1'])} & {self.arrays[name] - 1}]"
        return str(rng.choice([0, 1, 2, 3, 5, 17, 255, 1000]))

    def load(self, index: str) -> str:
        name = self.rng.choice(["ia", "ia", "ib", "ic", "il", "wa", "wb"])
        return f"{name}[{self.place(name, index)}]"

    def place(self, name: str, index: str) -> str:
        """An index inside the buffer, and inside the work-item's part of it where others write."""
        if self.ndrange and name not in INPUTS:
            return f"g * {ELEMENTS // ITEMS} + ({index} & {ELEMENTS // ITEMS - 1})"
        return f"{index} & {ELEMENTS - 1}"

    def real(self, depth: int) -> str:
        names = [v for v, t in self.variables.items() if t == "float"]
        if depth <= 0 or self.rng.random() < 0.3:
            return self.rng.choice([*names, "x", "1.5f", f"ifl[{self.leaf()} & {ELEMENTS - 1}]"])
        a, b = self.real(depth - 1), self.real(depth - 1)
        return self.rng.choice([f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"((float){self.leaf()})", f"(-{a})"])

    def condition(self, depth: int) -> str:
        a, b = self.value(depth - 1), self.value(depth - 1)
        return self.rng.choice(
            [f"({a} {self.rng.choice(['<', '<=', '==', '!=', '>'])} {b})", f"({a} & 1)", f"(({a} & 3) != 0)"]
        )

    # --- statements

    def block(self, depth: int, loops: int) -> tuple:
        items = []
        for _ in range(self.rng.randint(1, 3)):
            if self.budget <= 0:
                break
            self.budget -= 1
            items += self.statement(depth, loops)
        return tuple(items)

    def statement(self, depth: int, loops: int) -> list:
        rng = self.rng
        kind = rng.random()
        if loops and kind < 0.07:
            leave = rng.choice(["break;", "continue;", "break;", "return;"])
            return [f"if ({self.condition(2)}) {leave}"]
        if depth > 0 and kind < 0.42:
            return self.loop(depth, loops)
        if depth > 0 and kind < 0.55:
            bodies = (self.block(depth - 1, loops),)
            if rng.random() < 0.5:
                bodies += (self.block(depth - 1, loops),)
            return [Block(f"if ({self.condition(2)}) {{", bodies)]
        if kind < 0.75:
            return [self.store()]
        return [self.assign()]

    def assign(self) -> str:
        rng = self.rng
        if self.arrays and rng.random() < 0.25:
            name = rng.choice(list(self.arrays))
            return f"{name}[{self.leaf()} & {self.arrays[name] - 1}] = {self.value()};"
        names = list(self.variables)
        if len(names) > 2 and rng.random() < 0.1:
            first, second = rng.sample(names, 2)
            return f"{{ {self.variables[first]} t = {first}; {first} = {second}; {second} = t; }}"
        name = rng.choice(names)
        if self.variables[name] == "float":
            return f"{name} = {self.real(2)};"
        if rng.random() < 0.5:
            return f"{name} {rng.choice(['+=', '-=', '^=', '+='])} {self.value()};"
        return f"{name} = {self.value()};"

    def store(self) -> str:
        name = self.rng.choice(["oa", "oa", "ob", "ol", "ofl", "wa", "wb"])
        value = self.real(1) if name == "ofl" else self.value()
        return f"{name}[{self.place(name, self.value(1))}] = {value};"

    def loop(self, depth: int, loops: int) -> list:
        rng = self.rng
        i = f"i{self.loops}"
        self.loops += 1
        self.counters.append(i)
        trips = self.trips(loops)
        form = rng.random()
        if form < 0.6:
            guard = f" && {self.condition(1)}" if rng.random() < 0.2 else ""
            start = rng.choice(["0", "0", "0", rng.choice(self.counters)])
            head, tail = f"for ({i} = {start}; {i} < {trips}{guard}; {i}++) {{", "}"
            before = []
        elif form < 0.8:
            before, tail = [f"{i} = 0;"], "}"
            head = f"while ({i}++ < {trips} && {self.condition(2)}) {{"
        else:
            before, head = [f"{i} = 0;"], "do {"
            tail = f"}} while (++{i} < {trips}{' && ' + self.condition(1) if rng.random() < 0.4 else ''});"
        pragma = [f"#pragma unroll {rng.choice([2, 3])}"] if rng.random() < 0.06 else []
        if not pragma and self.wishes.random() < 0.1:
            pragma = [f"#pragma {self.wishes.choice(PRAGMAS)}"]
        return [*before, *pragma, Block(head, (self.block(depth - 1, loops + 1),), tail)]

    def trips(self, loops: int) -> str:
        """A bound of at most seven, fewer inside; constants, zero among them, and unknown ones."""
        most = [15, 7, 3, 3][min(loops, 3)]
        if self.rng.random() < 0.3:
            return str(self.rng.randint(0, most + 1))
        return f"({self.value(1)} & {self.rng.choice([1, 3, most])})"


def random_kernel(seed: int, name: str = "k") -> Kernel:
    """The kernel of that seed."""
    rng = random.Random(seed)
    ndrange = rng.random() < 0.3
    g = _Generator(rng, ndrange, rng.choice([5, 9, 14]), random.Random(f"wishes {seed}"))
    for k in range(rng.randint(2, 5)):
        g.variables[f"v{k}"] = rng.choice(TYPES)
    if rng.random() < 0.3:
        g.arrays["t"] = rng.choice([2, 4, 8])
    declared = [f"{t} {v} = {rng.choice([k, 'n', 'u', 1])};" for k, (v, t) in enumerate(g.variables.items())]
    declared += [f"int {a}[{size}] = {{0, 1}};" for a, size in g.arrays.items()]
    if ndrange:
        g.counters.append("g")
    body = []
    while g.budget > 0:
        body += g.block(4, 0)
    if ndrange:
        g.counters.remove("g")
        declared.insert(0, "uint g = get_global_id(0);")
    declared += [f"int {i} = 0;" for i in g.counters]
    return Kernel(name, tuple(declared), (*body, *_reveal(g)), ndrange)


def _reveal(g: _Generator) -> list[str]:
    """Store every variable: no assignment is for nothing."""
    return [
        f"{'ofl' if t == 'float' else 'ol'}[{g.place('ol', str(k))}] = {v};"
        for k, (v, t) in enumerate(g.variables.items())
    ]
