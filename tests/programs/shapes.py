"""Random kernels of a few shapes that passes look for: nests by a test, stores that interleave, shift registers of any
size, loads made early, copies on the chip, automata by `switch` and `goto`, narrow counters, structs, rows,
wavefronts, bits and triangles. :mod:`.generate` hits few of them by chance.

    python -m tests.programs.planned --shapes --programs 300 --start 0
    python -m tests.programs.campaign --shapes --systems 4 --board de5net
"""

import random
from dataclasses import dataclass, field

from .generate import ELEMENTS, Block, Kernel, _Generator

__all__ = ["random_shapes"]

NARROW = ("uchar", "char", "short", "ushort", "bool", "uint", "long")
#: of a private array or shift register: powers of two, one more, one less, and others
SIZES = (2, 3, 5, 7, 8, 9, 12, 16, 17, 24, 33)
LAST = ELEMENTS - 1


@dataclass
class _Shapes:
    """One kernel under construction. Every method is a shape, and returns its statements."""

    rng: random.Random
    g: _Generator
    declared: list[str] = field(default_factory=list)

    def new(self, kind: str, type_: str, size: int = 0, start: str = "0") -> str:
        """Declare a variable, or an array of ``size`` elements."""
        name = f"{kind}{len(self.declared)}"
        self.declared.append(f"{type_} {name}{f'[{size}] = {{{start}}}' if size else f' = {start}'};")
        return name

    def counter(self) -> str:
        i = self.new("i", "int")
        self.g.counters.append(i)
        return i

    def trips(self, most: int) -> str:
        """Trips of a loop: a constant, an argument, or from memory."""
        return self.rng.choice([str(self.rng.randint(0, most)), f"(n & {most})", f"(ia[{LAST}] & {most})", str(most)])

    def some(self) -> list:
        """Statements that have nothing to do with the shape."""
        return [self.rng.choice([self.g.assign, self.g.store])() for _ in range(self.rng.randrange(3))]

    def loop(self, i: str, trips: str, body: list, first: str = "0") -> Block:
        return Block(f"for ({i} = {first}; {i} < {trips}; {i}++) {{", (tuple(body),))

    def tested(self) -> list:
        i, q = self.counter(), self.new("q", "int")
        test = self.rng.choice(
            [f"ia[{q} & {LAST}] != ic[{i} & {LAST}]", f"(wa[{q} & {LAST}] & 3)", self.g.condition(1)]
        )
        step = self.rng.choice([f"{q}--;", f"{q} >>= 1;", f"{q} = (ia[{q} & {LAST}] & {LAST}) % {q};"])
        inner = Block(f"while ({q} > 0 && {test}) {{", ((*self.some(), step),))
        enter = self.rng.choice([f"{q} = {self.g.value(1)} & 15;", f"{q} += ib[{i} & {LAST}] & 7;"])
        return [self.loop(i, self.trips(15), [enter, *self.some(), inner, *self.some()])]

    def interleaved(self) -> list:
        i, width = self.counter(), self.rng.choice([2, 3, 4])
        name = self.rng.choice(["oa", "ob", "ol", "wa", "wb"])
        stores: list = []
        for k in self.rng.sample(range(width), self.rng.randint(2, width)):
            store = f"{name}[{i} * {width} + {k}] = {self.g.value(1)};"
            stores.append(Block(f"if ({self.g.condition(1)}) {{", ((store,),)) if self.rng.random() < 0.3 else store)
        if self.rng.random() < 0.5:
            stores.insert(self.rng.randrange(len(stores)), f"v0 += {self.rng.choice(['wa', 'wb'])}[{i} * {width} + 1];")
        return [self.loop(i, self.trips(ELEMENTS // width - 1), stores)]

    def shifted(self) -> list:
        i, k, size = self.counter(), self.new("k", "int"), self.rng.choice(SIZES)
        type_ = self.rng.choice([*NARROW, "int", "int", "float"])
        r = self.new("r", type_, size)
        source = f"ifl[{i}]" if type_ == "float" else f"{self.rng.choice(['ia', 'ib', 'wa', 'il'])}[{i}]"
        up = self.rng.random() < 0.5
        moves = (
            Block(f"for ({k} = {size - 1}; {k} > 0; {k}--) {{", ((f"{r}[{k}] = {r}[{k} - 1];",),))
            if up
            else Block(f"for ({k} = 0; {k} < {size - 1}; {k}++) {{", ((f"{r}[{k}] = {r}[{k} + 1];",),))
        )
        ins = f"{r}[{0 if up else size - 1}] = {source};"
        shift = [moves, ins] if self.rng.random() < 0.7 else [Block(f"if ({self.g.condition(1)}) {{", ((moves, ins),))]
        taps = " + ".join(f"{r}[{self.rng.randrange(size)}]" for _ in range(self.rng.randint(1, 3)))
        out = f"ofl[{i}] = {taps};" if type_ == "float" else f"{self.rng.choice(['oa', 'wa', 'ol'])}[{i}] = {taps};"
        if self.rng.random() < 0.3 and type_ != "float":
            out += f" v1 += {r}[{i} % {size}];"
        return [self.loop(i, self.trips(LAST), [*shift, out, *self.some()])]

    def early(self) -> list:
        i, best, at = self.counter(), self.new("best", "int", start="1000"), self.new("at", "int")
        w = self.rng.choice(["ia", "wa", "wb"])
        element = self.rng.choice([f"{w}[{i}]", f"{w}[ib[{i}] & {LAST}]", f"{w}[{i}] + ic[{i}]"])
        update = self.rng.choice([f"{best} = {element};", f"{best} = {element} + ia[{LAST} - {i}];", f"{at} = {i};"])
        compare = self.rng.choice([f"{element} < {best}", f"{element} > {w}[{at}]"])
        body = [Block(f"if ({compare}) {{", ((update, f"{at} = {i};", *self.some()[:1]),))]
        if self.rng.random() < 0.3:
            body.append(f"if ({w}[{i}] == {self.rng.randint(0, 11)}) break;")
        return [self.loop(i, self.trips(LAST), body), f"v0 ^= {best} + {at};"]

    def copied(self) -> list:
        i, j, k = self.counter(), self.counter(), self.counter()
        size, type_ = self.rng.choice([4, 8, 16]), self.rng.choice([*NARROW, "int", "int"])
        t = self.new("t", type_, size)
        inside = self.rng.choice(
            [f"{t}[{j}] += {t}[({j} + 1) % {size}];", f"{t}[{t}[{j}] & {size - 1}]++;", f"v0 += {t}[{j}];"]
        )
        into, out = self.rng.choice(["ia", "ib", "wa", "wb"]), self.rng.choice(["oa", "wa", "wb"])
        body = [
            self.loop(j, str(size), [f"{t}[{j}] = {into}[{i} * {size} + {j}];"]),
            self.loop(k, self.trips(3), [self.loop(j, str(size), [inside])]),
            self.loop(j, str(size), [f"{out}[{i} * {size} + {j}] = {t}[{j}];"]),
        ]
        return [self.loop(i, self.trips(ELEMENTS // size), body)]

    def automaton(self) -> list:
        i, state, name = self.counter(), self.new("state", self.rng.choice(["int", "uchar"])), f"l{len(self.declared)}"
        arms: list = []
        for k in range(self.rng.randint(2, 5)):
            leave = self.rng.choice(["break;", "break;", "", f"goto {name};" if k == 1 else "continue;"])
            arms += [
                f"case {k}:",
                *self.some(),
                f"{state} = {self.rng.choice([str(k + 1), f'ib[{i}] & 3', self.g.value(1)])};",
                leave,
            ]
        arms += self.rng.choice([[], ["default:", f"{state} = 0;"]])
        body = [f"{state} &= 7;", Block(f"switch ({state}) {{", (tuple(arms),)), *self.some()]
        return [self.loop(i, self.trips(31), body), f"{name}: v0 += {state};"]

    def jumps(self) -> list:
        """A loop that gotos make, left from its middle."""
        i, name = self.counter(), f"g{len(self.declared)}"
        return [
            f"{i} = 0;",
            f"{name}a: ;",
            *self.some(),
            f"if ({self.g.condition(1)}) goto {name}c;",
            *self.some(),
            f"{name}c: {i}++;",
            f"if (wa[{i}] == 7) goto {name}b;",
            f"if ({i} < {self.trips(15)}) goto {name}a;",
            f"{name}b: v0 += {i};",
        ]

    def narrow(self) -> list:
        i, c = self.counter(), self.new("c", self.rng.choice(NARROW[:5]))
        step = self.rng.choice(
            [f"{c} += {self.rng.choice([1, 3, 37, 100])};", f"{c} = {c} * 5 + ib[{i}];", f"{c}++;", f"{c} = ~{c};"]
        )
        wrap = self.rng.choice(
            [f"if ({c} == n) {c} = 0;", f"if ({c} > u) {c} -= 3;", f"v1 += {c} < ic[{i}];", f"{c} ^= {c} >> 1;"]
        )
        return [self.loop(i, self.trips(LAST), [step, wrap, f"oa[{i}] = {c};", f"ob[({c} + 0) & {LAST}] = {c};"])]

    def records(self) -> list:
        i, size, number = self.counter(), self.rng.choice([2, 4, 8]), len(self.declared)
        self.declared.append(
            f"struct S{number} {{ {self.rng.choice(NARROW)} a; int b[3]; short2 c; }} s{number}[{size}] = {{{{0}}}};"
        )
        s, at = f"s{number}", self.rng.choice([f"{i} % {size}", f"ib[{i}] & {size - 1}"])
        lines = [
            f"{s}[{at}].a += ia[{i}];",
            f"{s}[{at}].b[{i} % 3] ^= {self.g.value(1)};",
            f"{s}[0] = {s}[{at}];",
            f"{s}[{at}].c.y = {s}[1].c.x + {i};",
            f"v0 += {s}[{at}].b[1] + {s}[{at}].c.y;",
        ]
        self.rng.shuffle(lines)
        return [self.loop(i, self.trips(31), lines[:4]), f"v0 ^= {s}[1].a + {s}[0].b[2] + {s}[0].c.y;"]

    def scattered(self) -> list:
        i, w = self.counter(), self.rng.choice(["wa", "wb"])
        at = self.rng.choice([f"ia[{i}] & {LAST}", f"ib[{i}] & 7", f"{w}[{i}] & {LAST}", f"({i} * 5) & {LAST}"])
        body = [
            self.rng.choice(
                [
                    f"{w}[{at}] += {self.g.leaf()};",
                    f"if ({w}[{at}] < v0) {w}[{at}] = v0 + 1;",
                    f"{w}[{at}] ^= {w}[{LAST} - {i}];",
                ]
            ),
            *self.some(),
        ]
        return [self.loop(i, self.trips(LAST), body)]

    def wavefront(self) -> list:
        i, j, w = self.counter(), self.counter(), self.rng.choice(["wa", "wb"])
        before = [
            f"{w}[({i} - 1) * 8 + {j}]",
            f"{w}[{i} * 8 + {j} - 1]",
            f"{w}[({i} - 1) * 8 + {j} - 1]",
            f"ia[{i} * 8 + {j}]",
        ]
        a, b = self.rng.sample(before, 2)
        value = self.rng.choice([f"{a} + {b}", f"{a} > {b} ? {a} : {b}", f"{a} ^ ({b} >> 1)"])
        first = self.rng.choice(["1", i])
        return [
            self.loop(
                i,
                "8",
                [
                    self.loop(j, self.rng.choice(["8", f"({i} + 1)"]), [f"{w}[{i} * 8 + {j}] = {value};"], first),
                    *self.some(),
                ],
                "1",
            )
        ]

    def sums(self) -> list:
        i, j, f = self.counter(), self.counter(), self.new("f", "float", start="0.5f")
        inner = self.loop(
            j, self.trips(7), [f"{f} += ifl[{i} * 8 + {j}] * {self.rng.choice(['x', f'ofl[{j}]', f'ifl[{j}]'])};"]
        )
        return [
            self.loop(
                i, "8", [self.rng.choice([f"{f} = 0;", "v0++;"]), inner, f"ofl[{i} * {self.rng.choice([1, 8])}] = {f};"]
            )
        ]

    def vectors(self) -> list:
        i, v = self.counter(), self.new("v_", "int4")
        buffer = self.rng.choice(["wa", "oa"])
        lines = [
            f"{v} = vload4({i}, {self.rng.choice(['ia', 'wa'])}) + {v}.yzwx;",
            f"{v}.xz += (int2)({i}, {self.g.leaf()});",
        ]
        return [
            self.loop(
                i,
                self.trips(15),
                [*lines, f"vstore{self.rng.choice(['4(' + v, '2(' + v + '.wy'])}, {i}, {buffer});", *self.some()],
            )
        ]

    def bits(self) -> list:
        """A loop over the bits of a word, which is unrolled without being asked if it is mostly wires."""
        i, k, type_ = self.counter(), self.counter(), self.rng.choice(["uint", "int", "ulong", "ushort"])
        w, r, p = self.new("w", type_), self.new("r", type_), self.new("p", "int", start="1")
        steps = [
            f"{r} = ({r} << 1) | (({w} >> {k}) & 1);",
            f"{r} ^= {w} >> ({k} & 15);",
            f"if (({w} >> {k}) & 1) {r} += {k};",
            f"{r} = {r} & 1 ? ({r} >> 1) ^ 0xb8u : {r} >> 1;",
            f"if ({r} >= {w}) {r} -= {w};",
            f"{p} = {p} * 5 % 31; {r} += {w} >> {p};",
            f"{w} >>= 1;",
            f"{w} += {i};",
        ]
        width, down = self.rng.choice([15, 16, 17, 24, 31, 32, 33, 64, 65]), self.rng.random() < 0.4
        head = f"for ({k} = {width - 1}; {k} >= 0; {k}--) {{" if down else f"for ({k} = 0; {k} < {width}; {k}++) {{"
        enter = [f"{w} = ia[{i}];", *self.rng.sample([f"{r} = 0;", f"{p} = 1;", f"{r} = ib[{i}];"], 2)]
        inner = Block(head, (tuple(self.rng.sample(steps, self.rng.randint(1, 3))),))
        return [self.loop(i, self.trips(LAST), [*enter, inner, f"oa[{i}] = {r};", *self.some()])]

    def triangle(self) -> list:
        """A nest over half of a small private array, whose inner trip counts are constants once it is unrolled."""
        i, p, q, size = self.counter(), self.counter(), self.counter(), self.rng.choice([3, 4, 6, 9])
        t = self.new("t", self.rng.choice(NARROW), size)
        low, high = self.rng.choice([("0", f"({size - 1} - {p})"), (f"{p} + 1", f"{size - 1}"), ("0", f"({p} & 3)")])
        work = self.rng.choice(
            [
                Block(f"if ({t}[{q}] > {t}[{q} + 1]) {{", ((f"{t}[{q}] ^= {t}[{q} + 1] + 1;",),)),
                f"{t}[{q}] += {t}[{q} + 1] * {p};",
                f"v0 += {t}[{p}] * {t}[{q}] - ib[{i} + {q}];",
            ]
        )
        fill = self.loop(q, str(size), [f"{t}[{q}] = ia[({i} * {size} + {q}) & {LAST}];"])
        nest = self.loop(
            p, self.rng.choice([str(size), str(size), self.trips(size)]), [self.loop(q, high, [work], low)]
        )
        return [self.loop(i, self.trips(15), [fill, nest, f"oa[{i}] = {t}[{size // 2}];"])]


SHAPES = (
    _Shapes.tested,
    _Shapes.interleaved,
    _Shapes.shifted,
    _Shapes.early,
    _Shapes.copied,
    _Shapes.automaton,
    _Shapes.jumps,
    _Shapes.narrow,
    _Shapes.records,
    _Shapes.scattered,
    _Shapes.wavefront,
    _Shapes.sums,
    _Shapes.vectors,
    _Shapes.bits,
    _Shapes.triangle,
)


def random_shapes(seed: int, name: str = "k") -> Kernel:
    """The kernel of that seed: two to four shapes, one of them perhaps inside a loop."""
    rng = random.Random(f"shapes {seed}")
    g = _Generator(rng, False, 0, random.Random(0), {"v0": "int", "v1": rng.choice(["int", "uint", "uchar", "long"])})
    made = _Shapes(rng, g)
    body: list = []
    for _ in range(rng.randint(2, 4)):
        found = rng.choice(SHAPES)(made)
        if rng.random() < 0.25 and not any(isinstance(s, str) and "goto" in s for s in _flat(found)):
            found = [made.loop(made.counter(), made.trips(3), found)]
        body += found
    reveal = [f"ol[{g.place('ol', str(k))}] = {v};" for k, v in enumerate(g.variables)]
    declared = [f"{t} {v} = {k};" for k, (v, t) in enumerate(g.variables.items())] + made.declared
    return Kernel(name, tuple(declared), (*body, *reveal), False)


def _flat(items):
    for item in items:
        yield item if isinstance(item, str) else item.head
        if isinstance(item, Block):
            for body in item.bodies:
                yield from _flat(body)
