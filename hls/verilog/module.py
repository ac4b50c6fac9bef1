"""One module of generated Verilog as declarations, statements and the rest, which is kept as it is."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from .expression import Expression, parsed, written

__all__ = [
    "LINE",
    "Assign",
    "Block",
    "Case",
    "Declared",
    "If",
    "Module",
    "Other",
    "Set",
    "Statement",
    "read_module",
    "text_of",
]

_NAME = r"[A-Za-z_][\w$]*"
#: attributes, direction, kind, first and last bit, name, size of a memory, and initial value
_DECLARED = re.compile(
    rf"^  ((?:input|output) )?(wire|reg) (signed )?(?:\[(-?\d+):(-?\d+)\] )?({_NAME}) ?( \[\d+:\d+\])?( += .*?)? ?;$"
)
_ASSIGN = re.compile(r"^  assign (.+?) += (.*?) ?;$")
_SET = re.compile(r"^ +(\S.*?) +(<?=) (.*?) ?;$")
_IF = re.compile(r"^ +if \((.*?) ?\) begin$")
_ELSE_IF = re.compile(r"^ +end else if \((.*?) ?\) begin$")
_NOTHING = re.compile(rf"^ +if \(({_NAME}) ?\) begin end$")
_CASE = re.compile(r"^ +casez \((.*?) ?\)$")
_LABEL = re.compile(r"^ +([^:;]+):$")
_CLOCKED = re.compile(r"^  always @\(posedge [\w$]+\)$")
#: longest line that is written where a statement stands in one with its condition
LINE = 100


@dataclass(frozen=True)
class Set:
    """An assignment; ``op`` is ``=`` or ``<=``."""

    target: Expression
    value: Expression
    op: str


@dataclass(frozen=True)
class If:
    """A conditional; ``other`` is None where there is no else."""

    condition: Expression
    then: tuple["Statement", ...]
    other: tuple["Statement", ...] | None = None


@dataclass(frozen=True)
class Case:
    """A ``casez`` with its attribute line; each arm has the text of its labels."""

    subject: Expression
    arms: tuple[tuple[str, tuple["Statement", ...]], ...]
    attribute: str


Statement = Set | If | Case


@dataclass
class Declared:
    """A declaration. ``words`` is the size of a memory as it stands in the text, ``value`` the continuous assignment to
    a signal that is declared with it."""

    name: str
    direction: str
    kind: str
    bits: int
    range: str
    words: str
    init: str
    attributes: list[str]
    value: Expression | None = None


@dataclass
class Assign:
    """A continuous assignment."""

    target: Expression
    value: Expression


@dataclass
class Block:
    """An ``always`` block. ``trigger`` is what stands behind ``always``."""

    trigger: str
    statements: tuple[Statement, ...]


@dataclass
class Other:
    """Lines that are not looked into."""

    text: str


@dataclass
class Module:
    """``starter`` is the register that only exists to make simulators
    execute ``always @*`` blocks once, if there is one."""

    name: str
    declared: dict[str, Declared] = field(default_factory=dict)
    items: list[Assign | Block | Other] = field(default_factory=list)
    starter: str | None = None


class _Lines:
    def __init__(self, lines: list[str]) -> None:
        self.lines, self.at = lines, 0

    @property
    def now(self) -> str:
        return self.lines[self.at]

    def take(self) -> str:
        self.at += 1
        return self.lines[self.at - 1]


def read_module(text: str) -> Module:
    """The parts of a module's text. What is not known is kept as text."""
    lines = text.splitlines()
    head = next(k for k, line in enumerate(lines) if line.endswith(";")) + 1
    module, source = Module(lines[0].split("(")[0].split()[1]), _Lines(lines[head:])
    attributes: list[str] = []
    while source.at < len(source.lines):
        if source.now.startswith("  (* ") and source.now.endswith("*)"):
            attributes.append(source.take())
            continue
        start = source.at
        if not _declaration(module, source, attributes):
            module.items += (Other(line) for line in attributes)
            item = _item(module, source)
            if item is None:
                source.at = start
            module.items.append(item or Other(source.take()))
        attributes = []
    return module


def _declaration(module: Module, source: _Lines, attributes: list[str]) -> bool:
    found = _DECLARED.match(source.now)
    if not found or found[3] or (found[2] == "wire" and found[8]):
        return False
    direction, kind, _, high, low, name, words, init = found.groups()
    if (init or "").strip() == "= 0" and kind == "reg" and high is None:
        module.starter = name
    size = f"[{high}:{low}] " if high is not None else ""
    bits = int(high) - int(low) + 1 if high is not None else 1
    if low not in (None, "0"):
        bits = 0  # of no use here: its width is not looked at
    module.declared[name] = Declared(
        name, (direction or "").strip(), kind, bits, size, words or "", (init or "").strip(), attributes
    )
    source.take()
    return True


def _item(module: Module, source: _Lines) -> Assign | Block | None:
    """None where the text at hand is not known."""
    line = source.now
    try:
        if found := _ASSIGN.match(line):
            source.take()
            return Assign(parsed(found[1]), parsed(found[2]))
        if _CLOCKED.match(line):
            source.take()
            return Block(line.strip().removeprefix("always "), (_statement(module, source),))
        if line == "  always @* begin":
            source.take()
            return Block("@*", _ended(module, source))
    except (ValueError, IndexError):
        return None
    return None


def _statements(module: Module, source: _Lines) -> tuple[Statement, ...]:
    """Those up to ``end``, which is taken unless an else follows."""
    found: list[Statement] = []
    while source.now.strip() != "end" and not source.now.strip().startswith("end else"):
        nothing = _NOTHING.match(source.now)
        if nothing and nothing[1] == module.starter:
            source.take()
        else:
            found.append(_statement(module, source))
    return tuple(found)


def _ended(module: Module, source: _Lines) -> tuple[Statement, ...]:
    found = _statements(module, source)
    if source.take().strip() != "end":
        raise ValueError("no end")
    return found


def _statement(module: Module, source: _Lines) -> Statement:
    line, attribute = source.take(), ""
    if line.strip().startswith("(* ") and line.strip().endswith("*)"):
        attribute, line = line.strip(), source.take()
    if found := _IF.match(line):  # whose attribute says only that there is an else
        return _conditional(module, source, found[1])
    if found := _CASE.match(line):
        return _case(module, source, found[1], attribute)
    found = _SET.match(line)
    if not found:
        raise ValueError(f"{line!r} is no statement that is known")
    return Set(parsed(found[1]), parsed(found[3]), found[2])


def _conditional(module: Module, source: _Lines, condition: str) -> If:
    then = _statements(module, source)
    line = source.take()
    if line.strip() == "end":
        return If(parsed(condition), then)
    found = _ELSE_IF.match(line)
    if found:
        return If(parsed(condition), then, (_conditional(module, source, found[1]),))
    return If(parsed(condition), then, _ended(module, source))


def _case(module: Module, source: _Lines, subject: str, attribute: str) -> Case:
    arms = []
    while source.now.strip() != "endcase":
        label = _LABEL.match(source.take())
        if not label:
            raise ValueError("a case without a label")
        arms.append((label[1], _arm(module, source)))
    source.take()
    return Case(parsed(subject), tuple(arms), attribute)


def _arm(module: Module, source: _Lines) -> tuple[Statement, ...]:
    if source.now.strip() == "begin":
        source.take()
        return _ended(module, source)
    if source.now.strip() == "/* empty */;":
        source.take()
        return ()
    return (_statement(module, source),)


def text_of(module: Module) -> str:
    """The module's text, with ``endmodule`` as it was among its items."""
    ports = [one for one in module.declared.values() if one.direction]
    found = [f"module {module.name}("]
    for one in ports:
        found += [*one.attributes, _declared(one) + ("" if one is ports[-1] else ",")]
    found.append(");")
    for one in module.declared.values():
        if not one.direction:
            found += [*one.attributes, f"{_declared(one)};"]
    return "\n".join(piece for line in (*found, *_items(module)) for piece in _wrapped(line)) + "\n"


def _declared(one: Declared) -> str:
    direction = f"{one.direction} " if one.direction else ""
    init = f" {one.init}" if one.init else f" = {written(one.value)}" if one.value else ""
    return f"  {direction}{one.kind} {one.range}{one.name}{one.words}{init}"


def _wrapped(line: str) -> Iterator[str]:
    """The line in pieces of at most ``LINE`` characters; those of expressions are broken between operands."""
    space = " " * (len(line) - len(line.lstrip()) + 4)
    while len(line) > LINE and "\n" not in line:
        breaks = [k for k in range(len(space), LINE) if line[k] == " " and line[k - 1] in ",|&^+:?"]
        if not breaks or "//" in line or '"' in line:
            break
        yield line[: breaks[-1]]
        line = f"{space}{line[breaks[-1] + 1 :]}"
    yield line


def _items(module: Module) -> Iterator[str]:
    for item in module.items:
        match item:
            case Assign():
                yield from _assignment(f"  assign {written(item.target)} =", item.value)
            case Block() if len(item.statements) == 1 and item.trigger != "@*":
                yield f"  always {item.trigger}"
                yield from _lines_of(item.statements[0], 4)
            case Block():
                yield f"  always {item.trigger} begin"
                if item.trigger == "@*" and module.starter:
                    yield f"    if ({module.starter}) begin end"
                for statement in item.statements:
                    yield from _lines_of(statement, 4)
                yield "  end"
            case _:
                yield item.text


def _assignment(before: str, value: Expression) -> Iterator[str]:
    """A continuous assignment; where that is too long, a line for each of several conditions."""
    line = f"{before} {written(value)};"
    if len(line) <= LINE or value.kind != "choice" or value.parts[2].kind != "choice":
        yield line
        return
    while value.kind == "choice":
        first, _, _ = written(replace(value, parts=(*value.parts[:2], Expression("number", "")))).rpartition(" : ")
        yield f"{before} {first} :"
        before, value = "     ", value.parts[2]
    yield f"{before} {written(value)};"


def _lines_of(statement: Statement, indent: int) -> Iterator[str]:
    space = " " * indent
    match statement:
        case Set():
            yield f"{space}{written(statement.target)} {statement.op} {written(statement.value)};"
        case If():
            yield from _lines_of_if(statement, indent, space)
        case Case():
            if statement.attribute:
                yield f"{space}{statement.attribute}"
            yield f"{space}casez ({written(statement.subject)})"
            for label, body in statement.arms:
                yield from _lines_of_arm(label, body, indent + 2)
            yield f"{space}endcase"


def _lines_of_if(statement: If, indent: int, lead: str) -> Iterator[str]:
    space, opening = " " * indent, f"{lead}if ({written(statement.condition)})"
    one = _single(statement.then, opening)
    if one:
        yield one
    else:
        yield f"{opening} begin"
        for inner in statement.then:
            yield from _lines_of(inner, indent + 2)
    if statement.other is None:
        if not one:
            yield f"{space}end"
        return
    lead = f"{space}else " if one else f"{space}end else "
    if len(statement.other) == 1 and isinstance(statement.other[0], If):
        yield from _lines_of_if(statement.other[0], indent, lead)
        return
    short = _single(statement.other, lead.rstrip())
    if short:
        yield short
        return
    yield f"{lead}begin"
    for inner in statement.other:
        yield from _lines_of(inner, indent + 2)
    yield f"{space}end"


def _single(body: tuple[Statement, ...], before: str) -> str | None:
    """One line with ``before`` and the only statement of ``body``, if that is an assignment and there is room."""
    if len(body) != 1 or not isinstance(body[0], Set):
        return None
    line = f"{before} {next(_lines_of(body[0], 0))}"
    return line if len(line) <= LINE else None


def _lines_of_arm(label: str, body: tuple[Statement, ...], indent: int) -> Iterator[str]:
    space = " " * indent
    if not body:
        yield f"{space}{label}:;"
    elif line := _single(body, f"{space}{label}:"):
        yield line
    elif len(body) == 1:
        yield f"{space}{label}:"
        yield from _lines_of(body[0], indent + 2)
    else:
        yield f"{space}{label}: begin"
        for inner in body:
            yield from _lines_of(inner, indent + 2)
        yield f"{space}end"
