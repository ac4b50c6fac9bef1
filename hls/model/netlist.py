"""Counts what a design's Verilog consists of: registers, memories, products, and logic in 4-input look-up tables.

Reads the Verilog that Amaranth writes: one operator per ``assign``, clocked blocks with nothing but ``<=``, and
``always @*`` blocks of defaults and conditional assignments. Anything else in a text is an error, never ignored.

Registers, memory bits and products are exact before synthesis. Logic is an estimate by these rules, with n the width:
sum, difference and order of n bits are n tables (a carry chain); equality of n bits is a tree over its 2n inputs, or n
where one side is constant; a reduction is a tree over its inputs; a tree over k inputs is (k - 1) / 3 tables; inverters
and wires are free. All other logic shares tables with its neighbours, so that n bits count as less than n tables: with
the weights below, the floating-point adder and multiplier are within 15 % of the and-gates and carry chains that Yosys
makes of them for ECP5 (at 2.3 gates per table).
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

__all__ = [
    "CHOICE",
    "CONDITION",
    "GATE",
    "Memory",
    "Module",
    "NetlistError",
    "Use",
    "bits_of_operator",
    "read_modules",
    "tree",
]

TOKEN = re.compile(
    r"""\\\S+ | \$?[A-Za-z_][\w$]* | \d*'s?[bdoh][0-9a-fxz?]+ | \d+ | <<<? | >>>? | [<>=!]=
                     | && | \|\| | \+: | [-+*/%&|^~?:<>!(){}\[\],]""",
    re.VERBOSE,
)
DECLARED = re.compile(
    r"\s*(?:input|output|inout|wire|reg)\s+(?:signed\s+)?(?:\[(\d+):(\d+)\]\s*)?"
    r"(\\\S+|[\w$]+)\s*(?:\[(\d+):(\d+)\]\s*)?(?:=.*)?;"
)
INSTANCE = re.compile(r"\s*(\\\S+|[A-Za-z_][\w$]*)\s+(\\\S+|[\w$]+)\s*\($")
STYLE = re.compile(r"\s*\(\*.*\bram_style = \"(\w+)\".*\*\)$")
CLOCKED = re.compile(r"\s*(?:if \(.*\) )?(?:begin )?\s*((?:\\\S+|[\w$]+)[^=<]*?)\s*<=\s*(.*);")
GATES = {"&", "|", "^", "&&", "||"}
SUMS = {"+", "-"}
ORDERS = {"<", ">", "<=", ">="}
SHIFTS = {"<<", "<<<", ">>", ">>>"}
INVERTERS = {"~", "!"}
#: Tables per bit: a multiplexer of two signals; a two-input gate; a condition in a block, which may become a clock
#: enable.
CHOICE, GATE, CONDITION = 0.8, 0.4, 0.3
KEYWORDS = {"module", "if", "else", "casez", "case", "begin", "initial", "always", "assign"}


class NetlistError(ValueError):
    """A text that Amaranth would not write."""


@dataclass(frozen=True)
class Memory:
    """``depth`` words of ``width`` bits. ``registered`` tells whether all reads are clocked, as block RAM requires;
    ``dual`` whether it is read through two ports. ``kind`` is the kind of RAM requested of synthesis, "block" or
    "distributed"; "" for none."""

    depth: int
    width: int
    registered: bool
    dual: bool = False
    kind: str = ""

    @property
    def bits(self) -> int:
        """The capacity in bits."""
        return self.depth * self.width

    @property
    def outputs(self) -> int:
        """Registers of a word that its reads take where it is not in block RAM, which has its own."""
        return int(self.registered) * (1 + int(self.dual))


@dataclass
class Use:
    """What one signal of a module takes: as a register, as the result of logic, as a memory."""

    registers: int = 0
    luts: float = 0.0
    memories: list[Memory] = field(default_factory=list)
    products: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Module:
    """One module without the contents of its instances. ``products`` are the widths of factors; ``luts`` an
    estimate.

    ``signals`` distributes all of it over the named signals. The logic of an unnamed intermediate result belongs to the
    first named signal, or instance, that uses it.
    """

    name: str
    registers: int = 0
    luts: float = 0.0
    memories: list[Memory] = field(default_factory=list)
    products: list[tuple[int, int]] = field(default_factory=list)
    instances: dict[str, str] = field(default_factory=dict)  #: instance name to module name
    signals: dict[str, Use] = field(default_factory=dict)


def read_modules(text: str) -> dict[str, Module]:
    """Every module of a Verilog text, by name. Raises :class:`NetlistError`."""
    modules = {}
    for part in re.split(r"^(?=module )", text, flags=re.MULTILINE)[1:]:
        module = _Reader(part.splitlines()).read()
        modules[module.name] = module
    return modules


class _Reader:
    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.module = Module(_plain(lines[0].split()[1].split("(")[0]))
        self.width: dict[str, int] = {}
        self.memory: dict[str, tuple[int, int]] = {}
        self.kind: dict[str, str] = {}
        self.registers: set[str] = set()
        self.clocked_reads: dict[str, set[str]] = {}  # for each memory, the registers that it is read into
        self.other_reads: set[str] = set()
        self.uses: defaultdict[str, Use] = defaultdict(Use)
        self.user: dict[str, str] = {}  # of each unnamed signal, the first signal or instance that is made from it
        self.asked: list[str] = []  # names in the conditions before the next assignment of a block

    def read(self) -> Module:
        for before, line in pairwise(self.lines):
            self._declare(line)
            if (style := STYLE.match(before)) and (match := DECLARED.match(line)):
                self.kind[_plain(match[3])] = style[1]
        block, instance = None, ""
        for line in self.lines[1:]:
            word = line.split(None, 1)[0] if line.strip() else ""
            if word in ("always", "initial"):
                block = self._open(line)
            elif word == "assign":
                self._assign(line)
            elif block and word:
                block = self._statement(block, line)
            elif match := INSTANCE.match(line):
                self._instance(*match.groups())
                instance = _plain(match[2])
            elif instance and word.startswith("."):
                self._used_by(instance, _tokens(line)[1:])
            elif word == ");":
                instance = ""
        self.module.registers = sum(self.width[name] for name in self.registers)
        for name in self.registers:
            self.uses[name].registers += self.width[name]
        for name, (depth, width) in self.memory.items():
            dual = len(self.clocked_reads.get(name, ())) > 1
            memory = Memory(depth, width, name not in self.other_reads, dual, self.kind.get(name, ""))
            self.module.memories.append(memory)
            self.uses[name].memories.append(memory)
        self._name_uses()
        return self.module

    def _used_by(self, target: str, tokens: list[str]) -> None:
        for token in tokens:
            if _is_unnamed(token):
                self.user.setdefault(token, target)

    def _name_uses(self) -> None:
        """Distribute what unnamed signals take over the signals that are made from them."""
        for name, use in self.uses.items():
            seen = {name}
            while _is_unnamed(name) and self.user.get(name, name) not in seen:
                name = self.user[name]
                seen.add(name)
            whole = self.module.signals.setdefault(name.removeprefix("\\"), Use())
            whole.registers += use.registers
            whole.luts += use.luts
            whole.memories += use.memories
            whole.products += use.products

    def _declare(self, line: str) -> None:
        if match := DECLARED.match(line):
            high, low, name, first, last = match.groups()
            bits = int(high) - int(low) + 1 if high else 1
            if first is None:
                self.width[_plain(name)] = bits
            else:
                self.memory[_plain(name)] = (abs(int(first) - int(last)) + 1, bits)

    def _instance(self, module: str, name: str) -> None:
        if module not in KEYWORDS:  # a name that is a Verilog keyword is written with a backslash
            self.module.instances[_plain(name).removeprefix("\\")] = _plain(module)

    # --- blocks ---

    def _open(self, line: str) -> "_Block":
        kind = "initial" if "initial" in line else "clocked" if "edge" in line else "choices"
        return _Block(kind, line.rstrip().endswith("begin"))

    def _statement(self, block: "_Block", line: str) -> "_Block | None":
        if block.kind == "clocked":
            self._clocked(line)
        elif block.kind == "choices":
            self._choice(block, line)
        return block.after(line)

    def _clocked(self, line: str) -> None:
        match = CLOCKED.match(line)
        if match is None:
            self.asked += _tokens(line)
            return
        target, source = (_tokens(text) for text in match.groups())
        self._used_by(_plain(target[0]), [*self.asked, *_tokens(line)])
        self.asked = []
        if target[0] in self.memory:
            self._read_memories(source, self.other_reads)
        else:
            name = _plain(target[0])
            if source[0] in self.memory:  # the memory's own output register
                self.clocked_reads.setdefault(source[0], set()).add(name)
            else:
                self.registers.add(name)
                self._read_memories(source, self.other_reads)

    def _choice(self, block: "_Block", line: str) -> None:
        target, equals, source = line.partition(" = ")
        if not equals:
            self.asked += _tokens(line)
            return
        tokens, bits = _tokens(target), _tokens(source)
        self._used_by(tokens[0], [*self.asked, *bits])
        self.asked = []
        self._read_memories(bits, self.other_reads)
        if block.depth > 1 and not block.reset:
            self.module.luts += CONDITION * self._bits(tokens)
            self.uses[tokens[0]].luts += CONDITION * self._bits(tokens)

    def _read_memories(self, tokens: list[str], reads: set[str]) -> None:
        reads.update(name for name in tokens if name in self.memory)

    # --- expressions ---

    def _assign(self, line: str) -> None:
        target, _, source = line.strip().removeprefix("assign ").removesuffix(";").partition(" = ")
        tokens = _tokens(source)
        self._read_memories(tokens, self.other_reads)
        result, products = _tokens(target), len(self.module.products)
        self._used_by(result[0] if result[0] != "{" else result[1], tokens)
        cost = self._cost(self._bits(result), tokens)
        self.module.luts += cost
        use = self.uses[result[0] if result[0] != "{" else result[1]]
        use.luts += cost
        use.products += self.module.products[products:]

    def _cost(self, result: int, tokens: list[str]) -> float:
        if tokens[0] in GATES:
            return tree(self._bits(tokens[1:]))
        if tokens[0] in INVERTERS or tokens[0] in SUMS:
            return self._bits(tokens[1:]) if tokens[0] in SUMS else 0
        parts = list(_split(tokens))
        operators = [operator for operator, _ in parts[1:]]
        if not operators:
            return self._selection(result, tokens)
        operator, operands = operators[0], [part for _, part in parts]
        constants = sum(_is_constant(operand) for operand in operands[-2:])
        widths = [self._bits(operand) for operand in operands]
        return self._operator(operator, result, widths, constants)

    def _operator(self, operator: str, result: int, widths: list[int], constants: int) -> float:
        if operator == "*":
            self.module.products.append((widths[0], widths[1]))
            return 0
        try:
            return bits_of_operator(operator, result, widths, constants)
        except KeyError:
            raise NetlistError(f"module {self.module.name}: operator {operator} is not known") from None

    def _selection(self, result: int, tokens: list[str]) -> float:
        """A bit or part selected by a signal is a tree of multiplexers; anything else is wires."""
        name, rest = tokens[0], tokens[1:]
        if name in self.width and rest and rest[0] == "[" and any(token in self.width for token in rest):
            return CHOICE * (self.width[name] - result)
        return 0

    def _bits(self, tokens: list[str]) -> int:
        """The width of an expression without operators."""
        if tokens[0] == "{":
            return self._concatenation(tokens[1:-1])
        if tokens[0] in ("$signed", "$unsigned"):
            return self._bits(tokens[2:-1])
        if "'" in tokens[0]:
            return int(tokens[0].partition("'")[0] or 32)
        if tokens[0] in INVERTERS:
            return self._bits(tokens[1:])
        if len(tokens) == 1:
            return self._whole(tokens[0])
        index = tokens[2:-1]
        if "+:" in index:
            return int(index[-1])
        if ":" in index:
            return int(index[0]) - int(index[2]) + 1
        return self.memory[tokens[0]][1] if tokens[0] in self.memory else 1

    def _whole(self, name: str) -> int:
        if name.isdecimal():
            return 32
        if name not in self.width:
            raise NetlistError(f"module {self.module.name}: {name} is not declared")
        return self.width[name]

    def _concatenation(self, tokens: list[str]) -> int:
        if len(tokens) > 1 and tokens[0].isdecimal() and tokens[1] == "{":
            return int(tokens[0]) * self._concatenation(tokens[2:-1])
        return sum(self._bits(part) for part in _commas(tokens))


@dataclass
class _Block:
    """An ``always`` or ``initial`` block while it is read: the nesting depth of the next line, and whether it is under
    a reset."""

    kind: str
    long: bool  #: has begin and end
    depth: int = 1
    reset: bool = False

    def after(self, line: str) -> "_Block | None":
        words = line.split()
        if self.kind == "choices" and self.depth == 1:
            self.reset = words[:2] == ["if", "(rst)"]
        opened = words.count("begin") + (words[0] in ("case", "casez"))
        closed = words.count("end") + words.count("endcase")
        self.depth += opened - closed
        return self if self.long and self.depth > 0 or not self.long and not line.rstrip().endswith(";") else None


def _is_unnamed(token: str) -> bool:
    """Whether a name is one that Amaranth gave to an intermediate result."""
    return token.startswith(("\\$", "$")) and token not in ("$signed", "$unsigned")


def _plain(name: str) -> str:
    return name.strip()


def _tokens(text: str) -> list[str]:
    return TOKEN.findall(text)


def _split(tokens: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(operator before, operand) of each operand, for operators outside of all brackets."""
    operand: list[str] = []
    depth, operator = 0, ""
    for token in tokens:
        depth += token in "([{"
        depth -= token in ")]}"
        if (
            depth == 0
            and operand
            and (token in GATES | SUMS | ORDERS | SHIFTS or token in ("*", "?", ":", "==", "!=", "/", "%"))
        ):
            yield operator, operand
            operator, operand = token, []
        else:
            operand.append(token)
    yield operator, operand


def _commas(tokens: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    depth = 0
    for token in tokens:
        depth += token in "([{"
        depth -= token in ")]}"
        if token == "," and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _is_constant(tokens: list[str]) -> bool:
    return len(tokens) == 1 and ("'" in tokens[0] or tokens[0].isdecimal())


def tree(inputs: int) -> float:
    """Tables for one output bit of so many inputs."""
    return max(0, inputs - 1) / 3


def bits_of_operator(operator: str, result: int, widths: Sequence[int], constants: int) -> float:
    """Tables of an operator of two operands, or of a choice, that is no product: bits of the result, widths of the
    operands, and how many of the last two are constants. Raises KeyError for an operator without a rule."""
    widest = max(widths)
    if operator == "?":
        return {0: CHOICE * result, 1: GATE * result, 2: 0}[constants]
    if operator in GATES:
        return 0 if constants else GATE * result
    if operator in SUMS:
        return min(result, widest + 1)
    if operator in ORDERS:
        return widest
    if operator in ("==", "!="):
        return tree(widest if constants else 2 * widest)
    if operator in SHIFTS:
        return 0 if constants else CHOICE * result * min(widths[1], max(1, (result - 1).bit_length()))
    raise KeyError(operator)
