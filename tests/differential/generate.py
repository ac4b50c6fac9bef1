"""Random programs: a function with a struct, helpers, variables of all types, loops and branches, which outputs every
variable.

Its statements only touch variables that are declared at its top, so any of them can be taken out (see :mod:`.tree`).
"""

import random
from dataclasses import dataclass, field

from .forms import LANES, USUAL_LANES, forms_of, literal
from .tree import FLOATS, INTEGERS, Node, Type, sequence

__all__ = ["INPUTS", "OUTPUTS", "PARAMETERS", "WORDS", "Generator", "Program", "random_program", "reveal"]

#: by name: the types of their elements. What is ``raw`` has every kind of NaN.
INPUTS = {f"in_{t}": t for t in (*INTEGERS, *FLOATS)} | {f"raw_{t}": t for t in FLOATS}
#: floats that were computed are compared as numbers, those that were moved as bits
OUTPUTS = {"oi": "ulong", "of": "float", "mf": "float", "md": "double"}
PARAMETERS = ", ".join(
    [
        *(f"__global const {t} *{name}" for name, t in INPUTS.items()),
        *(f"__global {t} *{name}" for name, t in OUTPUTS.items()),
        "uint g",
    ]
)
#: Results of one work-item in each output.
WORDS = 64


@dataclass(frozen=True)
class Helper:
    name: str
    parameters: tuple[Type, ...]


@dataclass(frozen=True)
class Program:
    """``tree`` prints as a function ``NAME`` with :data:`PARAMETERS`, and what it needs."""

    name: str
    tree: Node

    def __str__(self):
        return str(self.tree)


@dataclass
class Generator:
    """One function under construction; ``variables`` are what its expressions may read."""

    rng: random.Random
    vectors: bool
    helpers: list[Helper] = field(default_factory=list)
    variables: list[tuple[str, Type]] = field(default_factory=list)
    fixed: list[tuple[str, Type]] = field(default_factory=list)  #: read only
    arrays: list[tuple[str, Type, int]] = field(default_factory=list)  #: sizes are powers of two
    shared: list[tuple[str, Type, int]] = field(default_factory=list)  #: arrays that are only read
    pointers: list[tuple[str, Type]] = field(default_factory=list)  #: at least four elements behind each
    inputs: bool = True
    loops: int = 0

    # --- expressions

    def expression(self, t: Type, depth: int = 2) -> Node:
        if depth <= 0 or self.rng.random() < 0.25:
            return self.leaf(t)
        return self.rng.choice(forms_of(self, t))(self, t, depth - 1)

    def leaf(self, t: Type) -> Node:
        rng, kind = self.rng, self.rng.random()
        same = [name for name, other in self.variables + self.fixed if other == t]
        if same and kind < 0.6:
            return Node(rng.choice(same), (), t)
        places = [self.place(a) for a in self.arrays + self.shared if a[1] == t] + [
            self.behind(p) for p in self.pointers if p[1] == t
        ]
        if places and kind < 0.75:
            return rng.choice(places)
        if kind < 0.85 and t.lanes == 1 and self.inputs:
            return Node(f"{t.source}[{rng.choice(['g', 'g + 4', rng.randrange(64)])}]", (), t)
        others = [(n, o) for n, o in self.variables + self.fixed if o.lanes == t.lanes and o.is_float == t.is_float]
        if kind < 0.95 and others and not t.moved:
            name, other = rng.choice(others)
            # a NaN that signals means something else to a function than one that is quiet, as a sum is
            form = f"convert_{t}({{0}}{f' + ({other.element})0' * other.moved})"
            return Node(form, (Node(name, (), other),), t)
        return literal(rng, t)

    def index(self) -> Node:
        names = [(n, t) for n, t in self.variables + self.fixed if t.lanes == 1 and not t.is_float]
        name, t = self.rng.choice(names)
        return Node(name, (), t)

    def place(self, array) -> Node:
        name, t, size = array
        form = self.rng.choice([f"{name}[{{0}} & {size - 1}]", f"(*({name} + ({{0}} & {size - 1})))"])
        return Node(form, (self.index(),), t)

    def behind(self, pointer) -> Node:
        name, t = pointer
        return Node(f"{name}[{{0}} & 3]", (self.index(),), t)

    def condition(self) -> Node:
        return self.expression(Type(self.rng.choice(["int", "uint", "long", "uchar"])), 2)

    # --- statements

    def block(self, depth: int, looped: bool) -> Node:
        return sequence(*(self.statement(depth, looped) for _ in range(self.rng.randint(1, 3))))

    def statement(self, depth: int, looped: bool) -> Node:
        kind = self.rng.random()
        if depth > 0 and kind < 0.16:
            return self.loop(depth)
        if depth > 0 and kind < 0.32:
            bodies = [self.block(depth - 1, looped) for _ in range(self.rng.randint(1, 2))]
            return Node("if ({0}) {{\n{1}\n}}" + " else {{\n{2}\n}}" * (len(bodies) - 1), (self.condition(), *bodies))
        if depth > 0 and kind < 0.38:
            return self.switch(depth)
        if looped and kind < 0.46:
            return Node(f"if ({{0}}) {self.rng.choice(['break', 'continue'])};", (self.condition(),))
        if kind < 0.56 and self.arrays:
            return self.point()
        return self.assign()

    def assign(self) -> Node:
        rng = self.rng
        targets = [(Node(name, (), t), t) for name, t in self.variables for _ in (0, 1)]
        targets += [(self.place(a), a[1]) for a in self.arrays] + [(self.behind(p), p[1]) for p in self.pointers]
        place, t = rng.choice(targets)
        if t.lanes > 1 and not place.parts and rng.random() < 0.4:  # some components
            count = rng.choice([n for n in (1, *LANES) if n <= t.lanes and n != 3])
            chosen = "".join(f"{k:x}" for k in rng.sample(range(t.lanes), count))
            return Node(f"{{0}}.s{chosen} = {{1}};", (place, self.expression(t.with_lanes(count))))
        if not t.is_float and (not t.signed or t.lanes == 1 and t.bits < 32) and rng.random() < 0.4:
            op = rng.choice(["+=", "-=", "^=", "|=", "&=", "<<=", ">>="])
            return Node(f"{{0}} {op} {{1}};", (place, self.expression(t)))
        if not t.is_float and t.lanes == 1 and not t.signed and rng.random() < 0.15:
            return Node(rng.choice(["{0}++;", "--{0};"]), (place,))
        return Node("{0} = {1};", (place, self.expression(t, 3)))

    def point(self) -> Node:
        """A pointer moves to another place of its array, or of another."""
        if not self.pointers:
            return self.assign()
        name, t = self.rng.choice(self.pointers)
        one, other = (self.rng.choice([a for a in self.arrays if a[1] == t and a[2] >= 8]) for _ in (0, 1))
        if self.rng.random() < 0.5:
            return Node(f"{name} = {one[0]} + ({{0}} & 3);", (self.index(),))
        return Node(f"{name} = {{0}} ? {one[0]} + ({{1}} & 3) : &{other[0]}[1];", (self.condition(), self.index()))

    def loop(self, depth: int) -> Node:
        """At most five iterations."""
        rng, i = self.rng, f"i{self.loops}"
        self.loops += 1
        self.fixed.append((i, Type("int")))
        body, trips, more = self.block(depth - 1, True), rng.randint(0, 5), self.condition()
        form = rng.choice(
            [
                f"for ({i} = 0; {i} < {trips}; {i}++) {{{{\n{{0}}\n}}}}",
                f"for ({i} = {trips}; {i} > 0 && ({{1}}); {i} -= 2) {{{{\n{{0}}\n}}}}",
                f"{i} = 0;\nwhile ({i}++ < {trips}) {{{{\n{{0}}\n}}}}",
                f"{i} = 0;\ndo {{{{\n{{0}}\n}}}} while (++{i} < {trips} && ({{1}}));",
            ]
        )
        return Node(form, (body, more))

    def switch(self, depth: int) -> Node:
        labels = self.rng.sample(["case 0:", "case 1:", "case 2:", "default:"], self.rng.randint(1, 4))
        arms = "".join(
            f"{label} {{{{\n{{{k}}}\n}}}}{self.rng.choice([' break;', ''])}\n" for k, label in enumerate(labels, 1)
        )
        bodies = (self.block(depth - 1, False) for _ in labels)
        return Node(f"switch ((int)({{0}}) & 3) {{{{\n{arms}}}}}", (self.condition(), *bodies))

    # --- declarations

    def any_type(self) -> Type:
        lanes = self.rng.choice(USUAL_LANES) if self.vectors and self.rng.random() < 0.3 else 1
        element = self.rng.choice([*INTEGERS, "int", "float", "float", "double", "double"])
        return Type(element, lanes, element in FLOATS and self.rng.random() < 0.5)

    def declare(self, count: int) -> list[Node]:
        """Variables with initializers, which read those before them."""
        lines = []
        for k in range(count):
            t = self.any_type()
            lines.append(Node(f"{t} v{k} = {{0}};", (self.expression(t, 1),)))
            self.variables.append((f"v{k}", t))
        return lines

    def declare_arrays(self) -> list[Node]:
        lines = []
        t = self.any_type()
        for k, size in enumerate(self.rng.choice([(), (8,), (8, 8), (4,)])):
            lines.append(
                Node(f"{t} a{k}[{size}] = {{{{{{0}}, {{1}}}}}};", (self.expression(t, 0), self.expression(t, 0)))
            )
            self.arrays.append((f"a{k}", t, size))
        if any(a[2] == 8 for a in self.arrays) and self.rng.random() < 0.7:
            lines.append(Node(f"{t} *p = a0 + 2;"))
            self.pointers.append(("p", t))
        return lines


def _struct(g: Generator, name: str) -> list[Node]:
    """A struct type, two variables of it, and their members among the variables."""
    members = [(f"m{k}", g.any_type()) for k in range(g.rng.randint(2, 4))]
    array = Type(g.rng.choice(["uchar", "short", "int"]))
    fields = " ".join(f"{t} {m};" for m, t in members)
    g.variables += [(f"s.{m}", t) for m, t in members]
    g.arrays.append(("s.list", array, 4))
    return [Node(f"typedef struct {{{{ {fields} {array} list[4]; }}}} {name};")]


def _helper(rng: random.Random, name: str, vectors: bool) -> tuple[Helper, Node]:
    """A function of two values, with a loop or a branch."""
    g = Generator(rng, vectors, inputs=False)
    result, a, b = (Type(rng.choice(list(INTEGERS))) for _ in range(3))
    g.variables = [("x", a), ("y", b)]
    body = sequence(
        g.statement(1, False),
        g.statement(1, False),
        Node("if ({0}) return {1};", (g.condition(), g.expression(result))),
    )
    counters = "".join(f"int i{k} = 0; " for k in range(g.loops))
    tree = Node(
        f"{result} {name}({a} x, {b} y) {{{{\n{counters}\n{{0}}\nreturn {{1}};\n}}}}", (body, g.expression(result))
    )
    return Helper(name, (a, b)), tree


def random_program(seed: int, name: str = "p", vectors: bool = True) -> Program:
    """The program of that seed."""
    rng = random.Random(seed)
    g = Generator(rng, vectors)
    g.fixed.append(("g", Type("uint")))
    before = []
    if rng.random() < 0.6:
        helper, tree = _helper(rng, f"h_{name}", vectors)
        g.helpers.append(helper)
        before.append(tree)
    declarations = g.declare(rng.randint(3, 6)) + g.declare_arrays()
    if rng.random() < 0.4:
        before += _struct(g, f"S_{name}")
        declarations.append(Node(f"S_{name} s = {{{{ 0 }}}}, old;"))
        body = [
            g.statement(2, False),
            Node("old = s;"),
            *(g.statement(2, False) for _ in range(2)),
            Node("if ({0}) s = old;", (g.condition(),)),
        ]
    else:
        body = [g.statement(3, False) for _ in range(rng.randint(2, 5))]
    counters = "".join(f"int i{k} = 0; " for k in range(g.loops))
    main = Node(
        f"void {name}({PARAMETERS}) {{{{\n{counters}\n{{0}}\n{{1}}\n{{2}}\n}}}}",
        (sequence(*declarations), sequence(*body), reveal(g)),
    )
    return Program(name, sequence(*before, main))


def reveal(g: Generator) -> Node:
    """Stores of every variable, and of an element of every array, component by component."""
    counts, lines = dict.fromkeys(OUTPUTS, 0), []
    found = [(name, t) for name, t in g.variables] + [(f"{name}[{size - 1}]", t) for name, t, size in g.arrays]
    for name, t in found:
        target = f"m{t.element[0]}" if t.moved else "of" if t.element == "float" else "oi"
        for k in range(t.lanes):
            if counts[target] < WORDS:
                value = f"{name}.s{k:x}" if t.lanes > 1 else name
                if t == Type("double", t.lanes):
                    value = f"isnan({value}) ? 1 : as_ulong({value})"
                lines.append(Node(f"{target}[{counts[target]}] = {value};"))
                counts[target] += 1
    return sequence(*lines)
