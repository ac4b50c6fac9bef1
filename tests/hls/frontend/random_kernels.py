"""Random OpenCL C kernels without undefined behaviour, so that any two compilers must agree on every byte."""

import random
from dataclasses import dataclass, field

__all__ = ["INPUTS", "OUTPUTS", "random_program"]

INTS = {"char": 8, "uchar": 8, "short": 16, "ushort": 16, "int": 32, "uint": 32, "long": 64, "ulong": 64}
#: each work-item reads element get_global_id(0) of these
INPUTS = {"inc": "uchar", "ins": "short", "ini": "int", "inu": "uint", "inl": "long", "inf": "float"}
#: and writes this many elements of each of these
OUTPUTS = {"outl": ("long", 6), "outf": ("float", 2)}


def _signed(t: str) -> bool:
    return t in ("char", "short", "int", "long")


@dataclass
class _Kernel:
    """One kernel under construction. ``variables`` maps a name to its type; ``fixed`` may not be assigned."""

    rng: random.Random
    variables: dict[str, str] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    arrays: dict[str, tuple[str, int]] = field(default_factory=dict)
    helpers: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    counter: int = 0

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    # -- expressions: (text); every one is fully parenthesized

    def narrow(self, t: str, depth: int) -> str:
        """A value so small that one + - * of two of them stays inside ``t`` (overflow of signed types is undefined)."""
        return f"(({t})({'int' if t == 'long' else 'short'}){self.integer(depth)})"

    def integer(self, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.atom()
        return self.rng.choice(
            [
                self.arithmetic,
                self.arithmetic,
                self.arithmetic,
                self.bits,
                self.comparison,
                self.shift,
                self.choice,
                self.cast,
                self.builtin,
                self.unary,
                self.from_float,
                self.logic,
                self.element,
                self.call,
            ]
        )(depth - 1)

    def atom(self) -> str:
        names = [n for n, t in self.variables.items() if t != "float"]
        if names and self.rng.random() < 0.75:
            return self.rng.choice(names)
        value = self.rng.choice([0, 1, 2, 3, 7, 100, 255, 256, 65535, 2147483647, self.rng.getrandbits(31)])
        return f"{value}{self.rng.choice(['', '', 'u', 'L', 'UL'])}"

    def arithmetic(self, depth):
        op = self.rng.choice("+-*/%")
        t = self.rng.choice(["int", "uint", "long", "ulong"])
        left, right = self.integer(depth), self.integer(depth)
        if op in "/%":
            left = f"(({t})(short){left})" if _signed(t) else f"(({t}){left})"
            return f"({left} {op} (({t})({'short' if _signed(t) else t})({right}) | 1))"
        if _signed(t):
            return f"({self.narrow(t, depth)} {op} {self.narrow(t, depth)})"
        return f"(({t}){left} {op} {right})" if self.rng.random() < 0.7 else f"(({t})({left}) {op} ({t})({right}))"

    def bits(self, depth):
        return f"({self.integer(depth)} {self.rng.choice('&|^')} {self.integer(depth)})"

    def comparison(self, depth):
        op = self.rng.choice(["<", "<=", ">", ">=", "==", "!="])
        if self.rng.random() < 0.3:
            return f"({self.floating(depth)} {op} {self.floating(depth)})"
        return f"({self.integer(depth)} {op} {self.integer(depth)})"

    def shift(self, depth):
        t = self.rng.choice(["uint", "ulong", "uchar"])
        if self.rng.random() < 0.5:
            return f"(({t}){self.integer(depth)} << ({self.integer(depth)} & 31))"
        return f"(({self.rng.choice(list(INTS))}){self.integer(depth)} >> ({self.integer(depth)} & 31))"

    def choice(self, depth):
        return f"({self.condition(depth)} ? {self.integer(depth)} : {self.integer(depth)})"

    def cast(self, depth):
        t = self.rng.choice([*INTS, "bool"])
        if self.rng.random() < 0.2 and t != "bool":
            return f"convert_{t}({self.integer(depth)})"
        return f"(({t}){self.integer(depth)})"

    def unary(self, depth):
        return self.rng.choice(
            [
                f"(~{self.integer(depth)})",
                f"(!{self.integer(depth)})",
                f"(-{self.narrow('int', depth)})",
                f"(+{self.integer(depth)})",
                f"(-(uint){self.integer(depth)})",
            ]
        )

    def builtin(self, depth):
        t = self.rng.choice(list(INTS))
        a, b = (f"({t}){self.integer(depth)}" for _ in range(2))
        return self.rng.choice(
            [
                f"min({a}, {b})",
                f"max({a}, {b})",
                f"clamp({a}, ({t})3, ({t})90)",
                f"abs({a})",
                f"rotate({a}, {b})",
                f"mul_hi((uint){self.integer(depth)}, (uint){self.integer(depth)})",
                f"mul_hi((int){self.integer(depth)}, (int){self.integer(depth)})",
                f"mul24((int)(short){self.integer(depth)} & 0x7fff, (int)(char){self.integer(depth)} & 0x7f)",
                f"select({a}, {b}, ({t}){self.integer(depth)})",
            ]
        )

    def from_float(self, depth):
        f = self.floating(depth)
        t = self.rng.choice(["int", "short", "long", "uint"])
        low = "0.0f" if t == "uint" else "-30000.0f"
        return f"(isfinite({f}) ? ({t})clamp({f}, {low}, 30000.0f) : ({t})isnan({f}))"

    def logic(self, depth):
        return f"({self.condition(depth)} {self.rng.choice(['&&', '||'])} {self.condition(depth)})"

    def element(self, depth):
        if not self.arrays:
            return self.atom()
        name, (_, length) = self.rng.choice(list(self.arrays.items()))
        return f"{name}[{self.integer(depth)} & {length - 1}]"

    def call(self, depth):
        if not self.helpers:
            return self.atom()
        return f"{self.rng.choice(self.helpers)}({self.integer(depth)}, {self.integer(depth)})"

    def condition(self, depth):
        return self.rng.choice([self.comparison, self.integer, self.logic])(depth - 1) if depth > 0 else self.atom()

    def floating(self, depth):
        names = [n for n, t in self.variables.items() if t == "float"]
        if depth <= 0 or self.rng.random() < 0.2:
            return self.rng.choice([*names, "0.5f", "3.0f", "(-1.25e2f)", "1e-3f"])
        a, b = self.floating(depth - 1), self.floating(depth - 1)
        return self.rng.choice(
            [
                f"({a} + {b})",
                f"({a} - {b})",
                f"({a} * {b})",
                f"({a} / {b})",
                f"(- {a})",
                f"fabs({a})",
                f"((float)(short){self.integer(depth - 1)})",
                f"({self.condition(depth - 1)} ? {a} : {b})",
                f"convert_float({self.integer(depth - 1)})",
                f"((float){self.integer(depth - 1)})",
            ]
        )

    # -- statements

    def declare(self, indent: str):
        if self.rng.random() < 0.15:
            name, t, length = self.fresh("a"), self.rng.choice(list(INTS)), self.rng.choice([2, 4, 8])
            given = ", ".join(self.integer(1) for _ in range(self.rng.randint(1, length)))
            self.lines.append(f"{indent}{t} {name}[{length}] = {{{given}}};")
            self.arrays[name] = (t, length)
            return
        t = self.rng.choice([*INTS, "float", "bool"])
        value = self.floating(2) if t == "float" else self.integer(3)
        name = self.fresh("v")
        self.lines.append(f"{indent}{t} {name} = {value};")
        self.variables[name] = t

    def assign(self, indent: str):
        names = [n for n in self.variables if n not in self.fixed]
        if self.arrays and self.rng.random() < 0.25:
            name, (_, length) = self.rng.choice(list(self.arrays.items()))
            self.lines.append(f"{indent}{name}[{self.integer(1)} & {length - 1}] = {self.integer(2)};")
            return
        if not names:
            return
        name = self.rng.choice(names)
        t = self.variables[name]
        if t == "float":
            op = self.rng.choice(["=", "+=", "-=", "*=", "/="])
            self.lines.append(f"{indent}{name} {op} {self.floating(2)};")
        elif t in ("uint", "ulong", "uchar", "ushort") and self.rng.random() < 0.6:
            self.lines.append(
                self.rng.choice(
                    [
                        (
                            f"{indent}{name} {self.rng.choice(['+=', '-=', '*=', '&=', '|=', '^='])} "
                            f"(uint){self.integer(2)};"
                        ),
                        f"{indent}{name} {self.rng.choice(['<<=', '>>='])} {self.integer(2)} & 7;",
                        f"{indent}{name} /= (uint){self.integer(1)} | 1;",
                        f"{indent}{name}++;",
                        f"{indent}--{name};",
                    ]
                )
            )
        else:
            self.lines.append(f"{indent}{name} = {self.integer(3)};")

    def block(self, indent: str, depth: int, in_loop: bool, count: int):
        """Statements in braces: what they declare ends with them."""
        variables, arrays = dict(self.variables), dict(self.arrays)
        for _ in range(count):
            self.statement(indent, depth, in_loop)
        self.variables, self.arrays = variables, arrays

    def statement(self, indent: str, depth: int, in_loop: bool):
        kind = self.rng.random()
        if depth <= 0 or kind < 0.45:
            self.rng.choice([self.declare, self.assign, self.assign])(indent)
        elif kind < 0.65:
            self.branch(indent, depth, in_loop)
        elif kind < 0.85:
            self.loop(indent, depth)
        elif kind < 0.92:
            self.switch(indent, depth, in_loop)
        elif in_loop:
            self.lines.append(f"{indent}if ({self.condition(2)}) {self.rng.choice(['break', 'continue'])};")
        elif self.rng.random() < 0.3:
            self.lines.append(f"{indent}if ({self.condition(2)} && {self.condition(1)}) return;")

    def branch(self, indent, depth, in_loop):
        self.lines.append(f"{indent}if ({self.condition(2)}) {{")
        self.block(indent + "  ", depth - 1, in_loop, self.rng.randint(1, 3))
        if in_loop and self.rng.random() < 0.3:
            self.lines.append(f"{indent}  {self.rng.choice(['break', 'continue', 'return'])};")
        if self.rng.random() < 0.5:
            self.lines.append(f"{indent}}} else {{")
            self.block(indent + "  ", depth - 1, in_loop, self.rng.randint(1, 2))
        self.lines.append(f"{indent}}}")

    def loop(self, indent, depth):
        name, trips = self.fresh("i"), self.rng.randint(0, 5)
        form = self.rng.choice(["for", "while", "do"])
        self.variables[name] = "int"
        self.fixed.add(name)
        bound = f"{name} < {trips}" if self.rng.random() < 0.6 else f"({name} < {trips}) && ({self.condition(1)})"
        if form == "for":
            self.lines.append(f"{indent}for (int {name} = 0; {bound}; {name}++) {{")
        else:
            self.lines.append(f"{indent}int {name} = 0;")
            self.lines.append(f"{indent}while ({name}++ < {trips}) {{" if form == "while" else f"{indent}do {{")
        self.block(indent + "  ", depth - 1, True, self.rng.randint(1, 3))
        self.lines.append(f"{indent}}} while (++{name} < {trips});" if form == "do" else f"{indent}}}")
        if form == "for":
            del self.variables[name]

    def switch(self, indent, depth, in_loop):
        self.lines.append(f"{indent}switch ((int)({self.integer(2)}) & 3) {{")
        labels = self.rng.sample(["case 0", "case 1", "case 2", "case 3", "default"], self.rng.randint(1, 5))
        for label in labels:
            self.lines.append(f"{indent}  {label}: {{")
            self.block(indent + "    ", depth - 1, False, self.rng.randint(0, 2))
            if in_loop and self.rng.random() < 0.2:
                self.lines.append(f"{indent}    if ({self.condition(1)}) continue;")
            if self.rng.random() < 0.25:
                self.lines.append(f"{indent}    if ({self.condition(1)}) break;")
                self.assign(indent + "    ")
            self.lines.append(f"{indent}  }}{' break;' if self.rng.random() < 0.6 else ''}")
        self.lines.append(f"{indent}}}")


def _helper(rng: random.Random, name: str) -> str:
    result, a, b = (rng.choice(["int", "uint", "long", "short", "uchar"]) for _ in range(3))
    k = _Kernel(rng, {"x": a, "y": b})
    k.loop("  ", 1) if rng.random() < 0.5 else k.declare("  ")
    k.lines = [line.replace("return;", f"return ({result})x;") for line in k.lines]
    if rng.random() < 0.6:
        k.lines.append(f"  if ({k.condition(2)}) return {k.integer(2)};")
    body = "\n".join(k.lines)
    return f"{result} {name}({a} x, {b} y) {{\n{body}\n  return {k.integer(2)};\n}}\n"


def _kernel(rng: random.Random, name: str, helpers: list[str]) -> str:
    k = _Kernel(rng, {"n": "int", "u": "uint"}, helpers=helpers)
    for buffer, t in INPUTS.items():
        k.lines.append(f"  {t} x{buffer} = {buffer}[g];")
        k.variables[f"x{buffer}"] = t
    for _ in range(3):
        k.declare("  ")
    for _ in range(rng.randint(3, 7)):
        k.statement("  ", 3, False)
    outs = [n for n, t in k.variables.items() if t != "float"]
    for j in range(OUTPUTS["outl"][1]):
        k.lines.append(f"  outl[g * {OUTPUTS['outl'][1]} + {j}] = {rng.choice([rng.choice(outs), k.integer(3)])};")
    for j in range(OUTPUTS["outf"][1]):
        k.lines.append(f"  outf[g * {OUTPUTS['outf'][1]} + {j}] = {k.floating(3)};")
    params = ", ".join(
        [
            *(f"__global const {t} *{b}" for b, t in INPUTS.items()),
            *(f"__global {t} *{b}" for b, (t, _) in OUTPUTS.items()),
            "int n",
            "uint u",
        ]
    )
    body = "\n".join(k.lines)
    return f"__kernel void {name}({params}) {{\n  size_t g = get_global_id(0);\n{body}\n}}\n"


def random_program(seed: int, kernels: int) -> str:
    """A source text with kernels ``k0``, ``k1``...; the same seed gives the same text."""
    rng = random.Random(seed)
    parts = ["#pragma OPENCL FP_CONTRACT OFF\n"]
    for k in range(kernels):
        helper = f"h{k}"
        parts += [_helper(rng, helper), _kernel(rng, f"k{k}", [helper])]
    return "\n".join(parts)
