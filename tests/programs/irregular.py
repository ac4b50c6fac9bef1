"""Random kernels over graphs and lists, as feed-forward parts and copies are made for: rows whose bounds are loaded,
elements looked up through indices, conditions that are loaded, positions that move on under a condition, sums and minima
of a row and of all rows, stores of one constant, and buffers updated in place.

The iterations of the outermost loop do not need each other, so that copies can share them. With ``promised`` some
kernels load and store elements of one buffer of which only a promise says that they are apart.
"""

import random

from .generate import ELEMENTS, Block, Kernel

__all__ = ["irregular_kernel"]

_MASK = ELEMENTS - 1
_INTEGERS = ("ia", "ib", "ic", "il")
_SUMS = ("{0} += {1};", "{0} ^= {1};", "{0} = min({0}, {1});", "{0} = max({0}, {1});", "if ({1} < {0}) {0} = {1};")


class _Generator:
    def __init__(self, seed: int, promised: bool):
        self.rng = random.Random(f"irregular {seed}")
        self.promised = promised
        self.names = 0
        self.sums = ["s"] if self.rng.random() < 0.6 else []
        self.in_place = self.rng.random() < 0.3

    def new(self) -> str:
        self.names += 1
        return f"v{self.names}"

    def load(self, known: list[str]) -> str:
        """An element looked up by something known, by two lookups at times."""
        rng, index = self.rng, self.rng.choice(known)
        if rng.random() < 0.35:
            index = f"{rng.choice(_INTEGERS)}[({index} + {rng.randrange(4)}) & {_MASK}]"
        if self.promised and rng.random() < 0.4:
            return f"wa[((({index}) << 1) & {_MASK}) | 1]"
        return f"(int){rng.choice(_INTEGERS)}[({index} {rng.choice('+-^')} {rng.randrange(9)}) & {_MASK}]"

    def value(self, known: list[str]) -> str:
        rng = self.rng
        one = self.load(known) if rng.random() < 0.6 else rng.choice(known)
        if rng.random() < 0.5:
            return f"({one} {rng.choice(['+', '-', '*', '^', '&'])} {rng.choice([*known, '3', self.load(known)])})"
        return one

    def condition(self, known: list[str]) -> str:
        return f"({self.value(known)} {self.rng.choice(['<', '>', '!=', '=='])} {self.rng.choice([*known, '2', '7'])})"

    def maybe(self, known: list[str], body: tuple) -> tuple:
        """The statements, under a condition at times."""
        return (Block(f"if {self.condition(known)} {{", (body,)),) if self.rng.random() < 0.35 else body

    def row(self, known: list[str], found: str, depth: int) -> tuple:
        """A loop over a row, which changes ``found``."""
        rng, e, c = self.rng, self.new(), self.new()
        ways = [f"({self.load(known)} & {rng.choice([3, 7])})", f"({known[0]} & 7)", str(rng.randrange(1, 6))]
        trips = rng.choice(ways)
        inside: tuple = (f"int {c} = {self.load([e])};",)
        more = [*known, e, c]
        if rng.random() < 0.25:  # a position that moves on
            p = self.new()
            head = (f"int {p} = {rng.choice(known)} & 15;",)
            inside += (f"if ({self.load([p])} < {self.value(more)}) {p}++;",)
            more.append(p)
        else:
            head = ()
        update = rng.choice(_SUMS).format(found, self.value(more))
        inside += self.maybe(more, (update,))
        if depth and rng.random() < 0.3:
            inside += self.row(more, found, depth - 1)
        if rng.random() < 0.12:
            inside += (Block(f"if {self.condition([*more, found])} {{", (("break;",),)),)
        if self.sums and rng.random() < 0.4:
            inside += self.maybe(more, (f"s += {self.value(more)};",))
        return (*head, Block(f"for (int {e} = 0; {e} < {trips}; {e}++) {{", (inside,)))

    def kernel(self, name: str) -> Kernel:
        rng, m = self.rng, self.new()
        known = ["i"]
        inside: list = [f"int {m} = {rng.choice(['0', '1000', 'i', 'n'])};"]
        if rng.random() < 0.5:
            d = self.new()
            inside.append(f"int {d} = {self.load(known)};")
            known.append(d)
        for _ in range(rng.choice((1, 1, 2))):
            inside += self.row(known, m, 1)
        stores = [f"{rng.choice(['oa', 'ol'])}[i] = {m};"]
        if rng.random() < 0.3:
            stores.append(f"if ({m} > 5) ob[3] = 1;")
        if rng.random() < 0.3:
            stores.append(f"ofl[i] = (float){m} * ifl[{m} & {_MASK}];")
        if self.promised:
            stores.append(f"wa[(i << 1) & {_MASK}] = {self.value([*known, m])};")
        elif self.in_place:
            stores.append(f"wa[i] = wa[i] + {m};")
        if self.sums:
            stores.append(f"s {rng.choice(['+=', '^='])} {m};" if rng.random() < 0.5 else f"s += {m};")
        inside += self.maybe(known, tuple(stores)) if not self.sums else tuple(stores)
        trips = rng.choice(["13", "20", "n", "n + 9", "31"])
        head = f"for (int i = {rng.choice(['0', '0', '2'])}; i < {trips}; i{rng.choice(['++', '++', ' += 3'])}) {{"
        body: tuple = (Block(head, (tuple(inside),)),)
        if self.sums:
            body += (f"ol[{_MASK}] = s;",) if not any("ol[i]" in one for one in stores) else (f"ob[{_MASK}] = s;",)
        return Kernel(name, ("int s = 0;",) if self.sums else (), body, False)


def irregular_kernel(seed: int, name: str = "k", promised: bool = False) -> Kernel:
    """The kernel of a seed."""
    return _Generator(seed, promised).kernel(name)
